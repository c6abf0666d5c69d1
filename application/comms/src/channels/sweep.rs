//! What a change of who takes part means for delivery: cursors for who is swept from now on, owed answers for who is
//! not any more.

use std::collections::BTreeMap;

use compass_domain::{AccountId, ChannelId};
use compass_ports::StorageError;

use crate::ports::UnitOfWork;

/// The agents of each channel, and whether they are in its sweep set.
type Agents = BTreeMap<(ChannelId, AccountId), bool>;

/// Who took part in locked channels before a change.
pub(crate) struct Before {
    channels: Vec<ChannelId>,
    agents: Agents,
}

/// A channel in which other agents take part than before.
pub(crate) struct Altered {
    /// Which.
    pub(crate) channel: ChannelId,
    /// The agents that do not take part any more, by id.
    pub(crate) lost: Vec<AccountId>,
}

impl Before {
    /// Reads who takes part now.
    pub(crate) async fn read(
        unit: &mut dyn UnitOfWork,
        channels: Vec<ChannelId>,
    ) -> Result<Self, StorageError> {
        let agents = agents(unit, &channels).await?;
        Ok(Self { channels, agents })
    }

    /// Seeds a cursor where an agent came into the sweep set, owes answers where one left it, and returns the
    /// channels in which other agents take part now, by id.
    pub(crate) async fn settle(self, unit: &mut dyn UnitOfWork) -> Result<Vec<Altered>, StorageError> {
        let after = agents(unit, &self.channels).await?;
        let swept = |of: &Agents, key| of.get(key).is_some_and(|in_sweep_set| *in_sweep_set);
        let pair = |&(channel, agent): &(ChannelId, AccountId)| (agent, channel);
        let entering: Vec<_> =
            after.keys().filter(|key| swept(&after, key) && !swept(&self.agents, key)).map(pair).collect();
        let leaving: Vec<_> = self
            .agents
            .keys()
            .filter(|key| swept(&self.agents, key) && !swept(&after, key))
            .map(pair)
            .collect();
        if !entering.is_empty() {
            unit.cursors().seed_all(&entering).await?;
        }
        if !leaving.is_empty() {
            unit.cursors().owe_answers(&leaving).await?;
        }
        Ok(altered(&self.agents, &after))
    }
}

async fn agents(unit: &mut dyn UnitOfWork, channels: &[ChannelId]) -> Result<Agents, StorageError> {
    if channels.is_empty() {
        return Ok(Agents::new());
    }
    let agents = unit.participants().agents(channels).await?;
    Ok(agents.into_iter().map(|(channel, agent)| ((channel, agent.account), agent.in_sweep_set)).collect())
}

fn altered(before: &Agents, after: &Agents) -> Vec<Altered> {
    let mut lost: BTreeMap<ChannelId, Vec<AccountId>> = BTreeMap::new();
    for &(channel, agent) in before.keys().filter(|key| !after.contains_key(key)) {
        lost.entry(channel).or_default().push(agent);
    }
    for &(channel, _) in after.keys().filter(|key| !before.contains_key(key)) {
        lost.entry(channel).or_default();
    }
    lost.into_iter().map(|(channel, lost)| Altered { channel, lost }).collect()
}
