//! The limits: exactly at each one everything works, one more of anything is refused with limit and size.

use compass_client::{ChannelName, Client, ClientError, Page, model::AskState};
use compass_domain::{ask::AnswerDraft, limits};
use compass_proto::v1::{
    Ask, AskOption, AskQuestion, CommsCallRequest, MessageBlock, PostMessageRequest,
    agent_door_client::AgentDoorClient, comms_call_request::Call, comms_call_result::Result as Outcome,
    message_block::Block, post_message_request::Topic,
};
use prost::Message as _;
use serde_json::Value;
use tonic::{
    Request,
    transport::{Channel, Endpoint},
};

use crate::support::{Attach, World, answered, on_both, trials};

on_both!(
    messages_of_exactly_the_limits_are_listed_answered_delivered_shown_and_paged_through,
    one_more_of_anything_is_refused_with_the_limit_and_the_size,
    unusual_characters_come_back_exactly_or_are_refused,
);

/// A character of four bytes; limits in code points are met with it.
const WIDE: &str = "🦀";

/// An agent's raw way to the server.
struct Door {
    client: AgentDoorClient<Channel>,
    token: String,
}

impl Door {
    async fn open(world: &World) -> Self {
        let channel = Endpoint::from_shared(world.url()).unwrap().connect().await.unwrap();
        let client = AgentDoorClient::new(channel).max_decoding_message_size(4 << 20);
        Self { client, token: world.agent_token("bot") }
    }

    /// Posts; the ask's id, or the refusal's code and text.
    async fn post(&mut self, post: PostMessageRequest) -> Result<String, (String, String)> {
        let call = CommsCallRequest { call: Some(Call::Post(post)), ..CommsCallRequest::default() };
        let mut request = Request::new(call);
        request.metadata_mut().insert("authorization", format!("Bearer {}", self.token).parse().unwrap());
        match self.client.call(request).await.unwrap().into_inner().result.unwrap() {
            Outcome::Post(posted) => {
                let blocks = posted.message.unwrap().blocks.into_iter();
                let mut asks = blocks.filter_map(|block| match block.block {
                    Some(Block::Ask(ask)) => Some(ask.ask_id),
                    _ => None,
                });
                Ok(asks.next().unwrap())
            }
            Outcome::Error(error) => Err((error.code, error.message)),
            other => panic!("{other:?}"),
        }
    }
}

fn id(number: usize) -> String {
    format!("{number:0>width$}", width = limits::ID_BYTES)
}

fn block(block: Block) -> MessageBlock {
    MessageBlock { block: Some(block) }
}

fn option(number: usize) -> AskOption {
    AskOption { id: id(number), label: format!("option {number}"), ..AskOption::default() }
}

/// An ask in which every field is as large as it may be at least once; the first question holds most of it.
fn largest_ask() -> Ask {
    let mut options: Vec<_> = (0..limits::OPTIONS).map(option).collect();
    options[0].label = "l".repeat(limits::LABEL_BYTES);
    options[0].description = "d".repeat(limits::DESCRIPTION_BYTES);
    options[0].preview = "p\n".repeat(limits::PREVIEW_BYTES / 2);
    let first = AskQuestion {
        question_id: id(0),
        question: "q".repeat(limits::QUESTION_BYTES),
        header: WIDE.repeat(limits::HEADER_CODE_POINTS),
        options,
        allow_multiple: true,
        recommended: Some(63),
        ..AskQuestion::default()
    };
    let rest = (1..limits::QUESTIONS).map(|number| AskQuestion {
        question_id: id(number),
        question: format!("question {number}"),
        ..AskQuestion::default()
    });
    Ask { questions: [first].into_iter().chain(rest).collect(), ..Ask::default() }
}

/// A post of exactly the limits: blocks, bytes, key and topic name.
fn largest_post(number: usize) -> PostMessageRequest {
    let mut blocks: Vec<_> =
        (1..limits::BLOCKS - 1).map(|n| block(Block::Text(format!("text {n}")))).collect();
    blocks.push(block(Block::Ask(largest_ask())));
    let size = |blocks: &[MessageBlock]| {
        PostMessageRequest { blocks: blocks.to_vec(), ..PostMessageRequest::default() }.encoded_len()
    };
    blocks.insert(0, block(Block::Text("x".repeat(100_000))));
    let missing = limits::MESSAGE_BYTES - size(&blocks);
    blocks[0] = block(Block::Text("x".repeat(100_000 + missing)));
    assert_eq!((size(&blocks), blocks.len()), (limits::MESSAGE_BYTES, limits::BLOCKS));
    PostMessageRequest {
        topic: Some(Topic::TopicName(WIDE.repeat(limits::TOPIC_NAME_CODE_POINTS))),
        blocks,
        client_request_id: format!("{number:0>width$}", width = limits::KEY_BYTES),
        ..PostMessageRequest::default()
    }
}

/// Answers of exactly the limits: all options of the first question, and four texts that are the most in all.
fn largest_answers() -> Vec<AnswerDraft> {
    let first = AnswerDraft {
        question_id: id(0),
        chosen_option_ids: (0..limits::OPTIONS).map(id).collect(),
        custom_text: own_words(0),
    };
    let rest = (1..limits::QUESTIONS).map(|number| AnswerDraft {
        question_id: id(number),
        chosen_option_ids: Vec::new(),
        custom_text: if number < 4 { own_words(number) } else { String::new() },
    });
    [first].into_iter().chain(rest).collect()
}

fn own_words(number: usize) -> String {
    assert_eq!(limits::ANSWER_TEXT_BYTES, 4 * limits::CUSTOM_TEXT_BYTES);
    let line = format!("{number} {WIDE} ");
    let filler = limits::CUSTOM_TEXT_BYTES - line.len();
    format!("{line}{}", "w".repeat(filler))
}

async fn messages_of_exactly_the_limits_are_listed_answered_delivered_shown_and_paged_through(
    world: &mut World,
) {
    let count = trials(200, 12);
    let mut door = Door::open(world).await;
    let mut attach = Attach::start(world, "bot").await;
    let mut asks = Vec::new();
    for number in 0..count {
        asks.push(door.post(largest_post(number)).await.unwrap());
    }
    let person = world.person().await;
    assert_eq!(open_asks(&person).await, count);
    for ask_id in &asks {
        person.answer(ask_id, largest_answers()).await.unwrap();
        let line = attach.answer_to(ask_id).await;
        assert_delivered(&answered(&line["message"]).unwrap()["questions"]);
        attach.ack(line["message"]["id"].as_str().unwrap()).await;
    }
    assert_eq!(open_asks(&person).await, 0);
    let home = world.home_channel("bot").await;
    let (states, answers) = page_through(&person, &home).await;
    assert_eq!((states, answers), (vec![AskState::Answered; count], count));
    // One more, so that the newest two messages are an ask and its answer.
    let last = door.post(largest_post(count)).await.unwrap();
    person.answer(&last, largest_answers()).await.unwrap();
    let shown = world.ok(&["read", "--channel", &home, "--limit", "2"]).await;
    assert!(shown.contains(&format!("option {} (id {}", limits::OPTIONS, id(limits::OPTIONS - 1))));
    for number in 0..4 {
        assert_eq!(shown.matches(&own_words(number)).count(), 2, "in the ask and in the answer");
    }
}

async fn open_asks(person: &Client) -> usize {
    let (mut found, mut before) = (0, None);
    loop {
        let page = person.open_asks(None, &Page { limit: 200, before, snapshot_seq: 0 }).await.unwrap();
        let Some(last) = page.last() else { return found };
        before = Some(last.message.id.clone());
        found += page.len();
    }
}

/// The states of all asks and the number of answer messages, over pages that end early.
async fn page_through(person: &Client, channel: &str) -> (Vec<AskState>, usize) {
    let channel = ChannelName::Id(channel.to_owned());
    let (mut states, mut answers, mut before, mut pages) = (Vec::new(), 0, None, 0);
    loop {
        let page = Page { limit: 200, before, snapshot_seq: 0 };
        let messages = person.messages(&channel, None, &page).await.unwrap();
        let Some(last) = messages.last() else { break };
        before = Some(last.id.clone());
        pages += 1;
        for message in &messages {
            states.extend(message.asks().map(|ask| ask.state));
            answers += usize::from(message.asks().next().is_none());
        }
    }
    println!("{} messages on {pages} pages", states.len() + answers);
    assert!(pages > 1, "pages end early at their bound");
    (states, answers)
}

fn assert_delivered(questions: &Value) {
    let questions = questions.as_array().unwrap();
    assert_eq!(questions.len(), limits::QUESTIONS);
    let sent = largest_ask();
    for (number, (found, sent)) in questions.iter().zip(&sent.questions).enumerate() {
        assert_eq!(
            (&found["question"], &found["header"]),
            (&(*sent.question).into(), &(*sent.header).into())
        );
        let options = found["options"].as_array().unwrap();
        assert_eq!(options.len(), sent.options.len());
        for (found, sent) in options.iter().zip(&sent.options) {
            assert_eq!(
                (&found["label"], &found["preview"]),
                (&(*sent.label).into(), &(*sent.preview).into())
            );
            assert_eq!(found["description"], *sent.description);
        }
        let words = if number < 4 { own_words(number) } else { String::new() };
        assert_eq!(found["custom_text"], words);
        assert_eq!(found["chosen_option_ids"].as_array().unwrap().len(), sent.options.len());
    }
}

type Change = fn(&mut PostMessageRequest);

/// What makes a small post too large in one place, with the limit that is broken.
const TOO_MUCH: &[(&str, usize, Change)] = &[
    ("client_request_id", limits::KEY_BYTES, |post| post.client_request_id = "k".repeat(129)),
    ("topic name", limits::TOPIC_NAME_CODE_POINTS, |post| {
        post.topic = Some(Topic::TopicName(WIDE.repeat(121)));
    }),
    ("blocks", limits::BLOCKS, |post| {
        post.blocks.extend((0..64).map(|_| block(Block::Text("x".into()))));
    }),
    ("message", limits::MESSAGE_BYTES, |post| {
        *post = largest_post(0);
        let Some(Block::Text(text)) = &mut post.blocks[0].block else { unreachable!() };
        text.push('x');
    }),
    ("questions", limits::QUESTIONS, |post| {
        let question = |n| AskQuestion { question_id: id(n), question: "q".into(), ..AskQuestion::default() };
        ask(post).questions = (0..33).map(question).collect();
    }),
    ("question_id", limits::ID_BYTES, |post| ask(post).questions[0].question_id = "i".repeat(65)),
    ("question", limits::QUESTION_BYTES, |post| ask(post).questions[0].question = "q".repeat(8 * 1024 + 1)),
    ("header", limits::HEADER_CODE_POINTS, |post| ask(post).questions[0].header = WIDE.repeat(65)),
    ("options", limits::OPTIONS, |post| ask(post).questions[0].options = (0..65).map(option).collect()),
    ("id", limits::ID_BYTES, |post| ask(post).questions[0].options[0].id = "i".repeat(65)),
    ("label", limits::LABEL_BYTES, |post| ask(post).questions[0].options[0].label = "l".repeat(1025)),
    ("description", limits::DESCRIPTION_BYTES, |post| {
        ask(post).questions[0].options[0].description = "d".repeat(4 * 1024 + 1);
    }),
    ("preview", limits::PREVIEW_BYTES, |post| {
        ask(post).questions[0].options[0].preview = "p".repeat(64 * 1024 + 1);
    }),
];

fn ask(post: &mut PostMessageRequest) -> &mut Ask {
    let asks = post.blocks.iter_mut().filter_map(|block| match &mut block.block {
        Some(Block::Ask(ask)) => Some(ask),
        _ => None,
    });
    asks.last().unwrap()
}

fn small_post() -> PostMessageRequest {
    let question = AskQuestion {
        question_id: id(0),
        question: "Go?".into(),
        options: vec![option(0), option(1)],
        ..AskQuestion::default()
    };
    PostMessageRequest {
        topic: Some(Topic::TopicName("Small".into())),
        blocks: vec![block(Block::Ask(Ask { questions: vec![question], ..Ask::default() }))],
        ..PostMessageRequest::default()
    }
}

async fn one_more_of_anything_is_refused_with_the_limit_and_the_size(world: &mut World) {
    let mut door = Door::open(world).await;
    for (field, limit, change) in TOO_MUCH {
        let mut post = small_post();
        change(&mut post);
        let (code, text) = door.post(post).await.unwrap_err();
        assert_eq!(code, "invalid_argument", "{field}: {text}");
        for part in [*field, &limit.to_string(), &(limit + 1).to_string()] {
            assert!(text.contains(part), "{field}: {part} is missing in {text:?}");
        }
    }
    let person = world.person().await;
    assert_eq!(open_asks(&person).await, 0, "nothing was stored");
    let ask_id = door.post(largest_post(0)).await.unwrap();
    let mut one_long = largest_answers();
    one_long[0].custom_text.push('w');
    assert_refused(&person, &ask_id, one_long, limits::CUSTOM_TEXT_BYTES).await;
    let mut all_long = largest_answers();
    all_long[4].custom_text.push('w');
    assert_refused(&person, &ask_id, all_long, limits::ANSWER_TEXT_BYTES).await;
    person.answer(&ask_id, largest_answers()).await.unwrap();
    // The command line passes the same words on.
    let label = "l".repeat(limits::LABEL_BYTES + 1);
    let done = world.run(&["ask", "Go?", "--option", &label]).await;
    assert_eq!(done.code, Some(5), "{done:?}");
    assert!(done.stderr.contains("1024") && done.stderr.contains("1025"), "{done:?}");
}

async fn assert_refused(person: &Client, ask_id: &str, answers: Vec<AnswerDraft>, limit: usize) {
    match person.answer(ask_id, answers).await {
        Err(ClientError::Refused { code: "invalid_argument", message }) => {
            assert!(message.contains(&limit.to_string()), "{message}");
            assert!(message.contains(&(limit + 1).to_string()), "{message}");
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(open_asks(person).await, 1, "the ask stays open");
}

async fn unusual_characters_come_back_exactly_or_are_refused(world: &mut World) {
    let mut attach = Attach::start(world, "bot").await;
    let nul = r#"{"questions":[{"question":"a\u0000b"}]}"#;
    let done = world.run_with_input(&["ask", "--file", "-"], nul).await;
    assert_eq!(done.code, Some(5), "{done:?}");
    assert!(done.stderr.contains("NUL"), "{done:?}");
    for lone in [r#"{"questions":[{"question":"a\ud83d"}]}"#, r#"{"questions":[{"question":"\udc00"}]}"#] {
        let done = world.run_with_input(&["ask", "--file", "-"], lone).await;
        assert_eq!(done.code, Some(2), "{done:?}");
        assert!(done.stderr.contains("questions[0].question"), "{done:?}");
    }
    let texts = [
        "🦀 👩‍👩‍👧‍👦 \u{10FFFF}",
        "שלום عالم \u{202E}left\u{202C} \u{2066}isolated\u{2069}",
        "e\u{301} é \u{FEFF}bom \u{200B}zero",
        "line\nline\r\nline\u{2028}tab\tbell\u{7}escape\u{1b}[31m",
        "\u{FFFD}\u{FFFE}\u{FFFF}",
        "\"quotes\" \\ back %00 %s ${x} '; --",
    ];
    for text in texts {
        let file = serde_json::json!({ "questions": [{ "question": text, "options": [{ "label": text }] }] });
        let posted = world.run_with_input(&["ask", "--json", "--file", "-"], &file.to_string()).await;
        assert_eq!(posted.code, Some(0), "{text:?}: {posted:?}");
        let posted: Value = serde_json::from_str(&posted.stdout).unwrap();
        assert_eq!(posted["questions"][0]["question"], *text);
        let ask_id = posted["ask_id"].as_str().unwrap();
        let own = AnswerDraft { question_id: "0".into(), custom_text: text.into(), ..AnswerDraft::default() };
        world.person().await.answer(ask_id, vec![own]).await.unwrap();
        let line = attach.answer_to(ask_id).await;
        let question = &answered(&line["message"]).unwrap()["questions"][0];
        assert_eq!(question["question"], *text);
        assert_eq!(question["options"][0]["label"], *text);
        assert_eq!(question["custom_text"], *text);
    }
}
