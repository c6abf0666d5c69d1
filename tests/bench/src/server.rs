//! The measured server: the given program as a process of its own.

use std::{
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use crate::{BenchError, process::Process};

/// A running server; it ends with this value.
pub(crate) struct Server {
    process: Process,
    /// Its address.
    pub(crate) url: String,
    /// Its data directory, which holds the first sign-in.
    pub(crate) data_dir: PathBuf,
}

impl Server {
    /// Starts a server on a free port, on SQLite in `data_dir` or on the named database.
    pub(crate) async fn start(
        program: &Path,
        data_dir: &Path,
        database: Option<&str>,
    ) -> Result<Self, BenchError> {
        fs::create_dir_all(data_dir).map_err(BenchError::io("create a data directory"))?;
        let mut arguments = ["serve", "--listen", "127.0.0.1:0", "--until-input-closes", "--data-dir"]
            .map(OsStr::new)
            .to_vec();
        arguments.push(data_dir.as_os_str());
        if let Some(database) = database {
            arguments.extend([OsStr::new("--database"), OsStr::new(database)]);
        }
        let process = Process::start(program, &arguments, Some(&data_dir.join("stderr"))).await?;
        Ok(Self { url: process.url.clone(), process, data_dir: data_dir.to_owned() })
    }

    /// Bytes of its memory that are resident now.
    pub(crate) fn resident_bytes(&self) -> Result<u64, BenchError> {
        self.process.resident_bytes()
    }

    /// Processor time it used until now.
    pub(crate) fn processor_time(&self) -> Result<Duration, BenchError> {
        self.process.processor_time()
    }

    /// Lets it end by itself.
    pub(crate) async fn end(self) -> Result<(), BenchError> {
        self.process.end().await
    }
}
