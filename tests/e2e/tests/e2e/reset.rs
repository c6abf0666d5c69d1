//! A client that resets its stream in the middle of an answer takes nothing away from the agent.

use std::time::{Duration, Instant};

use compass_client::ClientError;
use compass_proto::v1::{AskQuestionAnswer, RespondToAskRequest, comms_service_client::CommsServiceClient};
use tonic::{Request, transport::Endpoint};

use crate::support::{Attach, Random, World, choose, on_both, trials, usual_time};

on_both!(an_answer_of_a_client_that_reset_its_stream_reaches_the_live_agent_within_a_second);

async fn an_answer_of_a_client_that_reset_its_stream_reaches_the_live_agent_within_a_second(
    world: &mut World,
) {
    let mut random = Random::seeded("resets");
    let mut attach = Attach::start(world, "bot").await;
    let person = world.person().await;
    let channel = Endpoint::from_shared(world.url()).unwrap().tcp_nodelay(true).connect().await.unwrap();
    let usual = usual_time(world, &mut attach).await;
    let count = trials(50, 15);
    let (mut kept, mut reset) = (0, 0);
    // Chance decides which resets fall between commit and reply: it goes on until one did.
    for trial in 0..count * 20 {
        if trial >= count && reset > 0 && kept > 0 {
            break;
        }
        let (_, ask) = world.ask("bot", &format!("reset {trial}")).await;
        let mut raw = CommsServiceClient::new(channel.clone());
        let answer = AskQuestionAnswer {
            question_id: "go".into(),
            chosen_option_ids: vec!["0".into()],
            custom_text: String::new(),
        };
        let mut request =
            Request::new(RespondToAskRequest { ask_id: ask.ask_id.clone(), answers: vec![answer] });
        let bearer = format!("Bearer {}", world.person_token()).parse().unwrap();
        request.metadata_mut().insert("authorization", bearer);
        // Spread over the whole call, so that some resets fall between the commit and the publishing.
        let micros = random.below(u64::try_from(usual.as_micros()).unwrap() * 3 / 2);
        let replied = tokio::time::timeout(Duration::from_micros(micros), raw.respond_to_ask(request)).await;
        reset += usize::from(replied.is_err());
        // Closes the ask if the reset call did not; from here on the agent has a second.
        let again = person.answer(&ask.ask_id, choose("0")).await;
        let since = Instant::now();
        match (again, replied) {
            (Ok(()), Err(_)) => {}
            (Err(ClientError::Refused { code: "already_exists", .. }), replied) => {
                kept += usize::from(replied.is_err());
            }
            other => panic!("trial {trial}: {other:?}"),
        }
        let line = attach.answer_to(&ask.ask_id).await;
        let took = since.elapsed();
        assert!(took < Duration::from_secs(1), "trial {trial}: delivered after {took:?}");
        attach.ack(line["message"]["id"].as_str().unwrap()).await;
    }
    println!(
        "{count} trials at least, {reset} streams reset, {kept} of their answers were kept; usual time {usual:?}"
    );
    assert!(reset > 0 && kept > 0, "no reset fell into the middle of an answer");
    world.nothing_owed("bot").await;
    let mut ids: Vec<_> = attach.messages.iter().map(|line| line["message"]["id"].to_string()).collect();
    let lines = ids.len();
    ids.sort();
    ids.dedup();
    assert_eq!(lines, ids.len(), "a message came twice");
}
