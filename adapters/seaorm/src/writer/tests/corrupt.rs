//! Rows that cannot be read: they are named, and the others come.

use compass_domain::MessageId;
use compass_hub::ports::{Audience as _, Overview as _, PendingQuery, PinQuery};
use compass_testkit::drafts;

use super::{World, tenant};
use crate::ids::id;

#[tokio::test]
async fn an_owed_or_pinned_message_that_cannot_be_read_is_named_and_the_others_come() {
    for world in World::all().await {
        let blocks = vec![compass_domain::message::DraftBlock::Ask(drafts::yes_or_no())];
        let (ask, _) = world.post(&world.person, blocks);
        let bad = world.submit(ask).await.unwrap().message.id();
        let good = world.submit(world.text(&world.person, "good")).await.unwrap().message.id();
        let pin = "INSERT INTO channel_pins (channel, message, tenant, place, pinned_at_ms, pinned_by)
            VALUES ($1, $2, 'default', 0, 0, $4), ($1, $3, 'default', 1, 0, $4)";
        world.db.execute(pin, vec![id(world.channel), id(bad), id(good), id(world.person.id)]).await;
        // The ask disagrees with its digest from here on.
        world.db.execute("UPDATE asks SET digest = $1", vec![vec![7u8; 32].into()]).await;
        let query = PendingQuery {
            agent: world.agent.id,
            include_unrouted: true,
            include_braked: true,
            answers_ask: None,
            skip: Vec::new(),
            limit: 50,
        };
        let page = world.db.storage.pending(&tenant(), &query).await.unwrap();
        let found: Vec<MessageId> = page.items.iter().map(|item| item.message.message.id()).collect();
        assert_eq!((found, page.corrupt), (vec![good], vec![bad]));
        let query = PinQuery { agent: world.agent.id, after: None, limit: 50 };
        let pins = world.db.storage.pins(&tenant(), &query).await.unwrap();
        let found: Vec<MessageId> = pins.messages.iter().map(|pin| pin.message.id()).collect();
        assert_eq!((found, pins.corrupt, pins.next), (vec![good], vec![bad], None));
        let examined = world.db.storage.examine(&tenant(), 50).await.unwrap();
        assert_eq!((examined.messages, examined.corrupt.len()), (2, 1));
        assert_eq!(examined.corrupt[0].0, bad);
        assert!(examined.corrupt[0].1.contains("digest"), "{}", examined.corrupt[0].1);
        let owed = world.db.storage.owed(&tenant(), &[world.agent.id]).await.unwrap();
        assert_eq!(owed, [world.agent.id]);
    }
}
