//! Compiles `compass/v1/*.proto` into Rust and a descriptor set, without a `protoc` binary.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use prost::Message as _;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=compass");

    let out = PathBuf::from(std::env::var_os("OUT_DIR").ok_or("OUT_DIR is not set")?);
    let descriptors = protox::compile(sources(Path::new("compass/v1"))?, ["."])?;
    fs::write(out.join("descriptor.bin"), descriptors.encode_to_vec())?;
    tonic_prost_build::configure().compile_fds(descriptors)?;
    Ok(())
}

/// Every `.proto` file of `folder`, sorted so that the generated code does not depend on the disk.
fn sources(folder: &Path) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "proto") {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}
