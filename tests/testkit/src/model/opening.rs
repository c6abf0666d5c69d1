//! The small world in which every sequence begins, made through the same use cases and held against the model.

use compass_comms::{
    channels::{
        resolve::ChannelRef,
        update_board::{BoardChange, UpdateBoard},
        update_members::UpdateMembers,
    },
    groups::resolve::GroupRef,
    messages::post_message::{PostMessage, TopicInput},
};
use compass_domain::{AccountId, ChannelId, MessageId, message::DraftBlock};

use super::{play::Play, state::Who};
use crate::{Scene, drafts};

impl Play {
    /// An admin, two people, agents of which three stand one below the other, two groups, channels flat and as a tree,
    /// a direct conversation, topics of which some are read, a full board, asks and keys.
    pub(super) async fn open(&mut self, scene: &Scene) {
        let (admin, system) = (scene.admin("root").await, scene.system().await);
        self.state.accounts = vec![Who::from(&admin), Who::from(&system)];
        let ann = self.create_user(admin.id, "ann").await.expect("a person");
        let bob = self.create_user(admin.id, "bob").await.expect("a person");
        let one = self.create_agent(ann, "one", None).await.expect("an agent");
        let two = self.create_agent(ann, "two", Some(one)).await.expect("an agent");
        self.create_agent(ann, "deep", Some(two)).await.expect("an agent");
        let three = self.create_agent(bob, "three", None).await.expect("an agent");
        let team = self.create_group(ann, "team", None, true, false).await.expect("a group");
        let den = self.create_group(bob, "cellar", None, false, false).await.expect("a group");
        let team = Some(GroupRef::Id(team));
        let hall = self.create_channel(ann, "hall", team, vec![bob, one], None, false).await;
        let lab = self.create_channel(ann, "lab", None, Vec::new(), Some(one), false).await;
        let den = self.create_channel(bob, "den", Some(GroupRef::Id(den)), vec![three], None, false).await;
        let (hall, lab, den) = (hall.expect("a channel"), lab.expect("a tree"), den.expect("a channel"));
        let subscribe = |channel, account| UpdateMembers {
            subscribe: vec![account],
            ..UpdateMembers::of(ChannelRef::Id(channel))
        };
        self.update_members(ann, subscribe(hall, one), false).await;
        self.update_members(ann, subscribe(lab, two), false).await;
        // From now on she stands in the tree by owning its anchor.
        let leave = UpdateMembers { remove: vec![ann], ..UpdateMembers::of(ChannelRef::Id(lab)) };
        self.update_members(ann, leave, false).await;
        self.say(ann, hall, "plans", vec![drafts::text("river and stone")], "k1").await;
        let ask = || vec![DraftBlock::Ask(drafts::yes_or_no())];
        self.say(one, hall, "plans", ask(), "").await;
        self.say(one, hall, "bugs", vec![drafts::text("@bob tiger")], "").await;
        self.say(bob, hall, "bugs", vec![drafts::text("cloud")], "").await;
        self.say(bob, hall, "news", vec![drafts::text("stone"), drafts::text("tiger")], "").await;
        self.say(ann, hall, "news", vec![drafts::text("and river")], "").await;
        self.say(two, lab, "plans", ask(), "").await;
        self.say(ann, lab, "news", vec![drafts::text("apple")], "").await;
        self.say(three, den, "plans", ask(), "k1").await;
        self.say(bob, den, "news", vec![drafts::text("river")], "").await;
        // Half read, all read, and not read.
        for (who, channel, topic, seq) in
            [(ann, hall, "bugs", 3), (ann, lab, "news", 2), (bob, den, "plans", 1), (bob, den, "news", 2)]
        {
            let topic = self.state.thread_named(channel, topic).expect("a topic").id;
            self.mark_read(who, Some(topic), seq).await;
        }
        // A board that is full, with a message that is not on it.
        let said: Vec<MessageId> = self.state.messages.iter().map(|said| said.id).take(5).collect();
        for message in said {
            let change = BoardChange::Pin { message, replace: None };
            self.update_board(ann, UpdateBoard { channel: hall, change }, false).await;
        }
        self.open_dm(ann, "bob".to_owned(), false).await;
        // A conversation that a third one joined is none any more; the two begin another.
        self.open_dm(admin.id, "bob".to_owned(), false).await;
        let direct = self.state.places.last().expect("a channel").id;
        let mut join = UpdateMembers::of(ChannelRef::Id(direct));
        (join.add, join.new_name) = (vec![ann], Some("three of us".to_owned()));
        self.update_members(bob, join, false).await;
        self.open_dm(bob, "root".to_owned(), false).await;
    }

    async fn say(
        &mut self,
        who: AccountId,
        channel: ChannelId,
        topic: &str,
        blocks: Vec<DraftBlock>,
        key: &str,
    ) {
        let topic = TopicInput { name: Some(topic.to_owned()), ..TopicInput::default() };
        let (channel, client_request_id) = (ChannelRef::Id(channel), key.to_owned());
        let post = PostMessage { channel, topic, blocks, client_request_id };
        self.post(who, post, false).await.expect("a message");
    }
}
