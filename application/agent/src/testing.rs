//! A journal in memory, and short words for messages.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex, MutexGuard},
};

use crate::{
    ports::{HandOver, Journal, JournalError, Mark, Wait},
    seen::{Delivery, SeenAsk, SeenBlock, SeenMessage},
    tools::{PostAskParams, QuestionParams},
};

#[derive(Debug, Default)]
pub(crate) struct Sheet {
    pub(crate) marks: HashMap<String, Mark>,
    pub(crate) waits: BTreeMap<String, Wait>,
    pub(crate) broken: bool,
    handing_over: Arc<()>,
}

/// What several lives share.
#[derive(Debug, Default, Clone)]
pub(crate) struct Paper(Arc<Mutex<Sheet>>);

impl Paper {
    pub(crate) fn sheet(&self) -> MutexGuard<'_, Sheet> {
        self.0.lock().expect("not poisoned")
    }

    fn write(&self, work: impl FnOnce(&mut Sheet)) -> Result<(), JournalError> {
        let mut sheet = self.sheet();
        if sheet.broken {
            return Err(JournalError("disk full".into()));
        }
        work(&mut sheet);
        Ok(())
    }
}

impl Journal for Paper {
    fn mark(&mut self, id: &str) -> Result<Option<Mark>, JournalError> {
        Ok(self.sheet().marks.get(id).copied())
    }

    fn begin(&mut self, ids: &[String]) -> Result<(), JournalError> {
        self.write(|sheet| sheet.marks.extend(ids.iter().map(|id| (id.clone(), Mark::Begun))))
    }

    fn take(&mut self, ids: &[String]) -> Result<(), JournalError> {
        self.write(|sheet| sheet.marks.extend(ids.iter().map(|id| (id.clone(), Mark::Taken))))
    }

    fn refuse(&mut self, ids: &[String]) -> Result<(), JournalError> {
        self.write(|sheet| sheet.marks.retain(|id, mark| *mark == Mark::Taken || !ids.contains(id)))
    }

    fn wait(&mut self, wait: &Wait) -> Result<(), JournalError> {
        self.write(|sheet| drop(sheet.waits.insert(wait.key.clone(), wait.clone())))
    }

    fn end_wait(&mut self, key: &str) -> Result<(), JournalError> {
        self.write(|sheet| drop(sheet.waits.remove(key)))
    }

    fn waits(&mut self) -> Result<Vec<Wait>, JournalError> {
        Ok(self.sheet().waits.values().cloned().collect())
    }

    fn hand_over(&mut self) -> Result<Option<HandOver>, JournalError> {
        let sheet = self.sheet();
        let free = Arc::strong_count(&sheet.handing_over) == 1;
        Ok(free.then(|| HandOver::holding(Arc::clone(&sheet.handing_over))))
    }
}

pub(crate) fn delivery(id: &str) -> Delivery {
    Delivery { message: SeenMessage { id: id.into(), ..SeenMessage::default() }, ..Delivery::default() }
}

pub(crate) fn ids(list: &[&str]) -> Vec<String> {
    list.iter().map(|id| (*id).to_owned()).collect()
}

/// An ask of one question.
pub(crate) fn ask() -> PostAskParams {
    let question = QuestionParams {
        id: "q".into(),
        question: "May it?".into(),
        header: String::new(),
        options: vec![],
        multi: false,
        recommended: None,
    };
    PostAskParams { questions: vec![question], topic: "t".into(), channel: None, create_topic: true }
}

/// The answer to an ask of this agent.
pub(crate) fn answer(id: &str, ask_id: &str) -> Delivery {
    let mut delivery = delivery(id);
    let ask = SeenAsk { ask_id: ask_id.into(), answered: true, ..SeenAsk::default() };
    delivery.message.blocks = vec![SeenBlock::AskAnswer { ask, asker_account_id: "me".into() }];
    delivery
}
