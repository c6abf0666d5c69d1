//! Processes that a step started and did not end.

use std::collections::BTreeMap;
use std::fs;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitOptions};

/// How long a process may take to end after the step that started it.
const GRACE: Duration = Duration::from_secs(5);
/// How long a killed process may take to vanish before it is killed again.
const ROUND: Duration = Duration::from_secs(1);

/// Makes this process the parent of every orphan below it, where the system can.
pub(crate) fn adopt() {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::set_child_subreaper(Some(rustix::process::getpid())) {
        eprintln!("xtask: processes that tests leave behind will not be noticed: {error}");
    }
}

/// This process's children that still run, by id, with their command lines.
pub(crate) fn children() -> BTreeMap<i32, String> {
    listed(|state| !matches!(state, "Z" | "X")).map(|pid| (pid, command_line(pid))).collect()
}

/// Takes the exit of every ended child but the one being waited for elsewhere and those that were there `before`:
/// as for any other parent, an ended process stays visible until someone asks for its status.
pub(crate) fn reap(step: u32, before: &BTreeMap<i32, String>) {
    let ended = listed(|state| state == "Z").filter(|pid| !before.contains_key(pid));
    for pid in ended.filter(|pid| u32::try_from(*pid) != Ok(step)) {
        if let Some(pid) = Pid::from_raw(pid) {
            // It may be gone between the listing and this call, which is all that is wanted.
            let _ = rustix::process::waitpid(Some(pid), WaitOptions::NOHANG);
        }
    }
}

/// Ends the children that were not there `before`; names those that did not end by themselves in time.
pub(crate) fn end_new(before: &BTreeMap<i32, String>) -> Vec<String> {
    let mut ended = Vec::new();
    let mut deadline = Instant::now() + GRACE;
    loop {
        let mut new = children();
        new.retain(|pid, _| !before.contains_key(pid));
        if new.is_empty() {
            reap(0, before);
            return ended;
        }
        if Instant::now() >= deadline {
            // An orphan's own children become ours when it ends, so the next round may find more.
            for (pid, command) in new {
                let name = format!("{pid} {command}");
                let killed = Pid::from_raw(pid).map(|pid| rustix::process::kill_process(pid, Signal::KILL));
                if killed.is_some_and(|killed| killed.is_ok()) && !ended.contains(&name) {
                    ended.push(name);
                }
            }
            deadline = Instant::now() + ROUND;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn listed(wanted: impl Fn(&str) -> bool) -> impl Iterator<Item = i32> {
    let own = std::process::id().to_string();
    let processes = fs::read_dir("/proc").into_iter().flatten();
    processes.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok()).filter(move |pid| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        state_of_child(&stat, &own).is_some_and(&wanted)
    })
}

/// Reads `pid (name) state ppid …`; the name may hold spaces and brackets.
fn state_of_child<'a>(stat: &'a str, parent: &str) -> Option<&'a str> {
    let (_, rest) = stat.rsplit_once(") ")?;
    let mut fields = rest.split(' ');
    let state = fields.next()?;
    (fields.next() == Some(parent)).then_some(state)
}

fn command_line(pid: i32) -> String {
    let raw = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&raw).replace('\0', " ").trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_child_has_a_state_whatever_its_name() {
        assert_eq!(state_of_child("7 (a) b) (c) S 42 7 7", "42"), Some("S"));
        assert_eq!(state_of_child("7 (a) Z 42 7 7", "42"), Some("Z"));
        assert_eq!(state_of_child("7 (a) S 421 7 7", "42"), None);
        assert_eq!(state_of_child("", "42"), None);
    }
}
