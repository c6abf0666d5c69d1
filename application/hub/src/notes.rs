//! What was refused, failed or skipped lately for an agent, and why: a bounded memory for an operator's eyes.

use std::{
    collections::{BTreeMap, HashMap, VecDeque},
    sync::Mutex,
};

use compass_domain::{AccountId, TenantId, UnixMillis};

use crate::{Hub, sessions::Who, timing::lock};

/// Notes of one account; an older one falls out.
pub const NOTES_MAX: usize = 16;
/// Accounts that have notes; the one that was noted longest ago falls out.
pub const NOTED_ACCOUNTS_MAX: usize = 1024;
/// A note's text, in code points; the rest of a longer one is in the log.
pub const NOTE_CODE_POINTS: usize = 200;

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NoteKind {
    /// Its runner, or the server, refused a command.
    Refused,
    /// Something was tried and did not work.
    Failed,
    /// A message was left out, and stays owed.
    Skipped,
}

/// One thing that went wrong for an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// When it happened last.
    pub at: UnixMillis,
    /// What happened.
    pub kind: NoteKind,
    /// Why.
    pub text: String,
    /// How often in a row.
    pub times: u32,
}

#[derive(Debug, Default)]
struct Kept {
    turn: u64,
    notes: VecDeque<Note>,
}

#[derive(Debug, Default)]
struct State {
    accounts: HashMap<Who, Kept>,
    /// Accounts by when they were noted last.
    turns: BTreeMap<u64, Who>,
    next: u64,
}

/// Notes of all accounts, behind one short lock.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    state: Mutex<State>,
}

impl Notes {
    /// Keeps a note. The same as the account's latest one is counted instead of kept twice.
    pub(crate) fn put(&self, who: Who, at: UnixMillis, kind: NoteKind, text: &str) {
        let text: String = text.chars().take(NOTE_CODE_POINTS).collect();
        let mut state = lock(&self.state);
        let turn = state.next;
        state.next += 1;
        let kept = state.accounts.entry(who.clone()).or_default();
        let before = std::mem::replace(&mut kept.turn, turn);
        match kept.notes.back_mut().filter(|last| last.kind == kind && last.text == text) {
            Some(last) => {
                last.at = at;
                last.times = last.times.saturating_add(1);
            }
            None => kept.notes.push_back(Note { at, kind, text, times: 1 }),
        }
        if kept.notes.len() > NOTES_MAX {
            kept.notes.pop_front();
        }
        if state.turns.get(&before) == Some(&who) {
            state.turns.remove(&before);
        }
        state.turns.insert(turn, who);
        while state.accounts.len() > NOTED_ACCOUNTS_MAX {
            let Some((_, oldest)) = state.turns.pop_first() else { break };
            state.accounts.remove(&oldest);
        }
    }

    /// The latest failure of an account that was noted at `since` or later.
    pub(crate) fn failure_since(&self, who: &Who, since: UnixMillis) -> Option<String> {
        let state = lock(&self.state);
        let latest = state.accounts.get(who)?.notes.iter().rfind(|note| note.kind == NoteKind::Failed)?;
        (latest.at >= since).then(|| latest.text.clone())
    }

    /// Drops what failed for an account before a try that worked. What was refused or skipped stays, and so does what
    /// failed since: a program may be gone again before its start is answered.
    pub(crate) fn works(&self, who: &Who, since: UnixMillis) {
        if let Some(kept) = lock(&self.state).accounts.get_mut(who) {
            kept.notes.retain(|note| note.kind != NoteKind::Failed || note.at >= since);
        }
    }

    /// An account's notes, oldest first.
    pub(crate) fn of(&self, who: &Who) -> Vec<Note> {
        let state = lock(&self.state);
        state.accounts.get(who).map(|kept| kept.notes.iter().cloned().collect()).unwrap_or_default()
    }
}

impl Hub {
    /// Notes for an operator that something was refused, failed or skipped for an agent, and why.
    pub fn note(&self, tenant: &TenantId, account: AccountId, kind: NoteKind, text: &str) {
        self.notes.put((tenant.clone(), account), self.ports.clock.now(), kind, text);
    }

    /// The last notes of an agent since this process started, oldest first; at most [`NOTES_MAX`].
    pub fn notes_of(&self, tenant: &TenantId, account: AccountId) -> Vec<Note> {
        self.notes.of(&(tenant.clone(), account))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn who(number: usize) -> Who {
        let mut id = [0; 16];
        id[..8].copy_from_slice(&number.to_be_bytes());
        (TenantId::default_tenant(), AccountId::from_bytes(id))
    }

    #[test]
    fn an_account_keeps_its_last_notes() {
        let notes = Notes::default();
        for number in 0..20 {
            notes.put(who(1), UnixMillis(number), NoteKind::Failed, &format!("note {number}"));
        }
        let texts: Vec<String> = notes.of(&who(1)).into_iter().map(|note| note.text).collect();
        let expected: Vec<String> = (4..20).map(|number| format!("note {number}")).collect();
        assert_eq!(texts, expected);
        assert_eq!(notes.of(&who(2)), []);
    }

    #[test]
    fn a_repeat_is_counted() {
        let notes = Notes::default();
        for at in 1..=3 {
            notes.put(who(1), UnixMillis(at), NoteKind::Skipped, "corrupt");
        }
        notes.put(who(1), UnixMillis(4), NoteKind::Failed, "corrupt");
        let found: Vec<_> = notes.of(&who(1)).iter().map(|note| (note.at.0, note.kind, note.times)).collect();
        assert_eq!(found, [(3, NoteKind::Skipped, 3), (4, NoteKind::Failed, 1)]);
    }

    #[test]
    fn a_success_drops_earlier_failures_alone() {
        let notes = Notes::default();
        notes.put(who(1), UnixMillis(0), NoteKind::Failed, "not started");
        notes.put(who(1), UnixMillis(1), NoteKind::Skipped, "corrupt");
        notes.put(who(1), UnixMillis(2), NoteKind::Failed, "gone again");
        notes.works(&who(1), UnixMillis(2));
        let kept: Vec<(i64, NoteKind)> =
            notes.of(&who(1)).iter().map(|note| (note.at.0, note.kind)).collect();
        assert_eq!(kept, [(1, NoteKind::Skipped), (2, NoteKind::Failed)]);
    }

    #[test]
    fn the_account_that_was_noted_longest_ago_falls_out() {
        let notes = Notes::default();
        for number in 0..NOTED_ACCOUNTS_MAX {
            notes.put(who(number), UnixMillis(0), NoteKind::Refused, "no");
        }
        notes.put(who(0), UnixMillis(1), NoteKind::Refused, "again");
        notes.put(who(NOTED_ACCOUNTS_MAX), UnixMillis(2), NoteKind::Refused, "no");
        assert_eq!(notes.of(&who(0)).len(), 2);
        assert_eq!(notes.of(&who(1)), []);
        assert_eq!(notes.of(&who(NOTED_ACCOUNTS_MAX)).len(), 1);
    }

    #[test]
    fn a_long_text_is_kept_up_to_its_limit() {
        let notes = Notes::default();
        notes.put(who(1), UnixMillis(0), NoteKind::Failed, &"ä".repeat(1_000));
        assert_eq!(notes.of(&who(1))[0].text.chars().count(), NOTE_CODE_POINTS);
    }
}
