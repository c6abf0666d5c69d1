//! What an operator is shown of agents.

use compass_domain::{Account, brake::AGENT_MESSAGES};
use compass_hub::ports::Backlog;

use crate::{Fixture, Scene};

async fn of(scene: &Scene, owner: Option<&Account>) -> Vec<Backlog> {
    let owner = owner.map(|owner| owner.id);
    scene.overview.backlogs(&scene.tenant, owner).await.expect("the overview can be read")
}

fn counts(backlogs: &[Backlog]) -> Vec<(&str, [u32; 3])> {
    backlogs.iter().map(|one| (one.handle.as_str(), [one.delivers, one.steers, one.braked])).collect()
}

/// Owed as delivers, as steers, and held by a brake; by handle, of one owner or of all.
pub async fn agents_are_shown_with_what_waits_for_them(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let (ana, ben) = (scene.user("ana").await, scene.user("ben").await);
    let (inside, outside) = (scene.agent("inside", &ana).await, scene.agent("outside", &ana).await);
    let foreign = scene.agent("foreign", &ben).await;
    let room = scene.channel("room", &[&ana, &outside, &foreign]).await;
    scene.subscribe(room, &inside).await;
    assert_eq!(counts(&of(&scene, Some(&ana)).await), [("inside", [0; 3]), ("outside", [0; 3])]);
    let mention = scene.say(&ana, room, "t", "@outside one").await;
    scene.say(&ana, room, "t", "two").await;
    assert_eq!(counts(&of(&scene, Some(&ana)).await), [("inside", [1, 0, 0]), ("outside", [0; 3])]);
    scene.route(mention.id()).await;
    assert_eq!(counts(&of(&scene, Some(&ana)).await), [("inside", [2, 0, 0]), ("outside", [0, 1, 0])]);
    for number in 0..AGENT_MESSAGES + 2 {
        let message = scene.say(&foreign, room, "t", &format!("{number}")).await;
        scene.route(message.id()).await;
    }
    let expected = [("foreign", [0; 3]), ("inside", [2 + AGENT_MESSAGES, 0, 2]), ("outside", [0, 1, 0])];
    let all = of(&scene, None).await;
    assert_eq!(counts(&all), expected);
    let owners: Vec<_> = all.iter().map(|one| (one.account, one.owner)).collect();
    assert_eq!(owners, [(foreign.id, ben.id), (inside.id, ana.id), (outside.id, ana.id)]);
    scene.remove(room, &inside).await;
    assert_eq!(counts(&of(&scene, Some(&ana)).await)[0], ("inside", [0; 3]), "it takes no part any more");
    assert_eq!(of(&scene, Some(&inside)).await, [], "agents own nobody");
}

/// Nothing is wrong with rows that were written as they should be.
pub async fn messages_that_can_be_read_are_counted_and_not_named(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let room = scene.channel("room", &[&ana]).await;
    for number in 0..5 {
        scene.say(&ana, room, "t", &format!("{number}")).await;
    }
    let examined = scene.overview.examine(&scene.tenant, 100).await.unwrap();
    assert_eq!((examined.messages, examined.corrupt), (5, vec![]));
    assert_eq!(scene.overview.examine(&scene.tenant, 3).await.unwrap().messages, 3);
}
