//! Who may be delivered to, and what travels with a message.

use std::collections::BTreeSet;

use compass_domain::{AccountId, ChannelId, Message, MessageId, channel::Pin};
use compass_hub::ports::{Labels, PinQuery};

use super::channels::RandomWorld;
use crate::{ChannelSpec, Fixture, Scene, drafts};

/// CH-26, DV-c.
pub async fn members_are_the_agents_that_take_part_by_id(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let top = scene.agent("top", &ana).await;
    let (below, guest) = (scene.child("below", &top).await, scene.agent("guest", &ana).await);
    scene.agent("outsider", &ana).await;
    let tree = scene.channel_with(ChannelSpec::new("tree", &[&ana, &guest]).tree(&top)).await;
    let members = scene.audience.members(&scene.tenant, tree).await.unwrap();
    let mut expected = vec![(top.id, "top"), (below.id, "below"), (guest.id, "guest")];
    expected.sort_unstable();
    let found: Vec<(AccountId, &str)> =
        members.iter().map(|member| (member.account, member.handle.as_str())).collect();
    assert_eq!(found, expected);
}

/// 9.2: one definition.
pub async fn the_sweep_set_is_subscribed_home_or_mandatory(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let bot = scene.agent("bot", &ana).await;
    let home = scene.read().await.list_channels(bot.actor()).await.unwrap()[0].id;
    let plain = scene.channel("plain", &[&bot]).await;
    let subscribed = scene.channel("subscribed", &[&bot]).await;
    scene.subscribe(subscribed, &bot).await;
    let mandatory = ChannelSpec { mandatory: true, ..ChannelSpec::new("mandatory", &[&bot]) };
    let mandatory = scene.channel_with(mandatory).await;
    let mandatory_tree = ChannelSpec { mandatory: true, ..ChannelSpec::new("tree", &[]).tree(&bot) };
    let mandatory_tree = scene.channel_with(mandatory_tree).await;
    let plain_tree = scene.tree("plain tree", &bot).await;
    scene.put_member(home, &bot, false).await;
    for (channel, expected) in [
        (home, true),
        (plain, false),
        (subscribed, true),
        (mandatory, true),
        (mandatory_tree, true),
        (plain_tree, false),
    ] {
        let members = scene.audience.members(&scene.tenant, channel).await.unwrap();
        let found: Vec<bool> = members.iter().map(|member| member.in_sweep_set).collect();
        assert_eq!(found, [expected], "{channel}");
    }
}

/// DV-mm: the names, and the message as it is now.
pub async fn a_message_is_labelled_as_it_is_now(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let room = scene.channel("The Room", &[&ana]).await;
    let (message, ask) = scene.ask(&ana, room, drafts::yes_or_no()).await;
    let (asked, _) = scene.answer(&ana, ask, drafts::yes()).await.unwrap();
    let labelled = scene.audience.labelled(&scene.tenant, message.id()).await.unwrap().expect("it exists");
    assert_eq!(labelled.message, asked);
    let expected = Labels {
        topic_name: "asks".into(),
        channel_name: "The Room".into(),
        from_handle: "ana".into(),
        asker_handle: String::new(),
    };
    assert_eq!(labelled.labels, expected);
    assert_eq!(scene.audience.labels(&scene.tenant, &message).await.unwrap(), expected);
    let unknown = MessageId::from_bytes([3; 16]);
    assert!(scene.audience.labelled(&scene.tenant, unknown).await.unwrap().is_none());
}

/// An answer is labelled with who asked as well, wherever it is read.
pub async fn an_answer_is_labelled_with_who_asked(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let (bot, other) = (scene.agent("bot", &ana).await, scene.agent("other", &ana).await);
    let room = scene.channel("room", &[&ana, &bot, &other]).await;
    scene.put_member(room, &other, true).await;
    let (_, ask) = scene.ask(&bot, room, drafts::yes_or_no()).await;
    let (_, answer) = scene.answer(&ana, ask, drafts::yes()).await.unwrap();
    let labels = Labels {
        topic_name: "asks".into(),
        channel_name: "room".into(),
        from_handle: "ana".into(),
        asker_handle: "bot".into(),
    };
    let labelled = scene.audience.labelled(&scene.tenant, answer.id()).await.unwrap().expect("it exists");
    assert_eq!(labelled.labels, labels);
    assert_eq!(scene.audience.labels(&scene.tenant, &answer).await.unwrap(), labels);
    let pending = scene.pending(&other).await;
    let owed = pending.items.iter().find(|item| item.message.message.id() == answer.id()).expect("owed");
    assert_eq!(owed.message.labels, labels);
}

/// PR-3: until the last open one ends.
pub async fn agents_with_open_asks_are_found_until_the_ask_ends(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let (one, two) = (scene.agent("one", &ana).await, scene.agent("two", &ana).await);
    let idle = scene.agent("idle", &ana).await;
    let room = scene.channel("room", &[&ana, &one, &two]).await;
    let (_, first) = scene.ask(&one, room, drafts::yes_or_no()).await;
    let (_, second) = scene.ask(&one, room, drafts::yes_or_no()).await;
    scene.ask(&two, room, drafts::yes_or_no()).await;
    let all = [one.id, two.id, idle.id];
    let asking = |accounts: Vec<AccountId>| {
        let scene = &scene;
        async move {
            let found = scene.audience.with_open_asks(&scene.tenant, &accounts).await.unwrap();
            found.into_iter().collect::<BTreeSet<_>>()
        }
    };
    assert_eq!(asking(all.to_vec()).await, BTreeSet::from([one.id, two.id]));
    assert_eq!(asking(vec![one.id]).await, BTreeSet::from([one.id]));
    scene.cancel(&one, first).await.unwrap();
    assert_eq!(asking(all.to_vec()).await, BTreeSet::from([one.id, two.id]));
    scene.answer(&ana, second, drafts::yes()).await.unwrap();
    assert_eq!(asking(all.to_vec()).await, BTreeSet::from([two.id]));
    scene.remove(room, &two).await;
    assert_eq!(asking(vec![two.id]).await, BTreeSet::from([two.id]), "5.9-30: it stays waiting");
}

/// DV-e: recipients, sweep and participation are one rule.
pub async fn members_and_pending_agree_on_random_worlds(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let world = RandomWorld::build(&scene, 11).await;
    let agents: Vec<_> = world.accounts.iter().filter(|account| account.is_agent()).collect();
    let mut unit = scene.begin().await;
    for (channel, _) in &world.channels {
        for agent in &agents {
            unit.cursors().seed(agent.id, *channel).await.unwrap();
        }
    }
    unit.commit().await.unwrap();
    let author = scene.user("author").await;
    let mut owing: Vec<(ChannelId, MessageId)> = Vec::new();
    for (channel, _) in &world.channels {
        scene.put_member(*channel, &author, false).await;
        let message = scene.say(&author, *channel, "t", "text").await.id();
        let pin = Pin { message, position: 0, pinned_at: scene.now(), pinned_by: author.id };
        let mut unit = scene.begin().await;
        unit.channels().lock(*channel).await.unwrap();
        unit.pins().replace(*channel, &[pin]).await.unwrap();
        unit.commit().await.unwrap();
        owing.push((*channel, message));
    }
    let everyone: Vec<AccountId> = world.accounts.iter().map(|account| account.id).collect();
    let owed = scene.audience.owed(&scene.tenant, &everyone).await.unwrap();
    assert!(!owed.is_empty() && owed.is_sorted());
    let mut unit = scene.begin().await;
    let mut places: Vec<ChannelId> = owing.iter().map(|(channel, _)| *channel).collect();
    places.sort_unstable();
    let changing = unit.participants().agents(&places).await.unwrap();
    drop(unit);
    for channel in places {
        let members = scene.audience.members(&scene.tenant, channel).await.unwrap();
        let members: Vec<_> = members.iter().map(|member| (member.account, member.in_sweep_set)).collect();
        let of_channel = changing.iter().filter(|(of, _)| *of == channel);
        let found: Vec<_> = of_channel.map(|(_, member)| (member.account, member.in_sweep_set)).collect();
        assert_eq!(found, members, "seed {}: what a change of members reads in {channel}", world.seed);
    }
    for agent in agents {
        let pending = scene.pending(agent).await;
        let found: BTreeSet<MessageId> = pending.items.iter().map(|item| item.message.message.id()).collect();
        let takes_part = world.of(agent.id);
        let mut expected = BTreeSet::new();
        for (channel, message) in &owing {
            let members = scene.audience.members(&scene.tenant, *channel).await.unwrap();
            let member = members.iter().find(|member| member.account == agent.id);
            assert_eq!(member.is_some(), takes_part.contains(channel), "{} in {channel}", agent.handle);
            if member.is_some_and(|member| member.in_sweep_set) {
                expected.insert(*message);
            }
        }
        assert_eq!(found, expected, "seed {}, {}", world.seed, agent.handle);
        let owed = scene.audience.owed(&scene.tenant, &[agent.id]).await.unwrap();
        assert_eq!(!owed.is_empty(), !expected.is_empty(), "seed {}, {}", world.seed, agent.handle);
        let query = PinQuery { agent: agent.id, after: None, limit: 200 };
        let pins = scene.audience.pins(&scene.tenant, &query).await.unwrap();
        let pinned: BTreeSet<MessageId> = pins.messages.iter().map(|pin| pin.message.id()).collect();
        assert_eq!(pinned, expected, "seed {}, {}: pins", world.seed, agent.handle);
        let messages: Vec<&Message> = pending.items.iter().map(|item| &*item.message.message).collect();
        scene.acknowledge(agent, &messages).await;
        // Cursors of channels in which it takes no part are behind as before.
        let owed = scene.audience.owed(&scene.tenant, &[agent.id]).await.unwrap();
        assert_eq!(owed, [], "seed {}, {}: it acknowledged all it may read", world.seed, agent.handle);
    }
}
