//! The statements about groups, boards, policies and participation look up what they name on both databases.

use compass_comms::ports::{
    AccountRepository as _, ChannelRepository as _, CursorRepository as _, GroupReads as _, GroupRepository,
    ParticipantRepository as _, PinRepository as _, PurposeRepository, SettingsRepository as _,
};
use compass_domain::{
    AccountId, Actor, ActorKind, Channel, ChannelGroup, ChannelId, GroupId, Handle, MessageId, TenantId,
    UnixMillis, UserRole,
    channel::{ChannelKind, ChannelName, DirectPair, Member, MembershipMode, Pin, PostPolicy, Purpose},
    group::Visibility,
};

use crate::{
    checks::TENANT_TABLES,
    dialect::Dialect,
    open_tests::{ROWS, made_by, owner, run},
    read_unit::SeaReadUnit,
    testing::Db,
    transaction::Access,
    unit_of_work::SeaUnitOfWork,
};

/// What the statements are run with; on SQLite, where they find nothing, any ids do.
struct Named {
    user: AccountId,
    agents: [AccountId; 2],
    channels: [ChannelId; 2],
    message: MessageId,
    group: GroupId,
}

impl Named {
    fn any() -> Self {
        let account = |byte| AccountId::from_bytes([byte; 16]);
        Self {
            user: account(1),
            agents: [account(2), account(3)],
            channels: [4, 5].map(|byte| ChannelId::from_bytes([byte; 16])),
            message: MessageId::from_bytes([6; 16]),
            group: GroupId::from_bytes([7; 16]),
        }
    }

    async fn of_rows(db: &Db) -> Self {
        let mut c = owner(&db.url).await;
        run(&mut c, ROWS).await;
        Self {
            user: AccountId::from_bytes(made_by(&mut c, "u1").await),
            agents: [
                AccountId::from_bytes(made_by(&mut c, "a1").await),
                AccountId::from_bytes(made_by(&mut c, "a51").await),
            ],
            channels: [
                ChannelId::from_bytes(made_by(&mut c, "c5").await),
                ChannelId::from_bytes(made_by(&mut c, "t1").await),
            ],
            message: MessageId::from_bytes(made_by(&mut c, "m4004").await),
            group: GroupId::from_bytes(made_by(&mut c, "g41").await),
        }
    }
}

#[tokio::test]
async fn no_statement_about_channels_reads_a_whole_table() {
    for db in Db::both().await {
        let mut tx =
            db.storage.pools.tenant(&TenantId::default_tenant(), Access::Write).await.expect("a transaction");
        let dialect = tx.dialect();
        let named = match dialect {
            Dialect::Postgres => {
                tx.execute("SET LOCAL enable_seqscan = off", vec![]).await.expect("a setting");
                Named::of_rows(&db).await
            }
            Dialect::Sqlite => Named::any(),
        };
        tx.plans = Some(Vec::new());
        let mut unit = SeaUnitOfWork { tx, tenant: TenantId::default_tenant() };
        write(&mut unit, &named, dialect).await;
        let mut plans = unit.tx.plans.take().expect("plans");
        drop(unit);

        let mut tx = db
            .storage
            .pools
            .tenant(&TenantId::default_tenant(), Access::Snapshot)
            .await
            .expect("a transaction");
        if dialect == Dialect::Postgres {
            tx.execute("SET LOCAL enable_seqscan = off", vec![]).await.expect("a setting");
        }
        tx.plans = Some(Vec::new());
        let mut unit = SeaReadUnit { tx, tenant: TenantId::default_tenant() };
        unit.list_groups(viewer(&named)).await.expect("a read");
        unit.sees_group(viewer(&named), named.group).await.expect("a read");
        plans.extend(unit.tx.plans.take().expect("plans"));
        assert!(plans.len() >= 22, "{} statements", plans.len());
        for plan in &plans {
            for table in TENANT_TABLES {
                assert!(!scans(plan, table), "{dialect:?}: {table} is scanned by {plan}");
            }
        }
    }
}

fn viewer(named: &Named) -> Actor {
    Actor { id: named.user, kind: ActorKind::User { role: UserRole::Member } }
}

/// True if a line of the plan reads a whole table; statements call tables by other names on SQLite.
fn scans(plan: &str, table: &str) -> bool {
    plan.lines().any(|line| {
        let rest = line.split_once(&format!("Seq Scan on {table}")).map(|(_, rest)| rest);
        let postgres = rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '));
        let alias = line.strip_prefix("SCAN ").map(|rest| rest.split(' ').next().unwrap_or_default());
        let of_table = |alias: &str| alias == table || plan.contains(&format!("{table} {alias}"));
        postgres || alias.is_some_and(of_table)
    })
}

async fn write(unit: &mut SeaUnitOfWork, named: &Named, dialect: Dialect) {
    let Named { user, agents, channels, message, group } = *named;
    let pairs = [(agents[0], channels[0]), (agents[1], channels[1])];
    unit.lock_tree(user).await.expect("a lock");
    unit.list_agents(user).await.expect("a read");
    unit.find_all(&[user, agents[0]]).await.expect("a read");
    let handles = ["u1", "a1"].map(|handle| Handle::parse(handle).expect("a handle"));
    unit.find_all_by_handle(&handles).await.expect("a read");
    unit.set_parent(agents[0], None).await.expect("a write");
    unit.lock_all(&channels).await.expect("a lock");
    unit.agents(&channels).await.expect("a read");
    unit.trees_of(&agents).await.expect("a read");
    unit.touch(&channels).await.expect("a write");
    unit.sees(viewer(named), channels[0]).await.expect("a read");
    unit.chain(group).await.expect("a read");
    unit.list_owned(user, "g1").await.expect("a read");
    let purpose = Purpose::Direct(DirectPair::of(agents[0], agents[1]));
    PurposeRepository::find(unit, &purpose).await.expect("a read");
    let name = ChannelName::parse("plans").expect("a name");
    unit.rename(channels[0], &name).await.expect("a write");
    unit.convert(channels[0]).await.expect("a write");
    unit.set_policy(channels[0], PostPolicy::Open, true).await.expect("a write");
    unit.holds(channels[0], message).await.expect("a read");
    unit.seed_all(&pairs).await.expect("a write");
    unit.owe_answers(&pairs).await.expect("a write");
    unit.replace(channels[0], &[]).await.expect("a write");
    if dialect == Dialect::Sqlite {
        // Rows that must exist for what follows are only there on Postgres.
        return;
    }
    unit.put_subscription(channels[1], agents[1], true).await.expect("a write");
    unit.lock(channels[1]).await.expect("a lock").expect("the channel");
    let pin = Pin { message, position: 0, pinned_at: UnixMillis(1), pinned_by: user };
    unit.replace(channels[0], &[pin]).await.expect("a write");
    let direct = Channel {
        id: ChannelId::from_bytes([9; 16]),
        name: name.clone(),
        group: None,
        kind: ChannelKind::Dm,
        mode: MembershipMode::Flat,
        policy: PostPolicy::Open,
        mandatory: true,
        members: agents.map(|account| Member { account, subscribed: false }).to_vec(),
        tree_subscribers: Vec::new(),
        pins: Vec::new(),
    };
    assert!(unit.claim(&direct, &purpose).await.expect("a write"));
    let group = ChannelGroup {
        id: GroupId::from_bytes([9; 16]),
        name,
        parent: None,
        owner: user,
        visibility: Visibility::Owner,
    };
    GroupRepository::insert(unit, &group).await.expect("a write");
}
