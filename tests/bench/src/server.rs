//! The measured server: the given program as a process of its own.

use std::{
    ffi::OsStr,
    fs::{self, File},
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use tokio::{
    io::{AsyncBufReadExt as _, BufReader},
    process::{Child, ChildStdin, ChildStdout, Command},
};

use crate::BenchError;

/// How long a server has to come up or to end.
const PATIENCE: Duration = Duration::from_secs(30);
/// Settings of the user's that must not reach the measured server.
const SETTINGS: [&str; 3] = ["COMPASS_DATABASE", "COMPASS_DATA_DIR", "COMPASS_LISTEN"];

/// A running server; it ends with this value.
pub(crate) struct Server {
    process: Child,
    stdin: Option<ChildStdin>,
    /// Its address.
    pub(crate) url: String,
    /// Its data directory, which holds the first sign-in.
    pub(crate) data_dir: PathBuf,
    _stdout: BufReader<ChildStdout>,
}

impl Server {
    /// Starts a server on a free port, on SQLite in `data_dir` or on the named database.
    pub(crate) async fn start(
        program: &Path,
        data_dir: &Path,
        database: Option<&str>,
    ) -> Result<Self, BenchError> {
        fs::create_dir_all(data_dir).map_err(BenchError::io("create a data directory"))?;
        let told = data_dir.join("stderr");
        let stderr = File::create(&told).map_err(BenchError::io("create a file"))?;
        let mut command = Command::new(program);
        command.args(["serve", "--listen", "127.0.0.1:0", "--until-input-closes", "--data-dir"]);
        command.arg(data_dir);
        if let Some(database) = database {
            command.args([OsStr::new("--database"), OsStr::new(database)]);
        }
        for name in SETTINGS {
            command.env_remove(name);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(stderr).kill_on_drop(true);
        let mut process = command.spawn().map_err(BenchError::io("start the server"))?;
        let stdin = process.stdin.take();
        let stdout = process.stdout.take().ok_or(BenchError::Broken("the server has no output"))?;
        let mut stdout = BufReader::new(stdout);
        let mut line = String::new();
        let read = tokio::time::timeout(PATIENCE, stdout.read_line(&mut line)).await;
        read.map_err(|_| BenchError::Stuck("the start of the server".to_owned()))?
            .map_err(BenchError::io("read the server's output"))?;
        let Some(url) = line.split_whitespace().last() else {
            let told = fs::read_to_string(&told).map_err(BenchError::io("read the server's errors"))?;
            return Err(BenchError::Server(told.trim().to_owned()));
        };
        let url = url.to_owned();
        Ok(Self { process, stdin, url, data_dir: data_dir.to_owned(), _stdout: stdout })
    }

    /// Bytes of its memory that are resident now.
    pub(crate) fn resident_bytes(&self) -> Result<u64, BenchError> {
        let pid = self.process.id().ok_or(BenchError::Broken("the server has ended"))?;
        let status = fs::read_to_string(format!("/proc/{pid}/status"));
        let status = status.map_err(BenchError::io("read the server's memory"))?;
        resident_bytes(&status).ok_or(BenchError::Broken("/proc tells no VmRSS"))
    }

    /// Lets it end by itself.
    pub(crate) async fn end(mut self) -> Result<(), BenchError> {
        drop(self.stdin.take());
        let ended = tokio::time::timeout(PATIENCE, self.process.wait()).await;
        let ended = ended.map_err(|_| BenchError::Stuck("the end of the server".to_owned()))?;
        ended.map(drop).map_err(BenchError::io("wait for the server"))
    }
}

fn resident_bytes(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::resident_bytes;

    #[test]
    fn resident_memory_is_told_in_kibibytes() {
        assert_eq!(resident_bytes("VmHWM:\t  900 kB\nVmRSS:\t  812 kB\n"), Some(812 * 1024));
        assert_eq!(resident_bytes("VmHWM:\t  900 kB\n"), None);
        assert_eq!(resident_bytes("VmRSS:\t many\n"), None);
    }
}
