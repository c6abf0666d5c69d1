//! What an operator sees and is told.

use std::time::Duration;

use compass_comms::accounts::create_user::{CreateUser, create_user};
use compass_domain::{Account, LifecycleState, Presence, WakePolicy};
use compass_hub::{
    operator::{AgentView, FindingKind},
    ports::{NewPlacement, Placements as _},
};

use crate::rig::{Rig, pass};

async fn views(rig: &Rig, viewer: &Account) -> Vec<AgentView> {
    rig.hub.agents(&rig.tenant, viewer.actor()).await.unwrap()
}

async fn place(rig: &Rig, agent: &Account, runner: &str) {
    let (account, container) = (agent.id, agent.id.to_string());
    let wake = Some(WakePolicy::Mention);
    let placement = NewPlacement { account, runner: runner.into(), container, wake };
    rig.storage.upsert(&rig.tenant, &placement).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_person_sees_its_own_agents_and_an_admin_everyones() {
    let rig = Rig::new().await;
    let ann = rig.admin().await;
    let create = CreateUser { handle: "ben".into(), ..CreateUser::default() };
    let ben = create_user(&rig.comms, &rig.caller(&ann), create).await.unwrap();
    rig.agent(&ann, "of-ann").await;
    rig.agent(&ben, "of-ben").await;
    let handles = |views: Vec<AgentView>| -> Vec<String> {
        views.into_iter().map(|view| view.backlog.handle).collect()
    };
    assert_eq!(handles(views(&rig, &ann).await), ["of-ann", "of-ben"]);
    assert_eq!(handles(views(&rig, &ben).await), ["of-ben"]);
}

#[tokio::test(start_paused = true)]
async fn an_agent_is_shown_with_session_placement_debts_and_trouble() {
    let rig = Rig::new().await;
    let ann = rig.admin().await;
    let (one, two) = (rig.agent(&ann, "one").await, rig.agent(&ann, "two").await);
    let channel = rig.channel(&ann, &[&one, &two], &[]).await;
    place(&rig, &two, "away").await;
    rig.storage.wake_done(&rig.tenant, two.id, Err("no such command")).await.unwrap();
    let live = rig.attach(&one, "a").await;
    rig.report(&live, LifecycleState::Working).await;
    rig.say(&ann, channel, "owed to both").await;
    rig.say(&one, channel, "held").await;
    pass(Duration::from_secs(1)).await;
    let [a, b] = &views(&rig, &ann).await[..] else { panic!("two agents") };
    assert_eq!((a.presence, a.sessions.len(), a.placement.as_ref(), a.held), (Presence::Working, 1, None, 1));
    assert_eq!(a.sessions[0].session, live.session);
    assert_eq!((b.presence, b.sessions.len(), b.held), (Presence::Offline, 0, 0));
    assert_eq!((b.backlog.delivers, b.backlog.steers, b.backlog.braked), (1, 0, 0));
    let placement = b.placement.as_ref().unwrap();
    assert_eq!((placement.wake_failures, placement.wake_error.as_deref()), (1, Some("no such command")));
}

#[tokio::test(start_paused = true)]
async fn a_diagnosis_names_failing_starts_and_agents_whose_runner_is_away() {
    let rig = Rig::new().await;
    let ann = rig.admin().await;
    let (one, two) = (rig.agent(&ann, "one").await, rig.agent(&ann, "two").await);
    let channel = rig.channel(&ann, &[&one, &two], &[]).await;
    rig.say(&ann, channel, "hello").await;
    let clean = rig.hub.diagnose(&rig.tenant).await.unwrap();
    assert_eq!((clean.findings, clean.examined), (vec![], 1));
    place(&rig, &one, "away").await;
    place(&rig, &two, "away").await;
    rig.storage.wake_done(&rig.tenant, two.id, Err("no such command")).await.unwrap();
    let call = rig.say(&ann, channel, "@one @two").await;
    pass(Duration::from_secs(1)).await;
    let found = rig.hub.diagnose(&rig.tenant).await.unwrap().findings;
    let kinds: Vec<_> = found.iter().map(|finding| (finding.kind, finding.account)).collect();
    let mut expected = vec![(FindingKind::NoRunner, Some(one.id)), (FindingKind::FailingWake, Some(two.id))];
    expected.sort_by_key(|(_, account)| *account);
    assert_eq!(kinds, expected);
    assert!(found.iter().any(|finding| finding.text.contains("no such command")));
    rig.acknowledge(&one, &[&call]).await;
    rig.storage.wake_done(&rig.tenant, two.id, Ok(())).await.unwrap();
    rig.runners.attach("away");
    let healed = rig.hub.diagnose(&rig.tenant).await.unwrap();
    assert_eq!(healed.findings, vec![]);
}

#[tokio::test(start_paused = true)]
async fn a_message_that_nobody_routed_for_long_is_a_finding() {
    let rig = Rig::stopped();
    let ann = rig.admin().await;
    let one = rig.agent(&ann, "one").await;
    let channel = rig.channel(&ann, &[], &[&one]).await;
    let left = rig.say(&ann, channel, "@one").await;
    pass(Duration::from_mins(12)).await;
    let found = rig.hub.diagnose(&rig.tenant).await.unwrap().findings;
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].kind, found[0].message), (FindingKind::Overdue, Some(left.id())));
}
