//! Leases run out by the clock that the store was given.

use std::sync::Arc;

use compass_domain::{AccountId, NodeId, SessionId, TenantId};
use compass_hub::ports::{AttachMode, Ledger, OpenSession};
use compass_memory::MemoryStorage;
use compass_ports::Clock;
use compass_testkit::FixedClock;

#[tokio::test]
async fn a_session_is_live_for_fifteen_seconds_after_the_last_renewal() {
    let clock = Arc::new(FixedClock::default());
    let ledger = MemoryStorage::new(Arc::<FixedClock>::clone(&clock) as Arc<dyn Clock>);
    let (tenant, node) = (TenantId::default_tenant(), NodeId::from_bytes([1; 16]));
    let open = OpenSession {
        session: SessionId::from_bytes([2; 16]),
        account: AccountId::from_bytes([3; 16]),
        runner: "runner".into(),
        mode: AttachMode::Deliveries,
    };
    ledger.open_session(&tenant, node, &open).await.unwrap();
    ledger.renew_lease(node).await.unwrap();
    clock.advance_ms(14_999);
    assert_eq!(ledger.live_sessions(&tenant, None).await.unwrap().len(), 1);
    clock.advance_ms(1);
    assert_eq!(ledger.live_sessions(&tenant, None).await.unwrap(), []);
    ledger.renew_lease(node).await.unwrap();
    assert_eq!(ledger.live_sessions(&tenant, None).await.unwrap().len(), 1, "the row is still open");
}
