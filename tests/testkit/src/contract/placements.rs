//! Where agents are placed, and who may start one.

use std::sync::Arc;

use compass_domain::{Account, AccountKind, TenantId, WakePolicy, brake::AGENT_MESSAGES, wake};
use compass_hub::ports::{AttachMode, NewPlacement, OpenSession, Placement};
use compass_ports::{Ids, StorageError};
use tokio::sync::Barrier;
use tokio_util::task::TaskTracker;

use crate::{Fixture, Scene, drafts};

const CLAIM_MS: u32 = 60_000;

/// G4: where an agent runs outlives every process.
pub async fn a_placement_is_found_by_agent_by_container_and_by_runner(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let (one, two) = (scene.agent("one", &ana).await, scene.agent("two", &ana).await);
    assert_eq!(found(&scene, &one).await, None);
    place(&scene, &one, "north", "c-one").await.unwrap();
    place(&scene, &two, "south", "c-two").await.unwrap();
    let row = found(&scene, &one).await.unwrap();
    assert_eq!((row.account, row.runner.as_str(), row.container.as_str()), (one.id, "north", "c-one"));
    assert_eq!((row.wake, row.wake_until, row.wake_failures), (WakePolicy::Mention, None, 0));
    assert_eq!((row.wake_not_before, row.wake_error.as_deref()), (None, None));
    let by_container = |name: &'static str| scene.placements.find_container(&scene.tenant, name);
    assert_eq!(by_container("c-one").await.unwrap(), Some(row.clone()));
    assert_eq!(by_container("c-three").await.unwrap(), None);
    assert_eq!(scene.placements.of_runner(&scene.tenant, "north").await.unwrap(), [row]);
    assert_eq!(scene.placements.of_runner(&scene.tenant, "west").await.unwrap(), []);
    let all: Vec<_> =
        scene.placements.list(&scene.tenant).await.unwrap().iter().map(|row| row.account).collect();
    let mut expected = vec![one.id, two.id];
    expected.sort_unstable();
    assert_eq!(all, expected);
}

/// One agent, one container.
pub async fn a_container_belongs_to_one_agent(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let (one, two) = (scene.agent("one", &ana).await, scene.agent("two", &ana).await);
    place(&scene, &one, "north", "box").await.unwrap();
    let refused = place(&scene, &two, "south", "box").await.unwrap_err();
    assert!(matches!(&refused, StorageError::Conflict(text) if text.contains("box")), "{refused:?}");
    assert_eq!(found(&scene, &two).await, None);
    assert_eq!(found(&scene, &one).await.unwrap().runner, "north");
}

/// Failures of the old place say nothing of the new one; what wakes the agent stays.
pub async fn a_new_placement_replaces_the_one_before_and_its_failures(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let bot = scene.agent("bot", &ana).await;
    place(&scene, &bot, "north", "box").await.unwrap();
    set(&scene, "north", &bot, WakePolicy::Any).await;
    scene.placements.wake_done(&scene.tenant, bot.id, Err("no such command")).await.unwrap();
    place(&scene, &bot, "south", "crate").await.unwrap();
    let row = found(&scene, &bot).await.unwrap();
    assert_eq!((row.runner.as_str(), row.container.as_str()), ("south", "crate"));
    assert_eq!((row.wake, row.wake_failures, row.wake_error), (WakePolicy::Any, 0, None));
    assert!(scene.placements.find_container(&scene.tenant, "box").await.unwrap().is_none());
    let never = NewPlacement {
        account: bot.id,
        runner: "south".into(),
        container: "crate".into(),
        wake: Some(WakePolicy::Never),
    };
    scene.placements.upsert(&scene.tenant, &never).await.unwrap();
    assert_eq!(found(&scene, &bot).await.unwrap().wake, WakePolicy::Never);
}

/// G5: a runner decides nothing about another runner's agents.
pub async fn a_policy_is_set_only_for_the_runners_own_placements(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let (one, two) = (scene.agent("one", &ana).await, scene.agent("two", &ana).await);
    let stranger = scene.agent("stranger", &ana).await;
    place(&scene, &one, "north", "c-one").await.unwrap();
    place(&scene, &two, "south", "c-two").await.unwrap();
    let policies = [(one.id, WakePolicy::Any), (two.id, WakePolicy::Never), (stranger.id, WakePolicy::Never)];
    scene.placements.set_wake_policies(&scene.tenant, "north", &policies).await.unwrap();
    assert_eq!(found(&scene, &one).await.unwrap().wake, WakePolicy::Any);
    assert_eq!(found(&scene, &two).await.unwrap().wake, WakePolicy::Mention);
    assert_eq!(found(&scene, &stranger).await, None);
    scene.placements.set_wake_policies(&scene.tenant, "north", &[]).await.unwrap();
}

/// R10: one start, whoever heard of the message.
pub async fn one_of_many_claims_a_wake(fixture: &Fixture) {
    const TRIALS: usize = 10;
    const CLAIMERS: usize = 8;
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let tasks = TaskTracker::new();
    for trial in 0..TRIALS {
        let bot = scene.agent(&format!("bot{trial}"), &ana).await;
        place(&scene, &bot, "north", &format!("c-{trial}")).await.unwrap();
        let barrier = Arc::new(Barrier::new(CLAIMERS));
        let claims = (0..CLAIMERS).map(|_| {
            let (barrier, placements) = (Arc::clone(&barrier), Arc::clone(&scene.placements));
            let (tenant, agent) = (scene.tenant.clone(), bot.id);
            tasks.spawn(async move {
                barrier.wait().await;
                placements.claim_wake(&tenant, agent, CLAIM_MS).await.unwrap()
            })
        });
        let claims: Vec<_> = claims.collect();
        let mut won = 0;
        for claim in claims {
            won += usize::from(claim.await.unwrap());
        }
        assert_eq!(won, 1, "trial {trial}");
        let row = found(&scene, &bot).await.unwrap();
        assert!(row.wake_until.is_some());
        assert!(!claim(&scene, &bot).await, "it is claimed");
        scene.placements.wake_done(&scene.tenant, bot.id, Ok(())).await.unwrap();
        assert_eq!(found(&scene, &bot).await.unwrap().wake_until, None);
        assert!(claim(&scene, &bot).await, "the claim ended");
    }
    let bot = scene.agent("short", &ana).await;
    place(&scene, &bot, "north", "c-short").await.unwrap();
    assert!(scene.placements.claim_wake(&scene.tenant, bot.id, 0).await.unwrap());
    assert!(claim(&scene, &bot).await, "the first claim ran out");
}

/// 9.15-40, G8: a session that only counts for presence keeps its agent from being woken too.
pub async fn a_live_agent_and_one_that_is_never_woken_are_not_claimed(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let bot = scene.agent("bot", &ana).await;
    assert!(!claim(&scene, &bot).await, "it is not placed");
    place(&scene, &bot, "north", "box").await.unwrap();
    let node = scene.ids.node();
    scene.ledger.renew_lease(node).await.unwrap();
    for mode in [AttachMode::Deliveries, AttachMode::PresenceOnly] {
        let session = scene.ids.session();
        let row = OpenSession { session, account: bot.id, runner: "north".into(), mode };
        scene.ledger.open_session(&scene.tenant, node, &row).await.unwrap();
        assert!(!claim(&scene, &bot).await, "{mode:?}");
        scene.ledger.close_session(&scene.tenant, session).await.unwrap();
    }
    set(&scene, "north", &bot, WakePolicy::Never).await;
    assert!(!claim(&scene, &bot).await, "it is never woken");
    set(&scene, "north", &bot, WakePolicy::Mention).await;
    assert!(claim(&scene, &bot).await);
}

/// R13: 1, 5, 15, 60 minutes.
pub async fn a_failed_wake_backs_off_and_a_success_forgets(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let bot = scene.agent("bot", &ana).await;
    place(&scene, &bot, "north", "box").await.unwrap();
    let long = "x".repeat(5_000);
    for (failures, minutes) in [(1, 1), (2, 5), (3, 15), (4, 60), (5, 60)] {
        let before = scene.now().0;
        scene.placements.wake_done(&scene.tenant, bot.id, Err(&long)).await.unwrap();
        let after = scene.now().0;
        let row = found(&scene, &bot).await.unwrap();
        assert_eq!(row.wake_failures, failures);
        let until = row.wake_not_before.unwrap().0 - minutes * 60_000;
        // A second of room: the database may have a clock of its own.
        assert!((before - 1_000..=after + 1_000).contains(&until), "{failures}: {until} {before} {after}");
        assert_eq!(row.wake_error.unwrap().len(), wake::WAKE_ERROR_CODE_POINTS);
        assert!(!claim(&scene, &bot).await, "it is left alone");
    }
    scene.placements.wake_done(&scene.tenant, bot.id, Ok(())).await.unwrap();
    let row = found(&scene, &bot).await.unwrap();
    assert_eq!((row.wake_failures, row.wake_not_before, row.wake_error), (0, None, None));
    assert!(claim(&scene, &bot).await);
}

/// A container can be given to another agent afterwards.
pub async fn a_removed_placement_is_gone_and_removing_twice_is_no_error(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let (one, two) = (scene.agent("one", &ana).await, scene.agent("two", &ana).await);
    place(&scene, &one, "north", "box").await.unwrap();
    for _ in 0..2 {
        scene.placements.remove(&scene.tenant, one.id).await.unwrap();
        assert_eq!(found(&scene, &one).await, None);
    }
    assert!(!claim(&scene, &one).await);
    scene.placements.wake_done(&scene.tenant, one.id, Err("late")).await.unwrap();
    assert_eq!(found(&scene, &one).await, None);
    place(&scene, &two, "north", "box").await.unwrap();
}

/// I1.
pub async fn a_placement_is_of_its_tenant(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let bot = scene.agent("bot", &ana).await;
    place(&scene, &bot, "north", "box").await.unwrap();
    let other = TenantId::new("elsewhere");
    let placements = &scene.placements;
    assert_eq!(placements.find(&other, bot.id).await.unwrap(), None);
    assert_eq!(placements.find_container(&other, "box").await.unwrap(), None);
    assert_eq!(placements.of_runner(&other, "north").await.unwrap(), []);
    assert_eq!(placements.list(&other).await.unwrap(), []);
    assert!(!placements.claim_wake(&other, bot.id, CLAIM_MS).await.unwrap());
    placements.set_wake_policies(&other, "north", &[(bot.id, WakePolicy::Never)]).await.unwrap();
    placements.remove(&other, bot.id).await.unwrap();
    assert_eq!(found(&scene, &bot).await.unwrap().wake, WakePolicy::Mention);
}

async fn place(scene: &Scene, agent: &Account, runner: &str, container: &str) -> Result<(), StorageError> {
    let placement =
        NewPlacement { account: agent.id, runner: runner.into(), container: container.into(), wake: None };
    scene.placements.upsert(&scene.tenant, &placement).await
}

async fn found(scene: &Scene, agent: &Account) -> Option<Placement> {
    scene.placements.find(&scene.tenant, agent.id).await.expect("placements can be read")
}

async fn claim(scene: &Scene, agent: &Account) -> bool {
    scene.placements.claim_wake(&scene.tenant, agent.id, CLAIM_MS).await.expect("placements can be written")
}

async fn set(scene: &Scene, runner: &str, agent: &Account, policy: WakePolicy) {
    let policies = [(agent.id, policy)];
    scene.placements.set_wake_policies(&scene.tenant, runner, &policies).await.expect("a policy is set");
}

async fn is_due(scene: &Scene, agent: &Account) -> bool {
    let runners = ["west".to_owned(), "north".to_owned()];
    let due = scene.placements.due_wakes(&scene.tenant, &runners).await.expect("placements can be read");
    due.contains(&agent.id)
}

/// R13.
pub async fn a_sleeping_agent_is_due_for_what_its_policy_names(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let cases = [
        ("plain", [false, true, false]),
        ("mention", [true, true, false]),
        ("everyone", [true, true, false]),
        ("another", [false, true, false]),
        ("owed", [true, true, false]),
        ("answer", [true, true, false]),
        ("home", [true, true, false]),
        ("dm", [true, true, false]),
        ("own", [false, false, false]),
    ];
    for (number, (what, expected)) in cases.into_iter().enumerate() {
        let bot = scene.agent(&format!("bot{number}"), &ana).await;
        let room = scene.channel(what, &[&ana]).await;
        scene.subscribe(room, &bot).await;
        place(&scene, &bot, "north", &format!("box-{number}")).await.unwrap();
        assert!(!is_due(&scene, &bot).await, "{what}: nothing is owed yet");
        let message = match what {
            "mention" => scene.say(&ana, room, "t", &format!("hello @bot{number}.")).await,
            "everyone" => scene.say(&ana, room, "t", "hello @everyone").await,
            "another" => scene.say(&ana, room, "t", &format!("hello @bot{number}er and @bo")).await,
            "owed" => {
                scene.put_member(room, &bot, false).await;
                scene.say(&ana, room, "t", &format!("@bot{number} now")).await
            }
            "answer" => {
                let (_, ask) = scene.ask(&bot, room, drafts::yes_or_no()).await;
                scene.answer(&ana, ask, drafts::yes()).await.unwrap().1
            }
            "home" => {
                let AccountKind::Agent { home_channel, .. } = bot.kind else { panic!("an agent") };
                scene.say(&ana, home_channel, "t", "are you there?").await
            }
            "dm" => {
                let dm = scene.direct(&format!("dm{number}"), &[&ana]).await;
                scene.subscribe(dm, &bot).await;
                scene.say(&ana, dm, "t", "psst").await
            }
            "own" => scene.say(&bot, room, "t", &format!("@bot{number}")).await,
            _ => scene.say(&ana, room, "t", "news").await,
        };
        scene.route(message.id()).await;
        let policies = [WakePolicy::Mention, WakePolicy::Any, WakePolicy::Never];
        for (policy, due) in policies.into_iter().zip(expected) {
            set(&scene, "north", &bot, policy).await;
            assert_eq!(is_due(&scene, &bot).await, due, "{what}, {policy:?}");
        }
        set(&scene, "north", &bot, WakePolicy::Any).await;
        scene.acknowledge(&bot, &[&message]).await;
        assert!(!is_due(&scene, &bot).await, "{what}: it was acknowledged");
    }
}

/// R10, R13.
pub async fn who_is_awake_claimed_elsewhere_or_resting_is_not_due(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let bot = scene.agent("bot", &ana).await;
    let room = scene.channel("room", &[&ana]).await;
    scene.subscribe(room, &bot).await;
    let mention = scene.say(&ana, room, "t", "@bot").await;
    scene.route(mention.id()).await;
    assert!(!is_due(&scene, &bot).await, "it is not placed");
    place(&scene, &bot, "east", "box").await.unwrap();
    assert!(!is_due(&scene, &bot).await, "its runner is not asked for");
    assert_eq!(scene.placements.due_wakes(&scene.tenant, &[]).await.unwrap(), []);
    place(&scene, &bot, "west", "box").await.unwrap();
    assert!(is_due(&scene, &bot).await);
    let elsewhere = TenantId::new("elsewhere");
    assert_eq!(scene.placements.due_wakes(&elsewhere, &["west".to_owned()]).await.unwrap(), []);
    assert!(claim(&scene, &bot).await);
    assert!(!is_due(&scene, &bot).await, "someone starts it");
    scene.placements.wake_done(&scene.tenant, bot.id, Err("no")).await.unwrap();
    assert!(!is_due(&scene, &bot).await, "it rests after a failure");
    scene.placements.wake_done(&scene.tenant, bot.id, Ok(())).await.unwrap();
    assert!(is_due(&scene, &bot).await);
    let node = scene.ids.node();
    scene.ledger.renew_lease(node).await.unwrap();
    let session = scene.ids.session();
    let mode = AttachMode::PresenceOnly;
    let row = OpenSession { session, account: bot.id, runner: "x".into(), mode };
    scene.ledger.open_session(&scene.tenant, node, &row).await.unwrap();
    assert!(!is_due(&scene, &bot).await, "a session that is only present keeps it from being woken");
    scene.ledger.release(node).await.unwrap();
    assert!(is_due(&scene, &bot).await);
    scene.remove(room, &bot).await;
    assert!(!is_due(&scene, &bot).await, "it takes no part any more");
}

/// R13: what is not routed or waits for a person starts nobody.
pub async fn what_is_not_ready_wakes_nobody(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let (bot, talker) = (scene.agent("bot", &ana).await, scene.agent("talker", &ana).await);
    let outside = scene.agent("outside", &ana).await;
    let room = scene.channel("room", &[&ana, &talker, &outside]).await;
    scene.subscribe(room, &bot).await;
    for (agent, container) in [(&bot, "one"), (&outside, "two")] {
        place(&scene, agent, "north", container).await.unwrap();
    }
    let unrouted = scene.say(&talker, room, "t", "@everyone").await;
    assert!(!is_due(&scene, &bot).await);
    scene.route(unrouted.id()).await;
    assert!(is_due(&scene, &bot).await && is_due(&scene, &outside).await);
    for agent in [&bot, &outside] {
        scene.acknowledge(agent, &[&unrouted]).await;
    }
    for number in 1..=AGENT_MESSAGES {
        let message = scene.say(&talker, room, "t", &format!("{number}")).await;
        scene.route(message.id()).await;
        scene.acknowledge(&bot, &[&message]).await;
    }
    let held = scene.say(&talker, room, "t", "@everyone").await;
    scene.route(held.id()).await;
    assert!(!is_due(&scene, &bot).await && !is_due(&scene, &outside).await);
    scene.say(&ana, room, "t", "go on").await;
    assert!(is_due(&scene, &bot).await && is_due(&scene, &outside).await);
}
