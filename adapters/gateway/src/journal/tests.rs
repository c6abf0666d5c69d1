//! Several processes and lives of one agent over the same files.

use compass_agent::tools::PostAskParams;

use super::*;

fn journal(state: &Path) -> FileJournal {
    FileJournal::open(state, "a1").expect("opens")
}

fn wait(key: &str, ask_id: Option<&str>, keep: bool) -> Wait {
    let ask = PostAskParams { questions: vec![], topic: "t".into(), channel: None, create_topic: true };
    Wait { key: key.into(), owner: "one".into(), ask, ask_id: ask_id.map(str::to_owned), keep }
}

#[test]
fn marks_survive_the_process() {
    let state = tempfile::tempdir().expect("a folder");
    let mut first = journal(state.path());
    first.begin(&["m1".into()]).expect("written");
    first.take(&["m1".into()]).expect("written");
    first.begin(&["m2".into()]).expect("written");
    drop(first);
    let mut later = journal(state.path());
    assert_eq!(later.mark("m1").expect("read"), Some(Mark::Taken));
    assert_eq!(later.mark("m2").expect("read"), Some(Mark::Begun));
    assert_eq!(later.mark("m3").expect("read"), None);
}

#[test]
fn another_process_of_the_agent_sees_a_mark_at_once() {
    let state = tempfile::tempdir().expect("a folder");
    let (mut one, mut other) = (journal(state.path()), journal(state.path()));
    one.take(&["m".into()]).expect("written");
    assert_eq!(other.mark("m").expect("read"), Some(Mark::Taken));
    other.begin(&["n".into()]).expect("written");
    assert_eq!(one.mark("n").expect("read"), Some(Mark::Begun));
}

#[test]
fn a_torn_line_never_counted_and_does_not_spoil_the_next() {
    let state = tempfile::tempdir().expect("a folder");
    journal(state.path()).take(&["m1".into()]).expect("written");
    let path = state.path().join("agents/a1/marks.log");
    let mut file = OpenOptions::new().append(true).open(&path).expect("opens");
    file.write_all(b"taken m2").expect("written");
    let mut later = journal(state.path());
    assert_eq!(later.mark("m2").expect("read"), None);
    later.take(&["m3".into()]).expect("written");
    let mut last = journal(state.path());
    assert_eq!(last.mark("m2").expect("read"), None);
    assert_eq!(last.mark("m3").expect("read"), Some(Mark::Taken));
}

#[test]
fn taken_is_final() {
    let state = tempfile::tempdir().expect("a folder");
    let mut one = journal(state.path());
    one.take(&["m".into()]).expect("written");
    one.begin(&["m".into()]).expect("written");
    assert_eq!(one.mark("m").expect("read"), Some(Mark::Taken));
}

#[test]
fn what_was_refused_was_never_begun_and_what_was_taken_stays_taken() {
    let state = tempfile::tempdir().expect("a folder");
    let mut one = journal(state.path());
    one.begin(&["m".into(), "n".into(), "o".into()]).expect("written");
    one.take(&["n".into()]).expect("written");
    one.refuse(&["m".into(), "n".into()]).expect("written");
    let mut later = journal(state.path());
    let marks = ["m", "n", "o"].map(|id| later.mark(id).expect("read"));
    assert_eq!(marks, [None, Some(Mark::Taken), Some(Mark::Begun)]);
}

#[test]
fn waits_survive_the_process_until_they_end() {
    let state = tempfile::tempdir().expect("a folder");
    let wait = |key: &str| wait(key, None, false);
    let mut one = journal(state.path());
    one.wait(&wait("n:1")).expect("written");
    one.wait(&wait("n:2")).expect("written");
    let posted = Wait { ask_id: Some("a".into()), ..wait("n:1") };
    one.wait(&posted).expect("written");
    let mut later = journal(state.path());
    assert_eq!(later.waits().expect("read"), [posted, wait("n:2")]);
    for _ in 0..2 {
        later.end_wait("n:1").expect("ended");
    }
    assert_eq!(one.waits().expect("read"), [wait("n:2")]);
    for bad in ["", "../x", "a/b", &"x".repeat(129)] {
        assert!(one.wait(&wait(bad)).is_err(), "{bad:?}");
        assert!(one.end_wait(bad).is_err(), "{bad:?}");
    }
}

#[test]
fn a_rewritten_log_keeps_the_newest_and_others_follow_it() {
    let state = tempfile::tempdir().expect("a folder");
    let (mut one, mut other) = (journal(state.path()), journal(state.path()));
    one.begin(&["open".into()]).expect("written");
    for n in 0..20 {
        one.take(&[format!("m{n}")]).expect("written");
    }
    one.locked(FileJournal::compact).expect("rewritten");
    assert_eq!(other.mark("open").expect("read"), Some(Mark::Begun));
    assert_eq!(other.mark("m19").expect("read"), Some(Mark::Taken));
    other.take(&["after".into()]).expect("written");
    assert_eq!(one.mark("after").expect("read"), Some(Mark::Taken));
}

#[test]
fn ids_that_could_leave_the_folder_or_the_line_are_refused() {
    let state = tempfile::tempdir().expect("a folder");
    assert!(FileJournal::open(state.path(), "../x").is_err());
    assert!(journal(state.path()).take(&["m\ntaken n".into()]).is_err());
}

#[test]
fn a_wait_lives_while_its_process_does() {
    let state = tempfile::tempdir().expect("a folder");
    let (mut one, mut other) = (journal(state.path()), journal(state.path()));
    one.wait(&wait("core", Some("b"), false)).expect("written");
    for ask_id in [None, Some("a")] {
        let all = [wait("core", Some("b"), false), wait("hook:1", ask_id, true)];
        one.wait(&all[1]).expect("written");
        assert_eq!(one.live_waits().expect("read"), all);
        for _ in 0..2 {
            assert_eq!(other.live_waits().expect("read"), all);
        }
    }
    // A process that is gone closes its files, whatever ended it.
    drop(one);
    assert_eq!(other.live_waits().expect("read"), []);
    assert_eq!(other.waits().expect("read"), [wait("core", Some("b"), false)], "the core withdraws that ask");
}

#[test]
fn one_process_hands_over_at_a_time() {
    let state = tempfile::tempdir().expect("a folder");
    let (mut one, mut other) = (journal(state.path()), journal(state.path()));
    let held = one.hand_over().expect("told").expect("free");
    assert!(other.hand_over().expect("told").is_none());
    assert!(one.hand_over().expect("told").is_none());
    drop(held);
    assert!(other.hand_over().expect("told").is_some());
}
