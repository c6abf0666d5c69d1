//! `compass demo` at a terminal, in a fresh home, without a flag; nothing stays behind.

use std::{fs, path::Path, process::Command};

use rexpect::{
    process::WaitStatus,
    session::{PtySession, spawn_command},
};

use crate::support::{PATIENCE, program};

const QUESTION: &str = "Which environment should release 4.2 go to first?";
const ROWS: &str = "Enter takes the row";
const REVIEW: &str = "Enter sends it";

/// A demo at a terminal of its own.
fn demo(home: &Path) -> PtySession {
    let mut command = Command::new(program());
    command
        .arg("demo")
        .env_clear()
        .env("HOME", home)
        .env("TMPDIR", home.join("tmp"))
        .env("TERM", "xterm-256color");
    command.env("PATH", "/usr/bin:/bin");
    fs::create_dir(home.join("tmp")).unwrap();
    spawn_command(command, Some(u64::try_from(PATIENCE.as_millis()).unwrap())).unwrap()
}

/// Presses keys; the session buffers what is not flushed.
fn press(demo: &mut PtySession, keys: &str) {
    demo.send(keys).unwrap();
    demo.flush().unwrap();
}

/// The rest of the output; the demo must have ended well.
fn rest(mut demo: PtySession) -> String {
    let rest = demo.exp_eof().unwrap();
    let status = demo.process_mut().wait().unwrap();
    assert!(matches!(status, WaitStatus::Exited(_, 0)), "{status:?}: {rest}");
    rest
}

/// No process of this home runs any more, and no file is left in it.
fn assert_nothing_left(home: &Path) {
    assert_eq!(fs::read_dir(home.join("tmp")).unwrap().count(), 0, "temporary files are left");
    assert_eq!(fs::read_dir(home).unwrap().count(), 1, "files are left in the home directory");
    let mark = format!("HOME={}", home.display());
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let environment = fs::read(entry.path().join("environ")).unwrap_or_default();
        let left = environment.split(|byte| *byte == 0).any(|variable| variable == mark.as_bytes());
        assert!(!left, "process {} is left", entry.path().display());
    }
}

#[test]
fn a_person_takes_the_recommended_option_and_the_agent_prints_question_and_label() {
    let home = tempfile::tempdir().unwrap();
    let mut demo = demo(home.path());
    demo.exp_string(QUESTION).unwrap();
    demo.exp_string(ROWS).unwrap();
    press(&mut demo, "\r");
    demo.exp_string(REVIEW).unwrap();
    press(&mut demo, "\r");
    demo.exp_string(&format!("agent: my question was: {QUESTION}")).unwrap();
    demo.exp_string("agent: the answer is: Staging").unwrap();
    let rest = rest(demo);
    assert!(rest.contains("delivered and acknowledged"), "{rest}");
    assert_nothing_left(home.path());
}

#[test]
fn arrow_keys_move_and_own_words_reach_the_agent() {
    let home = tempfile::tempdir().unwrap();
    let mut demo = demo(home.path());
    demo.exp_string(ROWS).unwrap();
    for _ in 0..3 {
        press(&mut demo, "\x1b[B");
    }
    press(&mut demo, "\r");
    demo.exp_string("Type your words").unwrap();
    press(&mut demo, "only after lunch\r");
    demo.exp_string(REVIEW).unwrap();
    press(&mut demo, "\r");
    demo.exp_string("agent: in the person's words: only after lunch").unwrap();
    rest(demo);
    assert_nothing_left(home.path());
}

#[test]
fn a_person_who_leaves_sends_nothing_and_leaves_nothing() {
    let home = tempfile::tempdir().unwrap();
    let mut demo = demo(home.path());
    demo.exp_string(ROWS).unwrap();
    demo.send_control('c').unwrap();
    demo.exp_string("Nothing was sent").unwrap();
    assert!(!rest(demo).contains("the answer is"));
    assert_nothing_left(home.path());
}
