//! The only two transitions of an ask, and what they yield.

use std::sync::Arc;

use super::{AnswerError, Answers, Ask, AskState, End};
use crate::{
    account::Human,
    error::Corrupt,
    id::{AccountId, AskId, MessageId, Seq, UnixMillis},
    message::{BlockView, Message, MessageBlock, NewMessage, Placement},
};

/// An ask as a locked read found it.
#[derive(Debug)]
pub enum LockedAsk {
    /// Takes one transition.
    Open(OpenAsk),
    /// A person answered it.
    Answered,
    /// Its author withdrew it.
    Cancelled,
}

/// An open ask inside its locked message. It cannot be copied: a transition consumes it.
#[derive(Debug)]
pub struct OpenAsk {
    message: Arc<Message>,
    index: usize,
    ask: Ask,
}

/// An ask that just ended, with its message as it is from now on. Only [`OpenAsk`] makes one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ClosedAsk {
    ask: AskId,
    end: End,
    by: AccountId,
    at: UnixMillis,
    message: Arc<Message>,
}

/// Where the answer message goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reply {
    /// Its id.
    pub id: MessageId,
    /// Its place in the channel.
    pub seq: Seq,
    /// Its time, which is the ask's closing time too.
    pub at: UnixMillis,
}

impl LockedAsk {
    /// Finds an ask in its message, whose row the caller has locked.
    ///
    /// # Errors
    ///
    /// [`Corrupt`] if the message holds no such ask.
    pub fn restore(message: &Arc<Message>, id: AskId) -> Result<Self, Corrupt> {
        let found = message.blocks().iter().enumerate().find_map(|(index, block)| match block.view() {
            BlockView::Ask(ask) if ask.id() == id => Some((index, ask)),
            _ => None,
        });
        let Some((index, ask)) = found else {
            return Err(Corrupt::new(format!("message {} does not hold ask {id}", message.id())));
        };
        Ok(match ask.state() {
            AskState::Open => Self::Open(OpenAsk { message: Arc::clone(message), index, ask: ask.clone() }),
            AskState::Answered { .. } => Self::Answered,
            AskState::Cancelled { .. } => Self::Cancelled,
        })
    }
}

impl OpenAsk {
    /// Closes the ask with an answer; the message that says so comes with it.
    ///
    /// # Errors
    ///
    /// [`AnswerError`] if a question is unanswered, answered twice or not of this ask.
    pub fn answer(
        self,
        by: Human,
        answers: Answers,
        reply: Reply,
    ) -> Result<(ClosedAsk, NewMessage), AnswerError> {
        let answers = answers.fit(&self.ask.questions)?;
        let answered = self.ask.with_state(AskState::Answered { answers, by: by.id(), at: reply.at });
        let placement = Placement {
            id: reply.id,
            channel: self.message.channel(),
            topic: self.message.topic(),
            seq: reply.seq,
            at: reply.at,
            run: 0,
        };
        let answer = NewMessage::answer(by, &answered, self.message.author(), placement);
        Ok((self.close(answered, End::Answered, by.id(), reply.at), answer))
    }

    /// Closes the ask without an answer, for its author.
    pub fn cancel(self, at: UnixMillis) -> ClosedAsk {
        let author = self.message.author();
        let cancelled = self.ask.with_state(AskState::Cancelled { at });
        self.close(cancelled, End::Cancelled, author, at)
    }

    fn close(self, ended: Ask, end: End, by: AccountId, at: UnixMillis) -> ClosedAsk {
        let ask = ended.id();
        let message = Arc::new(self.message.with_block(self.index, &MessageBlock::ask(ended)));
        ClosedAsk { ask, end, by, at, message }
    }
}

impl ClosedAsk {
    /// Which ask.
    pub fn ask(&self) -> AskId {
        self.ask
    }

    /// How it ended.
    pub fn end(&self) -> End {
        self.end
    }

    /// Who ended it.
    pub fn by(&self) -> AccountId {
        self.by
    }

    /// When, by the server's clock.
    pub fn at(&self) -> UnixMillis {
        self.at
    }

    /// The ask's message, with the ask closed.
    pub fn message(&self) -> &Arc<Message> {
        &self.message
    }
}
