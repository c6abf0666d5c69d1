//! The rules of handles, participation, policy, topics and routing.
#![expect(clippy::expect_used, reason = "a test fails by panicking")]

use compass_domain::{
    AccountId, Actor, ActorKind, ChannelId, Handle, MessageId, NewMessage, Seq, Topic, TopicId, TopicName,
    UnixMillis, UserRole,
    account::{self, HandleError, RESERVED_HANDLES},
    channel::{ChannelHead, MembershipMode, PolicyError, PostPolicy, initial_members},
    delivery::{AgentMember, Lane, Target, route},
    message::{Content, DraftBlock, Placement},
    participation::{AgentNode, AgentTree, participates},
};

const fn account(n: u8) -> AccountId {
    AccountId::from_bytes([n; 16])
}

#[test]
fn the_grammar_of_handles() {
    for good in ["a", "0", "a.b_c-d", "ann", "compass"] {
        assert!(Handle::parse(good).is_ok(), "{good}");
    }
    for bad in ["Ann", "-a", ".a", "_a", "a b", "é", "a\n", "a@b"] {
        assert_eq!(Handle::parse(bad), Err(HandleError::Grammar(bad.to_owned())));
    }
    assert_eq!(Handle::parse(""), Err(HandleError::Empty));
    assert!(Handle::parse(&"a".repeat(64)).is_ok());
    assert!(Handle::parse(&"a".repeat(65)).is_err());
}

#[test]
fn reserved_handles_are_refused_for_new_accounts() {
    for word in RESERVED_HANDLES {
        assert_eq!(Handle::parse_new(word), Err(HandleError::Reserved(word.to_owned())));
    }
}

#[test]
fn activity_is_cut_by_code_points() {
    let cut = account::cut_activity(&"é".repeat(141)).expect("no NUL");
    assert_eq!(cut, "é".repeat(140));
    assert!(account::cut_activity("a\0").is_err());
}

#[test]
fn only_a_person_is_human() {
    let kinds = [
        (ActorKind::User { role: UserRole::Member }, true),
        (ActorKind::User { role: UserRole::Admin }, true),
        (ActorKind::Agent { owner: account(1) }, false),
        (ActorKind::System, false),
    ];
    for (kind, human) in kinds {
        assert_eq!(Actor { id: account(2), kind }.human().is_some(), human, "{kind:?}");
    }
}

/// 1 owns 2, 3, 4, 5; 3 and 5 stand below 2; 4 below 3. 9 is somebody else.
fn tree() -> AgentTree {
    let node = |parent| AgentNode { owner: account(1), parent };
    AgentTree::new([
        (account(2), node(None)),
        (account(3), node(Some(account(2)))),
        (account(4), node(Some(account(3)))),
        (account(5), node(Some(account(2)))),
    ])
}

#[test]
fn a_flat_channel_is_for_its_members() {
    assert!(participates(account(9), MembershipMode::Flat, true, &tree()));
    assert!(!participates(account(1), MembershipMode::Flat, false, &tree()));
}

#[test]
fn a_tree_channel_is_for_the_anchor_its_subtree_its_owner_and_members() {
    let mode = MembershipMode::Tree { anchor: account(3) };
    for (who, expected) in [(1, true), (2, false), (3, true), (4, true), (5, false), (9, false)] {
        assert_eq!(participates(account(who), mode, false, &tree()), expected, "{who}");
    }
    assert!(participates(account(9), mode, true, &tree()));
}

#[test]
fn a_cycle_in_the_tree_ends_the_walk() {
    let node = |parent| AgentNode { owner: account(1), parent: Some(account(parent)) };
    let looped = AgentTree::new([(account(2), node(3)), (account(3), node(2))]);
    assert!(!looped.stands_under(account(2), account(4)));
    assert!(looped.stands_under(account(2), account(3)));
}

#[test]
fn a_policy_and_its_owner_hold_together() {
    let member = |who| who == account(1);
    assert_eq!(PostPolicy::coherent(false, None, member), Ok(PostPolicy::Open));
    assert_eq!(
        PostPolicy::coherent(true, Some(account(1)), member),
        Ok(PostPolicy::OwnerOnly { owner: account(1) })
    );
    assert_eq!(PostPolicy::coherent(true, None, member), Err(PolicyError::OwnerMissing));
    assert_eq!(PostPolicy::coherent(false, Some(account(1)), member), Err(PolicyError::OwnerWithoutPolicy));
    assert_eq!(PostPolicy::coherent(true, Some(account(2)), member), Err(PolicyError::OwnerNotMember));
}

#[test]
fn new_members_are_the_creator_the_asked_ones_and_the_owners_once_each() {
    let owner_of = |who| (who == account(3)).then_some(account(4));
    let members = initial_members(account(1), &[account(3), account(1), account(2)], owner_of);
    let ids: Vec<_> = members.iter().map(|member| member.account).collect();
    assert_eq!(ids, [account(1), account(3), account(2), account(4)]);
    assert!(members.iter().all(|member| !member.subscribed));
}

#[test]
fn time_never_goes_back_within_a_channel() {
    let head = ChannelHead {
        id: ChannelId::from_bytes([1; 16]),
        last_seq: Seq(4),
        last_at: UnixMillis(100),
        policy: PostPolicy::Open,
    };
    assert_eq!(head.next(UnixMillis(90)), (Seq(5), UnixMillis(100)));
    assert_eq!(head.next(UnixMillis(110)), (Seq(5), UnixMillis(110)));
}

#[test]
fn topic_names_are_trimmed_limited_and_compared_folded() {
    let name = |text: &str| TopicName::parse(text);
    assert_eq!(name(" Deploy ").expect("a name").as_str(), "Deploy");
    assert_eq!(name("DEPLOY").expect("a name").key(), name("deploy").expect("a name").key());
    assert!(name(" \t").is_err());
    assert!(name(&"é".repeat(120)).is_ok());
    let refused = name(&"é".repeat(121)).expect_err("too long");
    assert_eq!(refused.to_string(), "topic name is too long: 121 code points, the limit is 120");
    assert!(name("a\0b").is_err());
}

#[test]
fn a_topic_counts_messages_and_lists_the_first_five_authors() {
    let name = TopicName::parse("t").expect("a name");
    let mut topic = Topic::new(
        TopicId::from_bytes([1; 16]),
        ChannelId::from_bytes([2; 16]),
        name,
        account(1),
        UnixMillis(1),
    );
    for n in [1, 1, 2, 3, 4, 5, 6] {
        topic = topic.with_message(account(n), Seq(u64::from(n)), UnixMillis(i64::from(n)));
    }
    assert_eq!((topic.message_count, topic.last_seq, topic.last_activity), (7, Seq(6), UnixMillis(6)));
    assert_eq!(topic.participants, [1, 2, 3, 4, 5].map(account));
}

fn message(author: u8, text: &str) -> NewMessage {
    let blocks = vec![DraftBlock::Text(text.into())];
    let content = Content::compose(blocks, || unreachable!("no ask")).expect("valid");
    let placement = Placement {
        id: MessageId::from_bytes([1; 16]),
        channel: ChannelId::from_bytes([2; 16]),
        topic: TopicId::from_bytes([3; 16]),
        seq: Seq(1),
        at: UnixMillis(1),
        run: 0,
    };
    let kind = ActorKind::User { role: UserRole::Member };
    NewMessage::post(Actor { id: account(author), kind }, &content, placement, None)
}

fn member(n: u8, handle: &str, in_sweep_set: bool) -> AgentMember {
    AgentMember { account: account(n), handle: handle.into(), in_sweep_set }
}

#[test]
fn routing_steers_the_mentioned_and_delivers_to_the_rest_of_the_sweep_set() {
    let members = [
        member(1, "author", true),
        member(2, "in", true),
        member(3, "out", false),
        member(4, "quiet", false),
    ];
    let target = |n, lane, owed| Target { account: account(n), lane, owed };
    let routed = |text| route(message(1, text).message(), &members);
    assert_eq!(routed("hello"), [target(2, Lane::Deliver, false)]);
    assert_eq!(routed("hello @out"), [target(2, Lane::Deliver, false), target(3, Lane::Steer, true)]);
    assert_eq!(routed("hello @in @author"), [target(2, Lane::Steer, false)]);
    assert_eq!(
        routed("@everyone"),
        [target(2, Lane::Steer, false), target(3, Lane::Steer, true), target(4, Lane::Steer, true)]
    );
    assert_eq!(routed("@users @nobody"), [target(2, Lane::Deliver, false)]);
}
