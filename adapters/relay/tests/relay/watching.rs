//! Who sees which session.

use compass_domain::{SessionId, TenantId};
use compass_hub::{
    ports::AttachMode,
    sessions::{OpenRequest, RunnerKey},
};
use compass_proto::v1;

use crate::support::{Server, with};

/// I7.
#[tokio::test]
async fn live_sessions_are_listed_to_those_who_take_part_in_the_agents_home() {
    let server = Server::start().await;
    let (account, session) = (server.agent.account.id, SessionId::from_bytes([7; 16]));
    let runner = RunnerKey::Agent { tenant: TenantId::default_tenant(), account };
    let open = OpenRequest { runner, account, mode: AttachMode::PresenceOnly, session };
    server.hub.open(open).await.unwrap();
    for (token, expected) in [(&server.member.token, 1), (&server.admin.token, 0)] {
        let request = with(token, v1::GetAgentStatusRequest::default());
        let listed = server.server().get_agent_status(request).await.unwrap().into_inner().statuses;
        assert_eq!(listed.len(), expected, "{listed:?}");
    }
}
