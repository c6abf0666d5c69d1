//! What everyone sees when a sequence is over.

use compass_comms::{
    asks::list_open_asks::ListOpenAsks,
    channels::resolve::ChannelRef,
    messages::list_messages::ListMessages,
    topics::{list_topics::ListTopics, list_topics_of_channels::MAX_CHANNELS},
};
use compass_domain::ChannelId;

use super::play::Play;

impl Play {
    /// Holds every list of every account against the model.
    pub(super) async fn compare_everything(&mut self) {
        self.hear_streams().await;
        let channels: Vec<ChannelId> = self.state.places.iter().map(|place| place.id).collect();
        for who in self.callers() {
            self.list_accounts(who).await;
            self.list_channels(who).await;
            self.list_open_asks(who, ListOpenAsks { limit: 200, ..ListOpenAsks::default() }).await;
            let asks = self.state.messages.iter().rev();
            let mut asks =
                asks.filter(|said| said.has_open_ask() && self.state.takes_part(who, said.channel));
            if let Some(newest) = asks.next().map(|said| said.id) {
                let older = ListOpenAsks { limit: 2, before: Some(newest), channel: None };
                self.list_open_asks(who, older).await;
            }
            self.read_positions(who, None).await;
            for some in channels.chunks(MAX_CHANNELS) {
                self.moved_topics(who, some).await;
            }
            for channel in &channels {
                let topics = ListTopics { channel: ChannelRef::Id(*channel), include_archived: true };
                self.list_topics(who, topics, false).await;
                let messages = ListMessages {
                    channel: ChannelRef::Id(*channel),
                    topic: None,
                    topic_name: None,
                    before: None,
                    limit: 200,
                    snapshot: None,
                };
                self.list_messages(who, messages, false).await;
            }
        }
    }
}
