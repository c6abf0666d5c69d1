//! Waiting for the end of an ask: from its own state first, from what the agent is owed second.

use std::time::Duration;

use compass_client::{
    ClientError, NewPost,
    model::{Ask, AskState, Block, Message},
};
use tokio::time::Instant;

use super::{
    identity::Identity,
    outcome::{End, of_message},
};
use crate::{failure::Failure, output};

/// First pause between two looks.
const FIRST: Duration = Duration::from_millis(150);
/// Longest pause between two looks.
const LAST: Duration = Duration::from_secs(2);

/// One wait.
pub(super) struct Waiter<'a> {
    pub(super) identity: &'a Identity,
    pub(super) post: &'a NewPost,
    pub(super) timeout: Option<Duration>,
    pub(super) withdraw: bool,
}

impl Waiter<'_> {
    /// Looks until the ask ended or the time is up. An unreachable server is waited for: the ask is kept there.
    ///
    /// # Errors
    ///
    /// [`Failure::StillOpen`] when the time is up, [`Failure::Call`] if the server was unreachable then.
    pub(super) async fn run(&self, posted: Message) -> Result<End, Failure> {
        let deadline = self.timeout.map(|timeout| Instant::now() + timeout);
        let mut pause = FIRST;
        let mut looked: Result<Message, ClientError> = Ok(posted);
        let mut told = false;
        loop {
            match self.look(looked).await {
                Ok(Some(end)) => return Ok(end),
                Ok(None) => told = false,
                Err(Failure::Call(error)) if error.is_transient() => {
                    if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                        return Err(error.into());
                    }
                    if !told {
                        output::remark(&format!("{error}; waiting for the server"));
                        told = true;
                    }
                }
                Err(error) => return Err(error),
            }
            let now = Instant::now();
            if let Some(deadline) = deadline
                && now >= deadline
            {
                match self.time_is_up().await? {
                    Some(end) => return Ok(end),
                    // Answered in the last moment: the next look finds the answer.
                    None => looked = self.state().await,
                }
                continue;
            }
            let rest = deadline.map_or(pause, |deadline| pause.min(deadline - now));
            tokio::time::sleep(rest).await;
            pause = (pause * 2).min(LAST);
            looked = self.state().await;
        }
    }

    /// The ask as it is now: a repeat under the same key returns the stored message, its end included.
    async fn state(&self) -> Result<Message, ClientError> {
        self.identity.client.agent_post(self.post.clone()).await
    }

    async fn look(&self, looked: Result<Message, ClientError>) -> Result<Option<End>, Failure> {
        let message = looked?;
        let ask = of_message(&message)?;
        if ask.state == AskState::Cancelled {
            return Ok(Some(End { ask: ask.clone(), answer_message_id: None }));
        }
        // The answer's message id is what is acknowledged; the state alone is enough to know the end.
        let answer = self.answer(&ask.ask_id).await?;
        let answer_message_id = answer.as_ref().map(|(id, _)| id.clone());
        match (ask.state, answer) {
            (AskState::Answered, _) => Ok(Some(End { ask: ask.clone(), answer_message_id })),
            (_, Some((_, answered))) => Ok(Some(End { ask: answered, answer_message_id })),
            (_, None) => Ok(None),
        }
    }

    async fn answer(&self, ask_id: &str) -> Result<Option<(String, Ask)>, ClientError> {
        let fetched = self.identity.client.fetch(1, Some(ask_id)).await?;
        let delivery = fetched.deliveries.into_iter().next();
        Ok(delivery.and_then(|delivery| {
            let id = delivery.message.id.clone();
            delivery.message.blocks.into_iter().find_map(|block| match block {
                Block::AskAnswer { ask, .. } => Some((id.clone(), ask)),
                _ => None,
            })
        }))
    }

    async fn time_is_up(&self) -> Result<Option<End>, Failure> {
        let message = self.state().await?;
        let ask = of_message(&message)?;
        if ask.state != AskState::Open {
            return self.look(Ok(message)).await;
        }
        if !self.withdraw {
            let id = crate::render::line(&ask.ask_id);
            return Err(Failure::StillOpen(format!("ask {id} is still open; nothing was withdrawn")));
        }
        match self.identity.client.agent_cancel_ask(&ask.ask_id).await {
            Ok(_) => {
                let ask = Ask { state: AskState::Cancelled, ..ask.clone() };
                Ok(Some(End { ask, answer_message_id: None }))
            }
            Err(ClientError::Refused { code: "already_exists", .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}
