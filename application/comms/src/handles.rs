//! The handles of the accounts that the outcome of a relayed call names by id.

use compass_domain::{AccountId, AskState, BlockView, Channel, Handle, Message};
use compass_ports::StorageError;

use crate::{Caller, Comms, relay_union::CallOutcome};

/// Reads the handles of everyone an outcome names, in one read; nothing is read for an outcome that names nobody but
/// the caller, or that has the handles in it.
///
/// # Errors
///
/// [`StorageError`] if they cannot be read.
pub async fn handles(
    comms: &Comms,
    caller: &Caller,
    outcome: &CallOutcome,
) -> Result<Vec<(AccountId, Handle)>, StorageError> {
    let mut named = named(outcome);
    named.sort_unstable();
    named.dedup();
    if named.is_empty() {
        return Ok(Vec::new());
    }
    let accounts = comms.storage.read(&caller.tenant).await?.find_accounts(&named).await?;
    Ok(accounts.into_iter().map(|account| (account.id, account.handle)).collect())
}

fn named(outcome: &CallOutcome) -> Vec<AccountId> {
    match outcome {
        CallOutcome::List(messages) => messages.iter().flat_map(|message| of_message(message)).collect(),
        CallOutcome::Pin(channel)
        | CallOutcome::CreateChannel(channel)
        | CallOutcome::UpdateMembers(channel) => of_channel(channel),
        CallOutcome::OpenDm(opened) => of_channel(&opened.channel),
        CallOutcome::Post(_)
        | CallOutcome::Roster(_)
        | CallOutcome::SetStatus
        | CallOutcome::CreateGroup(_)
        | CallOutcome::ListTopics(_)
        | CallOutcome::CancelAsk(_) => Vec::new(),
    }
}

/// Its author, who asked, and who answered.
fn of_message(message: &Message) -> Vec<AccountId> {
    let mut named = vec![message.author()];
    for block in message.blocks() {
        let ask = match block.view() {
            BlockView::Text(_) => continue,
            BlockView::Ask(ask) => ask,
            BlockView::Answer(answer) => {
                named.push(answer.asker());
                answer.ask()
            }
        };
        if let AskState::Answered { by, .. } = ask.state() {
            named.push(*by);
        }
    }
    named
}

fn of_channel(channel: &Channel) -> Vec<AccountId> {
    let members = channel.members.iter().map(|member| member.account);
    members.chain(channel.tree_subscribers.iter().copied()).collect()
}
