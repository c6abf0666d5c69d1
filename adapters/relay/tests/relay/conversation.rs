//! Posting, listing, answering: what people and agents may do at CommsService, InboxService and AgentDoor.

use compass_proto::v1::{
    self, comms_call_request::Call, comms_call_result::Result as Outcome, message_block::Block,
};
use tonic::Code;

use crate::support::{Server, answer_yes, ask_block, ask_of, post_in, refused, text, with, yes_or_no};

const UNKNOWN_ID: &str = "ffffffffffffffffffffffffffffffff";

#[tokio::test]
async fn an_ask_is_posted_listed_answered_once_and_closed() {
    let server = Server::start().await;
    let posted = server.post(&server.agent, vec![ask_block(yes_or_no())]).await.unwrap();
    let ask = ask_of(&posted);
    assert_eq!((ask.ask_id.len(), ask.content_digest.len(), ask.answered), (32, 32, false));

    let mut inbox = server.inbox();
    let open = inbox.list_open_asks(with(&server.member.token, v1::ListOpenAsksRequest::default()));
    let open = open.await.unwrap().into_inner().asks;
    assert_eq!(open[0].message, Some(posted.clone()));
    assert_eq!(open[0].channel_id, server.agent.home());

    let mut client = server.conversation();
    client.respond_to_ask(with(&server.member.token, answer_yes(&ask.ask_id))).await.unwrap();
    let again = refused(client.respond_to_ask(with(&server.member.token, answer_yes(&ask.ask_id))).await);
    assert_eq!(again, (Code::AlreadyExists, format!("ask \"{}\" is already answered", ask.ask_id)));

    let messages = server.listed().await;
    let Some(Block::AskAnswer(answer)) = &messages[0].blocks[0].block else { panic!("{messages:?}") };
    let closed = ask_of(&messages[1]);
    assert_eq!(answer.ask.as_ref(), Some(&closed), "the snapshot is the ask as it is stored");
    assert_eq!(answer.asker_account_id, server.agent.id());
    assert_eq!(messages[0].author_account_id, server.member.id());
    assert_eq!((closed.answered, closed.cancelled), (true, false));
    assert_eq!(closed.answered_by_account_id, server.member.id());
    assert_eq!(closed.closed_at_unix_ms, messages[0].at_unix_ms);
    assert_eq!(closed.questions[0].chosen_option_ids, ["yes"]);
    assert_eq!(closed.content_digest, ask.content_digest);
    assert_eq!((messages[1].channel_seq, messages[0].channel_seq), (1, 2));
}

#[tokio::test]
async fn an_agent_never_answers_whether_the_ask_exists_or_not() {
    let server = Server::start().await;
    let ask = ask_of(&server.post(&server.agent, vec![ask_block(yes_or_no())]).await.unwrap());
    let mut answers = Vec::new();
    for id in [ask.ask_id.as_str(), UNKNOWN_ID, "no id", ""] {
        let mut client = server.conversation();
        answers.push(refused(client.respond_to_ask(with(&server.agent.token, answer_yes(id))).await));
    }
    assert_eq!(answers[0].0, Code::PermissionDenied);
    assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:?}");
    assert!(!ask_of(&server.listed().await[0]).answered);
}

#[tokio::test]
async fn an_ask_that_does_not_exist_is_not_found_and_an_empty_id_names_its_field() {
    let server = Server::start().await;
    let mut client = server.conversation();
    let mut respond =
        async |id: &str| refused(client.respond_to_ask(with(&server.member.token, answer_yes(id))).await);
    let unknown = respond(UNKNOWN_ID).await;
    assert_eq!(unknown.0, Code::NotFound);
    assert_eq!(respond("no id").await, unknown);
    assert_eq!(respond("").await, (Code::InvalidArgument, "ask_id is empty".into()));
}

#[tokio::test]
async fn an_answer_block_of_a_client_is_refused_and_nothing_is_stored() {
    let server = Server::start().await;
    let answer = v1::AskAnswerBlock { ask: Some(yes_or_no()), asker_account_id: server.agent.id() };
    let forged = v1::MessageBlock { block: Some(Block::AskAnswer(answer)) };
    for seat in [&server.member, &server.agent] {
        let refused = server.post(seat, vec![text("hello"), forged.clone()]).await.unwrap_err();
        assert_eq!(refused.code(), Code::InvalidArgument);
        assert_eq!(refused.message(), "ask_answer blocks are server-owned");
    }
    let call = v1::CommsCallRequest {
        call: Some(Call::Post(post_in(&server.agent.home(), vec![forged]))),
        ..Default::default()
    };
    let result = server.agent_door().call(with(&server.agent.token, call)).await.unwrap().into_inner();
    let Some(Outcome::Error(error)) = result.result else { panic!("{result:?}") };
    assert_eq!(
        (error.code.as_str(), error.message.as_str()),
        ("invalid_argument", "ask_answer blocks are server-owned")
    );
    assert_eq!(server.listed().await, []);
}

#[tokio::test]
async fn a_block_of_no_kind_is_refused_by_its_place() {
    let server = Server::start().await;
    let refused =
        server.post(&server.member, vec![text("hello"), v1::MessageBlock::default()]).await.unwrap_err();
    assert_eq!(refused.code(), Code::InvalidArgument);
    assert!(refused.message().starts_with("blocks[1] "), "{}", refused.message());
}

#[tokio::test]
async fn a_post_needs_a_channel_at_this_door_and_one_topic() {
    let server = Server::start().await;
    let mut client = server.conversation();
    let whole = post_in(&server.agent.home(), vec![text("x")]);
    let mut post = async |request: v1::PostMessageRequest| {
        refused(client.post_message(with(&server.agent.token, request)).await)
    };
    let none = v1::PostMessageRequest { container: None, ..whole.clone() };
    assert_eq!(post(none).await, (Code::InvalidArgument, "channel_id or channel_name is needed".into()));
    assert_eq!(
        post(post_in("", vec![text("x")])).await,
        (Code::InvalidArgument, "channel_id is empty".into())
    );
    let elsewhere = post(post_in(UNKNOWN_ID, vec![text("x")])).await;
    assert_eq!(elsewhere.0, Code::NotFound);
    assert_eq!(post(post_in("no id", vec![text("x")])).await, elsewhere);
    let no_topic = v1::PostMessageRequest { topic: None, ..whole.clone() };
    assert_eq!(post(no_topic).await.0, Code::InvalidArgument);
    let topic = Some(v1::post_message_request::Topic::TopicId("no id".into()));
    assert_eq!(post(v1::PostMessageRequest { topic, ..whole }).await.0, Code::InvalidArgument);
}

#[tokio::test]
async fn a_repeat_under_one_key_gives_the_first_message_and_another_body_is_refused() {
    let server = Server::start().await;
    let mut client = server.conversation();
    let keyed = |body: &str| {
        let request = post_in(&server.agent.home(), vec![text(body)]);
        with(&server.member.token, v1::PostMessageRequest { client_request_id: "k".into(), ..request })
    };
    let first = client.post_message(keyed("one")).await.unwrap().into_inner();
    assert_eq!(client.post_message(keyed("one")).await.unwrap().into_inner(), first);
    let (code, text) = refused(client.post_message(keyed("two")).await);
    assert_eq!((code, text.as_str()), (Code::AlreadyExists, "this key was used for another message"));
}

#[tokio::test]
async fn messages_of_a_channel_that_is_not_the_callers_are_none_and_no_error() {
    let server = Server::start().await;
    server.post(&server.member, vec![text("x")]).await.unwrap();
    for channel in [server.agent.home(), UNKNOWN_ID.into(), "no id".into()] {
        let request = v1::ListMessagesRequest {
            container: Some(v1::list_messages_request::Container::ChannelId(channel)),
            ..Default::default()
        };
        let listed = server.conversation().list_messages(with(&server.admin.token, request)).await.unwrap();
        assert_eq!(listed.into_inner().messages, []);
    }
}

#[tokio::test]
async fn a_channel_is_created_found_by_name_and_changed() {
    let server = Server::start().await;
    let mut client = server.conversation();
    let create = v1::CreateChannelRequest {
        name: "Ops".into(),
        member_handles: vec!["bot".into()],
        ..Default::default()
    };
    let made = client.create_channel(with(&server.member.token, create)).await.unwrap().into_inner();
    let made = made.channel.unwrap();
    assert_eq!(made.member_account_ids, [server.member.id(), server.agent.id()]);
    let update = v1::UpdateChannelMembersRequest {
        channel_name: "ops".into(),
        subscribe_handles: vec!["bot".into()],
        ..Default::default()
    };
    let updated = client.update_channel_members(with(&server.member.token, update)).await.unwrap();
    assert_eq!(updated.into_inner().channel.unwrap().subscriber_account_ids, [server.agent.id()]);
    let listed = client.list_channels(with(&server.agent.token, v1::ListChannelsRequest::default()));
    let names: Vec<_> = listed.await.unwrap().into_inner().channels.into_iter().map(|c| c.name).collect();
    assert_eq!(names, ["bot", "Ops"]);
    let both =
        v1::ListTopicsRequest { channel_id: made.id, channel_name: "Ops".into(), include_archived: false };
    let (code, text) = refused(client.list_topics(with(&server.member.token, both)).await);
    assert_eq!(code, Code::InvalidArgument);
    assert_eq!(text, "channel_id and channel_name are both given; give one of them");
}

#[tokio::test]
async fn topics_are_listed_with_their_open_asks() {
    let server = Server::start().await;
    server.post(&server.agent, vec![ask_block(yes_or_no())]).await.unwrap();
    let list = v1::ListTopicsRequest { channel_id: server.agent.home(), ..Default::default() };
    let topics = server.conversation().list_topics(with(&server.member.token, list)).await.unwrap();
    let topics = topics.into_inner().topics;
    assert_eq!((topics[0].name.as_str(), topics[0].open_ask_count, topics[0].message_count), ("t", 1, 1));
}

#[tokio::test]
async fn an_agents_command_posts_home_lists_says_its_status_and_withdraws_its_ask() {
    let server = Server::start().await;
    let mut door = server.agent_door();
    let mut call = async |call: Call| {
        let request = v1::CommsCallRequest { call_id: "c1".into(), call: Some(call), ..Default::default() };
        let result = door.call(with(&server.agent.token, request)).await.unwrap().into_inner();
        assert_eq!(result.call_id, "c1");
        result.result.unwrap()
    };
    let post = v1::PostMessageRequest { container: None, ..post_in("", vec![ask_block(yes_or_no())]) };
    let Outcome::Post(posted) = call(Call::Post(post)).await else { panic!("no post") };
    let ask_id = ask_of(&posted.message.unwrap()).ask_id;
    let list = v1::ListMessagesRequest::default();
    let Outcome::List(listed) = call(Call::List(list)).await else { panic!("no list") };
    assert_eq!(listed.messages.len(), 1);
    let activity = "thinking".to_owned();
    let said = call(Call::SetStatus(v1::SetAgentStatusRequest { activity })).await;
    assert_eq!(said, Outcome::SetStatus(v1::SetAgentStatusResponse {}));
    let cancel = v1::CancelAskRequest { ask_id: ask_id.clone() };
    assert_eq!(call(Call::CancelAsk(cancel)).await, Outcome::CancelAsk(v1::CancelAskResponse {}));
    let answer = server.conversation().respond_to_ask(with(&server.member.token, answer_yes(&ask_id))).await;
    assert_eq!(refused(answer), (Code::AlreadyExists, format!("ask \"{ask_id}\" is cancelled")));
    let cancelled = ask_of(&server.listed().await[0]);
    assert_eq!((cancelled.cancelled, cancelled.answered_by_account_id.as_str()), (true, ""));
    assert_ne!(cancelled.closed_at_unix_ms, 0);
}

#[tokio::test]
async fn a_roster_shows_presence_and_activity_to_who_may_see_the_agent() {
    let server = Server::start().await;
    let get = |scope: v1::RosterScope, agent: &str| v1::GetRosterRequest {
        scope: scope.into(),
        agent_account_id: agent.to_owned(),
    };
    let status = v1::SetAgentStatusRequest { activity: "reading".into() };
    let call = v1::CommsCallRequest { call: Some(Call::SetStatus(status)), ..Default::default() };
    server.agent_door().call(with(&server.agent.token, call)).await.unwrap();
    let mut client = server.conversation();
    let own = get(v1::RosterScope::Owner, "");
    let entries =
        client.get_roster(with(&server.member.token, own.clone())).await.unwrap().into_inner().entries;
    let [entry] = entries.as_slice() else { panic!("{entries:?}") };
    assert_eq!((entry.handle.as_str(), entry.activity.as_str()), ("bot", "reading"));
    assert_eq!(entry.agent_account_id, server.agent.id());
    assert_eq!(entry.presence, i32::from(v1::AgentPresence::Offline));
    assert_ne!(entry.activity_at_unix_ms, 0);
    // The admin owns no agent and shares no channel with this one.
    assert_eq!(client.get_roster(with(&server.admin.token, own)).await.unwrap().into_inner().entries, []);
    for vantage in [server.agent.id().as_str(), UNKNOWN_ID, "nope"] {
        let hidden = client.get_roster(with(&server.admin.token, get(v1::RosterScope::Owner, vantage))).await;
        assert_eq!(refused(hidden), (Code::NotFound, "agent not found".into()));
    }
    let unknown = v1::GetRosterRequest { scope: 9, ..Default::default() };
    let refusal = refused(client.get_roster(with(&server.member.token, unknown)).await);
    assert_eq!(refusal, (Code::InvalidArgument, "scope cannot be 9".into()));
}

#[tokio::test]
async fn an_agents_roster_is_seen_from_where_it_stands() {
    let server = Server::start().await;
    let get = v1::GetRosterRequest { scope: v1::RosterScope::Subtree.into(), ..Default::default() };
    let call = v1::CommsCallRequest { call: Some(Call::Roster(get)), ..Default::default() };
    let result = server.agent_door().call(with(&server.agent.token, call)).await.unwrap().into_inner();
    let Some(Outcome::Roster(roster)) = result.result else { panic!("{result:?}") };
    let ids: Vec<_> = roster.entries.into_iter().map(|entry| entry.agent_account_id).collect();
    assert_eq!(ids, [server.agent.id()]);
    let get = v1::GetRosterRequest { scope: 7, ..Default::default() };
    let call = v1::CommsCallRequest { call: Some(Call::Roster(get)), ..Default::default() };
    let result = server.agent_door().call(with(&server.agent.token, call)).await.unwrap().into_inner();
    let Some(Outcome::Error(error)) = result.result else { panic!("{result:?}") };
    assert_eq!((error.code.as_str(), error.message.as_str()), ("invalid_argument", "scope cannot be 7"));
}

#[tokio::test]
async fn a_call_without_an_arm_names_every_arm() {
    let server = Server::start().await;
    let empty = v1::CommsCallRequest { call_id: "c".into(), ..Default::default() };
    let result = server.agent_door().call(with(&server.agent.token, empty)).await.unwrap().into_inner();
    let Some(Outcome::Error(error)) = result.result else { panic!("{result:?}") };
    assert_eq!(error.code, "invalid_argument");
    for arm in compass_relay::mapping::ARMS {
        assert!(error.message.contains(arm), "{arm} is missing in {}", error.message);
    }
}

#[tokio::test]
async fn what_an_agent_is_owed_is_fetched_until_it_is_acknowledged() {
    let server = Server::start().await;
    let posted = server.post(&server.member, vec![text("hello")]).await.unwrap();
    let mut door = server.agent_door();
    let mut fetch = async || {
        let fetched = door.fetch(with(&server.agent.token, v1::FetchRequest::default())).await.unwrap();
        fetched.into_inner().deliveries
    };
    let owed = fetch().await;
    assert_eq!(owed.len(), 1);
    assert_eq!(owed[0].message, Some(posted.clone()));
    let names = (&*owed[0].topic_name, &*owed[0].channel_name, &*owed[0].from_handle);
    assert_eq!(names, ("t", "bot", "ann"));
    assert_eq!(fetch().await.len(), 1, "fetching takes nothing away");
    let receipts = v1::AcknowledgeRequest { message_ids: vec!["no id".into(), UNKNOWN_ID.into(), posted.id] };
    server.agent_door().acknowledge(with(&server.agent.token, receipts)).await.unwrap();
    assert_eq!(fetch().await, []);
    let empty = v1::AcknowledgeRequest { message_ids: vec![String::new()] };
    let (code, text) = refused(server.agent_door().acknowledge(with(&server.agent.token, empty)).await);
    assert_eq!((code, text.as_str()), (Code::InvalidArgument, "message_ids[0] is empty"));
}
