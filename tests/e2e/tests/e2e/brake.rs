//! Agents that only talk to each other stop, and a start that fails is left alone for a while.

use std::time::Duration;

use compass_client::{ChannelName, MemberChanges, Page};
use serde_json::Value;

use crate::support::{Profile, RunnerProcess, World, given, notes, on_both, until, write};

on_both!(
    two_agents_that_mention_each_other_stop_until_a_person_speaks,
    a_start_that_fails_is_left_alone_and_told_by_the_doctor,
);

/// Agent messages in a topic without a person that are still delivered.
const BRAKE: usize = 30;

async fn two_agents_that_mention_each_other_stop_until_a_person_speaks(world: &mut World) {
    world.ok(&["agent", "create", "other"]).await;
    let _runner =
        RunnerProcess::attached(world, "box", &[Profile::quiet("bot"), Profile::quiet("other")]).await;
    for handle in ["bot", "other"] {
        world.ok(&["agents", "start", handle]).await;
    }
    let person = world.person().await;
    let channel = person.create_channel("talk", Vec::new()).await.unwrap().id;
    let changes = MemberChanges { add: vec!["bot".into(), "other".into()], ..MemberChanges::default() };
    person.update_members(&ChannelName::Id(channel.clone()), changes).await.unwrap();
    person.post(write(&channel, "@bot do:echo talk other bot")).await.unwrap();
    let me = person.who_am_i().await.unwrap().account_id;
    let echoes = async || {
        let page = Page { limit: 200, ..Page::default() };
        let all = person.messages(&ChannelName::Id(channel.clone()), None, &page).await.unwrap();
        all.iter().filter(|message| message.author_account_id != me).count()
    };
    // Braked is the first message nobody is given any more; then nothing follows.
    until("the brake", async || (echoes().await > BRAKE).then_some(())).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(echoes().await, BRAKE + 1);
    let told = world.ok(&["topics", "--channel", "talk"]).await;
    assert!(told.contains("30 agent messages"), "{told}");
    person.post(write(&channel, "go on")).await.unwrap();
    until("the next echoes", async || (echoes().await > BRAKE + 5).then_some(())).await;
}

/// Starts of an agent that failed in a row.
fn failures(row: &Value) -> Option<u64> {
    row["placement"]["failures"].as_u64()
}

async fn a_start_that_fails_is_left_alone_and_told_by_the_doctor(world: &mut World) {
    let profile =
        Profile { wake: "mention", restart: "never", command: Some("/bin/false"), ..Profile::quiet("bot") };
    let _runner = RunnerProcess::attached(world, "box", &[profile]).await;
    // Whether the start or the end is told first, the reason is kept.
    world.run(&["agents", "start", "bot"]).await;
    let told = until("the reason", async || {
        let rows = world.json(&["agents"]).await;
        let row = rows.into_iter().find(|row| row["handle"] == "bot")?;
        let notes = row["notes"].as_array()?.clone();
        let is_live = !row["sessions"].as_array()?.is_empty();
        (!is_live && !notes.is_empty()).then_some(notes)
    })
    .await;
    assert!(told[0]["text"].as_str().unwrap().contains("exit status: 1"), "{told:?}");
    let home = world.home_channel("bot").await;
    world.person().await.post(write(&home, "wake up")).await.unwrap();
    let row = until("the failed wake", async || {
        let rows = world.json(&["agents"]).await;
        let row = rows.into_iter().find(|row| row["handle"] == "bot")?;
        (failures(&row)? > 0).then_some(row)
    })
    .await;
    assert_eq!(failures(&row), Some(1), "{row}");
    let doctor = world.run(&["doctor"]).await;
    assert_eq!(doctor.code, Some(1), "{doctor:?}");
    assert!(doctor.stdout.contains("@bot") && doctor.stdout.contains("exit status: 1"), "{doctor:?}");
    // Nobody tries again at once.
    world.person().await.post(write(&home, "wake up, please")).await.unwrap();
    tokio::time::sleep(Duration::from_secs(1)).await;
    let rows = world.json(&["agents"]).await;
    assert_eq!(rows.iter().find(|row| row["handle"] == "bot").and_then(failures), Some(1));
    assert!(given(world, "bot").is_empty() && notes(world, "bot").is_empty());
}
