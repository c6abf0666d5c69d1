//! Finds or makes the channel in which two talk to each other.

use std::sync::Arc;

use compass_domain::{
    Account, AccountId, AccountKind, Channel, ChannelId, Classified, ErrorKind, Event, Handle,
    channel::{
        ChannelKind, ChannelName, ChannelNameError, DirectPair, MembershipMode, PostPolicy, Purpose,
        initial_members,
    },
};
use compass_ports::StorageError;

use super::members;
use crate::{Caller, Comms, ports::UnitOfWork};

/// With whom to talk.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OpenDm {
    /// The other one's handle.
    pub peer_handle: String,
}

/// The channel of two.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opened {
    /// The channel.
    pub channel: Channel,
    /// Whether this call made it.
    pub created: bool,
}

/// Why no channel is opened.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The caller named itself.
    #[error("peer_handle {0:?} is your own")]
    Oneself(String),
    /// No account of that handle, or none the caller may open a conversation with.
    #[error("peer not found")]
    PeerNotFound,
    /// The two handles make no name.
    #[error(transparent)]
    Name(#[from] ChannelNameError),
    /// Storage failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

impl Classified for Error {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Oneself(_) | Self::Name(_) => ErrorKind::InvalidArgument,
            Self::PeerNotFound => ErrorKind::NotFound,
            Self::Storage(error) => error.kind(),
        }
    }
}

/// Opens the direct conversation of the caller and its peer; there is one for each pair, whoever opens it.
///
/// A person's conversation with an agent of its own is the agent's home channel. Otherwise agents are delivered to
/// whether they subscribe or not, and their owners are members. An agent opens a conversation with its owner and
/// with agents of its owner, and finds one that a person opened with it.
///
/// # Errors
///
/// [`Error`] for the first rule that refuses it; nothing is stored then.
pub async fn open_dm(comms: &Comms, caller: &Caller, open: OpenDm) -> Result<Opened, Error> {
    let handle = Handle::parse(&open.peer_handle).map_err(|_| Error::PeerNotFound)?;
    let (own, peer, is_seen) = read(comms, caller, &handle).await?;
    if peer.id == own.id {
        return Err(Error::Oneself(open.peer_handle));
    }
    let purpose = Purpose::Direct(DirectPair::of(own.id, peer.id));
    let mut unit = comms.storage.begin(&caller.tenant).await?;
    if let Some(home) = home_of_both(&own, &peer) {
        return find(&mut *unit, caller, home).await;
    }
    if let Some(found) = unit.purposes().find(&purpose).await? {
        return find(&mut *unit, caller, found).await;
    }
    if !may_open(&own, &peer, is_seen) {
        return Err(Error::PeerNotFound);
    }
    let channel = direct_channel(comms.ids.channel(), &own, &peer)?;
    if !unit.purposes().claim(&channel, &purpose).await? {
        // The other one opened it at the same time.
        let found = unit.purposes().find(&purpose).await?.ok_or(Error::PeerNotFound)?;
        return find(&mut *unit, caller, found).await;
    }
    let agents = [&own, &peer].into_iter().filter(|account| account.is_agent());
    let cursors: Vec<_> = agents.map(|agent| (agent.id, channel.id)).collect();
    unit.cursors().seed_all(&cursors).await?;
    let told = Event::ChannelChanged { channel: Arc::new(channel.clone()), removed: Vec::new() };
    comms.finish(&caller.tenant, unit, vec![told]).await?;
    Ok(Opened { channel, created: true })
}

/// The caller, its peer, and whether the caller sees the peer.
async fn read(comms: &Comms, caller: &Caller, peer: &Handle) -> Result<(Account, Account, bool), Error> {
    // Before the unit of work: while that is open another unit may have to wait for it.
    let mut unit = comms.storage.read(&caller.tenant).await?;
    let own = unit.find_account(caller.actor.id).await?.ok_or(Error::PeerNotFound)?;
    let peer = unit.find_account_by_handle(peer).await?.ok_or(Error::PeerNotFound)?;
    let is_seen = unit.sees_account(caller.actor, peer.id).await?;
    Ok((own, peer, is_seen))
}

/// A channel that is there, if the caller takes part in it.
async fn find(unit: &mut dyn UnitOfWork, caller: &Caller, id: ChannelId) -> Result<Opened, Error> {
    if !unit.channels().participates(caller.actor.id, id).await? {
        return Err(Error::PeerNotFound);
    }
    let channel = unit.channels().lock(id).await?.ok_or(Error::PeerNotFound)?;
    Ok(Opened { channel, created: false })
}

/// The home channel of the one if the other owns it.
fn home_of_both(one: &Account, other: &Account) -> Option<ChannelId> {
    let home = |agent: &Account, person: AccountId| match agent.kind {
        AccountKind::Agent { owner, home_channel, .. } if owner == person => Some(home_channel),
        _ => None,
    };
    home(one, other.id).or_else(|| home(other, one.id))
}

fn may_open(own: &Account, peer: &Account, is_seen: bool) -> bool {
    match (own.kind, peer.kind) {
        (AccountKind::User { .. }, AccountKind::User { .. }) => true,
        (AccountKind::User { .. }, AccountKind::Agent { .. }) => is_seen,
        (AccountKind::Agent { owner, .. }, AccountKind::Agent { owner: peers_owner, .. }) => {
            owner == peers_owner
        }
        (AccountKind::Agent { .. }, AccountKind::User { .. })
        | (AccountKind::System, _)
        | (_, AccountKind::System) => false,
    }
}

fn direct_channel(id: ChannelId, own: &Account, peer: &Account) -> Result<Channel, Error> {
    let both = [own, peer];
    let owner_of = |id| both.into_iter().find(|account| account.id == id).and_then(members::owner);
    Ok(Channel {
        id,
        name: ChannelName::direct((own.id, &own.handle), (peer.id, &peer.handle))?,
        group: None,
        kind: ChannelKind::Dm,
        mode: MembershipMode::Flat,
        policy: PostPolicy::Open,
        mandatory: true,
        members: initial_members(own.id, &[peer.id], owner_of),
        tree_subscribers: Vec::new(),
        pins: Vec::new(),
    })
}
