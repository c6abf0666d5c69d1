//! One agent's server, journal, counts and output, in memory and with faults.

use std::{
    collections::{BTreeMap, HashMap},
    io::{self, Write},
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};

use async_trait::async_trait;
use compass_agent::{
    ports::{
        Call, CallError, CallResult, Continuations, Continued, Gateway, HandOver, Journal, JournalError,
        Mailbox, Mark, Owed, Wait,
    },
    seen::{Delivery, SeenAsk, SeenBlock, SeenMessage, SeenOption, SeenQuestion},
};
use compass_domain::message::DraftBlock;
use compass_harness::hook::{Hook, HookError, Input, Place};
use serde_json::Value;
use tokio::time::Instant;

/// A person's answer: for each question what is chosen and what is written.
pub(crate) type Answer = Vec<(Vec<&'static str>, &'static str)>;

#[derive(Default)]
pub(crate) struct State {
    pub(crate) owed: Vec<Delivery>,
    pub(crate) acknowledged: Vec<String>,
    pub(crate) asks: BTreeMap<String, SeenAsk>,
    pub(crate) posts: usize,
    /// What a person answers as soon as an ask is seen so often.
    pub(crate) answers: Option<(usize, Answer)>,
    /// The ask is withdrawn as soon as it is posted.
    pub(crate) withdraws: bool,
    pub(crate) cancelled: Vec<String>,
    pub(crate) down: bool,
    pub(crate) marks: HashMap<String, Mark>,
    pub(crate) waits: BTreeMap<String, Wait>,
    pub(crate) continued: HashMap<String, Continued>,
}

/// All of it, shared.
#[derive(Default, Clone)]
pub(crate) struct World(Arc<Mutex<State>>);

/// Output that fails once so many bytes were taken.
pub(crate) struct Full(pub usize);

impl Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let fits = bytes.len().min(self.0);
        self.0 -= fits;
        if fits == 0 { Err(io::ErrorKind::StorageFull.into()) } else { Ok(fits) }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Output that takes everything and cannot be flushed.
pub(crate) struct Unflushed;

impl Write for Unflushed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Err(io::ErrorKind::BrokenPipe.into())
    }
}

impl World {
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().expect("not poisoned")
    }

    /// Owes the agent a text.
    pub(crate) fn owe(&self, id: &str, text: &str) {
        let blocks = vec![SeenBlock::Text { text: text.into() }];
        let message = SeenMessage { id: id.into(), topic_id: "t".into(), blocks, ..SeenMessage::default() };
        let delivery = Delivery { message, channel_name: "ops".into(), ..Delivery::default() };
        self.state().owed.push(delivery);
    }

    /// Runs the hook on an input and gives what it said, none if nothing.
    pub(crate) async fn hook(&self, input: &str) -> Result<Option<Value>, HookError> {
        let mut out = Vec::new();
        self.hook_into(input, &mut out).await?;
        let text = String::from_utf8(out).expect("UTF-8");
        assert!(text.is_empty() || (text.ends_with('\n') && text.lines().count() == 1), "{text}");
        Ok((!text.is_empty()).then(|| serde_json::from_str(&text).expect("JSON")))
    }

    pub(crate) async fn hook_into(&self, input: &str, out: &mut (dyn Write + Send)) -> Result<(), HookError> {
        let input = Input::read(input).expect("an event");
        let (mut journal, mut continuations) = (self.clone(), self.clone());
        let mut hook = Hook {
            gateway: self,
            mailbox: self,
            journal: &mut journal,
            continuations: &mut continuations,
            reader: "me",
            random: &|| [7; 8],
            place: Place { channel: None, topic: "Questions".into() },
            until: Instant::now() + Duration::from_secs(50),
        };
        hook.run(input, out).await
    }
}

#[async_trait]
impl Gateway for World {
    async fn call(&self, _: &str, call: Call) -> Result<CallResult, CallError> {
        let mut state = self.state();
        if state.down {
            return Err(CallError::Unreachable("refused".into()));
        }
        match call {
            Call::Post { key, blocks, .. } => {
                state.posts += 1;
                let Some(DraftBlock::Ask(draft)) = blocks.into_iter().next() else { panic!("no ask") };
                let id = format!("ask{}", state.asks.len() + 1);
                let withdrawn = state.withdraws;
                let ask = state.asks.entry(key).or_insert_with(|| SeenAsk {
                    ask_id: id,
                    cancelled: withdrawn,
                    questions: draft.questions.into_iter().map(seen).collect(),
                    ..SeenAsk::default()
                });
                let mut answered = ask.clone();
                if let Some((at, answer)) = state.answers.clone()
                    && state.posts >= at
                    && !answered.answered
                {
                    close(&mut answered, &answer);
                    state.owed.push(answer_message(&answered));
                    for ask in state.asks.values_mut().filter(|ask| ask.ask_id == answered.ask_id) {
                        *ask = answered.clone();
                    }
                }
                let blocks = vec![SeenBlock::Ask { ask: answered }];
                Ok(CallResult::Post(Some(SeenMessage { blocks, ..SeenMessage::default() })))
            }
            Call::CancelAsk { ask_id } => {
                state.cancelled.push(ask_id);
                Ok(CallResult::CancelAsk)
            }
            other => panic!("{other:?}"),
        }
    }
}

fn seen(draft: compass_domain::ask::QuestionDraft) -> SeenQuestion {
    let option = |option: compass_domain::ask::OptionDraft| SeenOption {
        id: option.id,
        label: option.label,
        description: option.description,
        preview: option.preview,
    };
    SeenQuestion {
        question_id: draft.id,
        question: draft.text,
        header: draft.header,
        options: draft.options.into_iter().map(option).collect(),
        allow_multiple: draft.allow_multiple,
        recommended: draft.recommended,
        ..SeenQuestion::default()
    }
}

fn close(ask: &mut SeenAsk, answer: &Answer) {
    ask.answered = true;
    for (question, (chosen, written)) in ask.questions.iter_mut().zip(answer) {
        question.chosen_option_ids = chosen.iter().map(|&id| id.into()).collect();
        question.custom_text = (*written).into();
    }
}

fn answer_message(ask: &SeenAsk) -> Delivery {
    let blocks = vec![SeenBlock::AskAnswer { ask: ask.clone(), asker_account_id: "me".into() }];
    let message = SeenMessage { id: format!("answer-{}", ask.ask_id), blocks, ..SeenMessage::default() };
    Delivery { message, ..Delivery::default() }
}

#[async_trait]
impl Mailbox for World {
    async fn fetch(&self, limit: u32, answers_ask_id: Option<&str>) -> Result<Owed, CallError> {
        let state = self.state();
        if state.down {
            return Err(CallError::Unreachable("refused".into()));
        }
        let wanted = |delivery: &&Delivery| match answers_ask_id {
            None => true,
            Some(id) => delivery.message.answer().is_some_and(|ask| ask.ask_id == id),
        };
        let deliveries = state.owed.iter().filter(wanted).take(limit as usize).cloned().collect();
        Ok(Owed { deliveries, waiting: 0 })
    }

    async fn acknowledge(&self, message_ids: &[String]) -> Result<(), CallError> {
        let mut state = self.state();
        state.owed.retain(|owed| !message_ids.contains(&owed.message.id));
        state.acknowledged.extend_from_slice(message_ids);
        Ok(())
    }
}

impl Journal for World {
    fn mark(&mut self, id: &str) -> Result<Option<Mark>, JournalError> {
        Ok(self.state().marks.get(id).copied())
    }

    fn begin(&mut self, ids: &[String]) -> Result<(), JournalError> {
        self.state().marks.extend(ids.iter().map(|id| (id.clone(), Mark::Begun)));
        Ok(())
    }

    fn take(&mut self, ids: &[String]) -> Result<(), JournalError> {
        self.state().marks.extend(ids.iter().map(|id| (id.clone(), Mark::Taken)));
        Ok(())
    }

    fn refuse(&mut self, _: &[String]) -> Result<(), JournalError> {
        Ok(())
    }

    fn wait(&mut self, wait: &Wait) -> Result<(), JournalError> {
        self.state().waits.insert(wait.key.clone(), wait.clone());
        Ok(())
    }

    fn end_wait(&mut self, key: &str) -> Result<(), JournalError> {
        self.state().waits.remove(key);
        Ok(())
    }

    fn waits(&mut self) -> Result<Vec<Wait>, JournalError> {
        Ok(self.state().waits.values().cloned().collect())
    }

    fn hand_over(&mut self) -> Result<Option<HandOver>, JournalError> {
        Ok(Some(HandOver::free()))
    }
}

impl Continuations for World {
    fn get(&mut self, session_id: &str) -> Result<Continued, JournalError> {
        Ok(self.state().continued.get(session_id).cloned().unwrap_or_default())
    }

    fn set(&mut self, session_id: &str, continued: &Continued) -> Result<(), JournalError> {
        self.state().continued.insert(session_id.to_owned(), continued.clone());
        Ok(())
    }
}
