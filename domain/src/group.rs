//! Groups of channels: who sees one, and how wide one may be.

use crate::{
    account::Actor,
    channel::ChannelName,
    id::{AccountId, GroupId},
};

/// The name of the group in which the channels of managers and their reports stand.
pub const COORDINATION_GROUP: &str = "__coordination__";

/// How far a group is seen; the narrower is the lesser.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Visibility {
    /// By its owner, and by the agents of its owner.
    Owner,
    /// By everyone, if every group above it is shared too.
    Shared,
}

/// A group of channels.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ChannelGroup {
    /// Which.
    pub id: GroupId,
    /// Its name; free to repeat.
    pub name: ChannelName,
    /// The group it stands in.
    pub parent: Option<GroupId>,
    /// Who created it, a person or an agent.
    pub owner: AccountId,
    /// How far it is seen by itself.
    pub visibility: Visibility,
}

impl ChannelGroup {
    /// True if `viewer` sees this group, and may create in it, when the group is seen as far as `effective`.
    pub fn is_visible_to(&self, viewer: Actor, effective: Visibility) -> bool {
        effective == Visibility::Shared || self.owner == viewer.id || self.owner == viewer.owner()
    }
}

/// A group that is wider than the one it stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("visibility SHARED is wider than the parent group's: a group in an OWNER group is an OWNER group")]
pub struct TooWide;

/// How far a group is seen: no farther than any group above it.
pub fn effective(chain: impl IntoIterator<Item = Visibility>) -> Visibility {
    chain.into_iter().min().unwrap_or(Visibility::Owner)
}

/// True if `viewer` sees the group that is the first of `chain`, which goes on with the groups it stands in.
pub fn is_visible(chain: &[ChannelGroup], viewer: Actor) -> bool {
    let seen = effective(chain.iter().map(|group| group.visibility));
    chain.first().is_some_and(|group| group.is_visible_to(viewer, seen))
}

/// Checks how far a new group may be seen that stands in one seen as far as `parent`.
///
/// # Errors
///
/// [`TooWide`] if it would be seen farther.
pub fn check_width(child: Visibility, parent: Visibility) -> Result<(), TooWide> {
    if child > parent { Err(TooWide) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account::{ActorKind, UserRole};

    fn account(byte: u8) -> AccountId {
        AccountId::from_bytes([byte; 16])
    }

    fn group(owner: AccountId) -> ChannelGroup {
        ChannelGroup {
            id: GroupId::from_bytes([9; 16]),
            name: ChannelName::parse("g").unwrap(),
            parent: None,
            owner,
            visibility: Visibility::Owner,
        }
    }

    #[test]
    fn a_group_is_seen_as_far_as_the_narrowest_above_it() {
        use Visibility::{Owner, Shared};
        assert_eq!(effective([Shared, Shared]), Shared);
        assert_eq!(effective([Shared, Owner, Shared]), Owner);
        assert_eq!(effective([Shared, Owner]), Owner);
        assert_eq!(effective([]), Owner, "what does not exist is not shared");
    }

    #[test]
    fn a_child_is_not_wider_than_its_parent() {
        use Visibility::{Owner, Shared};
        assert_eq!(check_width(Shared, Owner), Err(TooWide));
        for (child, parent) in [(Owner, Owner), (Owner, Shared), (Shared, Shared)] {
            assert_eq!(check_width(child, parent), Ok(()));
        }
    }

    #[test]
    fn an_owners_group_is_seen_by_the_owner_and_its_agents_alone() {
        let person = |byte| Actor { id: account(byte), kind: ActorKind::User { role: UserRole::Admin } };
        let agent =
            |byte, owner| Actor { id: account(byte), kind: ActorKind::Agent { owner: account(owner) } };
        let of_person = group(account(1));
        assert!(of_person.is_visible_to(person(1), Visibility::Owner));
        assert!(of_person.is_visible_to(agent(2, 1), Visibility::Owner));
        assert!(!of_person.is_visible_to(person(3), Visibility::Owner));
        assert!(!of_person.is_visible_to(agent(4, 3), Visibility::Owner));
        assert!(of_person.is_visible_to(agent(4, 3), Visibility::Shared));
        assert!(group(account(2)).is_visible_to(agent(2, 1), Visibility::Owner));
        assert!(
            !group(account(2)).is_visible_to(person(1), Visibility::Owner),
            "made by the agent for itself"
        );
    }
}
