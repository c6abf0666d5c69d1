//! Accounts: creation, visibility, status, and the first start.

use compass_comms::{
    Caller,
    accounts::{
        bootstrap::{Bootstrap, bootstrap},
        create_agent::{CreateAgent, create_agent},
        create_user::{CreateUser, create_user},
        list_accounts::list_accounts,
        operate_agent::{list_watched, require_operator, require_watcher},
        set_status::{SetStatus, set_status},
    },
    channels::list_channels::list_channels,
};
use compass_domain::{
    Account, AccountId, AccountKind, Classified as _, ErrorKind, Event, Handle, TenantId, UserRole,
    channel::Member,
};

use crate::house::{House, empty, kind, next, text};

fn user(handle: &str) -> CreateUser {
    CreateUser { handle: handle.into(), display_name: String::new() }
}

fn agent(handle: &str, parent: Option<AccountId>) -> CreateAgent {
    CreateAgent { handle: handle.into(), display_name: String::new(), parent }
}

async fn handles(house: &House, viewer: &Caller) -> Vec<String> {
    let accounts = list_accounts(&house.comms, viewer).await.unwrap();
    accounts.iter().map(|account| account.handle.as_str().to_owned()).collect()
}

#[tokio::test]
async fn only_an_admin_creates_users_and_they_are_members() {
    let house = House::new().await;
    let mut events = house.listen();
    let ada = create_user(&house.comms, &house.admin, user("ada")).await.unwrap();
    assert_eq!(ada.kind, AccountKind::User { role: UserRole::Member });
    assert_eq!(next(&mut events).await, Event::AccountChanged(ada.clone().into()));
    let by_member = create_user(&house.comms, &house.caller(&ada), user("bob")).await;
    assert_eq!(kind(by_member), ErrorKind::PermissionDenied);
    let bot = house.agent(&house.admin, "bot").await;
    assert_eq!(kind(create_user(&house.comms, &bot, user("bob")).await), ErrorKind::PermissionDenied);
}

#[tokio::test]
async fn bad_handles_are_refused_on_every_creation_path() {
    let house = House::new().await;
    for bad in ["", "Upper", "-dash", "compass", "everyone", "agents", "users"] {
        let created = create_user(&house.comms, &house.admin, user(bad)).await;
        assert_eq!(kind(created), ErrorKind::InvalidArgument, "{bad:?}");
        let created = create_agent(&house.comms, &house.admin, agent(bad, None)).await;
        assert_eq!(kind(created), ErrorKind::InvalidArgument, "{bad:?}");
        let (comms, _) = empty();
        let started = bootstrap(&comms, &house.tenant, Bootstrap { admin_handle: bad.into() }).await;
        assert_eq!(kind(started), ErrorKind::InvalidArgument, "{bad:?}");
    }
    assert!(create_user(&house.comms, &house.admin, user("a.b-c_1")).await.is_ok());
}

#[tokio::test]
async fn a_taken_handle_is_a_conflict_across_kinds_and_leaves_nothing_behind() {
    let house = House::new().await;
    house.user("ada").await;
    house.agent(&house.admin, "bot").await;
    let before = list_channels(&house.comms, &house.admin).await.unwrap();
    assert_eq!(text(create_user(&house.comms, &house.admin, user("bot")).await), "handle \"bot\" is taken");
    let taken = create_agent(&house.comms, &house.admin, agent("ada", None)).await;
    assert_eq!(kind(taken), ErrorKind::Conflict);
    assert_eq!(list_channels(&house.comms, &house.admin).await.unwrap(), before);
}

#[tokio::test]
async fn an_agent_gets_a_home_channel_with_its_owner_and_both_are_told() {
    let house = House::new().await;
    let ada = house.user("ada").await;
    let mut events = house.listen();
    let bot = create_agent(&house.comms, &ada, agent("bot", None)).await.unwrap();
    let AccountKind::Agent { owner, home_channel, parent } = bot.kind else { panic!("no agent") };
    assert_eq!((owner, parent), (ada.actor.id, None));
    let channels = list_channels(&house.comms, &ada).await.unwrap();
    let [home] = channels.as_slice() else { panic!("one channel") };
    assert_eq!((home.id, home.name.as_str()), (home_channel, "bot"));
    let owner = Member { account: ada.actor.id, subscribed: false };
    assert_eq!(home.members, [owner, Member { account: bot.id, subscribed: true }]);
    assert_eq!(next(&mut events).await, Event::AccountChanged(bot.into()));
    let told = Event::ChannelChanged { channel: home.clone().into(), removed: Vec::new() };
    assert_eq!(next(&mut events).await, told);
}

#[tokio::test]
async fn an_agent_creates_agents_for_its_owner() {
    let house = House::new().await;
    let ada = house.user("ada").await;
    let boss = house.agent(&ada, "boss").await;
    let child = create_agent(&house.comms, &boss, agent("child", Some(boss.actor.id))).await.unwrap();
    let AccountKind::Agent { owner, parent, .. } = child.kind else { panic!("no agent") };
    assert_eq!((owner, parent), (ada.actor.id, Some(boss.actor.id)));
}

#[tokio::test]
async fn a_parent_must_be_an_agent_of_the_same_owner() {
    let house = House::new().await;
    let ada = house.user("ada").await;
    let bob = house.user("bob").await;
    let bobs = house.agent(&bob, "bobs").await;
    let unknown = AccountId::from_bytes([9; 16]);
    let created = create_agent(&house.comms, &ada, agent("x", Some(unknown))).await;
    assert_eq!(kind(created), ErrorKind::NotFound);
    let created = create_agent(&house.comms, &ada, agent("x", Some(bob.actor.id))).await;
    assert_eq!(kind(created), ErrorKind::NotFound);
    let created = create_agent(&house.comms, &ada, agent("x", Some(bobs.actor.id))).await;
    assert_eq!(kind(created), ErrorKind::PermissionDenied);
    let nobody = Caller { actor: compass_domain::Actor { id: unknown, ..ada.actor }, ..ada.clone() };
    let created = create_agent(&house.comms, &nobody, agent("x", None)).await;
    assert_eq!(kind(created), ErrorKind::InvalidArgument);
    assert_eq!(handles(&house, &ada).await, ["ada", "bob", "root"]);
}

#[tokio::test]
async fn a_viewer_sees_people_its_own_agents_and_channel_mates_only() {
    let house = House::new().await;
    let ada = house.user("ada").await;
    let bob = house.user("bob").await;
    house.agent(&ada, "adas").await;
    let bobs = house.agent(&bob, "bobs").await;
    assert_eq!(handles(&house, &ada).await, ["ada", "adas", "bob", "root"]);
    house.channel(&ada, "both", &[&bobs]).await;
    assert_eq!(handles(&house, &ada).await, ["ada", "adas", "bob", "bobs", "root"]);
}

#[tokio::test]
async fn a_status_is_cut_stored_and_told() {
    let house = House::new().await;
    let bot = house.agent(&house.admin, "bot").await;
    let mut events = house.listen();
    let long = SetStatus { activity: "ä".repeat(141) };
    set_status(&house.comms, &bot, long).await.unwrap();
    let activity = "ä".repeat(140);
    let told = Event::ActivityChanged { agent: bot.actor.id, activity: activity.clone() };
    assert_eq!(next(&mut events).await, told);
    let mut unit = house.comms.storage.read(&house.tenant).await.unwrap();
    let stored = unit.list_activities(&[bot.actor.id]).await.unwrap();
    assert_eq!(stored, [(bot.actor.id, activity, house.comms.clock.now())]);
}

#[tokio::test]
async fn a_status_is_for_agents_and_holds_no_nul() {
    let house = House::new().await;
    let bot = house.agent(&house.admin, "bot").await;
    let status = |activity: &str| SetStatus { activity: activity.into() };
    let refused = set_status(&house.comms, &house.admin, status("busy")).await;
    assert_eq!(kind(refused), ErrorKind::PermissionDenied);
    assert_eq!(kind(set_status(&house.comms, &bot, status("a\0b")).await), ErrorKind::InvalidArgument);
}

#[tokio::test]
async fn a_second_start_finds_the_admin_and_mints_no_second_sign_in() {
    let house = House::new().await;
    let again = bootstrap(&house.comms, &house.tenant, Bootstrap { admin_handle: "root".into() }).await;
    let again = again.unwrap();
    assert_eq!((again.admin.id, again.sign_in), (house.admin.actor.id, None));
}

#[tokio::test]
async fn a_start_after_the_sign_in_expired_mints_a_new_one() {
    let house = House::new().await;
    house.clock.advance_ms(compass_comms::tokens::issue::SIGN_IN_LIFETIME_MS);
    let again = bootstrap(&house.comms, &house.tenant, Bootstrap { admin_handle: "root".into() }).await;
    assert!(again.unwrap().sign_in.is_some_and(|secret| secret != house.sign_in));
}

#[tokio::test]
async fn a_start_with_the_handle_of_a_member_fails() {
    let house = House::new().await;
    house.user("ada").await;
    house.agent(&house.admin, "bot").await;
    for handle in ["ada", "bot"] {
        let start = Bootstrap { admin_handle: handle.into() };
        assert_eq!(kind(bootstrap(&house.comms, &house.tenant, start).await), ErrorKind::Conflict);
    }
}

#[tokio::test]
async fn the_built_in_sender_exists_once_after_every_start() {
    let house = House::new().await;
    bootstrap(&house.comms, &house.tenant, Bootstrap { admin_handle: "root".into() }).await.unwrap();
    let mut unit = house.comms.storage.read(&house.tenant).await.unwrap();
    let sender = unit.find_account_by_handle(&Handle::system()).await.unwrap().unwrap();
    assert_eq!((sender.kind, sender.display_name.as_str()), (AccountKind::System, "Compass"));
}

#[tokio::test]
async fn a_start_with_a_squatter_on_the_built_in_senders_handle_fails_and_keeps_nothing() {
    let (comms, _) = empty();
    let tenant = TenantId::default_tenant();
    let squatter = Account {
        id: AccountId::from_bytes([1; 16]),
        handle: Handle::system(),
        display_name: String::new(),
        kind: AccountKind::User { role: UserRole::Member },
    };
    let mut unit = comms.storage.begin(&tenant).await.unwrap();
    unit.accounts().insert(&squatter).await.unwrap();
    unit.commit().await.unwrap();
    let start = Bootstrap { admin_handle: "root".into() };
    assert_eq!(kind(bootstrap(&comms, &tenant, start).await), ErrorKind::Conflict);
    let mut unit = comms.storage.read(&tenant).await.unwrap();
    assert_eq!(unit.find_account_by_handle(&Handle::parse("root").unwrap()).await.unwrap(), None);
}

#[tokio::test]
async fn a_secret_does_not_show_in_logs() {
    let (comms, _) = empty();
    let start = Bootstrap { admin_handle: "root".into() };
    let made = bootstrap(&comms, &TenantId::default_tenant(), start).await.unwrap();
    assert!(!format!("{made:?}").contains(&made.sign_in.unwrap()));
}

/// Running is for the owner and administrators, watching for those who take part in the home channel (I7).
#[tokio::test]
async fn who_may_run_an_agent_and_who_may_watch_it() {
    use ErrorKind as K;
    let house = House::new().await;
    let (ada, bob) = (house.user("ada").await, house.user("bob").await);
    let bot = house.agent(&ada, "bot").await;
    let stranger = house.agent(&bob, "stranger").await;
    let run = async |caller: &Caller, agent: &Caller| {
        require_operator(&house.comms, caller, agent.actor.id).await.map_err(|error| error.kind())
    };
    let watch = async |caller: &Caller, agent: &Caller| {
        require_watcher(&house.comms, caller, agent.actor.id).await.map_err(|error| error.kind())
    };
    for (caller, expected) in [
        (&ada, Ok(())),
        (&house.admin, Ok(())),
        (&bob, Err(K::NotFound)),
        (&stranger, Err(K::NotFound)),
        // It sees itself, and no agent runs agents.
        (&bot, Err(K::PermissionDenied)),
    ] {
        assert_eq!(run(caller, &bot).await, expected, "{caller:?}");
    }
    assert_eq!(run(&ada, &ada).await, Err(K::NotFound), "a person is no agent");
    for (caller, expected) in
        [(&ada, Ok(())), (&bot, Ok(())), (&house.admin, Err(K::NotFound)), (&bob, Err(K::NotFound))]
    {
        assert_eq!(watch(caller, &bot).await, expected, "{caller:?}");
    }
    // Sharing a channel shows an agent and lets nobody run or watch it.
    let shared = house.channel(&ada, "plans", &[&bob, &bot]).await;
    assert!(!shared.members.is_empty());
    assert_eq!(run(&bob, &bot).await, Err(K::PermissionDenied));
    assert_eq!(watch(&bob, &bot).await, Err(K::NotFound));
    assert_eq!(list_watched(&house.comms, &ada).await.unwrap(), [bot.actor.id]);
    assert_eq!(list_watched(&house.comms, &bob).await.unwrap(), [stranger.actor.id]);
    assert_eq!(list_watched(&house.comms, &house.admin).await.unwrap(), []);
}
