//! Rosters and presence on the wire.

use compass_comms::accounts::get_roster::{GetRoster, RosterEntry};
use compass_domain::{AccountKind, Presence, roster::RosterScope};
use compass_proto::v1;

use super::ids::optional;
use crate::error::DoorError;

/// A roster to read.
pub(crate) fn get_roster_in(get: &v1::GetRosterRequest) -> Result<GetRoster, DoorError> {
    let scope = match v1::RosterScope::try_from(get.scope) {
        Ok(v1::RosterScope::Neighborhood) => RosterScope::Neighborhood,
        Ok(v1::RosterScope::Subtree) => RosterScope::Subtree,
        Ok(v1::RosterScope::Owner) => RosterScope::Owner,
        Err(_) => return Err(DoorError::EnumValue { field: "scope", value: get.scope }),
    };
    let vantage = optional(&get.agent_account_id, || DoorError::NotFound("agent"))?;
    Ok(GetRoster { scope, vantage })
}

/// A roster as its reader sees it.
pub(crate) fn roster(entries: &[RosterEntry]) -> v1::GetRosterResponse {
    v1::GetRosterResponse { entries: entries.iter().map(entry).collect() }
}

fn entry(entry: &RosterEntry) -> v1::RosterEntry {
    let RosterEntry { agent, presence: now, activity } = entry;
    let parent = match agent.kind {
        AccountKind::Agent { parent, .. } => parent,
        AccountKind::User { .. } | AccountKind::System => None,
    };
    let (activity, at) = activity.as_ref().map_or(("", 0), |(text, at)| (text.as_str(), at.0));
    v1::RosterEntry {
        agent_account_id: agent.id.to_string(),
        handle: agent.handle.to_string(),
        display_name: agent.display_name.clone(),
        parent_agent_id: parent.map(|parent| parent.to_string()).unwrap_or_default(),
        presence: presence(*now).into(),
        activity: activity.to_owned(),
        activity_at_unix_ms: at,
    }
}

/// Presence on the wire; UNSPECIFIED is never sent.
pub(crate) fn presence(presence: Presence) -> v1::AgentPresence {
    match presence {
        Presence::Idle => v1::AgentPresence::Idle,
        Presence::Working => v1::AgentPresence::Working,
        Presence::Waiting => v1::AgentPresence::Waiting,
        Presence::Offline => v1::AgentPresence::Offline,
    }
}

#[cfg(test)]
mod tests {
    use compass_domain::{Account, AccountId, ChannelId, Classified as _, ErrorKind, Handle, UnixMillis};

    use super::*;

    #[test]
    fn every_scope_is_read_and_another_number_is_refused() {
        let scope = |scope| get_roster_in(&v1::GetRosterRequest { scope, ..Default::default() });
        let expected = [RosterScope::Neighborhood, RosterScope::Subtree, RosterScope::Owner];
        for (number, expected) in (0..).zip(expected) {
            assert_eq!(scope(number).unwrap(), GetRoster { scope: expected, vantage: None });
        }
        let error = scope(3).unwrap_err();
        assert_eq!(
            (error.kind(), error.to_string().as_str()),
            (ErrorKind::InvalidArgument, "scope cannot be 3")
        );
    }

    #[test]
    fn a_vantage_that_is_no_id_does_not_exist() {
        let get = v1::GetRosterRequest { agent_account_id: "nope".into(), ..Default::default() };
        assert_eq!(get_roster_in(&get), Err(DoorError::NotFound("agent")));
    }

    #[test]
    fn an_entry_shows_presence_and_activity_and_neither_owner_nor_home() {
        let id = |byte| AccountId::from_bytes([byte; 16]);
        let (owner, home_channel) = (id(2), ChannelId::from_bytes([3; 16]));
        let agent = Account {
            id: id(1),
            handle: Handle::parse("bot").unwrap(),
            display_name: "Bot".into(),
            kind: AccountKind::Agent { owner, home_channel, parent: Some(id(4)) },
        };
        let activity = Some(("reading".to_owned(), UnixMillis(5)));
        let shown = roster(&[RosterEntry { agent, presence: Presence::Waiting, activity }]);
        let expected = v1::RosterEntry {
            agent_account_id: "01".repeat(16),
            handle: "bot".into(),
            display_name: "Bot".into(),
            parent_agent_id: "04".repeat(16),
            presence: v1::AgentPresence::Waiting.into(),
            activity: "reading".into(),
            activity_at_unix_ms: 5,
        };
        assert_eq!(shown.entries, [expected]);
    }
}
