//! Channels as readers see them.

use compass_domain::{
    Channel,
    channel::{ChannelKind, MembershipMode, Pin, PostPolicy},
};
use compass_proto::v1;

/// A channel on the wire, pins included.
pub fn channel(channel: &Channel) -> v1::Channel {
    let by_row = channel.members.iter().filter(|member| member.subscribed).map(|member| member.account);
    let subscribers = by_row.chain(channel.tree_subscribers.iter().copied());
    let (membership_mode, anchor) = mode(channel.mode);
    v1::Channel {
        id: channel.id.to_string(),
        name: channel.name.as_str().to_owned(),
        group_id: channel.group.map(|group| group.to_string()).unwrap_or_default(),
        kind: kind(channel.kind).into(),
        member_account_ids: channel.members.iter().map(|member| member.account.to_string()).collect(),
        subscriber_account_ids: subscribers.map(|account| account.to_string()).collect(),
        post_policy: policy(channel.policy).into(),
        owner_account_id: channel.policy.owner().map(|owner| owner.to_string()).unwrap_or_default(),
        mandatory_subscription: channel.mandatory,
        pinned_entries: channel.pins.iter().map(pin).collect(),
        membership_mode: membership_mode.into(),
        anchor_agent_id: anchor,
    }
}

fn kind(kind: ChannelKind) -> v1::ChannelKind {
    match kind {
        ChannelKind::Channel => v1::ChannelKind::Channel,
        ChannelKind::Dm => v1::ChannelKind::Dm,
        ChannelKind::GroupDm => v1::ChannelKind::GroupDm,
    }
}

fn policy(policy: PostPolicy) -> v1::ChannelPostPolicy {
    match policy {
        PostPolicy::Open => v1::ChannelPostPolicy::Open,
        PostPolicy::OwnerOnly { .. } => v1::ChannelPostPolicy::OwnerOnly,
    }
}

fn mode(mode: MembershipMode) -> (v1::ChannelMembershipMode, String) {
    match mode {
        MembershipMode::Flat => (v1::ChannelMembershipMode::Flat, String::new()),
        MembershipMode::Tree { anchor } => (v1::ChannelMembershipMode::Tree, anchor.to_string()),
    }
}

fn pin(pin: &Pin) -> v1::PinnedEntry {
    v1::PinnedEntry {
        message_id: pin.message.to_string(),
        position: i32::try_from(pin.position).unwrap_or(i32::MAX),
        pinned_at_unix_ms: pin.pinned_at.0,
        pinned_by_account_id: pin.pinned_by.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use compass_domain::{
        AccountId, ChannelId, GroupId, MessageId, UnixMillis,
        channel::{ChannelName, Member},
    };

    use super::*;

    #[test]
    fn a_channel_is_shown_whole() {
        let account = |byte| AccountId::from_bytes([byte; 16]);
        let shown = channel(&Channel {
            id: ChannelId::from_bytes([1; 16]),
            name: ChannelName::parse("Ops").unwrap(),
            group: Some(GroupId::from_bytes([2; 16])),
            kind: ChannelKind::Dm,
            mode: MembershipMode::Tree { anchor: account(3) },
            policy: PostPolicy::OwnerOnly { owner: account(4) },
            mandatory: true,
            members: vec![
                Member { account: account(4), subscribed: false },
                Member { account: account(5), subscribed: true },
            ],
            tree_subscribers: vec![account(7)],
            pins: vec![Pin {
                message: MessageId::from_bytes([6; 16]),
                position: 2,
                pinned_at: UnixMillis(9),
                pinned_by: account(5),
            }],
        });
        let id = |byte: u8| format!("{byte:02x}").repeat(16);
        let expected = v1::Channel {
            id: id(1),
            name: "Ops".into(),
            group_id: id(2),
            kind: v1::ChannelKind::Dm.into(),
            member_account_ids: vec![id(4), id(5)],
            subscriber_account_ids: vec![id(5), id(7)],
            post_policy: v1::ChannelPostPolicy::OwnerOnly.into(),
            owner_account_id: id(4),
            mandatory_subscription: true,
            pinned_entries: vec![v1::PinnedEntry {
                message_id: id(6),
                position: 2,
                pinned_at_unix_ms: 9,
                pinned_by_account_id: id(5),
            }],
            membership_mode: v1::ChannelMembershipMode::Tree.into(),
            anchor_agent_id: id(3),
        };
        assert_eq!(shown, expected);
    }
}
