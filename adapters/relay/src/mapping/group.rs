//! Groups of channels as readers see them.

use compass_domain::{ChannelGroup, group::Visibility};
use compass_proto::v1;

/// A group on the wire.
pub fn group(group: &ChannelGroup) -> v1::ChannelGroup {
    v1::ChannelGroup {
        id: group.id.to_string(),
        name: group.name.as_str().to_owned(),
        parent_group_id: group.parent.map(|parent| parent.to_string()).unwrap_or_default(),
        owner_user_id: group.owner.to_string(),
        visibility: visibility(group.visibility).into(),
    }
}

fn visibility(visibility: Visibility) -> v1::ChannelGroupVisibility {
    match visibility {
        Visibility::Owner => v1::ChannelGroupVisibility::Owner,
        Visibility::Shared => v1::ChannelGroupVisibility::Shared,
    }
}

#[cfg(test)]
mod tests {
    use compass_domain::{AccountId, GroupId, channel::ChannelName};

    use super::*;

    #[test]
    fn a_group_is_shown_whole() {
        let shown = group(&ChannelGroup {
            id: GroupId::from_bytes([1; 16]),
            name: ChannelName::parse_group("Teams").unwrap(),
            parent: Some(GroupId::from_bytes([2; 16])),
            owner: AccountId::from_bytes([3; 16]),
            visibility: Visibility::Shared,
        });
        let expected = v1::ChannelGroup {
            id: "01".repeat(16),
            name: "Teams".into(),
            parent_group_id: "02".repeat(16),
            owner_user_id: "03".repeat(16),
            visibility: v1::ChannelGroupVisibility::Shared.into(),
        };
        assert_eq!(shown, expected);
    }
}
