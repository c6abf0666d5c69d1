//! Routing: which messages wait for it, and what it owes to whom.

use compass_domain::{Account, MessageId, delivery::Lane};
use compass_hub::ports::PendingQuery;

use crate::{Fixture, Scene, drafts, world::pending_of};

/// R7: a person's plain message has no second write.
pub async fn only_agents_mentions_and_answers_wait_for_routing(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let bot = scene.agent("bot", &ana).await;
    let room = scene.channel("room", &[&ana, &bot]).await;
    let plain = scene.say(&ana, room, "t", "plain").await;
    let by_agent = scene.say(&bot, room, "t", "plain").await;
    let mention = scene.say(&ana, room, "t", "@nobody").await;
    let (asked, ask) = scene.ask(&ana, room, drafts::yes_or_no()).await;
    let (_, answer) = scene.answer(&ana, ask, drafts::yes()).await.unwrap();
    for (message, waits) in
        [(&plain, false), (&by_agent, true), (&mention, true), (&asked, false), (&answer, true)]
    {
        assert_eq!(scene.route(message.id()).await.is_some(), waits, "{message:?}");
        assert_eq!(scene.route(message.id()).await, None, "routed once");
    }
}

/// R7: a row for every target outside the sweep set, live or not.
pub async fn routing_owes_every_target_outside_the_sweep_set_once(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let (inside, outside) = (scene.agent("inside", &ana).await, scene.agent("outside", &ana).await);
    let stranger = scene.agent("stranger", &ana).await;
    let author = scene.agent("author", &ana).await;
    let room = scene.channel("room", &[&ana, &outside, &author]).await;
    scene.subscribe(room, &inside).await;
    let message = scene.say(&author, room, "t", "@everyone and @stranger").await;
    assert_eq!(scene.route(message.id()).await, Some(vec![outside.id]));
    assert_eq!(lanes(&scene, &outside).await, [(Lane::Steer, message.id())]);
    assert_eq!(lanes(&scene, &inside).await, [(Lane::Deliver, message.id())]);
    assert_eq!(lanes(&scene, &stranger).await, []);
    assert_eq!(lanes(&scene, &author).await, []);
    scene.acknowledge(&outside, &[&message]).await;
    assert_eq!(scene.route(message.id()).await, None);
    assert_eq!(lanes(&scene, &outside).await, [], "a second routing owes nothing again");
}

/// 9.15-34: owed rows are of agents.
pub async fn a_person_is_owed_no_answer(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let (inside, outside) = (scene.agent("inside", &ana).await, scene.agent("outside", &ana).await);
    let room = scene.channel("room", &[&ana, &outside]).await;
    scene.subscribe(room, &inside).await;
    let (asked, ask) = scene.ask(&ana, room, drafts::yes_or_no()).await;
    let (_, answer) = scene.answer(&ana, ask, drafts::yes()).await.unwrap();
    assert_eq!(scene.route(answer.id()).await, Some(vec![]));
    assert_eq!(lanes(&scene, &ana).await, []);
    assert_eq!(lanes(&scene, &outside).await, []);
    let delivered = [(Lane::Deliver, asked.id()), (Lane::Deliver, answer.id())];
    assert_eq!(lanes(&scene, &inside).await, delivered, "who is swept gets it as any message");
}

/// 9.7, 9.15-28, 9.15-30.
pub async fn the_asker_outside_the_sweep_set_is_owed_the_answer(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let (inside, outside) = (scene.agent("inside", &ana).await, scene.agent("outside", &ana).await);
    let room = scene.channel("room", &[&ana, &outside]).await;
    scene.subscribe(room, &inside).await;
    for (asker, owed) in [(&outside, vec![outside.id]), (&inside, vec![])] {
        let (_, ask) = scene.ask(asker, room, drafts::yes_or_no()).await;
        let (_, answer) = scene.answer(&ana, ask, drafts::yes()).await.unwrap();
        assert_eq!(scene.route(answer.id()).await, Some(owed), "{}", asker.handle);
        let query = PendingQuery { answers_ask: Some(ask), ..pending_of(asker) };
        let pending = scene.pending_by(&query).await;
        let found: Vec<MessageId> = pending.items.iter().map(|item| item.message.message.id()).collect();
        assert_eq!(found, [answer.id()], "{}", asker.handle);
    }
}

async fn lanes(scene: &Scene, agent: &Account) -> Vec<(Lane, MessageId)> {
    let pending = scene.pending(agent).await;
    pending.items.iter().map(|item| (item.lane, item.message.message.id())).collect()
}
