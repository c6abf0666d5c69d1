//! The facts that product and floor both store, and the rows of one floor client.

use sqlx::types::Uuid;

/// What one commit of an ask's life stores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fact {
    /// A message with an open ask.
    Ask,
    /// The ask closed, in its row and in its message, and a message with the answer.
    Answer,
    /// How far an agent took in its channel.
    Receipt,
}

/// An ask as it is stored.
pub(super) const ASK: &str = r#"[{"kind": "ask", "ask": {"ask_id": "0195e0c2a1b27c3d8e4f506172839405", "questions":
    [{"question_id": "when", "question": "Deploy 4.2 now? Staging has been green for an hour.", "header": "Deploy",
    "options": [{"id": "now", "label": "Now"}, {"id": "noon", "label": "At noon"}, {"id": "no", "label": "No"}]}]}}]"#;
/// An answered ask as it is stored.
pub(super) const ANSWERED: &str = r#"[{"kind": "ask", "ask": {"ask_id": "0195e0c2a1b27c3d8e4f506172839405",
    "questions": [{"question_id": "when", "question": "Deploy 4.2 now? Staging has been green for an hour.", "header":
    "Deploy", "options": [{"id": "now", "label": "Now"}, {"id": "noon", "label": "At noon"}, {"id": "no", "label":
    "No"}], "chosen_option_ids": ["noon"]}], "answered": true}}]"#;
/// A post as it is stored.
pub(super) const POST: &str = concat!(
    r#"[{"kind": "text", "text": "Staging has been green for an hour: the new build answers within its limits, "#,
    "the error rate is where it was before, and nobody has seen the old symptom again. If nothing else comes up ",
    r#"by noon, the next step is the first of the three regions, then the rest."}]"#
);
/// The words of a message that a search finds.
pub(super) const WORDS: &str = "Deploy 4.2 now? Staging has been green for an hour.";
/// Length of a digest in bytes.
pub(super) const DIGEST: [u8; 32] = [7; 32];

/// The rows that one client of a floor works on; no two clients share one.
pub(super) struct Rows {
    pub(super) channel: Uuid,
    pub(super) topic: Uuid,
    pub(super) agent: Uuid,
    pub(super) person: Uuid,
    /// The newest ask and its message.
    pub(super) ask: (Uuid, Uuid),
    /// The newest place of the channel.
    pub(super) seq: i64,
    client: u128,
    given: u128,
}

impl Rows {
    pub(super) fn of_client(number: usize) -> Self {
        let client = (number as u128 + 1) << 64;
        let mut rows = Self {
            channel: Uuid::nil(),
            topic: Uuid::nil(),
            agent: Uuid::nil(),
            person: Uuid::nil(),
            ask: (Uuid::nil(), Uuid::nil()),
            seq: 0,
            client,
            given: 0,
        };
        rows.channel = rows.id();
        rows.topic = rows.id();
        rows.agent = rows.id();
        rows.person = rows.id();
        rows
    }

    /// An id that no other row has; ascending, as those of the product are.
    pub(super) fn id(&mut self) -> Uuid {
        self.given += 1;
        Uuid::from_u128(self.client | self.given)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn no_two_clients_share_an_id() {
        let mut clients: Vec<Rows> = (0..3).map(Rows::of_client).collect();
        let ids: HashSet<Uuid> = clients
            .iter_mut()
            .flat_map(|rows| [rows.channel, rows.topic, rows.agent, rows.person, rows.id(), rows.id()])
            .collect();
        assert_eq!(ids.len(), 18);
    }
}
