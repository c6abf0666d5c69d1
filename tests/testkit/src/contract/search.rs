//! Searching: what is found, by whom, in which order, and how much of it.

use std::sync::Arc;

use compass_comms::messages::search_messages::{self, SearchMessages, search_messages};
use compass_domain::{
    Account, ChannelId, Classified, ErrorKind, Message, MessageId, Position, ask::QuestionDraft, limits,
    message::DraftBlock,
};

use crate::{Fixture, Scene, drafts};

async fn search(
    scene: &Scene,
    by: &Account,
    search: SearchMessages,
) -> Result<Vec<Arc<Message>>, search_messages::Error> {
    search_messages(&scene.comms(), &scene.caller(by), search).await
}

fn of(query: &str) -> SearchMessages {
    SearchMessages { query: query.to_owned(), ..SearchMessages::default() }
}

async fn found(scene: &Scene, by: &Account, query: &str) -> Vec<MessageId> {
    let found = search(scene, by, of(query)).await.unwrap_or_else(|error| panic!("{query:?}: {error}"));
    found.iter().map(|message| message.id()).collect()
}

async fn post(scene: &Scene, by: &Account, channel: ChannelId, blocks: Vec<DraftBlock>) -> Arc<Message> {
    let (job, _) = scene.post_job(by, channel, "t", blocks, None);
    scene.submit(job).await.expect("the post is stored").message
}

/// MS-21, 4.6-11, 4.6-12.
pub async fn texts_questions_and_own_words_of_answers_are_found_and_labels_are_not(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let room = scene.channel("room", &[&ana]).await;
    let question = QuestionDraft {
        text: "Which harbour?".into(),
        header: "Lighthouse".into(),
        ..drafts::question("q", &["quay"])
    };
    let (asked, asks) = scene.ask_all(&ana, room, vec![drafts::ask([question])]).await;
    let text = scene.say(&ana, room, "t", "the schooner sails").await;
    assert_eq!(found(&scene, &ana, "schooner").await, [text.id()]);
    assert_eq!(found(&scene, &ana, "harbour").await, [asked.id()]);
    for hidden in ["lighthouse", "quay", "label"] {
        assert_eq!(found(&scene, &ana, hidden).await, [], "{hidden}");
    }
    let (closed, answer) =
        scene.answer(&ana, asks[0], vec![drafts::entry("q", &[], "the northern pier")]).await.unwrap();
    assert_eq!(found(&scene, &ana, "northern pier").await, [answer.id()]);
    let mut both = found(&scene, &ana, "harbour").await;
    both.sort();
    assert_eq!(both, [asked.id(), answer.id()], "the question and its snapshot");
    let hits = search(&scene, &ana, of("harbour")).await.unwrap();
    assert!(hits.contains(&closed) && hits.contains(&answer), "as they are now");
}

/// MS-18: one table for every storage.
pub async fn the_query_language_is_that_of_web_searches(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let room = scene.channel("room", &[&ana]).await;
    let texts = [
        "The launching of release 4.2 failed on staging",
        "Launch the release to production now",
        "failed release, launched twice",
        "Rollback finished; see https://example.com/runbook for the X-Request-ID",
        "Café ZÜRICH опубликовано",
        "it is what it is",
    ];
    let mut ids = Vec::new();
    for text in texts {
        ids.push(scene.say(&ana, room, "t", text).await.id());
    }
    for (query, expected) in [
        ("launch", vec![0, 1, 2]),
        ("LAUNCHED releases", vec![0, 1, 2]),
        ("launching -failing", vec![1]),
        ("\"release to production\"", vec![1]),
        ("\"release failed\"", vec![]),
        ("\"failed release\"", vec![2]),
        ("production or rollback", vec![1, 3]),
        ("staging failed OR production release", vec![0, 1]),
        ("release -\"failed release\" -production", vec![0]),
        ("the launch of the release", vec![0, 1, 2]),
        ("4.2", vec![0]),
        ("example.com", vec![3]),
        ("x-request-id", vec![3]),
        ("café", vec![4]),
        ("Cafe\u{301} zürich ОПУБЛИКОВАНО", vec![4]),
        ("cafe", vec![]),
        ("nowhere", vec![]),
        ("release nowhere", vec![]),
        ("the", vec![]),
        ("it is what it is", vec![]),
        ("-launch", vec![]),
        ("the -launch", vec![]),
        ("rollback or -launch", vec![3]),
        ("!?", vec![]),
    ] {
        let mut found = found(&scene, &ana, query).await;
        found.sort();
        assert_eq!(found, expected.into_iter().map(|at: usize| ids[at]).collect::<Vec<_>>(), "{query:?}");
    }
}

/// Queries that trip over the languages below.
pub async fn no_query_is_read_as_anything_but_words(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let room = scene.channel("room", &[&ana]).await;
    let near = scene.say(&ana, room, "t", "near NEAR not AND or").await;
    let long = "a1 b2 ".repeat(170);
    for query in [
        "' OR 1=1 --",
        "a & b | !c",
        "foo:* <-> bar",
        "search_text:x",
        "\\",
        "\"\\\"",
        "(((",
        ")",
        "*",
        "x*",
        "^x",
        "{a}",
        "NEAR(a b)",
        "\"a\" + \"b\"",
        "a\u{202e}b",
        "🦀",
        "½",
        "a\n\tb",
        "--a",
        "- a",
        "%",
        "$1",
        "?1",
        "x''y",
        "and not",
        "e\u{301}",
        "\"",
        "-\"",
        "-\"a",
        "or or a or",
        &long,
    ] {
        search(&scene, &ana, of(query)).await.unwrap_or_else(|error| panic!("{query:?}: {error}"));
    }
    assert_eq!(found(&scene, &ana, "near").await, [near.id()]);
    assert_eq!(found(&scene, &ana, "\"near near\"").await, [near.id()]);
}

/// MS-19, TREE included.
pub async fn only_where_the_caller_takes_part_is_searched(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let (ana, ben) = (scene.user("ana").await, scene.user("ben").await);
    let bot = scene.agent("bot", &ana).await;
    let sibling = scene.agent("sibling", &ana).await;
    let (tree, room) = (scene.tree("tree", &bot).await, scene.channel("room", &[&ana, &ben]).await);
    let in_tree = scene.say(&bot, tree, "t", "anchor").await.id();
    let in_room = scene.say(&ben, room, "t", "anchor").await.id();
    for (who, expected) in
        [(&ana, vec![in_room, in_tree]), (&ben, vec![in_room]), (&bot, vec![in_tree]), (&sibling, vec![])]
    {
        assert_eq!(found(&scene, who, "anchor").await, expected, "{}", who.handle);
    }
    let scope = |channel| SearchMessages { channel: Some(channel), ..of("anchor") };
    let ids = |found: Vec<Arc<Message>>| found.iter().map(|message| message.id()).collect::<Vec<_>>();
    assert_eq!(ids(search(&scene, &ana, scope(tree)).await.unwrap()), [in_tree]);
    assert_eq!(ids(search(&scene, &ben, scope(tree)).await.unwrap()), []);
    assert_eq!(ids(search(&scene, &ben, scope(ChannelId::from_bytes([9; 16]))).await.unwrap()), []);
    scene.remove(room, &ben).await;
    assert_eq!(found(&scene, &ben, "anchor").await, []);
}

/// I1.
pub async fn another_tenant_finds_nothing(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let room = scene.channel("room", &[&ana]).await;
    scene.say(&ana, room, "t", "anchor").await;
    let mut caller = scene.caller(&ana);
    caller.tenant = compass_domain::TenantId::new("other");
    assert_eq!(search_messages(&scene.comms(), &caller, of("anchor")).await.unwrap(), []);
}

/// MS-18, MS-20.
pub async fn the_best_come_first_then_the_newest_within_bound_and_limit(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let room = scene.channel("room", &[&ana]).await;
    let best = scene.say(&ana, room, "t", "anchor anchor anchor").await.id();
    let old = scene.say(&ana, room, "t", "anchor chain rope").await.id();
    let bound = scene.read().await.last_position().await.unwrap();
    let new = scene.say(&ana, room, "t", "anchor chain rope").await.id();
    assert_eq!(found(&scene, &ana, "anchor").await, [best, new, old]);
    let ids = |found: Vec<Arc<Message>>| found.iter().map(|message| message.id()).collect::<Vec<_>>();
    let before = SearchMessages { snapshot: Some(bound), ..of("anchor") };
    assert_eq!(ids(search(&scene, &ana, before).await.unwrap()), [best, old]);
    let future = SearchMessages { snapshot: Some(Position(u64::MAX)), ..of("anchor") };
    assert_eq!(ids(search(&scene, &ana, future).await.unwrap()).len(), 3);
    let two = SearchMessages { limit: 2, ..of("anchor") };
    assert_eq!(ids(search(&scene, &ana, two).await.unwrap()), [best, new]);
}

/// MS-20: the clamp of every page.
pub async fn a_search_is_limited_like_a_page(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let room = scene.channel("room", &[&ana]).await;
    for _ in 0..201 {
        scene.say(&ana, room, "t", "anchor").await;
    }
    for (limit, expected) in [(0, 50), (1, 1), (200, 200), (201, 200), (u32::MAX, 200)] {
        let found = search(&scene, &ana, SearchMessages { limit, ..of("anchor") }).await.unwrap();
        assert_eq!(found.len(), expected, "{limit}");
    }
}

/// M3: bytes too.
pub async fn a_search_ends_early_at_its_byte_bound_and_holds_one(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let room = scene.channel("room", &[&ana]).await;
    let text = format!("anchor {}", "x".repeat(limits::MESSAGE_BYTES - 128));
    for _ in 0..10 {
        scene.say(&ana, room, "t", &text).await;
    }
    let found = found(&scene, &ana, "anchor").await;
    assert!((7..=8).contains(&found.len()), "{} messages of 256 KiB", found.len());
}

/// MS-18, M3.
pub async fn a_blank_query_and_one_over_the_limit_are_refused(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    for (query, told) in [
        (String::new(), "query is empty"),
        (" \n\t".into(), "query is empty"),
        ("x".repeat(1025), "query is too long: 1025 bytes, the limit is 1024"),
        ("a\0b".into(), "query contains a NUL character at byte 1"),
    ] {
        let refused = search(&scene, &ana, of(&query)).await.unwrap_err();
        assert_eq!((refused.kind(), &*refused.to_string()), (ErrorKind::InvalidArgument, told));
    }
    search(&scene, &ana, of(&"x".repeat(1024))).await.unwrap();
}

/// The largest text there is, all of it different words.
pub async fn a_text_of_very_many_words_is_stored_and_found(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let room = scene.channel("room", &[&ana]).await;
    let mut text = "anchor".to_owned();
    for number in 0.. {
        let more = format!(" a{number:x}-b{number:x}");
        if text.len() + more.len() > limits::MESSAGE_BYTES - 128 {
            break;
        }
        text.push_str(&more);
    }
    let message = post(&scene, &ana, room, vec![drafts::text(&text)]).await;
    assert_eq!(found(&scene, &ana, "anchor").await, [message.id()]);
    assert_eq!(found(&scene, &ana, "\"a1f b1f\"").await, [message.id()]);
}
