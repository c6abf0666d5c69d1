//! A runner that the network cuts off while answers are given.

use std::{collections::HashMap, time::Duration};

use compass_client::ClientError;

use crate::support::{Profile, Proxy, RunnerProcess, World, choose, given, given_answer, on_both, trials};

on_both!(answers_given_while_a_runner_is_cut_off_arrive_when_it_is_back_and_no_frame_comes_three_times);

const AGENTS: usize = 10;

async fn answers_given_while_a_runner_is_cut_off_arrive_when_it_is_back_and_no_frame_comes_three_times(
    world: &mut World,
) {
    let answers = trials(100, 40);
    let away = Duration::from_secs(u64::try_from(trials(60, 6)).unwrap());
    let handle = |number: usize| format!("agent-{}", number % AGENTS);
    for number in 0..AGENTS {
        world.ok(&["agent", "create", &handle(number)]).await;
    }
    let profiles: Vec<Profile> = (0..AGENTS).map(|number| Profile::quiet(&handle(number))).collect();
    let proxy = Proxy::start(world.url().trim_start_matches("http://").to_owned()).await;
    let mut runner = RunnerProcess::set_up(world, "box", &profiles).await.through(proxy.url());
    runner.attach(world).await;
    for number in 0..AGENTS {
        world.ok(&["agents", "start", &handle(number)]).await;
    }
    let mut asks = Vec::new();
    for number in 0..answers {
        let (_, ask) = world.ask(&handle(number), &format!("cut {number}")).await;
        asks.push((handle(number), ask.ask_id));
    }
    let person = world.person().await;
    proxy.set_open(false);
    let cut = tokio::time::Instant::now();
    for (_, ask) in &asks {
        match person.answer(ask, choose("0")).await {
            Ok(()) => {}
            Err(ClientError::Refused { code, .. }) => panic!("{code}"),
            Err(error) => panic!("{error}"),
        }
    }
    tokio::time::sleep_until(cut + away).await;
    let early: usize = (0..AGENTS).map(|number| given(world, &handle(number)).len()).sum();
    assert_eq!(early, 0, "something went through the cut");
    proxy.set_open(true);
    for (handle, ask) in &asks {
        let found = given_answer(world, handle, ask).await;
        assert_eq!(found.len(), 1, "{handle} was given {ask} more than once");
    }
    for number in 0..AGENTS {
        world.nothing_owed(&handle(number)).await;
    }
    // Counted where they reach the runner. A frame names its message twice: as the name of the command, and in itself.
    let mut frames: HashMap<usize, usize> = HashMap::new();
    for (handle, ask) in &asks {
        let id = given_answer(world, handle, ask).await[0].id.clone();
        *frames.entry(proxy.count(id.as_bytes()) / 2).or_default() += 1;
    }
    println!("answers by how many frames carried them: {frames:?}");
    assert!(frames.keys().all(|times| (1..=2).contains(times)), "{frames:?}");
}
