//! Where the two databases spell things differently.

use compass_domain::UnixMillis;
use sea_orm::Value;
use uuid::Uuid;

use crate::ids::TypedId;

/// Which database it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// Postgres.
    Postgres,
    /// SQLite.
    Sqlite,
}

impl Dialect {
    /// A condition's right side: equals one id of the list bound as parameter `number`.
    pub(crate) fn any_id(self, number: usize) -> String {
        match self {
            Self::Postgres => format!("= ANY(${number})"),
            Self::Sqlite => format!("IN (SELECT unhex(value) FROM json_each(${number}))"),
        }
    }

    /// A list of ids as one parameter, so that the statement's text does not depend on its length.
    pub(crate) fn id_list<T: TypedId>(self, ids: impl IntoIterator<Item = T>) -> Value {
        let ids = ids.into_iter().map(TypedId::uuid);
        match self {
            Self::Postgres => ids.collect::<Vec<Uuid>>().into(),
            Self::Sqlite => {
                let texts: Vec<String> = ids.map(|id| format!("\"{}\"", id.simple())).collect();
                format!("[{}]", texts.join(",")).into()
            }
        }
    }

    /// A condition's right side: equals one text of the list bound as parameter `number`.
    pub(crate) fn any_text(self, number: usize) -> String {
        match self {
            Self::Postgres => format!("= ANY(${number})"),
            Self::Sqlite => format!("IN (SELECT value FROM json_each(${number}))"),
        }
    }

    /// A list of texts as one parameter.
    pub(crate) fn text_list<'a>(self, texts: impl Iterator<Item = &'a str>) -> Value {
        let texts: Vec<String> = texts.map(str::to_owned).collect();
        match self {
            Self::Postgres => texts.into(),
            Self::Sqlite => serde_json::Value::from(texts).to_string().into(),
        }
    }

    /// An array column as JSON text, read with [`crate::rows::Columns::ids`].
    pub(crate) fn array_text(self, column: &str) -> String {
        match self {
            Self::Postgres => format!("array_to_json({column})::text"),
            Self::Sqlite => column.to_owned(),
        }
    }

    /// The database's clock in milliseconds.
    pub(crate) fn now_ms(self) -> &'static str {
        match self {
            Self::Postgres => "(extract(epoch FROM clock_timestamp()) * 1000)::bigint",
            Self::Sqlite => "CAST(unixepoch('subsec') * 1000 AS INTEGER)",
        }
    }

    /// Keeps a row from being deleted or renamed; its other columns may change.
    pub(crate) fn for_key_share(self) -> &'static str {
        match self {
            Self::Postgres => " FOR KEY SHARE",
            Self::Sqlite => "",
        }
    }

    /// Locks a row against everyone who locks or keeps it.
    pub(crate) fn for_update(self) -> &'static str {
        match self {
            Self::Postgres => " FOR UPDATE",
            Self::Sqlite => "",
        }
    }

    /// Locks a row against other writers but not against foreign keys that point at it.
    pub(crate) fn for_no_key_update(self) -> &'static str {
        match self {
            Self::Postgres => " FOR NO KEY UPDATE",
            Self::Sqlite => "",
        }
    }
}

/// A time as a parameter.
pub(crate) fn millis(at: UnixMillis) -> Value {
    at.0.into()
}
