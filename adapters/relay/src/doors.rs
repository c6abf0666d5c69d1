//! Who may knock at which RPC: every RPC of the contract has a class, and one without a class is denied.

use compass_domain::ActorKind;

use crate::{auth::Principal, error::DoorError};

/// Whose credential an RPC takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// No credential is needed.
    Open,
    /// A person's.
    Person,
    /// Any account's.
    Member,
    /// A person's with the admin role.
    Admin,
    /// An agent's.
    Agent,
    /// A runner's, or an agent's that is its own runner.
    Runner,
}

/// How an RPC ends if it takes too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// It kept nothing, so trying again is safe.
    Read,
    /// It may have kept something, so its outcome is unknown.
    Write,
    /// It waits for runners, and may have changed something.
    Command,
    /// It lasts as long as both sides want.
    Stream,
}

/// One RPC of the contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rpc {
    /// Its service, package included.
    pub service: &'static str,
    /// Its name.
    pub method: &'static str,
    /// Who may call it.
    pub class: Class,
    /// How it ends if it takes too long.
    pub shape: Shape,
}

macro_rules! rpcs {
    ($($service:literal { $($method:ident: $class:ident $shape:ident;)* })*) => {
        &[$($(Rpc {
            service: $service,
            method: stringify!($method),
            class: Class::$class,
            shape: Shape::$shape,
        },)*)*]
    };
}

/// The one service of the contract that runners serve, on a socket of each agent.
pub const SERVED_BY_RUNNERS: &str = "compass.v1.AgentGateway";

/// Every RPC and its class.
pub const RPCS: &[Rpc] = rpcs! {
    "compass.v1.CommsService" {
        CreateUser: Admin Write;
        CreateAgent: Member Write;
        ListAccounts: Member Read;
        CreateChannelGroup: Member Write;
        ListChannelGroups: Member Read;
        ListChannels: Member Read;
        CreateChannel: Member Write;
        UpdateChannelMembers: Member Write;
        ReparentAgent: Member Write;
        ListMessages: Member Read;
        PostMessage: Member Write;
        ListTopics: Member Read;
        UpdateTopic: Member Write;
        RespondToAsk: Person Write;
        SearchMessages: Member Read;
        SetChannelPolicy: Member Write;
        GetRoster: Member Read;
        UpdatePinnedBoard: Member Write;
        SubscribeComms: Member Stream;
    }
    "compass.v1.CompassService" {
        GetServerInfo: Member Read;
        WhoAmI: Member Read;
        SubscribeEvents: Member Stream;
        ProvisionAgentWorkspace: Person Command;
        StartAgentSession: Person Command;
        SpawnAgent: Person Command;
        StopAgentSession: Person Command;
        RemoveAgentWorkspace: Person Command;
        ReloadAgentSession: Person Command;
        GetAgentStatus: Person Read;
        SubscribeAgentSession: Member Stream;
        IssueToken: Person Write;
        RevokeToken: Person Write;
    }
    "compass.v1.InboxService" {
        ListOpenAsks: Person Read;
        ListTopicsOfChannels: Person Read;
        ReadPositions: Person Read;
        MarkRead: Person Write;
    }
    "compass.v1.OperatorService" {
        ListAgents: Person Read;
        Diagnose: Admin Read;
    }
    "compass.v1.PeopleService" {
        OpenDM: Person Write;
        JoinChannel: Person Write;
        ListPinned: Person Read;
    }
    "compass.v1.SessionService" {
        TradeSignIn: Open Write;
        ListTokens: Person Read;
        RevokeTokenById: Person Write;
        CreateRunnerToken: Admin Write;
        CreateSignInLink: Admin Write;
    }
    "compass.v1.AgentDoor" {
        Call: Agent Write;
        Fetch: Agent Read;
        Acknowledge: Agent Write;
    }
    "compass.v1.AgentGateway" {
        Comms: Agent Write;
        Publish: Agent Stream;
        Control: Agent Stream;
    }
    "compass.v1.RunnerService" {
        Enroll: Runner Write;
        Sessions: Runner Stream;
        PublishEvents: Runner Stream;
        RelayCommsCall: Runner Write;
    }
    "grpc.health.v1.Health" {
        Check: Open Read;
        Watch: Open Stream;
    }
    "grpc.reflection.v1.ServerReflection" {
        ServerReflectionInfo: Member Stream;
    }
    "grpc.reflection.v1alpha.ServerReflection" {
        ServerReflectionInfo: Member Stream;
    }
};

/// Finds the RPC of a request path such as `/compass.v1.CommsService/PostMessage`.
pub fn find(path: &str) -> Option<&'static Rpc> {
    let (service, method) = path.strip_prefix('/')?.split_once('/')?;
    RPCS.iter().find(|rpc| rpc.method == method && rpc.service == service)
}

/// The services of the contract that the server serves.
pub fn served() -> impl Iterator<Item = &'static str> {
    let mut last = "";
    RPCS.iter().map(|rpc| rpc.service).filter(move |service| {
        service.starts_with("compass.")
            && *service != SERVED_BY_RUNNERS
            && std::mem::replace(&mut last, service) != *service
    })
}

/// Decides whether `who` may call an RPC of this class; an RPC without a class is nobody's.
///
/// A runner's token is nothing at an account's door, nor a person's at a runner's: both are as good as no token.
///
/// # Errors
///
/// [`DoorError::Unauthenticated`] or [`DoorError::Forbidden`].
pub fn admit(class: Option<Class>, who: &Principal) -> Result<(), DoorError> {
    let kind = match who {
        Principal::Account(caller) => Some(caller.actor),
        Principal::Runner { .. } => None,
    };
    match (class, kind) {
        (_, Some(actor)) if actor.kind == ActorKind::System => Err(DoorError::Unauthenticated),
        (Some(Class::Open), _) | (Some(Class::Runner), None) | (Some(Class::Member), Some(_)) => Ok(()),
        (Some(Class::Runner), Some(actor)) if actor.is_agent() => Ok(()),
        (Some(Class::Runner), Some(_)) | (Some(_), None) => Err(DoorError::Unauthenticated),
        (Some(Class::Person), Some(actor)) if actor.human().is_some() => Ok(()),
        (Some(Class::Admin), Some(actor)) if actor.is_admin() => Ok(()),
        (Some(Class::Agent), Some(actor)) if actor.is_agent() => Ok(()),
        (Some(Class::Person), Some(_)) => Err(DoorError::Forbidden("people")),
        (Some(Class::Admin), Some(_)) => Err(DoorError::Forbidden("administrators")),
        (Some(Class::Agent), Some(_)) => Err(DoorError::Forbidden("agents")),
        (None, _) => Err(DoorError::Forbidden("nobody")),
    }
}
