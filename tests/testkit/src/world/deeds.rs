//! What accounts do in a world, and what there is to read afterwards.

use std::sync::Arc;

use compass_comms::ports::{OpenAsksPage, Subject, TokenHash, TokenRow};
use compass_domain::{
    Account, AccountId, AskId, ChannelId, Message, MessageId, TokenId,
    ask::{AnswerDraft, AskDraft},
    message::{DraftBlock, request_digest},
};
use compass_hub::ports::{Pending, PendingQuery};
use compass_ports::{Ids as _, StorageError, WriteJob, submit};

use super::{Scene, idempotency_key, page_of, pending_of, topic_named};
use crate::{
    drafts,
    jobs::{Acknowledge, Answer, Cancel, JobError, Post, PostOutcome, Route},
};

impl Scene {
    /// A post job with fresh ids; returns the ids of its asks too.
    pub fn post_job(
        &self,
        author: &Account,
        channel: ChannelId,
        topic: &str,
        blocks: Vec<DraftBlock>,
        key: Option<&str>,
    ) -> (Post, Vec<AskId>) {
        let topic = topic_named(topic);
        let digest = request_digest(channel, &topic, &blocks);
        let key = key.map(|key| (idempotency_key(key), digest));
        let (content, asks) = drafts::content(blocks, &*self.ids);
        let job = Post {
            author: author.actor(),
            channel,
            topic,
            new_topic: self.ids.topic(),
            id: self.ids.message(),
            content,
            key,
            now: self.now(),
        };
        (job, asks)
    }

    /// Runs a job on the first writer.
    pub async fn submit<J: WriteJob>(&self, job: J) -> Result<J::Outcome, J::Error> {
        submit(&*self.writer, &self.tenant, job).await
    }

    /// Posts a text.
    pub async fn say(&self, author: &Account, channel: ChannelId, topic: &str, text: &str) -> Arc<Message> {
        self.say_with_key(author, channel, topic, text, None).await.expect("the post is stored").message
    }

    /// Posts a text with a key.
    pub async fn say_with_key(
        &self,
        author: &Account,
        channel: ChannelId,
        topic: &str,
        text: &str,
        key: Option<&str>,
    ) -> Result<PostOutcome, JobError> {
        let (job, _) = self.post_job(author, channel, topic, vec![drafts::text(text)], key);
        self.submit(job).await
    }

    /// Posts an ask.
    pub async fn ask(&self, author: &Account, channel: ChannelId, draft: AskDraft) -> (Arc<Message>, AskId) {
        let (message, asks) = self.ask_all(author, channel, vec![draft]).await;
        (message, asks[0])
    }

    /// Posts a message of several asks.
    pub async fn ask_all(
        &self,
        author: &Account,
        channel: ChannelId,
        drafts: Vec<AskDraft>,
    ) -> (Arc<Message>, Vec<AskId>) {
        let blocks = drafts.into_iter().map(DraftBlock::Ask).collect();
        let (job, asks) = self.post_job(author, channel, "asks", blocks, None);
        (self.submit(job).await.expect("the ask is stored").message, asks)
    }

    /// An answer job with a fresh id.
    pub fn answer_job(&self, by: &Account, ask: AskId, entries: Vec<AnswerDraft>) -> Answer {
        Answer {
            ask,
            by: by.actor().human().expect("only a person answers"),
            answers: drafts::answers(entries),
            id: self.ids.message(),
            now: self.now(),
        }
    }

    /// Answers an ask; returns the ask's message and the answer's.
    pub async fn answer(
        &self,
        by: &Account,
        ask: AskId,
        entries: Vec<AnswerDraft>,
    ) -> Result<(Arc<Message>, Arc<Message>), JobError> {
        self.submit(self.answer_job(by, ask, entries)).await
    }

    /// A cancel job.
    pub fn cancel_job(&self, by: &Account, ask: AskId) -> Cancel {
        Cancel { ask, actor: by.id, now: self.now() }
    }

    /// Withdraws an ask; true if it was open.
    pub async fn cancel(&self, by: &Account, ask: AskId) -> Result<bool, JobError> {
        self.submit(self.cancel_job(by, ask)).await
    }

    /// Acknowledges messages.
    pub async fn acknowledge(&self, agent: &Account, messages: &[&Message]) {
        let messages = messages.iter().map(|message| message.id()).collect();
        self.submit(Acknowledge { agent: agent.id, messages }).await.expect("the acknowledgement is stored");
    }

    /// Routes a message; who is owed it, or none if it was routed before.
    pub async fn route(&self, message: MessageId) -> Option<Vec<AccountId>> {
        self.submit(Route { message }).await.expect("the routing is stored")
    }

    /// What an agent is owed, routed or not.
    pub async fn pending(&self, agent: &Account) -> Pending {
        self.pending_by(&pending_of(agent)).await
    }

    /// What a query finds owed.
    pub async fn pending_by(&self, query: &PendingQuery) -> Pending {
        self.audience.pending(&self.tenant, query).await.expect("the audience can be read")
    }

    /// The newest messages of a channel, newest first.
    pub async fn messages(&self, channel: ChannelId) -> Vec<Arc<Message>> {
        self.read().await.list_messages(&page_of(channel)).await.expect("messages can be read")
    }

    /// A message as it is stored now.
    pub async fn message(&self, id: MessageId) -> Arc<Message> {
        let found = self.read().await.find_message(id).await.expect("messages can be read");
        found.expect("the message exists")
    }

    /// The open asks a viewer sees, newest first.
    pub async fn open_asks(&self, viewer: &Account) -> Vec<MessageId> {
        let page = OpenAsksPage { viewer: viewer.id, channel: None, before: None, limit: 200 };
        let asks = self.read().await.list_open_asks(&page).await.expect("open asks can be read");
        asks.iter().map(|message| message.id()).collect()
    }

    /// A token row that is not stored; `seed` makes its hash.
    pub fn token(&self, subject: Subject, seed: u8) -> TokenRow {
        TokenRow {
            id: TokenId::from_bytes(self.ids.random()),
            hash: TokenHash([seed; 32]),
            subject,
            created_at: self.now(),
            expires_at: None,
            revoked_at: None,
        }
    }

    /// Stores a token row.
    ///
    /// # Errors
    ///
    /// [`StorageError::Conflict`] if its hash is taken.
    pub async fn put_token(&self, token: &TokenRow) -> Result<(), StorageError> {
        let mut unit = self.begin().await;
        unit.tokens().insert(token).await?;
        unit.commit().await
    }
}
