//! The storage port: units over one tenant's rows, and what is asked across tenants.

use async_trait::async_trait;
use compass_comms::ports::{ReadUnit, Storage, TokenHash, TokenRow, UnitOfWork};
use compass_domain::TenantId;
use compass_ports::StorageError;

use crate::{
    connection::SeaStorage, dialect::Dialect, read_unit::SeaReadUnit, rows::Columns as _, tokens,
    transaction::Access, unit_of_work::SeaUnitOfWork,
};

#[async_trait]
impl Storage for SeaStorage {
    async fn read(&self, tenant: &TenantId) -> Result<Box<dyn ReadUnit>, StorageError> {
        let tx = self.pools.tenant(tenant, Access::Snapshot).await?;
        Ok(Box::new(SeaReadUnit { tx, tenant: tenant.clone() }))
    }

    async fn begin(&self, tenant: &TenantId) -> Result<Box<dyn UnitOfWork>, StorageError> {
        let tx = self.pools.tenant(tenant, Access::Write).await?;
        Ok(Box::new(SeaUnitOfWork { tx, tenant: tenant.clone() }))
    }

    async fn find_token(&self, hash: &TokenHash) -> Result<Option<(TenantId, TokenRow)>, StorageError> {
        let mut tx = self.pools.system(Access::Snapshot).await?;
        tokens::find_anywhere(&mut tx, hash).await
    }

    async fn find_tokens(&self, hashes: &[TokenHash]) -> Result<Vec<(TenantId, TokenRow)>, StorageError> {
        let mut tx = self.pools.system(Access::Snapshot).await?;
        tokens::find_all_anywhere(&mut tx, hashes).await
    }

    async fn tenants(&self) -> Result<Vec<TenantId>, StorageError> {
        let mut tx = self.pools.system(Access::Snapshot).await?;
        let sql = match tx.dialect() {
            Dialect::Postgres => "SELECT tenant FROM compass_tenants()",
            Dialect::Sqlite => "SELECT id AS tenant FROM tenants ORDER BY id",
        };
        let rows = tx.all(sql, Vec::new()).await?;
        rows.iter().map(|row| row.get::<String>("tenant").map(|name| TenantId::new(&name))).collect()
    }
}
