//! Typed ids as the databases hold them: `uuid` in Postgres, 16 bytes in SQLite.

use compass_domain::{
    AccountId, AskId, ChannelId, GroupId, MessageId, NodeId, SessionId, TenantId, TokenId, TopicId,
};
use sea_orm::Value;
use uuid::Uuid;

/// An id of the domain that is stored as 16 bytes.
pub(crate) trait TypedId: Copy {
    /// As a parameter's type.
    fn uuid(self) -> Uuid;

    /// As a column had it.
    fn from_uuid(uuid: Uuid) -> Self;
}

macro_rules! typed_ids {
    ($($name:ident)*) => {$(
        impl TypedId for $name {
            fn uuid(self) -> Uuid {
                Uuid::from_bytes(*self.as_bytes())
            }

            fn from_uuid(uuid: Uuid) -> Self {
                Self::from_bytes(uuid.into_bytes())
            }
        }
    )*};
}

typed_ids!(AccountId AskId ChannelId GroupId MessageId NodeId SessionId TokenId TopicId);

/// An id as a parameter.
pub(crate) fn id(id: impl TypedId) -> Value {
    id.uuid().into()
}

/// An id that may be absent as a parameter.
pub(crate) fn optional_id(id: Option<impl TypedId>) -> Value {
    id.map(TypedId::uuid).into()
}

/// A tenant as a parameter.
pub(crate) fn tenant(tenant: &TenantId) -> Value {
    tenant.as_str().into()
}
