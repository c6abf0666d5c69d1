//! Two servers on one Postgres, and everything that can get into each other's way at once.

use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicUsize, Ordering},
    time::{Duration, Instant},
};

use compass_client::{
    ChannelName, Client, ClientError, MemberChanges, NewPost, Page, TopicName,
    model::{AskState, Block, Message, Topic},
};
use compass_domain::message::DraftBlock;
use tokio::task::JoinSet;

use crate::support::{Random, Storage, World, all_messages, choose, question, trials};

/// Names that topics are given, few enough for renames to meet.
const TOPICS: [&str; 5] = ["alpha", "beta", "gamma", "delta", "epsilon"];

/// What the calls came to.
#[derive(Default)]
struct Tally {
    texts: AtomicUsize,
    asks: AtomicUsize,
    answers: AtomicUsize,
    withdrawals: AtomicUsize,
    merges: AtomicUsize,
    changes: AtomicUsize,
}

/// One caller of one server.
struct Caller {
    person: Client,
    agent: Client,
    /// Where the agent lives; the person is a member.
    home: ChannelName,
    random: Random,
    number: usize,
    tally: &'static Tally,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_servers_take_everything_at_once_and_the_counts_add_up() {
    let Some(world) = World::start(Storage::Postgres).await else { return };
    let mut other = world.beside();
    other.serve().await;
    world.ok(&["user", "create", "ben"]).await;
    let tally: &'static Tally = Box::leak(Box::default());
    let home = ChannelName::Id(world.home_channel("bot").await);
    let until = Instant::now() + Duration::from_secs(trials(120, 15) as u64);
    let mut callers = JoinSet::new();
    for number in 0..8 {
        let url = if number % 2 == 0 { world.url() } else { other.url() };
        let mut caller = Caller {
            person: Client::connect(&url, Some(&world.person_token())).await.unwrap(),
            agent: Client::connect(&url, Some(&world.agent_token("bot"))).await.unwrap(),
            home: home.clone(),
            random: Random::seeded(&format!("caller {number}")),
            number,
            tally,
        };
        callers.spawn(async move {
            let mut call = 0;
            while Instant::now() < until {
                caller.act(call).await;
                call += 1;
            }
        });
    }
    callers.join_all().await;
    let one = world.person().await;
    let two = Client::connect(&other.url(), Some(&world.person_token())).await.unwrap();
    let messages = all_messages(&one, &home).await;
    assert_eq!(ids(&messages), ids(&all_messages(&two, &home).await), "both servers show the same");
    add_up(tally, &one, &home, &messages).await;
}

impl Caller {
    async fn act(&mut self, call: usize) {
        let key = format!("{} {call}", self.number);
        match self.random.below(20) {
            0..=6 => self.say(&key).await,
            7..=10 => self.ask(&key).await,
            11..=13 => self.answer().await,
            14 | 15 => self.withdraw().await,
            16..=18 => self.rename().await,
            _ => self.change_members().await,
        }
    }

    fn topic(&mut self) -> TopicName {
        let name = TOPICS[usize::try_from(self.random.below(TOPICS.len() as u64)).unwrap()];
        TopicName::Name(name.into())
    }

    /// Always goes in: a topic by name is made if a merge just took it away.
    async fn say(&mut self, key: &str) {
        let post = NewPost {
            channel: Some(self.home.clone()),
            topic: self.topic(),
            existing_topic_only: false,
            blocks: vec![DraftBlock::Text(format!("text {key}"))],
            key: format!("text {key}"),
        };
        self.person.post(post).await.unwrap_or_else(|error| panic!("a text: {error}"));
        self.tally.texts.fetch_add(1, Ordering::Relaxed);
    }

    async fn ask(&mut self, key: &str) {
        let post = NewPost { topic: self.topic(), ..question(key) };
        self.agent.agent_post(post).await.unwrap_or_else(|error| panic!("an ask: {error}"));
        self.tally.asks.fetch_add(1, Ordering::Relaxed);
    }

    async fn open(&mut self) -> Option<String> {
        let page = Page { limit: 20, ..Page::default() };
        let asks = self.person.open_asks(None, &page).await.unwrap_or_else(|error| panic!("asks: {error}"));
        let place = usize::try_from(self.random.below(asks.len() as u64)).unwrap();
        let message = &asks.get(place)?.message;
        message.asks().find(|ask| ask.state == AskState::Open).map(|ask| ask.ask_id.clone())
    }

    /// Somebody else may have been faster, and that is all that may be wrong.
    async fn answer(&mut self) {
        let Some(ask) = self.open().await else { return };
        match self.person.answer(&ask, choose("0")).await {
            Ok(()) => _ = self.tally.answers.fetch_add(1, Ordering::Relaxed),
            Err(error) => assert_eq!(error.code(), "already_exists", "an answer: {error}"),
        }
    }

    async fn withdraw(&mut self) {
        let Some(ask) = self.open().await else { return };
        match self.agent.agent_cancel_ask(&ask).await {
            Ok(_) => _ = self.tally.withdrawals.fetch_add(1, Ordering::Relaxed),
            Err(error) => assert_eq!(error.code(), "already_exists", "a withdrawal: {error}"),
        }
    }

    /// A listed topic may be gone by now; a name may be taken at the same moment.
    async fn rename(&mut self) {
        let topics = self.topics().await;
        let place = usize::try_from(self.random.below(topics.len() as u64)).unwrap();
        let (Some(topic), TopicName::Name(name)) = (topics.get(place), self.topic()) else { return };
        match self.person.update_topic(&topic.id, Some(name), None).await {
            Ok(found) if found.id != topic.id => _ = self.tally.merges.fetch_add(1, Ordering::Relaxed),
            Ok(_) => {}
            Err(ClientError::Refused { code: "not_found", .. }) => {
                let still = self.topics().await.iter().any(|listed| listed.id == topic.id);
                assert!(!still, "a topic that is there was not found");
            }
            Err(error) => assert_eq!(error.code(), "already_exists", "a rename: {error}"),
        }
    }

    async fn topics(&self) -> Vec<Topic> {
        self.person.topics(&self.home, true).await.unwrap_or_else(|error| panic!("topics: {error}"))
    }

    async fn change_members(&mut self) {
        let ben = vec!["ben".to_owned()];
        let changes = if self.random.below(2) == 0 {
            MemberChanges { add: ben, ..MemberChanges::default() }
        } else {
            MemberChanges { remove: ben, ..MemberChanges::default() }
        };
        let changed = self.person.update_members(&self.home, changes).await;
        changed.unwrap_or_else(|error| panic!("members: {error}"));
        self.tally.changes.fetch_add(1, Ordering::Relaxed);
    }
}

fn ids(messages: &[Message]) -> Vec<&str> {
    messages.iter().map(|message| message.id.as_str()).collect()
}

async fn add_up(tally: &Tally, person: &Client, home: &ChannelName, messages: &[Message]) {
    let count = |one: &AtomicUsize| one.load(Ordering::Relaxed);
    let (texts, asks, answers) = (count(&tally.texts), count(&tally.asks), count(&tally.answers));
    let (withdrawals, merges, changes) =
        (count(&tally.withdrawals), count(&tally.merges), count(&tally.changes));
    println!(
        "{texts} texts, {asks} asks, {answers} answers, {withdrawals} withdrawals, {merges} merges, \
         {changes} changes of members"
    );
    assert!([texts, asks, answers, withdrawals, merges, changes].iter().all(|count| *count > 0));
    assert_eq!(messages.len(), texts + asks + answers);
    let seqs: Vec<u64> = messages.iter().rev().map(|message| message.channel_seq).collect();
    assert_eq!(seqs, (1..=messages.len() as u64).collect::<Vec<_>>(), "dense, in order");
    let mut by_state = BTreeMap::new();
    for ask in messages.iter().flat_map(Message::asks) {
        *by_state.entry(format!("{:?}", ask.state)).or_insert(0_usize) += 1;
        let answered = messages
            .iter()
            .flat_map(|message| &message.blocks)
            .filter(|block| matches!(block, Block::AskAnswer { ask: of, .. } if of.ask_id == ask.ask_id));
        assert_eq!(answered.count(), usize::from(ask.state == AskState::Answered), "{}", ask.ask_id);
    }
    assert_eq!(by_state.get("Answered").copied().unwrap_or_default(), answers);
    // A withdrawal that is repeated changes nothing and is no error.
    let cancelled = by_state.get("Cancelled").copied().unwrap_or_default();
    assert!(cancelled <= withdrawals && cancelled > 0, "{cancelled} of {withdrawals}");
    assert_eq!(by_state.values().sum::<usize>(), asks);
    let topics = person.topics(home, true).await.unwrap();
    assert_eq!(topics.iter().map(|topic| topic.message_count).sum::<u64>(), messages.len() as u64);
    for topic in &topics {
        let own = messages.iter().filter(|message| message.topic_id == topic.id).count();
        assert_eq!(own as u64, topic.message_count, "{}", topic.name);
    }
}
