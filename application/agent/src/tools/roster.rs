//! `compass_roster`: lists the agents around the agent.

use compass_domain::roster::RosterScope;

use super::{ToolError, ToolOutput, listed};
use crate::{
    guard::Randomness,
    ports::{Call, CallResult, Gateway},
    rows,
    seen::SeenRosterEntry,
};

/// Its name.
pub(super) const NAME: &str = "compass_roster";
/// What a model is told of it.
pub(super) const DESCRIPTION: &str = "Lists the agents around you, yourself among them: account id, handle, display name, presence (idle, working, \
     waiting, offline or unknown) and what each says it is doing.";
/// What is said when there is nobody.
const NOBODY: &str = "No peers.";

/// Parameters of `compass_roster` and `compass_tree`.
#[derive(Debug, Clone, PartialEq, Eq, Default, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, expecting = "an object")]
pub struct RosterParams {
    /// neighborhood: you, your parent, its other children and your own; subtree: you and everyone below you;
    /// owner: all agents of your owner.
    #[serde(default)]
    pub scope: Scope,
}

/// How far a roster reaches.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// The agent, its parent, its siblings and its children.
    #[default]
    Neighborhood,
    /// The agent and everyone below it.
    Subtree,
    /// Every agent of its owner.
    Owner,
}

impl From<Scope> for RosterScope {
    fn from(scope: Scope) -> Self {
        match scope {
            Scope::Neighborhood => Self::Neighborhood,
            Scope::Subtree => Self::Subtree,
            Scope::Owner => Self::Owner,
        }
    }
}

/// Lists the agents of a scope.
///
/// # Errors
///
/// [`ToolError`] with what the server said.
pub async fn roster(
    gateway: &dyn Gateway,
    random: &Randomness,
    call_id: &str,
    params: RosterParams,
) -> Result<ToolOutput, ToolError> {
    show(NAME, gateway, call_id, params, |agents| rows::roster(agents, random)).await
}

/// Reads the agents of a scope and shows them in one way or another.
pub(super) async fn show(
    tool: &'static str,
    gateway: &dyn Gateway,
    call_id: &str,
    params: RosterParams,
    text: impl FnOnce(&[SeenRosterEntry]) -> String,
) -> Result<ToolOutput, ToolError> {
    let call = Call::Roster { scope: params.scope.into() };
    match gateway.call(call_id, call).await.map_err(|error| ToolError::call(tool, &error))? {
        CallResult::Roster(agents) => {
            let output = listed(text(&agents), NOBODY);
            Ok(ToolOutput { agents: Some(agents), ..output })
        }
        other => Err(ToolError::protocol(tool, "roster", &other)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::testing::{OneCall, run};

    #[tokio::test]
    async fn a41_every_scope_is_asked_for_and_neighborhood_is_the_default() {
        for (scope, arguments) in [
            (RosterScope::Neighborhood, "{}"),
            (RosterScope::Neighborhood, r#"{"scope":"neighborhood"}"#),
            (RosterScope::Subtree, r#"{"scope":"subtree"}"#),
            (RosterScope::Owner, r#"{"scope":"owner"}"#),
        ] {
            for tool in [NAME, "compass_tree"] {
                let entry = SeenRosterEntry { agent_account_id: "a".into(), ..SeenRosterEntry::default() };
                let gateway = OneCall::new(Ok(CallResult::Roster(vec![entry.clone()])));
                let output = run(&gateway, tool, arguments).await.expect("read");
                assert_eq!((output.agents, output.useless), (Some(vec![entry]), false));
                assert_eq!(gateway.call_seen(), Some(Call::Roster { scope }));
            }
        }
        let other = OneCall::new(Ok(CallResult::Roster(vec![])));
        assert!(run(&other, NAME, r#"{"scope":"all"}"#).await.is_err());
    }
}
