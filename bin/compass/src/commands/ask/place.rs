//! The place of an ask that is waited for among the agent's processes: as long as it waits, they leave its answer to it.

use std::fmt::Display;

use compass_agent::{
    ports::{Journal as _, Wait},
    tools::PostAskParams,
};
use compass_gateway::FileJournal;

use super::identity::Identity;
use crate::{config, failure::Failure, system};

/// What the agent's other processes on this machine know of a wait. Dropped, nobody waits any more.
pub(super) struct Place {
    journal: FileJournal,
    key: String,
}

impl Place {
    /// Opens the agent's journal; nobody waits yet.
    ///
    /// # Errors
    ///
    /// [`Failure`] if the server does not say who the agent is, or the state directory cannot be written.
    pub(super) async fn open(identity: &Identity) -> Result<Self, Failure> {
        let account_id = identity.client.who_am_i().await?.account_id;
        let journal = FileJournal::open(&config::state_dir()?, &account_id).map_err(|error| local(&error))?;
        // Of this process alone: others may wait for the same ask.
        Ok(Self { journal, key: format!("ask:{}", system::fresh_key()) })
    }

    /// Says that the answer to this ask is waited for, for as long as the process lives.
    ///
    /// # Errors
    ///
    /// [`Failure::Local`] if that is not on disk.
    pub(super) fn hold(&mut self, ask_id: &str) -> Result<(), Failure> {
        // Nobody asks it again or withdraws it, so what it asks is of no use to anybody.
        let ask =
            PostAskParams { questions: Vec::new(), topic: String::new(), channel: None, create_topic: false };
        let (key, ask_id) = (self.key.clone(), Some(ask_id.to_owned()));
        let wait = Wait { owner: key.clone(), key, ask, ask_id, keep: true };
        self.journal.wait(&wait).map_err(|error| local(&error))
    }

    /// Says that the answer is about to be printed: should it come again, it says that it may have been read.
    ///
    /// # Errors
    ///
    /// [`Failure::Local`] if that is not on disk.
    pub(super) fn begin(&mut self, message_id: &str) -> Result<(), Failure> {
        let known = self.journal.mark(message_id).map_err(|error| local(&error))?;
        match known {
            Some(_) => Ok(()),
            None => self.journal.begin(&[message_id.to_owned()]).map_err(|error| local(&error)),
        }
    }

    /// Says that the answer was printed.
    ///
    /// # Errors
    ///
    /// [`Failure::Local`] if that is not on disk.
    pub(super) fn took(&mut self, message_id: &str) -> Result<(), Failure> {
        self.journal.take(&[message_id.to_owned()]).map_err(|error| local(&error))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // A wait whose process is gone counts for nothing, so it does no harm if this fails.
        drop(self.journal.end_wait(&self.key));
    }
}

fn local(error: &dyn Display) -> Failure {
    Failure::Local(error.to_string())
}
