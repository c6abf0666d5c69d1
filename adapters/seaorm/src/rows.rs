//! Columns of a row as domain values.

use compass_domain::{Corrupt, Seq, UnixMillis};
use compass_ports::StorageError;
use sea_orm::{QueryResult, TryGetable};
use uuid::Uuid;

use crate::{error, ids::TypedId};

/// Reads columns by name; a column of another type is a fault of ours.
pub(crate) trait Columns {
    /// A column of any type the driver knows.
    fn get<T: TryGetable>(&self, column: &str) -> Result<T, StorageError>;

    /// An id.
    fn id<T: TypedId>(&self, column: &str) -> Result<T, StorageError> {
        self.get::<Uuid>(column).map(T::from_uuid)
    }

    /// An id that may be absent.
    fn optional_id<T: TypedId>(&self, column: &str) -> Result<Option<T>, StorageError> {
        Ok(self.get::<Option<Uuid>>(column)?.map(T::from_uuid))
    }

    /// A time.
    fn millis(&self, column: &str) -> Result<UnixMillis, StorageError> {
        self.get(column).map(UnixMillis)
    }

    /// A time that may be absent.
    fn optional_millis(&self, column: &str) -> Result<Option<UnixMillis>, StorageError> {
        Ok(self.get::<Option<i64>>(column)?.map(UnixMillis))
    }

    /// A number that is never negative.
    fn count(&self, column: &str) -> Result<u64, StorageError> {
        let number: i64 = self.get(column)?;
        u64::try_from(number).map_err(|_| Corrupt::new(format!("{column} is {number}")).into())
    }

    /// A place in a channel.
    fn seq(&self, column: &str) -> Result<Seq, StorageError> {
        self.count(column).map(Seq)
    }

    /// 32 bytes.
    fn digest(&self, column: &str) -> Result<[u8; 32], StorageError> {
        digest(column, &self.get::<Vec<u8>>(column)?)
    }

    /// Ids of an array column that was read as JSON text.
    fn ids<T: TypedId>(&self, column: &str) -> Result<Vec<T>, StorageError> {
        let text: String = self.get(column)?;
        let ids: Vec<String> = parse(column, &text)?;
        ids.iter()
            .map(|id| Uuid::parse_str(id).map(T::from_uuid))
            .collect::<Result<_, _>>()
            .map_err(|error| Corrupt::new(format!("{column}: {error}")).into())
    }
}

impl Columns for QueryResult {
    fn get<T: TryGetable>(&self, column: &str) -> Result<T, StorageError> {
        self.try_get("", column).map_err(|error| error::column(column, &error))
    }
}

fn digest(column: &str, bytes: &[u8]) -> Result<[u8; 32], StorageError> {
    bytes.try_into().map_err(|_| Corrupt::new(format!("{column} has {} bytes, not 32", bytes.len())).into())
}

fn parse<T: serde::de::DeserializeOwned>(column: &str, text: &str) -> Result<T, StorageError> {
    serde_json::from_str(text).map_err(|error| Corrupt::new(format!("{column}: {error}")).into())
}
