//! Who may call what: every RPC, every kind of caller, the expected code, through the real door.

use std::collections::BTreeSet;

use compass_comms::{
    Caller,
    accounts::{
        bootstrap::{Bootstrap, bootstrap},
        create_agent::{CreateAgent, create_agent},
        create_user::{CreateUser, create_user},
    },
    tokens::{
        issue::{create_sign_in, issue_account_token},
        revoke::revoke_value,
    },
};
use compass_domain::{Account, TenantId};
use compass_proto::v1;
use compass_relay::{
    auth::Principal,
    doors::{self, RPCS, admit},
    pending,
    status::status,
};
use prost::Message as _;
use tonic::Code;

use crate::{
    classes::contract,
    support::{Seat, Server, ask_block, ask_of, code, post_in, text, with, yes_or_no},
};

/// The callers, in the order of every row's codes. The member owns the agent, whose room and home it is in; the
/// outsider owns the foreign agent and is in neither.
const CALLERS: [&str; 9] = [
    "admin",
    "member",
    "outsider",
    "other tenant",
    "agent",
    "foreign agent",
    "runner",
    "no token",
    "revoked token",
];

/// An RPC, its request for the caller of this number, and one letter for the code of each caller: `.` is OK.
struct Row(&'static str, fn(&World, usize) -> Vec<u8>, &'static str);

/// A row of an RPC that is not offered yet says what it will answer; until then who is let in gets UNIMPLEMENTED.
const ROWS: &[Row] = &[
    Row("CommsService/CreateUser", create_user_request, ".PP.PPUUU"),
    Row("CommsService/CreateAgent", create_agent_request, "P.PN.PUUU"),
    Row("CommsService/ListAccounts", nothing, "......UUU"),
    Row("CommsService/CreateChannelGroup", create_group_request, "......UUU"),
    Row("CommsService/ListChannelGroups", nothing, "......UUU"),
    Row("CommsService/ListChannels", nothing, "......UUU"),
    Row("CommsService/CreateChannel", create_channel_request, "......UUU"),
    Row("CommsService/UpdateChannelMembers", update_members_request, "N.NN.NUUU"),
    Row("CommsService/ReparentAgent", reparent_request, "P.PP.PUUU"),
    // What is not visible holds nothing.
    Row("CommsService/ListMessages", list_messages_request, "......UUU"),
    Row("CommsService/PostMessage", |world, _| post(world), "N.NN.NUUU"),
    Row("CommsService/ListTopics", list_topics_request, "N.NN.NUUU"),
    Row("CommsService/UpdateTopic", update_topic_request, "N.NN.NUUU"),
    Row("CommsService/RespondToAsk", respond_request, "N.NNPPUUU"),
    Row("CommsService/SearchMessages", search_request, "......UUU"),
    Row("CommsService/SetChannelPolicy", policy_request, "N.NN.NUUU"),
    Row("CommsService/GetRoster", roster_request, "N.NN.NUUU"),
    Row("CommsService/UpdatePinnedBoard", pin_request, "N.NN.NUUU"),
    Row("CommsService/SubscribeComms", nothing, "......UUU"),
    Row("CompassService/GetServerInfo", nothing, "......UUU"),
    Row("CompassService/WhoAmI", nothing, "......UUU"),
    Row("CompassService/SubscribeEvents", nothing, "......UUU"),
    Row("CompassService/ProvisionAgentWorkspace", provision_request, "FFNNPPUUU"),
    Row("CompassService/StartAgentSession", start_request, "NNNNPPUUU"),
    Row("CompassService/SpawnAgent", spawn_request, "FFNNPPUUU"),
    Row("CompassService/StopAgentSession", stop_request, "NNNNPPUUU"),
    Row("CompassService/RemoveAgentWorkspace", remove_request, "NNNNPPUUU"),
    Row("CompassService/ReloadAgentSession", reload_request, "NNNNPPUUU"),
    Row("CompassService/GetAgentStatus", nothing, "....PPUUU"),
    Row("CompassService/SubscribeAgentSession", subscribe_session_request, "NNNNNNUUU"),
    Row("CompassService/IssueToken", issue_request, "..NNPPUUU"),
    Row("CompassService/RevokeToken", revoke_request, "..NNPPUUU"),
    Row("InboxService/ListOpenAsks", nothing, "....PPUUU"),
    Row("InboxService/ListTopicsOfChannels", topics_of_channels_request, "....PPUUU"),
    Row("InboxService/ReadPositions", nothing, "....PPUUU"),
    Row("InboxService/MarkRead", mark_read_request, "N.NNPPUUU"),
    Row("OperatorService/ListAgents", nothing, "....PPUUU"),
    Row("OperatorService/Diagnose", nothing, ".PP.PPUUU"),
    Row("PeopleService/OpenDM", open_dm_request, "N.NNPPUUU"),
    Row("PeopleService/JoinChannel", join_request, "N.NNPPUUU"),
    Row("PeopleService/ListPinned", list_pinned_request, "....PPUUU"),
    // A sign-in is its own credential.
    Row("SessionService/TradeSignIn", trade_request, "........."),
    Row("SessionService/ListTokens", list_tokens_request, "..NNPPUUU"),
    Row("SessionService/RevokeTokenById", revoke_by_id_request, "..NNPPUUU"),
    Row("SessionService/CreateRunnerToken", runner_token_request, ".PP.PPUUU"),
    Row("SessionService/CreateSignInLink", sign_in_link_request, ".PPNPPUUU"),
    Row("AgentDoor/Call", call_request, "PPPP..UUU"),
    Row("AgentDoor/Fetch", nothing, "PPPP..UUU"),
    Row("AgentDoor/Acknowledge", acknowledge_request, "PPPP..UUU"),
    // Served by runners, and here to nobody.
    Row("AgentGateway/Comms", call_request, "XXXXXXXXX"),
    Row("AgentGateway/Publish", nothing, "XXXXXXXXX"),
    Row("AgentGateway/Control", nothing, "XXXXXXXXX"),
    Row("RunnerService/Enroll", enroll_request, "UUUU...UU"),
    Row("RunnerService/Sessions", nothing, "UUUUFFFUU"),
    Row("RunnerService/PublishEvents", nothing, "UUUU...UU"),
    Row("RunnerService/RelayCommsCall", relay_request, "UUUUNNNUU"),
    Row("grpc.health.v1.Health/Check", nothing, "........."),
    Row("grpc.health.v1.Health/Watch", nothing, "........."),
    Row("grpc.reflection.v1.ServerReflection/ServerReflectionInfo", reflection_request, "......UUU"),
    Row("grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo", reflection_request, "......UUU"),
];

fn code_of(letter: char) -> Code {
    match letter {
        '.' => Code::Ok,
        'U' => Code::Unauthenticated,
        'P' => Code::PermissionDenied,
        'N' => Code::NotFound,
        'F' => Code::FailedPrecondition,
        'X' => Code::Unimplemented,
        other => panic!("no code is written {other}"),
    }
}

fn path(rpc: &str) -> String {
    if rpc.starts_with("grpc.") { format!("/{rpc}") } else { format!("/compass.v1.{rpc}") }
}

/// A server with every caller of the matrix, and one of everything that a call uses up for each of them.
struct World {
    server: Server,
    callers: Vec<(Option<String>, Option<Principal>)>,
    room: String,
    topic: String,
    message: String,
    asks: Vec<String>,
    tokens: Vec<String>,
    token_ids: Vec<String>,
    sign_ins: Vec<String>,
}

impl World {
    async fn new() -> Self {
        let server = Server::start().await;
        let comms = &server.comms;
        let as_caller =
            |tenant: &TenantId, account: &Account| Caller { tenant: tenant.clone(), actor: account.actor() };
        let (tenant, other) = (TenantId::default_tenant(), TenantId::new("other"));
        let admin = as_caller(&tenant, &server.admin.account);
        let start = Bootstrap { admin_handle: "chief".into() };
        let chief = as_caller(&other, &bootstrap(comms, &other, start).await.unwrap().admin);
        let create = CreateUser { handle: "bob".into(), ..Default::default() };
        let bob = as_caller(&tenant, &create_user(comms, &admin, create).await.unwrap());
        let create = CreateAgent { handle: "bobs".into(), ..Default::default() };
        let bobs = as_caller(&tenant, &create_agent(comms, &bob, create).await.unwrap());
        let issue =
            async |by: &Caller, of: &Caller| issue_account_token(comms, by, of.actor.id).await.unwrap().token;
        let revoked = issue(&admin, &admin).await;
        revoke_value(comms, &admin, &revoked).await.unwrap();

        let known = |caller: &Caller, token: String| (Some(token), Some(Principal::Account(caller.clone())));
        let seat = |seat: &Seat| known(&as_caller(&tenant, &seat.account), seat.token.clone());
        let runner = Principal::Runner { tenant: tenant.clone(), runner: "r1".into() };
        let callers = vec![
            seat(&server.admin),
            seat(&server.member),
            known(&bob, issue(&admin, &bob).await),
            known(&chief, issue(&chief, &chief).await),
            seat(&server.agent),
            known(&bobs, issue(&bob, &bobs).await),
            (Some(server.runner.clone()), Some(runner)),
            (None, None),
            (Some(revoked), None),
        ];

        let (mut asks, mut tokens, mut token_ids, mut sign_ins) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for _ in CALLERS {
            let asked = server.post(&server.agent, vec![ask_block(yes_or_no())]).await.unwrap();
            asks.push(ask_of(&asked).ask_id);
            tokens.push(issue(&admin, &as_caller(&tenant, &server.agent.account)).await);
            let agent = server.agent.account.id;
            token_ids.push(issue_account_token(comms, &admin, agent).await.unwrap().id.to_string());
            sign_ins.push(create_sign_in(comms, &admin, server.member.account.id).await.unwrap());
        }
        let create = v1::CreateChannelRequest {
            name: "room".into(),
            member_account_ids: vec![server.agent.id()],
            ..Default::default()
        };
        let room = server.conversation().create_channel(with(&server.member.token, create)).await.unwrap();
        let room = room.into_inner().channel.unwrap().id;
        let request = post_in(&room, vec![text("hello")]);
        let posted = server.conversation().post_message(with(&server.member.token, request)).await.unwrap();
        let posted = posted.into_inner().message.unwrap();
        let (topic, message) = (posted.topic_id, posted.id);
        Self { server, callers, room, topic, message, asks, tokens, token_ids, sign_ins }
    }

    /// What the caller of this number must be told.
    fn expected(&self, rpc: &str, letters: &str, number: usize) -> Code {
        let written = code_of(letters.chars().nth(number).unwrap());
        if !pending::RPCS.contains(&rpc) {
            return written;
        }
        let class = doors::find(&path(rpc)).map(|rpc| rpc.class);
        match &self.callers[number].1 {
            None => Code::Unauthenticated,
            Some(who) => {
                admit(class, who).map_or_else(|refused| status(&refused).code(), |()| Code::Unimplemented)
            }
        }
    }
}

#[tokio::test]
async fn every_caller_gets_the_code_of_the_matrix_at_every_rpc() {
    let mut wrong = Vec::new();
    for Row(rpc, request, letters) in ROWS {
        assert_eq!(letters.chars().count(), CALLERS.len(), "{rpc}");
        let world = World::new().await;
        for (number, caller) in CALLERS.iter().enumerate() {
            let token = world.callers[number].0.as_deref();
            let found = code(&world.server, &path(rpc), token, &request(&world, number)).await;
            let expected = world.expected(rpc, letters, number);
            if found != expected {
                wrong.push(format!("{rpc} for {caller}: {found:?}, not {expected:?}"));
            }
        }
        world.server.stop.cancel();
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn every_rpc_has_one_row_in_the_matrix() {
    let described = contract().into_iter().map(|(service, method)| format!("/{service}/{}", method.name()));
    let classed = RPCS.iter().map(|rpc| format!("/{}/{}", rpc.service, rpc.method));
    let rows: Vec<String> = ROWS.iter().map(|Row(rpc, ..)| path(rpc)).collect();
    let distinct: BTreeSet<String> = rows.iter().cloned().collect();
    assert_eq!(rows.len(), distinct.len(), "one row each");
    assert_eq!(distinct, described.chain(classed).collect());
}

#[test]
fn whoever_has_no_working_credential_is_let_in_nowhere_but_to_sign_in_and_to_health() {
    for Row(rpc, _, letters) in ROWS {
        let open =
            ["SessionService/TradeSignIn", "grpc.health.v1.Health/Check", "grpc.health.v1.Health/Watch"];
        let without: String = letters.chars().skip(7).collect();
        let expected = match *rpc {
            rpc if open.contains(&rpc) => "..",
            rpc if rpc.starts_with("AgentGateway/") => "XX",
            _ => "UU",
        };
        assert_eq!(without, expected, "{rpc}");
    }
}

fn nothing(_: &World, _: usize) -> Vec<u8> {
    Vec::new()
}

/// All services, please: field 7, an empty text.
fn reflection_request(_: &World, _: usize) -> Vec<u8> {
    vec![0x3a, 0]
}

fn create_user_request(_: &World, number: usize) -> Vec<u8> {
    v1::CreateUserRequest { handle: format!("new{number}"), ..Default::default() }.encode_to_vec()
}

fn create_agent_request(world: &World, number: usize) -> Vec<u8> {
    let (handle, parent_agent_id) = (format!("child{number}"), world.server.agent.id());
    v1::CreateAgentRequest { handle, parent_agent_id, ..Default::default() }.encode_to_vec()
}

fn create_group_request(_: &World, number: usize) -> Vec<u8> {
    v1::CreateChannelGroupRequest { name: format!("group{number}"), ..Default::default() }.encode_to_vec()
}

fn create_channel_request(_: &World, number: usize) -> Vec<u8> {
    v1::CreateChannelRequest { name: format!("channel{number}"), ..Default::default() }.encode_to_vec()
}

fn update_members_request(world: &World, _: usize) -> Vec<u8> {
    let subscribe_account_ids = vec![world.server.agent.id()];
    let update = v1::UpdateChannelMembersRequest {
        channel_id: world.room.clone(),
        subscribe_account_ids,
        ..Default::default()
    };
    update.encode_to_vec()
}

fn reparent_request(world: &World, _: usize) -> Vec<u8> {
    v1::ReparentAgentRequest { agent_account_id: world.server.agent.id(), ..Default::default() }
        .encode_to_vec()
}

fn list_messages_request(world: &World, _: usize) -> Vec<u8> {
    let container = Some(v1::list_messages_request::Container::ChannelId(world.room.clone()));
    v1::ListMessagesRequest { container, ..Default::default() }.encode_to_vec()
}

fn post(world: &World) -> Vec<u8> {
    post_in(&world.room, vec![text("hello")]).encode_to_vec()
}

fn list_topics_request(world: &World, _: usize) -> Vec<u8> {
    v1::ListTopicsRequest { channel_id: world.room.clone(), ..Default::default() }.encode_to_vec()
}

fn topics_of_channels_request(world: &World, _: usize) -> Vec<u8> {
    v1::ListTopicsOfChannelsRequest { channel_ids: vec![world.room.clone()] }.encode_to_vec()
}

fn update_topic_request(world: &World, number: usize) -> Vec<u8> {
    let update = v1::UpdateTopicRequest {
        topic_id: world.topic.clone(),
        name: Some(format!("renamed{number}")),
        ..Default::default()
    };
    update.encode_to_vec()
}

fn respond_request(world: &World, number: usize) -> Vec<u8> {
    crate::support::answer_yes(&world.asks[number]).encode_to_vec()
}

fn search_request(_: &World, _: usize) -> Vec<u8> {
    v1::SearchMessagesRequest { query: "hello".into(), ..Default::default() }.encode_to_vec()
}

fn policy_request(world: &World, _: usize) -> Vec<u8> {
    v1::SetChannelPolicyRequest { channel_id: world.room.clone(), ..Default::default() }.encode_to_vec()
}

fn roster_request(world: &World, _: usize) -> Vec<u8> {
    v1::GetRosterRequest { agent_account_id: world.server.agent.id(), ..Default::default() }.encode_to_vec()
}

fn pin_request(world: &World, _: usize) -> Vec<u8> {
    // Unpinning what is not pinned succeeds for everyone who may pin.
    let op = Some(v1::update_pinned_board_request::Op::UnpinMessageId(world.message.clone()));
    v1::UpdatePinnedBoardRequest { channel_id: world.room.clone(), op }.encode_to_vec()
}

fn provision_request(world: &World, _: usize) -> Vec<u8> {
    let request = v1::ProvisionAgentWorkspaceRequest {
        agent_account_id: world.server.agent.id(),
        ..Default::default()
    };
    request.encode_to_vec()
}

fn start_request(_: &World, _: usize) -> Vec<u8> {
    v1::StartAgentSessionRequest { container_name: "nowhere".into(), ..Default::default() }.encode_to_vec()
}

fn spawn_request(world: &World, _: usize) -> Vec<u8> {
    v1::SpawnAgentRequest { agent_account_id: world.server.agent.id(), ..Default::default() }.encode_to_vec()
}

fn stop_request(_: &World, _: usize) -> Vec<u8> {
    v1::StopAgentSessionRequest { session_id: "0".repeat(32) }.encode_to_vec()
}

fn remove_request(_: &World, _: usize) -> Vec<u8> {
    v1::RemoveAgentWorkspaceRequest { container_name: "nowhere".into(), ..Default::default() }.encode_to_vec()
}

fn reload_request(_: &World, _: usize) -> Vec<u8> {
    v1::ReloadAgentSessionRequest { session_id: "0".repeat(32) }.encode_to_vec()
}

fn subscribe_session_request(_: &World, _: usize) -> Vec<u8> {
    v1::SubscribeAgentSessionRequest { session_id: "0".repeat(32) }.encode_to_vec()
}

fn issue_request(world: &World, _: usize) -> Vec<u8> {
    v1::IssueTokenRequest { account_id: world.server.agent.id() }.encode_to_vec()
}

fn revoke_request(world: &World, number: usize) -> Vec<u8> {
    v1::RevokeTokenRequest { token: world.tokens[number].clone() }.encode_to_vec()
}

fn mark_read_request(world: &World, _: usize) -> Vec<u8> {
    v1::MarkReadRequest { topic_id: world.topic.clone(), channel_seq: 1 }.encode_to_vec()
}

fn open_dm_request(_: &World, _: usize) -> Vec<u8> {
    v1::OpenDmRequest { peer_handle: "bot".into() }.encode_to_vec()
}

fn join_request(world: &World, _: usize) -> Vec<u8> {
    v1::JoinChannelRequest { channel_id: world.room.clone() }.encode_to_vec()
}

fn list_pinned_request(world: &World, _: usize) -> Vec<u8> {
    v1::ListPinnedRequest { channel_id: world.room.clone() }.encode_to_vec()
}

fn trade_request(world: &World, number: usize) -> Vec<u8> {
    v1::TradeSignInRequest { secret: world.sign_ins[number].clone() }.encode_to_vec()
}

fn list_tokens_request(world: &World, _: usize) -> Vec<u8> {
    v1::ListTokensRequest { account_id: world.server.agent.id() }.encode_to_vec()
}

fn revoke_by_id_request(world: &World, number: usize) -> Vec<u8> {
    v1::RevokeTokenByIdRequest { token_id: world.token_ids[number].clone() }.encode_to_vec()
}

fn runner_token_request(_: &World, number: usize) -> Vec<u8> {
    v1::CreateRunnerTokenRequest { runner_id: format!("runner{number}") }.encode_to_vec()
}

fn sign_in_link_request(world: &World, _: usize) -> Vec<u8> {
    v1::CreateSignInLinkRequest { account_id: world.server.member.id() }.encode_to_vec()
}

fn call_request(_: &World, _: usize) -> Vec<u8> {
    let status = v1::SetAgentStatusRequest { activity: "reading".into() };
    let call = Some(v1::comms_call_request::Call::SetStatus(status));
    v1::CommsCallRequest { call, ..Default::default() }.encode_to_vec()
}

fn acknowledge_request(world: &World, _: usize) -> Vec<u8> {
    v1::AcknowledgeRequest { message_ids: vec![world.message.clone()] }.encode_to_vec()
}

fn enroll_request(_: &World, number: usize) -> Vec<u8> {
    v1::EnrollRequest { instance_id: format!("process{number}"), ..Default::default() }.encode_to_vec()
}

fn relay_request(_: &World, _: usize) -> Vec<u8> {
    let call = Some(v1::CommsCallRequest::default());
    v1::RelayCommsCallRequest { session_id: "0".repeat(32), call }.encode_to_vec()
}
