//! Trees of files: compared byte by byte, and copied.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::error::Error;

/// Every file below `root` with its contents, by its path from there.
///
/// # Errors
///
/// If a folder or a file cannot be read.
pub(super) fn contents(root: &Path) -> Result<BTreeMap<PathBuf, Vec<u8>>, Error> {
    let mut found = BTreeMap::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for path in entries(&folder)? {
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let bytes = fs::read(&path).map_err(Error::io(format!("read {}", path.display())))?;
            let name = path.strip_prefix(root).unwrap_or(&path).to_path_buf();
            found.insert(name, bytes);
        }
    }
    Ok(found)
}

/// What differs between two trees, one line for each file; empty if they are equal.
pub(super) fn differences(
    (left, left_name): (&BTreeMap<PathBuf, Vec<u8>>, &str),
    (right, right_name): (&BTreeMap<PathBuf, Vec<u8>>, &str),
) -> Vec<String> {
    let mut lines = Vec::new();
    for (name, bytes) in left {
        match right.get(name) {
            None => lines.push(format!("{} is in {left_name} only", name.display())),
            Some(other) if other != bytes => lines.push(format!("{} differs", name.display())),
            Some(_) => {}
        }
    }
    let only = right.keys().filter(|name| !left.contains_key(*name));
    lines.extend(only.map(|name| format!("{} is in {right_name} only", name.display())));
    lines
}

/// Copies a tree; files are linked where the system can, so neither copy may be changed in place.
///
/// # Errors
///
/// If a folder or a file cannot be read or written.
pub(super) fn copy(from: &Path, to: &Path) -> Result<(), Error> {
    fs::create_dir_all(to).map_err(Error::io(format!("create {}", to.display())))?;
    for path in entries(from)? {
        let Some(name) = path.file_name() else { continue };
        let target = to.join(name);
        let doing = || format!("copy {}", path.display());
        let kind = fs::symlink_metadata(&path).map_err(Error::io(doing()))?.file_type();
        if kind.is_dir() {
            copy(&path, &target)?;
        } else if kind.is_symlink() {
            let aim = fs::read_link(&path).map_err(Error::io(doing()))?;
            std::os::unix::fs::symlink(aim, &target).map_err(Error::io(doing()))?;
        } else if fs::hard_link(&path, &target).is_err() {
            fs::copy(&path, &target).map_err(Error::io(doing()))?;
        }
    }
    Ok(())
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let doing = || format!("list {}", folder.display());
    let entries = fs::read_dir(folder).map_err(Error::io(doing()))?;
    entries.map(|entry| entry.map(|entry| entry.path()).map_err(Error::io(doing()))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::Scratch;

    fn write(root: &Path, name: &str, text: &str) {
        let path = root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    #[test]
    fn trees_differ_by_a_byte_and_by_a_file_on_either_side() {
        let scratch = Scratch::new().unwrap();
        let (left, right) = (scratch.path().join("left"), scratch.path().join("right"));
        for root in [&left, &right] {
            write(root, "a.js", "same");
            write(root, "deep/er/b.js", "same");
        }
        let differing = |left: &Path, right: &Path| {
            differences((&contents(left).unwrap(), "left"), (&contents(right).unwrap(), "right"))
        };
        assert!(differing(&left, &right).is_empty());
        write(&right, "deep/er/b.js", "sane");
        write(&left, "only.js", "");
        write(&right, "deep/other.js", "");
        let expected = ["deep/er/b.js differs", "only.js is in left only", "deep/other.js is in right only"];
        assert_eq!(differing(&left, &right), expected);
    }

    #[test]
    fn a_copy_holds_every_file_and_link() {
        let scratch = Scratch::new().unwrap();
        let (from, to) = (scratch.path().join("from"), scratch.path().join("to"));
        write(&from, "kept/deep/a", "text");
        std::os::unix::fs::symlink("kept", from.join("link")).unwrap();
        copy(&from, &to).unwrap();
        assert_eq!(fs::read_to_string(to.join("kept/deep/a")).unwrap(), "text");
        assert_eq!(fs::read_link(to.join("link")).unwrap(), Path::new("kept"));
    }
}
