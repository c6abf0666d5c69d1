//! Where a message goes beyond its channel's sweep set: the one place of the hub that looks at block kinds.

use compass_domain::{
    AccountId, Classified, Corrupt, ErrorKind, Event, Message, MessageId,
    delivery::{AgentMember, Target, route},
    message::AskAnswer,
};
use compass_ports::{Decision, Loaded, Locks, OwedRow, StorageError, WriteJob, Writes};

/// Stores an owed row for every target outside the sweep set and the fact that this was done.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Route {
    pub(crate) message: MessageId,
}

/// Why a message stays unrouted.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// Its row cannot be read.
    #[error(transparent)]
    Corrupt(#[from] Corrupt),
    /// Storage failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

impl Classified for Error {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Corrupt(_) => ErrorKind::Internal,
            Self::Storage(error) => error.kind(),
        }
    }
}

impl WriteJob for Route {
    type Outcome = ();
    type Error = Error;

    fn locks(&self) -> Locks {
        Locks::Route { message: self.message }
    }

    fn decide(&self, loaded: &Loaded) -> Decision<(), Error> {
        let Some(routing) = loaded.routing(self.message)? else { return Ok((Writes::none(), ())) };
        let channel = routing.message.channel();
        let mut writes = Writes::none();
        for target in targets(&routing.message, &routing.members).iter().filter(|target| target.owed) {
            writes.owe(OwedRow { agent: target.account, message: self.message, channel });
        }
        writes.mark_routed(self.message);
        writes.tell(Event::MessageSettled { channel, message: self.message });
        Ok((writes, ()))
    }
}

/// Who gets a message, and how; live delivery and recovery both ask here.
pub(crate) fn targets(message: &Message, members: &[AgentMember]) -> Vec<Target> {
    route(message, members)
}

/// True if a message that no agent wrote was stored with an unrouted row.
pub(crate) fn needs_routing(message: &Message) -> bool {
    message.answer().is_some() || !message.mentions().is_empty()
}

/// Who asked what the message answers, if it is an answer.
pub(crate) fn asker(message: &Message) -> Option<AccountId> {
    message.answer().map(AskAnswer::asker)
}

/// True if its author may wait for someone now.
pub(crate) fn has_ask(message: &Message) -> bool {
    message.asks().next().is_some()
}
