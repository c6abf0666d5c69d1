//! The small world in which every sequence begins, made through the same use cases and held against the model.

use compass_comms::{
    channels::{resolve::ChannelRef, update_members::UpdateMembers},
    groups::resolve::GroupRef,
    messages::post_message::{PostMessage, TopicInput},
};
use compass_domain::{AccountId, ChannelId, message::DraftBlock};

use super::{play::Play, state::Who};
use crate::{Scene, drafts};

impl Play {
    /// An admin, two people, three agents of which one reports to another, two groups, channels flat and as a tree, a
    /// topic, asks and a key.
    pub(super) async fn open(&mut self, scene: &Scene) {
        let (admin, system) = (scene.admin("root").await, scene.system().await);
        self.state.accounts = vec![Who::from(&admin), Who::from(&system)];
        let ann = self.create_user(admin.id, "ann").await.expect("a person");
        let bob = self.create_user(admin.id, "bob").await.expect("a person");
        let one = self.create_agent(ann, "one", None).await.expect("an agent");
        let two = self.create_agent(ann, "two", Some(one)).await.expect("an agent");
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
        self.say(ann, hall, vec![drafts::text("river and stone")], "k1").await;
        let ask = || vec![DraftBlock::Ask(drafts::yes_or_no())];
        self.say(one, hall, ask(), "").await;
        self.say(two, lab, ask(), "").await;
        self.say(three, den, ask(), "k1").await;
    }

    async fn say(&mut self, who: AccountId, channel: ChannelId, blocks: Vec<DraftBlock>, key: &str) {
        let topic = TopicInput { name: Some("plans".to_owned()), ..TopicInput::default() };
        let (channel, client_request_id) = (ChannelRef::Id(channel), key.to_owned());
        let post = PostMessage { channel, topic, blocks, client_request_id };
        self.post(who, post, false).await.expect("a message");
    }
}
