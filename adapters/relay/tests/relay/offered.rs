//! The list of what is not offered against what the server answers.

use std::collections::BTreeSet;

use compass_proto::{DESCRIPTOR, v1};
use compass_relay::{
    doors::{self, Class, SERVED_BY_RUNNERS},
    mapping, pending,
};
use prost::Message as _;
use prost_types::FileDescriptorSet;
use tonic::Code;

use crate::{
    classes::contract,
    support::{Server, code, with},
};

#[tokio::test]
async fn exactly_the_listed_rpcs_are_not_offered() {
    let server = Server::start().await;
    let mut not_offered = BTreeSet::new();
    for (service, method) in contract() {
        if service == SERVED_BY_RUNNERS {
            continue;
        }
        let path = format!("/{service}/{}", method.name());
        let token = match doors::find(&path).unwrap().class {
            Class::Agent | Class::Runner => &server.agent.token,
            Class::Open | Class::Person | Class::Member | Class::Admin => &server.admin.token,
        };
        if code(&server, &path, Some(token), &[]).await == Code::Unimplemented {
            not_offered.insert(format!("{}/{}", service.trim_start_matches("compass.v1."), method.name()));
        }
    }
    assert_eq!(not_offered, pending::RPCS.iter().map(ToString::to_string).collect());
}

#[tokio::test]
async fn exactly_the_listed_arms_are_not_offered() {
    use v1::comms_call_request::Call;
    let server = Server::start().await;
    let arms = [
        ("post", Call::Post(v1::PostMessageRequest::default())),
        ("list", Call::List(v1::ListMessagesRequest::default())),
        ("roster", Call::Roster(v1::GetRosterRequest::default())),
        ("set_status", Call::SetStatus(v1::SetAgentStatusRequest::default())),
        ("pin", Call::Pin(v1::UpdatePinnedBoardRequest::default())),
        ("create_channel", Call::CreateChannel(v1::CreateChannelRequest::default())),
        ("update_members", Call::UpdateMembers(v1::UpdateChannelMembersRequest::default())),
        ("create_channel_group", Call::CreateChannelGroup(v1::CreateChannelGroupRequest::default())),
        ("open_dm", Call::OpenDm(v1::OpenDmRequest::default())),
        ("list_topics", Call::ListTopics(v1::ListTopicsRequest::default())),
        ("cancel_ask", Call::CancelAsk(v1::CancelAskRequest::default())),
    ];
    assert_eq!(arms.iter().map(|(name, _)| *name).collect::<Vec<_>>(), mapping::ARMS);
    let mut not_offered = Vec::new();
    for (name, call) in arms {
        let request = v1::CommsCallRequest { call: Some(call), ..Default::default() };
        let result = server.agent_door().call(with(&server.agent.token, request)).await.unwrap().into_inner();
        if let Some(v1::comms_call_result::Result::Error(error)) = result.result
            && error.code == "unimplemented"
        {
            not_offered.push(name);
        }
    }
    assert_eq!(not_offered, pending::ARMS);
}

#[test]
fn the_arms_are_those_of_the_contract_and_none_answers() {
    let files = FileDescriptorSet::decode(DESCRIPTOR).unwrap().file;
    let mut messages = files.iter().flat_map(|file| &file.message_type);
    let union = messages.find(|message| message.name() == "CommsCallRequest").unwrap();
    let arms = union.field.iter().filter(|field| field.oneof_index.is_some());
    let arms: Vec<_> = arms.map(|field| (field.name(), field.type_name())).collect();
    assert_eq!(
        arms.iter().map(|(name, _)| *name).collect::<BTreeSet<_>>(),
        mapping::ARMS.into_iter().collect()
    );
    assert!(arms.iter().all(|(_, of)| *of != ".compass.v1.RespondToAskRequest"), "{arms:?}");
}
