//! Groups, channels and the tree: what people's commands change about them.

use compass_proto::v1 as pb;

use crate::{
    ChannelName, Client, ClientError,
    connect::within_deadline,
    model::{Account, Channel, Direct, Group},
};

/// A channel to create.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewChannel {
    /// Its name.
    pub name: String,
    /// Handles of members beside the caller.
    pub members: Vec<String>,
    /// Its group.
    pub group: GroupName,
    /// Id of the agent below which everyone takes part; none if only members do.
    pub anchor_agent_id: Option<String>,
}

/// How a group is named.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum GroupName {
    /// No group.
    #[default]
    None,
    /// By its id.
    Id(String),
    /// By its name.
    Name(String),
}

/// Changes of a channel's members, by handle.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemberChanges {
    /// Members afterwards, not subscribed.
    pub add: Vec<String>,
    /// No members afterwards.
    pub remove: Vec<String>,
    /// Members afterwards, subscribed.
    pub subscribe: Vec<String>,
    /// Members afterwards, not subscribed.
    pub unsubscribe: Vec<String>,
    /// Another name of the channel.
    pub new_name: Option<String>,
}

/// Who may post, and who is delivered to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    /// Id of the account that alone may post; none if every participant may.
    pub owner_account_id: Option<String>,
    /// Every agent that takes part is delivered to, subscribed or not.
    pub mandatory_subscription: bool,
}

impl GroupName {
    fn id_and_name(self) -> (String, String) {
        match self {
            Self::None => (String::new(), String::new()),
            Self::Id(id) => (id, String::new()),
            Self::Name(name) => (String::new(), name),
        }
    }
}

impl Client {
    /// Lists the groups the caller can see, by name.
    ///
    /// # Errors
    ///
    /// [`ClientError`].
    pub async fn groups(&self) -> Result<Vec<Group>, ClientError> {
        let request = within_deadline(pb::ListChannelGroupsRequest::default());
        let reply = self.take(self.comms().list_channel_groups(request).await?);
        Ok(reply.groups.into_iter().map(Group::from).collect())
    }

    /// Creates a group, in another one if `parent` names it.
    ///
    /// # Errors
    ///
    /// [`ClientError`].
    pub async fn create_group(
        &self,
        name: &str,
        parent: GroupName,
        shared: bool,
    ) -> Result<Group, ClientError> {
        use pb::ChannelGroupVisibility::{Owner, Shared};
        let (parent_group_id, parent_group_name) = parent.id_and_name();
        let request = pb::CreateChannelGroupRequest {
            name: name.into(),
            parent_group_id,
            parent_group_name,
            visibility: if shared { Shared } else { Owner }.into(),
        };
        let reply = self.take(self.comms().create_channel_group(within_deadline(request)).await?);
        reply.group.map(Group::from).ok_or(ClientError::Protocol("CreateChannelGroup without a group"))
    }

    /// Creates a channel with the caller.
    ///
    /// # Errors
    ///
    /// [`ClientError`].
    pub async fn create_channel_as(&self, new: NewChannel) -> Result<Channel, ClientError> {
        use pb::ChannelMembershipMode::{Flat, Tree};
        let (group_id, group_name) = new.group.id_and_name();
        let request = pb::CreateChannelRequest {
            name: new.name,
            member_handles: new.members,
            group_id,
            group_name,
            membership_mode: if new.anchor_agent_id.is_some() { Tree } else { Flat }.into(),
            anchor_agent_id: new.anchor_agent_id.unwrap_or_default(),
            ..pb::CreateChannelRequest::default()
        };
        let reply = self.take(self.comms().create_channel(within_deadline(request)).await?);
        whole(reply.channel, "CreateChannel without a channel")
    }

    /// Makes the caller a subscribed member of a channel that it sees through a shared group.
    ///
    /// # Errors
    ///
    /// [`ClientError`].
    pub async fn join_channel(&self, channel_id: &str) -> Result<Channel, ClientError> {
        let request = pb::JoinChannelRequest { channel_id: channel_id.into() };
        let reply = self.take(self.people().join_channel(within_deadline(request)).await?);
        whole(reply.channel, "JoinChannel without a channel")
    }

    /// Changes members, and the name if a new one is given.
    ///
    /// # Errors
    ///
    /// [`ClientError`].
    pub async fn update_members(
        &self,
        channel: &ChannelName,
        changes: MemberChanges,
    ) -> Result<Channel, ClientError> {
        let (channel_id, channel_name) = match channel.clone() {
            ChannelName::Id(id) => (id, String::new()),
            ChannelName::Name(name) => (String::new(), name),
        };
        let request = pb::UpdateChannelMembersRequest {
            channel_id,
            channel_name,
            add_handles: changes.add,
            remove_handles: changes.remove,
            subscribe_handles: changes.subscribe,
            unsubscribe_handles: changes.unsubscribe,
            new_name: changes.new_name.unwrap_or_default(),
            ..pb::UpdateChannelMembersRequest::default()
        };
        let reply = self.take(self.comms().update_channel_members(within_deadline(request)).await?);
        whole(reply.channel, "UpdateChannelMembers without a channel")
    }

    /// Sets a channel's policy.
    ///
    /// # Errors
    ///
    /// [`ClientError`].
    pub async fn set_policy(&self, channel_id: &str, policy: Policy) -> Result<Channel, ClientError> {
        use pb::ChannelPostPolicy::{Open, OwnerOnly};
        let request = pb::SetChannelPolicyRequest {
            channel_id: channel_id.into(),
            post_policy: if policy.owner_account_id.is_some() { OwnerOnly } else { Open }.into(),
            owner_account_id: policy.owner_account_id.unwrap_or_default(),
            mandatory_subscription: policy.mandatory_subscription,
        };
        let reply = self.take(self.comms().set_channel_policy(within_deadline(request)).await?);
        whole(reply.channel, "SetChannelPolicy without a channel")
    }

    /// Pins a message to a channel's board, in place of another one if `replace` names it.
    ///
    /// # Errors
    ///
    /// [`ClientError`].
    pub async fn pin(
        &self,
        channel_id: &str,
        message_id: &str,
        replace: Option<&str>,
    ) -> Result<Channel, ClientError> {
        let pin = pb::PinMessage {
            message_id: message_id.into(),
            replace_message_id: replace.unwrap_or_default().into(),
        };
        self.board(channel_id, pb::update_pinned_board_request::Op::Pin(pin)).await
    }

    /// Takes a message off a channel's board.
    ///
    /// # Errors
    ///
    /// [`ClientError`].
    pub async fn unpin(&self, channel_id: &str, message_id: &str) -> Result<Channel, ClientError> {
        self.board(channel_id, pb::update_pinned_board_request::Op::UnpinMessageId(message_id.into())).await
    }

    async fn board(
        &self,
        channel_id: &str,
        op: pb::update_pinned_board_request::Op,
    ) -> Result<Channel, ClientError> {
        let request = pb::UpdatePinnedBoardRequest { channel_id: channel_id.into(), op: Some(op) };
        let reply = self.take(self.comms().update_pinned_board(within_deadline(request)).await?);
        whole(reply.channel, "UpdatePinnedBoard without a channel")
    }

    /// Opens the direct conversation with another account.
    ///
    /// # Errors
    ///
    /// [`ClientError`].
    pub async fn open_dm(&self, peer_handle: &str) -> Result<Direct, ClientError> {
        let request = pb::OpenDmRequest { peer_handle: peer_handle.into() };
        let reply = self.take(self.people().open_dm(within_deadline(request)).await?);
        let channel = whole(reply.channel, "OpenDM without a channel")?;
        Ok(Direct { channel, created: reply.created })
    }

    /// Puts an agent below another; `None` puts it below nobody.
    ///
    /// # Errors
    ///
    /// [`ClientError`].
    pub async fn reparent_agent(
        &self,
        agent_id: &str,
        parent_id: Option<&str>,
    ) -> Result<Account, ClientError> {
        let request = pb::ReparentAgentRequest {
            agent_account_id: agent_id.into(),
            new_parent_agent_id: parent_id.unwrap_or_default().into(),
        };
        let reply = self.take(self.comms().reparent_agent(within_deadline(request)).await?);
        reply.account.map(Account::from).ok_or(ClientError::Protocol("ReparentAgent without an account"))
    }
}

fn whole(channel: Option<pb::Channel>, missing: &'static str) -> Result<Channel, ClientError> {
    channel.map(Channel::from).ok_or(ClientError::Protocol(missing))
}
