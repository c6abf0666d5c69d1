//! A program of ours as a process of its own, which says where it listens and ends when its input closes.

use std::{
    ffi::OsStr,
    fs::{self, File},
    path::Path,
    process::Stdio,
    time::Duration,
};

use tokio::{
    io::{AsyncBufReadExt as _, BufReader},
    process::{Child, ChildStdin, ChildStdout, Command},
};

use crate::BenchError;

/// How long a process has to come up or to end.
const PATIENCE: Duration = Duration::from_secs(30);
/// Settings of the user's that must not reach a measured process.
const SETTINGS: [&str; 3] = ["COMPASS_DATABASE", "COMPASS_DATA_DIR", "COMPASS_LISTEN"];
/// Of the kernel's clock that /proc counts processor time with.
const TICKS_PER_SECOND: u64 = 100;

/// A running process; it ends with this value.
pub(crate) struct Process {
    child: Child,
    stdin: Option<ChildStdin>,
    /// Its address.
    pub(crate) url: String,
    _stdout: BufReader<ChildStdout>,
}

impl Process {
    /// Starts it and waits for the line whose last word is its address. What it says on its error output goes to
    /// `told`, and is the error if there is no such line.
    pub(crate) async fn start(
        program: &Path,
        arguments: &[impl AsRef<OsStr>],
        told: Option<&Path>,
    ) -> Result<Self, BenchError> {
        let mut command = Command::new(program);
        command.args(arguments);
        for name in SETTINGS {
            command.env_remove(name);
        }
        let stderr = match told {
            Some(told) => File::create(told).map_err(BenchError::io("create a file"))?.into(),
            None => Stdio::inherit(),
        };
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(stderr).kill_on_drop(true);
        let mut child = command.spawn().map_err(BenchError::io("start a process"))?;
        let stdin = child.stdin.take();
        let stdout = child.stdout.take().ok_or(BenchError::Broken("a process has no output"))?;
        let mut stdout = BufReader::new(stdout);
        let mut line = String::new();
        let read = tokio::time::timeout(PATIENCE, stdout.read_line(&mut line)).await;
        read.map_err(|_| BenchError::Stuck("the start of a process".to_owned()))?
            .map_err(BenchError::io("read a process's output"))?;
        let Some(url) = line.split_whitespace().last() else {
            let told = told.map(fs::read_to_string).transpose();
            let told = told.map_err(BenchError::io("read a process's errors"))?.unwrap_or_default();
            return Err(BenchError::Server(told.trim().to_owned()));
        };
        let url = url.to_owned();
        Ok(Self { child, stdin, url, _stdout: stdout })
    }

    /// Bytes of its memory that are resident now.
    pub(crate) fn resident_bytes(&self) -> Result<u64, BenchError> {
        resident_bytes(&self.proc("status")?).ok_or(BenchError::Broken("/proc tells no VmRSS"))
    }

    /// Processor time it used until now.
    pub(crate) fn processor_time(&self) -> Result<Duration, BenchError> {
        processor_time(&self.proc("stat")?).ok_or(BenchError::Broken("/proc tells no processor time"))
    }

    fn proc(&self, file: &str) -> Result<String, BenchError> {
        let pid = self.child.id().ok_or(BenchError::Broken("a process has ended"))?;
        fs::read_to_string(format!("/proc/{pid}/{file}")).map_err(BenchError::io("read /proc"))
    }

    /// Lets it end by itself.
    pub(crate) async fn end(mut self) -> Result<(), BenchError> {
        drop(self.stdin.take());
        let ended = tokio::time::timeout(PATIENCE, self.child.wait()).await;
        let ended = ended.map_err(|_| BenchError::Stuck("the end of a process".to_owned()))?;
        ended.map(drop).map_err(BenchError::io("wait for a process"))
    }
}

fn resident_bytes(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

/// Of user and system; the program's name before them may hold blanks.
fn processor_time(stat: &str) -> Option<Duration> {
    let (_, fields) = stat.rsplit_once(')')?;
    let mut ticks = fields.split_whitespace().skip(11).map(str::parse::<u64>);
    let (user, system) = (ticks.next()?.ok()?, ticks.next()?.ok()?);
    Some(Duration::from_millis((user + system) * 1_000 / TICKS_PER_SECOND))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resident_memory_is_told_in_kibibytes() {
        assert_eq!(resident_bytes("VmHWM:\t  900 kB\nVmRSS:\t  812 kB\n"), Some(812 * 1024));
        assert_eq!(resident_bytes("VmHWM:\t  900 kB\n"), None);
        assert_eq!(resident_bytes("VmRSS:\t many\n"), None);
    }

    #[test]
    fn processor_time_is_that_of_user_and_system() {
        let stat = "7 (a) b) S 1 7 7 0 -1 4194560 1 0 0 0 150 25 0 0 20 0 3 0 1 2 3";
        assert_eq!(processor_time(stat), Some(Duration::from_millis(1_750)));
        assert_eq!(processor_time("7 (a) S 1"), None);
    }
}
