//! The rules of direct conversations, through the use cases.

use std::{collections::BTreeSet, sync::Arc};

use compass_comms::channels::open_dm::{self, OpenDm, Opened, open_dm};
use compass_domain::{
    Account, AccountId, AccountKind, Classified, ErrorKind, Event, channel::ChannelKind, delivery::Lane,
};
use tokio::sync::Barrier;
use tokio_util::task::TaskTracker;

use super::{
    policy_cases::{owed, update},
    told::told,
};
use crate::{Fixture, Scene};

const TRIALS: usize = 20;

async fn open(scene: &Scene, by: &Account, peer: &str) -> Result<Opened, open_dm::Error> {
    let open = OpenDm { peer_handle: peer.to_owned() };
    open_dm(&scene.comms(), &scene.caller(by), open).await
}

fn members(opened: &Opened) -> BTreeSet<AccountId> {
    opened.channel.members.iter().map(|member| member.account).collect()
}

/// I6.
pub async fn two_people_have_one_conversation_whoever_opens_it(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let (ana, ben) = (scene.user("ana").await, scene.user("ben").await);
    let mut events = scene.bus.tap();
    let opened = open(&scene, &ana, "ben").await.unwrap();
    assert!(opened.created);
    assert_eq!((opened.channel.kind, opened.channel.name.as_str()), (ChannelKind::Dm, "dm:ana:ben"));
    assert_eq!(members(&opened), BTreeSet::from([ana.id, ben.id]));
    let again = open(&scene, &ben, "ana").await.unwrap();
    assert_eq!((again.created, &again.channel), (false, &opened.channel));
    let expected = Event::ChannelChanged { channel: opened.channel.into(), removed: Vec::new() };
    assert_eq!(told(&scene, &mut events).await, [expected]);
    let oneself = open(&scene, &ana, "ana").await.unwrap_err();
    assert_eq!(oneself.kind(), ErrorKind::InvalidArgument);
    scene.system().await;
    for nobody in ["nobody", "No Handle", "compass"] {
        let error = open(&scene, &ana, nobody).await.unwrap_err();
        assert_eq!((error.kind(), error.to_string().as_str()), (ErrorKind::NotFound, "peer not found"));
    }
}

/// I6: of one unordered pair there is one, under concurrency too.
pub async fn two_that_open_at_once_find_one_conversation(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    for trial in 0..TRIALS {
        let ana = scene.user(&format!("ana{trial}")).await;
        let ben = scene.user(&format!("ben{trial}")).await;
        let barrier = Arc::new(Barrier::new(2));
        let tasks: Vec<_> = [(&ana, &ben), (&ben, &ana)]
            .into_iter()
            .map(|(by, peer)| {
                let (comms, caller, barrier) = (scene.comms(), scene.caller(by), Arc::clone(&barrier));
                let open = OpenDm { peer_handle: peer.handle.as_str().to_owned() };
                TaskTracker::new().spawn(async move {
                    barrier.wait().await;
                    open_dm(&comms, &caller, open).await.unwrap()
                })
            })
            .collect();
        let mut opened = Vec::new();
        for task in tasks {
            opened.push(task.await.unwrap());
        }
        assert_eq!(opened[0].channel.id, opened[1].channel.id, "trial {trial}");
        assert_ne!(opened[0].created, opened[1].created, "trial {trial}");
    }
}

/// I6: an agent that it sees, with the agent's owner; its own agent at home.
pub async fn a_person_talks_to_agents_it_sees_and_to_its_own_at_home(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let (ana, ben) = (scene.user("ana").await, scene.user("ben").await);
    let (mine, other) = (scene.agent("mine", &ana).await, scene.agent("other", &ben).await);
    let AccountKind::Agent { home_channel, .. } = mine.kind else { panic!("an agent") };
    for (by, peer) in [(&ana, "mine"), (&mine, "ana")] {
        let home = open(&scene, by, peer).await.unwrap();
        assert_eq!((home.created, home.channel.id), (false, home_channel));
    }
    let unseen = open(&scene, &ana, "other").await.unwrap_err();
    let unknown = open(&scene, &ana, "nobody").await.unwrap_err();
    assert_eq!((unseen.kind(), unseen.to_string()), (unknown.kind(), unknown.to_string()));
    let uninvited = open(&scene, &other, "ana").await.unwrap_err();
    assert_eq!(uninvited.kind(), ErrorKind::NotFound, "an agent opens none with a stranger");
    scene.channel("room", &[&ana, &other]).await;
    let opened = open(&scene, &ana, "other").await.unwrap();
    assert_eq!(members(&opened), BTreeSet::from([ana.id, other.id, ben.id]));
    assert!(opened.created && opened.channel.mandatory);
    let found = open(&scene, &other, "ana").await.unwrap();
    assert_eq!((found.created, found.channel.id), (false, opened.channel.id));
    let hello = scene.say(&ana, opened.channel.id, "t", "hello").await;
    assert_eq!(owed(&scene, &other).await, [(Lane::Deliver, hello.id())]);
}

/// agent-ui 1.3.
pub async fn agents_of_one_owner_talk_with_the_owner_listening(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let (ana, ben) = (scene.user("ana").await, scene.user("ben").await);
    let (one, two) = (scene.agent("one", &ana).await, scene.agent("two", &ana).await);
    let foreign = scene.agent("foreign", &ben).await;
    scene.channel("room", &[&one, &foreign]).await;
    let opened = open(&scene, &two, "one").await.unwrap();
    assert_eq!(members(&opened), BTreeSet::from([one.id, two.id, ana.id]));
    assert_eq!(open(&scene, &one, "two").await.unwrap().channel.id, opened.channel.id);
    assert_eq!(open(&scene, &one, "foreign").await.unwrap_err().kind(), ErrorKind::NotFound);
    let hello = scene.say(&one, opened.channel.id, "t", "hello").await;
    assert_eq!(owed(&scene, &two).await, [(Lane::Deliver, hello.id())]);
    scene.say(&ana, opened.channel.id, "t", "the owner writes too").await;
}

/// agent-ui 1.3: a third one makes a channel of it, which needs a name; the pair has none any more.
pub async fn a_third_one_makes_a_named_channel_of_a_conversation(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let (ana, ben, eve) = (scene.user("ana").await, scene.user("ben").await, scene.user("eve").await);
    let direct = open(&scene, &ana, "ben").await.unwrap().channel;
    let name = Some("plans".to_owned());
    let nameless = update(&scene, &ana, direct.id, |update| update.add = vec![eve.id]).await.unwrap_err();
    let needless =
        update(&scene, &ana, direct.id, |update| update.new_name.clone_from(&name)).await.unwrap_err();
    let leaving = update(&scene, &ana, direct.id, |update| update.remove = vec![ana.id]).await.unwrap_err();
    for error in [&nameless, &needless, &leaving] {
        assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{error}");
    }
    assert_eq!(scene.read().await.find_channel(direct.id).await.unwrap().as_ref(), Some(&direct));
    let converted = update(&scene, &ana, direct.id, |update| {
        update.add = vec![eve.id];
        update.new_name = name;
    });
    let converted = converted.await.unwrap();
    assert_eq!((converted.kind, converted.name.as_str()), (ChannelKind::Channel, "plans"));
    assert_eq!(converted.members.len(), 3);
    let fresh = open(&scene, &ben, "ana").await.unwrap();
    assert!(fresh.created);
    assert_ne!(fresh.channel.id, direct.id);
    assert!(update(&scene, &ben, direct.id, |update| update.remove = vec![ben.id]).await.is_ok());
}

/// Two handles of the greatest length still have a conversation.
pub async fn the_longest_handles_have_a_conversation_too(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let (ana, ben) = (scene.user(&"a".repeat(64)).await, scene.user(&"b".repeat(64)).await);
    let opened = open(&scene, &ana, ben.handle.as_str()).await.unwrap();
    let again = open(&scene, &ben, ana.handle.as_str()).await.unwrap();
    assert_eq!(opened.channel, again.channel);
}
