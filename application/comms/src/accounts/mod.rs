//! Accounts: people, agents, the built-in sender, and what agents say they do.

pub mod bootstrap;
pub mod create_agent;
pub mod create_user;
pub mod get_roster;
pub mod list_accounts;
pub mod operate_agent;
pub mod own_account;
mod placement;
pub mod reparent_agent;
pub mod set_status;
