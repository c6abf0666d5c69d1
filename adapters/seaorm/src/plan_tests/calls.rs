//! Every call of the ports that runs statements outside of the writer; what they find is not the point.

use compass_comms::ports::{
    MessagePage, OpenAsksPage, SearchPage, Storage as _, Subject, TokenHash, TokenRow,
};
use compass_domain::{
    Account, AccountId, AccountKind, Actor, Channel, ChannelGroup, ChannelId, GroupId, Handle,
    LifecycleState, Position, SearchQuery, Seq, TenantId, TokenId, TopicName, UnixMillis, WakePolicy,
    account::{ActorKind, UserRole},
    channel::{ChannelKind, ChannelName, DirectPair, Member, MembershipMode, Pin, PostPolicy, Purpose},
    group::Visibility,
    roster::RosterScope,
};
use compass_hub::ports::{
    AttachMode, Audience as _, Ledger as _, NewPlacement, OpenSession, Overview as _, PendingQuery, PinQuery,
    Placements as _,
};

use super::rows::Ids;
use crate::SeaStorage;

/// Makes all of them.
pub(super) async fn everything(storage: &SeaStorage, ids: Ids) {
    read_everything(storage, ids).await;
    write_everything(storage, ids).await;
    arrange_everything(storage, ids).await;
    deliver_everything(storage, ids).await;
    place_everything(storage, ids).await;
}

fn tenant() -> TenantId {
    TenantId::default_tenant()
}

async fn read_everything(storage: &SeaStorage, ids: Ids) {
    let Ids { user, agent, channel, topic, message, group, .. } = ids;
    let viewer = Actor { id: user, kind: ActorKind::User { role: UserRole::Member } };
    let mut unit = storage.read(&tenant()).await.expect("a snapshot");
    drop(unit.find_account(user).await.expect("a read"));
    drop(unit.find_accounts(&[user, agent]).await.expect("a read"));
    drop(unit.find_account_by_handle(&Handle::parse("u1").expect("a handle")).await.expect("a read"));
    drop(unit.list_accounts(viewer).await.expect("a read"));
    unit.sees_account(viewer, agent).await.expect("a read");
    for scope in [RosterScope::Neighborhood, RosterScope::Subtree, RosterScope::Owner] {
        drop(unit.list_roster(viewer, agent, scope).await.expect("a read"));
    }
    drop(unit.channel_mates(user).await.expect("a read"));
    drop(unit.list_activities(&[agent]).await.expect("a read"));
    drop(unit.find_channel(channel).await.expect("a read"));
    drop(unit.list_channels(viewer).await.expect("a read"));
    drop(unit.find_channels_named(viewer, "c5").await.expect("a read"));
    drop(unit.participating(user, &[channel]).await.expect("a read"));
    unit.sees_channel(viewer, channel).await.expect("a read");
    drop(unit.participants(channel).await.expect("a read"));
    drop(unit.list_groups(viewer).await.expect("a read"));
    unit.sees_group(viewer, group).await.expect("a read");
    drop(unit.find_topic(topic).await.expect("a read"));
    drop(unit.find_topic_named(channel, "p404").await.expect("a read"));
    drop(unit.list_topics(&[channel], true).await.expect("a read"));
    drop(unit.list_moved_topics(&[channel]).await.expect("a read"));
    for channels in [None, Some([channel].as_slice())] {
        drop(unit.list_read_positions(user, channels).await.expect("a read"));
    }
    unit.find_read_position(user, topic).await.expect("a read");
    let snapshot = Some(Position(5000));
    let all = MessagePage { channel, topic: None, before: None, snapshot: None, limit: 50 };
    let some = MessagePage { topic: Some(topic), before: Some(message), snapshot, ..all };
    for page in [all, some] {
        drop(unit.list_messages(&page).await.expect("a read"));
    }
    let query = SearchQuery::parse("anchor -\"rope 7\" or chain").expect("a query");
    for (channel, snapshot) in [(None, None), (Some(channel), snapshot)] {
        let page = SearchPage { viewer: user, query: query.clone(), channel, snapshot, limit: 50 };
        drop(unit.search_messages(&page).await.expect("a read"));
    }
    drop(unit.list_pinned(channel).await.expect("a read"));
    drop(unit.find_message(message).await.expect("a read"));
    unit.last_position().await.expect("a read");
    drop(unit.list_tokens(user, UnixMillis(1)).await.expect("a read"));
    for (channel, before) in [(None, None), (Some(channel), Some(message))] {
        // The asks of the filled rows disagree with their blocks, so some of these pages say corrupt.
        drop(unit.list_open_asks(&OpenAsksPage { viewer: user, channel, before, limit: 50 }).await);
    }
    drop(storage.find_token(&TokenHash([0; 32])).await.expect("a read"));
    drop(storage.find_tokens(&[TokenHash([0; 32]), TokenHash([1; 32])]).await.expect("a read"));
    drop(storage.tenants().await.expect("a read"));
}

/// Runs a write in a unit that keeps nothing; one that the rows refuse has its plan all the same.
macro_rules! write {
    ($storage:ident: $repository:ident.$method:ident($($argument:expr),*)) => {{
        let mut unit = $storage.begin(&tenant()).await.expect("a unit");
        drop(unit.$repository().$method($($argument),*).await);
    }};
}

async fn write_everything(storage: &SeaStorage, ids: Ids) {
    let Ids { user, agent, channel, topic, other_topic, .. } = ids;
    let handle = Handle::parse("new").expect("a handle");
    let account = Account {
        id: AccountId::from_bytes([1; 16]),
        handle: handle.clone(),
        display_name: String::new(),
        kind: AccountKind::User { role: UserRole::Member },
    };
    let member = Member { account: user, subscribed: true };
    let row = Channel {
        id: ChannelId::from_bytes([1; 16]),
        name: ChannelName::parse("new").expect("a name"),
        group: None,
        kind: ChannelKind::Channel,
        mode: MembershipMode::Flat,
        policy: PostPolicy::Open,
        mandatory: false,
        members: vec![member],
        tree_subscribers: Vec::new(),
        pins: Vec::new(),
    };
    let name = TopicName::parse("new").expect("a name");
    let changed = compass_domain::Topic::new(topic, channel, name, user, UnixMillis(1));
    let token = TokenRow {
        id: TokenId::from_bytes([1; 16]),
        hash: TokenHash([1; 32]),
        subject: Subject::Account(user),
        created_at: UnixMillis(1),
        expires_at: None,
        revoked_at: None,
    };
    write!(storage: accounts.insert(&account));
    write!(storage: accounts.find(user));
    write!(storage: accounts.find_by_handle(&handle));
    write!(storage: accounts.put_activity(agent, "x", UnixMillis(1)));
    write!(storage: channels.insert(&row));
    write!(storage: channels.lock(channel));
    write!(storage: channels.participates(user, channel));
    write!(storage: channels.put_member(channel, member));
    write!(storage: channels.remove_member(channel, user));
    write!(storage: cursors.seed(agent, channel));
    write!(storage: topics.find(topic));
    write!(storage: topics.find_named(channel, "p404"));
    write!(storage: topics.keep(topic));
    write!(storage: topics.lock(&[topic, other_topic]));
    write!(storage: topics.lock_messages(topic));
    write!(storage: topics.first_posts(&[topic, other_topic], &[user, agent]));
    write!(storage: topics.put(&changed));
    write!(storage: topics.merge(other_topic, &changed));
    write!(storage: read_positions.find(user, topic));
    write!(storage: read_positions.advance(user, topic, Seq(1)));
    write!(storage: read_positions.list(&[topic, other_topic]));
    write!(storage: read_positions.replace(topic, &[(user, Seq(1))], other_topic));
    write!(storage: tokens.insert(&token));
    write!(storage: tokens.find(token.id));
    write!(storage: tokens.find_by_hash(&token.hash));
    write!(storage: tokens.revoke(token.id, UnixMillis(2)));
}

async fn arrange_everything(storage: &SeaStorage, ids: Ids) {
    let Ids { user, agent, other_agent, channel, tree, group, message, .. } = ids;
    let viewer = Actor { id: user, kind: ActorKind::User { role: UserRole::Member } };
    let handles = ["u1", "a1"].map(|handle| Handle::parse(handle).expect("a handle"));
    let name = ChannelName::parse("plans").expect("a name");
    let cursors = [(agent, channel), (other_agent, tree)];
    let purpose = Purpose::Direct(DirectPair::of(agent, other_agent));
    let pin = Pin { message, position: 0, pinned_at: UnixMillis(1), pinned_by: user };
    let direct = Channel {
        id: ChannelId::from_bytes([9; 16]),
        name: name.clone(),
        group: None,
        kind: ChannelKind::Dm,
        mode: MembershipMode::Flat,
        policy: PostPolicy::Open,
        mandatory: true,
        members: [agent, other_agent].map(|account| Member { account, subscribed: false }).to_vec(),
        tree_subscribers: Vec::new(),
        pins: Vec::new(),
    };
    let row = ChannelGroup {
        id: GroupId::from_bytes([9; 16]),
        name: name.clone(),
        parent: None,
        owner: user,
        visibility: Visibility::Owner,
    };
    write!(storage: accounts.lock_tree(user));
    write!(storage: accounts.list_agents(user));
    write!(storage: accounts.find_all(&[user, agent]));
    write!(storage: accounts.find_all_by_handle(&handles));
    write!(storage: accounts.set_parent(agent, None));
    write!(storage: participants.lock_all(&[channel, tree]));
    write!(storage: participants.agents(&[channel, tree]));
    write!(storage: participants.trees_of(&[agent, other_agent]));
    write!(storage: participants.put_subscription(tree, other_agent, true));
    write!(storage: participants.touch(&[channel, tree]));
    write!(storage: participants.sees(viewer, channel));
    write!(storage: groups.insert(&row));
    write!(storage: groups.chain(group));
    write!(storage: groups.list_owned(user, "g1"));
    write!(storage: purposes.find(&purpose));
    write!(storage: purposes.claim(&direct, &purpose));
    write!(storage: settings.rename(channel, &name));
    write!(storage: settings.convert(channel));
    write!(storage: settings.set_policy(channel, PostPolicy::Open, true));
    write!(storage: pins.holds(channel, message));
    write!(storage: pins.replace(channel, &[]));
    write!(storage: pins.replace(channel, &[pin]));
    write!(storage: cursors.seed_all(&cursors));
    write!(storage: cursors.owe_answers(&cursors));
}

async fn deliver_everything(storage: &SeaStorage, ids: Ids) {
    let Ids { user, agent, channel, message, session, node, .. } = ids;
    let of = tenant();
    drop(storage.members(&of, channel).await.expect("a read"));
    // The blocks of the filled rows may disagree with their asks.
    drop(storage.labelled(&of, message).await);
    drop(storage.with_open_asks(&of, &[agent]).await.expect("a read"));
    let ask = compass_domain::AskId::from_bytes([1; 16]);
    for (include_unrouted, answers_ask) in [(true, None), (false, None), (true, Some(ask))] {
        let include_braked = include_unrouted;
        let skip = vec![message];
        let query = PendingQuery { agent, include_unrouted, include_braked, answers_ask, skip, limit: 50 };
        drop(storage.pending(&of, &query).await.expect("a read"));
    }
    drop(storage.owed(&of, &[agent]).await.expect("a read"));
    drop(storage.backlogs(&of, Some(user)).await.expect("a read"));
    drop(storage.examine(&of, 50).await.expect("a read"));
    for after in [None, Some((channel, 2))] {
        drop(storage.pins(&of, &PinQuery { agent, after, limit: 50 }).await.expect("a read"));
    }
    storage.renew_lease(node).await.expect("a lease");
    let open = OpenSession { session, account: agent, runner: "r".into(), mode: AttachMode::Deliveries };
    drop(storage.open_session(&of, node, &open).await);
    storage.record_state(&of, session, LifecycleState::Ready, 9).await.expect("a write");
    for accounts in [None, Some(&[agent][..])] {
        drop(storage.live_sessions(&of, accounts).await.expect("a read"));
    }
    drop(storage.find_sessions(&of, &[session]).await.expect("a read"));
    drop(storage.unrouted(node, 0, 50).await.expect("a read"));
    storage.close_session(&of, session).await.expect("a write");
    storage.release(node).await.expect("a write");
}

async fn place_everything(storage: &SeaStorage, ids: Ids) {
    let (of, agent) = (tenant(), ids.agent);
    let new = NewPlacement { account: agent, runner: "r1".into(), container: "new".into(), wake: None };
    // Where the filled rows know no such agent the row is refused.
    drop(storage.upsert(&of, &new).await);
    drop(storage.find(&of, agent).await.expect("a read"));
    drop(storage.find_container(&of, "c5").await.expect("a read"));
    drop(storage.of_runner(&of, "r1").await.expect("a read"));
    drop(storage.list(&of).await.expect("a read"));
    storage.set_wake_policies(&of, "r1", &[(agent, WakePolicy::Any)]).await.expect("a write");
    drop(storage.due_wakes(&of, &["r1".to_owned()]).await.expect("a read"));
    storage.claim_wake(&of, agent, 1).await.expect("a write");
    storage.wake_done(&of, agent, Err("x")).await.expect("a write");
    storage.wake_done(&of, agent, Ok(())).await.expect("a write");
    storage.remove(&of, agent).await.expect("a write");
}
