//! Who gets a message, and on which lane.

#![expect(clippy::expect_used, reason = "a test that fails panics")]

use std::sync::Arc;

use compass_domain::{
    AccountId, Actor, ChannelId, Message, MessageId, NewMessage, Seq, TopicId, UnixMillis,
    account::ActorKind,
    delivery::{AgentMember, Lane, Target, route},
    message::{Content, DraftBlock, Placement},
};

const AUTHOR: u8 = 1;

fn account(number: u8) -> AccountId {
    AccountId::from_bytes([number; 16])
}

/// A message of agent 1.
fn message(texts: &[&str]) -> Arc<Message> {
    let blocks = texts.iter().map(|text| DraftBlock::Text((*text).to_owned())).collect();
    let content = Content::compose(blocks, || unreachable!("there is no ask")).expect("valid");
    let placement = Placement {
        id: MessageId::from_bytes([7; 16]),
        channel: ChannelId::from_bytes([8; 16]),
        topic: TopicId::from_bytes([9; 16]),
        seq: Seq(1),
        at: UnixMillis(1),
        run: 1,
    };
    let author = Actor { id: account(AUTHOR), kind: ActorKind::Agent { owner: account(99) } };
    Arc::clone(NewMessage::post(author, &content, placement, None).message())
}

/// Agents 1 to 3: the author and another in the sweep set, the third outside of it.
fn members() -> Vec<AgentMember> {
    [(AUTHOR, "author", true), (2, "inside", true), (3, "outside", false)]
        .map(|(number, handle, in_sweep_set)| AgentMember {
            account: account(number),
            handle: handle.to_owned(),
            in_sweep_set,
        })
        .to_vec()
}

fn targets(texts: &[&str]) -> Vec<Target> {
    route(&message(texts), &members())
}

const INSIDE: Target = Target { account: AccountId::from_bytes([2; 16]), lane: Lane::Deliver, owed: false };
const OUTSIDE: Target = Target { account: AccountId::from_bytes([3; 16]), lane: Lane::Steer, owed: true };

#[test]
fn a_mention_of_a_person_a_stranger_or_the_author_itself_adds_nobody() {
    for text in ["@ana", "@nobody", "@author", "plain", "@users all of you"] {
        assert_eq!(targets(&[text]), [INSIDE], "{text}");
    }
}

#[test]
fn everyone_and_agents_are_all_but_the_author() {
    let all = [Target { lane: Lane::Steer, ..INSIDE }, OUTSIDE];
    for text in ["@everyone", "@agents look", "to @Everyone."] {
        assert_eq!(targets(&[text]), all, "{text}");
    }
}

#[test]
fn an_agent_that_is_mentioned_twice_is_one_target() {
    assert_eq!(targets(&["@outside", "and @outside, @OUTSIDE"]), [INSIDE, OUTSIDE]);
    assert_eq!(targets(&["@inside @everyone", "@inside"]), [Target { lane: Lane::Steer, ..INSIDE }, OUTSIDE]);
}
