//! A snapshot plus the events after it is the later snapshot, for every call that changes something.

mod cast;
mod client;

use std::{collections::BTreeSet, future::Future, pin::Pin, sync::Arc, time::Duration};

use compass_comms::channels::create_channel::Mode;
use compass_domain::group::Visibility;
use tokio::task::JoinSet;

use self::{cast::Cast, client::Client};
use super::channels::Draws;
use crate::Fixture;

/// How long an event may take that must come.
const PATIENCE: Duration = Duration::from_mins(2);

type Step = for<'a> fn(&'a Cast) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

/// One call that changes something: its RPC or arm, what is special about it, and how it is made.
struct Row(&'static str, &'static str, Step);

/// Every row runs after the ones above it.
const ROWS: &[Row] = &[
    Row("CommsService/CreateUser", "a person", |cast| Box::pin(cast.create_user("cleo"))),
    Row("CommsService/CreateAgent", "a root", |cast| Box::pin(cast.create_agent("other", None))),
    Row("CommsService/CreateAgent", "a child", |cast| {
        Box::pin(cast.create_agent("kid", Some(cast.bot.actor.id)))
    }),
    Row("CommsService/CreateChannel", "with everyone", |cast| {
        Box::pin(cast.create_channel(&cast.ana, "everyone", vec![&cast.ben, &cast.bot], Mode::Flat))
    }),
    Row("CommsService/CreateChannel", "without the others", |cast| {
        Box::pin(cast.create_channel(&cast.ben, "bens", Vec::new(), Mode::Flat))
    }),
    Row("CommsService/CreateChannel", "a tree", |cast| {
        Box::pin(cast.create_channel(&cast.ana, "tree", Vec::new(), Mode::Tree { anchor: cast.bot.actor.id }))
    }),
    Row("CommsService/CreateAgent", "a child below a tree", |cast| {
        Box::pin(cast.create_agent("leaf", Some(cast.bot.actor.id)))
    }),
    Row("CommsService/PostMessage", "into a new topic", |cast| {
        Box::pin(cast.say(&cast.ana, "lobby", "first"))
    }),
    Row("CommsService/PostMessage", "into a known topic", |cast| {
        Box::pin(cast.say(&cast.bot, "lobby", "more"))
    }),
    Row("CommsService/PostMessage", "where not everyone is", |cast| {
        Box::pin(cast.say(&cast.ana, "room", "only two"))
    }),
    Row("CommsService/PostMessage", "into a tree", |cast| Box::pin(cast.say(&cast.bot, "tree", "below"))),
    Row("CommsService/UpdateChannelMembers", "one joins what has messages", |cast| {
        Box::pin(cast.update("room", |update| update.add_handles = vec!["ben".into()]))
    }),
    Row("CommsService/PostMessage", "after one joined", |cast| {
        Box::pin(cast.say(&cast.ben, "room", "hello"))
    }),
    Row("CommsService/UpdateChannelMembers", "subscribed and joined at once", |cast| {
        Box::pin(cast.update("lobby", |update| {
            update.subscribe_handles = vec!["bot".into()];
            update.add_handles = vec!["other".into()];
        }))
    }),
    Row("CommsService/UpdateChannelMembers", "one leaves", |cast| {
        Box::pin(cast.update("room", |update| update.remove_handles = vec!["ben".into()]))
    }),
    Row("CommsService/PostMessage", "after one left", |cast| {
        Box::pin(cast.say(&cast.ana, "room", "alone again"))
    }),
    Row("CommsService/UpdateChannelMembers", "one that others saw there leaves", |cast| {
        Box::pin(cast.update("lobby", |update| update.remove_handles = vec!["other".into()]))
    }),
    Row("CommsService/UpdateChannelMembers", "one joins a tree by a row", |cast| {
        Box::pin(cast.update("tree", |update| update.add_handles = vec!["ben".into()]))
    }),
    Row("CommsService/PostMessage", "two asks", |cast| Box::pin(cast.ask("lobby"))),
    Row("CommsService/RespondToAsk", "the first", |cast| Box::pin(cast.answer())),
    Row("arm cancel_ask", "the second", |cast| Box::pin(cast.cancel())),
    Row("CommsService/UpdateTopic", "another name", |cast| {
        Box::pin(cast.update_topic("room", "talk", Some("speech"), None))
    }),
    Row("CommsService/UpdateTopic", "archived", |cast| {
        Box::pin(cast.update_topic("room", "speech", None, Some(true)))
    }),
    Row("CommsService/PostMessage", "into a second topic", |cast| Box::pin(cast.start("lobby", "aside"))),
    Row("CommsService/UpdateTopic", "merged into the other", |cast| {
        Box::pin(cast.update_topic("lobby", "talk", Some("aside"), None))
    }),
    Row("CommsService/UpdatePinnedBoard", "a pin", |cast| Box::pin(cast.pin("lobby"))),
    Row("CommsService/UpdatePinnedBoard", "no pin", |cast| Box::pin(cast.unpin("lobby"))),
    Row("CommsService/SetChannelPolicy", "one owns it and it is mandatory", |cast| {
        Box::pin(cast.set_policy("lobby", true))
    }),
    Row("CommsService/SetChannelPolicy", "nobody owns it", |cast| Box::pin(cast.set_policy("lobby", false))),
    Row("CommsService/CreateChannelGroup", "ana's own", |cast| {
        Box::pin(cast.create_group("private", Visibility::Owner))
    }),
    Row("CommsService/CreateChannelGroup", "everyone's", |cast| {
        Box::pin(cast.create_group("public", Visibility::Shared))
    }),
    Row("CommsService/CreateChannel", "in a group that everyone sees", |cast| {
        Box::pin(cast.create_in("public", "square"))
    }),
    Row("CommsService/CreateChannel", "in ana's own group", |cast| {
        Box::pin(cast.create_in("private", "cellar"))
    }),
    Row("PeopleService/JoinChannel", "by one that saw it", |cast| Box::pin(cast.join("square"))),
    Row("PeopleService/OpenDM", "of two people", |cast| Box::pin(cast.open_dm("ben"))),
    Row("CommsService/ReparentAgent", "below another, out of a tree", |cast| {
        Box::pin(cast.reparent("leaf", Some("other")))
    }),
    Row("CommsService/ReparentAgent", "to the top", |cast| Box::pin(cast.reparent("kid", None))),
    Row("CommsService/ReparentAgent", "into a tree", |cast| Box::pin(cast.reparent("other", Some("bot")))),
    Row("arm set_status", "nothing of it is in the snapshot", |cast| Box::pin(cast.set_status())),
];

/// The RPCs and arms that have a row.
pub fn covered() -> BTreeSet<&'static str> {
    ROWS.iter().map(|Row(call, ..)| *call).collect()
}

/// M6, EV-11, EV-12: three viewers that keep up with every call, and three that start over at the end.
pub async fn a_snapshot_and_the_events_after_it_are_the_later_snapshot(fixture: &Fixture) {
    let cast = Cast::new(fixture).await;
    let mut clients = Vec::new();
    for viewer in cast.viewers() {
        clients.push(Client::start(&cast, viewer).await);
    }
    for Row(call, what, step) in ROWS {
        step(&cast).await;
        let until = cast.canary().await;
        for client in &mut clients {
            client.follow(&cast, until).await;
            client.check(&cast, &format!("{call}, {what}")).await;
        }
    }
    for viewer in cast.viewers() {
        let mut late = Client::start(&cast, viewer).await;
        late.follow(&cast, cast.canary().await).await;
        late.check(&cast, "everything again over a newer snapshot").await;
    }
}

/// EV-9 to EV-11, M6: calls of three callers run side by side while clients come and go; what a call is refused
/// with does not matter here.
pub async fn clients_that_start_while_random_calls_run_reach_the_snapshot(fixture: &Fixture) {
    const CALLS: usize = 25;
    const SEED: u64 = 41;
    let cast = Arc::new(Cast::new(fixture).await);
    let mut clients = Vec::new();
    for round in 0..3 {
        let mut tasks = JoinSet::new();
        for (number, caller) in cast.viewers().into_iter().enumerate() {
            let (cast, caller) = (Arc::clone(&cast), caller.clone());
            let seed = SEED + 1000 * round + 100 * number as u64;
            tasks.spawn(async move {
                let mut draws = Draws(seed);
                for call in 0..CALLS {
                    cast.random_call(&caller, &mut draws, &format!("{seed}-{call}")).await;
                }
            });
        }
        for viewer in cast.viewers() {
            clients.push(Client::start(&cast, viewer).await);
        }
        tasks.join_all().await;
        let until = cast.canary().await;
        for client in &mut clients {
            client.follow(&cast, until).await;
            client.check(&cast, &format!("round {round} of seed {SEED}")).await;
        }
    }
}
