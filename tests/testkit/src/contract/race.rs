//! Races: two tasks behind a barrier, two writers, many trials, one winner.

use std::sync::Arc;

use compass_domain::{AskState, Classified, ErrorKind};
use compass_ports::{WriteJob, Writer, submit};
use tokio::{
    sync::Barrier,
    task::{JoinHandle, JoinSet},
};

use crate::{Fixture, Scene, drafts};

const TRIALS: usize = 20;

/// 5.9-27, A4.
pub async fn answer_against_cancel_has_one_winner(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let bot = scene.agent("bot", &ana).await;
    let room = scene.channel("room", &[&ana, &bot]).await;
    for trial in 0..TRIALS {
        let before = scene.messages(room).await.len();
        let (message, ask) = scene.ask(&bot, room, drafts::yes_or_no()).await;
        let answer = scene.answer_job(&ana, ask, drafts::yes());
        let cancel = scene.cancel_job(&bot, ask);
        let (answer, cancel) = race(&scene, trial, answer, cancel).await;
        let stored = scene.message(message.id()).await;
        let added = scene.messages(room).await.len() - before - 1;
        match (answer, cancel, stored.asks().next().map(compass_domain::Ask::state)) {
            (Ok(_), Err(lost), Some(AskState::Answered { .. })) => {
                assert_eq!((lost.kind(), added), (ErrorKind::Conflict, 1), "trial {trial}");
            }
            (Err(lost), Ok(true), Some(AskState::Cancelled { .. })) => {
                assert_eq!((lost.kind(), added), (ErrorKind::Conflict, 0), "trial {trial}");
            }
            other => panic!("trial {trial}: {other:?}"),
        }
    }
}

/// 5.9-15.
pub async fn answer_against_answer_has_one_winner_and_one_message(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let (ana, ben) = (scene.user("ana").await, scene.user("ben").await);
    let room = scene.channel("room", &[&ana, &ben]).await;
    for trial in 0..TRIALS {
        let before = scene.messages(room).await.len();
        let (_, ask) = scene.ask(&ana, room, drafts::yes_or_no()).await;
        let one = scene.answer_job(&ana, ask, drafts::yes());
        let other = scene.answer_job(&ben, ask, drafts::yes());
        let lost = match race(&scene, trial, one, other).await {
            (Ok(_), Err(lost)) | (Err(lost), Ok(_)) => lost,
            other => panic!("trial {trial}: {other:?}"),
        };
        assert_eq!(lost.kind(), ErrorKind::Conflict, "trial {trial}");
        assert_eq!(scene.messages(room).await.len(), before + 2, "trial {trial}");
    }
}

/// 5.9-14, BK-32.
pub async fn answers_to_two_asks_of_one_message_both_survive(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let (ana, ben) = (scene.user("ana").await, scene.user("ben").await);
    let room = scene.channel("room", &[&ana, &ben]).await;
    for trial in 0..TRIALS {
        let (message, asks) = scene.ask_all(&ana, room, vec![drafts::yes_or_no(), drafts::yes_or_no()]).await;
        let one = scene.answer_job(&ana, asks[0], drafts::yes());
        let other = scene.answer_job(&ben, asks[1], drafts::yes());
        let (one, other) = race(&scene, trial, one, other).await;
        let (one, other) = (one.unwrap().1, other.unwrap().1);
        let stored = scene.message(message.id()).await;
        let is_answered = |ask: &compass_domain::Ask| matches!(ask.state(), AskState::Answered { .. });
        assert!(stored.asks().all(is_answered), "trial {trial}: {stored:?}");
        for (answer, ask) in [(one, asks[0]), (other, asks[1])] {
            let found = scene.message(answer.id()).await;
            assert_eq!(found.answer().map(|answer| answer.ask().id()), Some(ask), "trial {trial}");
        }
    }
}

/// M2: one lock order for everyone.
pub async fn crossed_writes_to_two_channels_do_not_deadlock(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let bot = scene.agent("bot", &ana).await;
    let rooms = [scene.channel("one", &[&ana, &bot]).await, scene.channel("two", &[&ana, &bot]).await];
    let mut asks = Vec::new();
    for number in 0..24 {
        asks.push(scene.ask(&bot, rooms[number % 2], drafts::yes_or_no()).await.1);
    }
    let mut tasks: JoinSet<Result<(), ErrorKind>> = JoinSet::new();
    for (number, ask) in asks.into_iter().enumerate() {
        let writers = [&scene.writer, &scene.second].map(Arc::clone);
        let tenant = scene.tenant.clone();
        let (answer, cancel) = (scene.answer_job(&ana, ask, drafts::yes()), scene.cancel_job(&bot, ask));
        let (post, _) = scene.post_job(&ana, rooms[(number + 1) % 2], "asks", vec![drafts::text("x")], None);
        let [one, other] = if number % 2 == 0 { [0, 1] } else { [1, 0] };
        let (first, second, third) =
            (Arc::clone(&writers[one]), Arc::clone(&writers[other]), Arc::clone(&writers[other]));
        let tenants = [tenant.clone(), tenant.clone(), tenant];
        let [for_answer, for_cancel, for_post] = tenants;
        tasks.spawn(async move { allow_conflict(submit(&*first, &for_answer, answer).await) });
        tasks.spawn(async move { allow_conflict(submit(&*second, &for_cancel, cancel).await) });
        tasks.spawn(async move { allow_conflict(submit(&*third, &for_post, post).await) });
    }
    let results = tasks.join_all().await;
    assert!(results.iter().all(Result::is_ok), "{results:?}");
}

fn allow_conflict<T>(result: Result<T, crate::jobs::JobError>) -> Result<(), ErrorKind> {
    match result.map_err(|error| error.kind()) {
        Ok(_) | Err(ErrorKind::Conflict) => Ok(()),
        Err(kind) => Err(kind),
    }
}

type Outcome<J> = Result<<J as WriteJob>::Outcome, <J as WriteJob>::Error>;

/// Releases two jobs at once, on two writers; which writer gets which job alternates.
async fn race<A: WriteJob, B: WriteJob>(
    scene: &Scene,
    trial: usize,
    one: A,
    other: B,
) -> (Outcome<A>, Outcome<B>) {
    let barrier = Arc::new(Barrier::new(2));
    let swap = trial % 2 == 1;
    let (first, second) = if swap { (&scene.second, &scene.writer) } else { (&scene.writer, &scene.second) };
    let one = release(scene, first, &barrier, one);
    let other = release(scene, second, &barrier, other);
    let (one, other) = tokio::join!(one, other);
    (one.expect("the task ends"), other.expect("the task ends"))
}

fn release<J: WriteJob>(
    scene: &Scene,
    writer: &Arc<dyn Writer>,
    barrier: &Arc<Barrier>,
    job: J,
) -> JoinHandle<Outcome<J>> {
    let (writer, barrier, tenant) = (Arc::clone(writer), Arc::clone(barrier), scene.tenant.clone());
    let tasks = tokio_util::task::TaskTracker::new();
    tasks.spawn(async move {
        barrier.wait().await;
        submit(&*writer, &tenant, job).await
    })
}
