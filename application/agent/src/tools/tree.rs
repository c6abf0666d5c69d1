//! `compass_tree`: shows the agents around the agent below their parents.

use super::{RosterParams, ToolError, ToolOutput, roster};
use crate::{guard::Randomness, ports::Gateway, rows};

/// Its name.
pub(super) const NAME: &str = "compass_tree";
/// What a model is told of it.
pub(super) const DESCRIPTION: &str = "Shows the agents around you as a tree, each below its parent: account id, handle, display name, presence and what \
     each says it is doing.";

/// Shows the agents of a scope as a tree.
///
/// # Errors
///
/// [`ToolError`] with what the server said.
pub async fn tree(
    gateway: &dyn Gateway,
    random: &Randomness,
    call_id: &str,
    params: RosterParams,
) -> Result<ToolOutput, ToolError> {
    roster::show(NAME, gateway, call_id, params, |agents| rows::tree(agents, random)).await
}
