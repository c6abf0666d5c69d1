//! The rounds of a run: product and floors by turns, so that both meet the same moods of the machine.

use std::time::Duration;

use crate::{
    BenchError,
    floors::{Fact, Floors},
    scenarios::{asks, posts},
    stats::Samples,
    world::World,
};

/// Rounds of a run; odd, so that one of them is the median.
pub(crate) const ROUNDS: usize = 3;
/// Floors that are measured once in a round: three commits, hop and push.
const SINGLE: usize = 5;
/// Slots of each number in flight: asks, posts, and the floor of posts.
const BY_LEVEL: usize = 3;

/// What one round found.
#[derive(Default)]
pub(crate) struct Round {
    /// By number in flight.
    pub(crate) asks: Vec<(usize, asks::Asks)>,
    /// By number in flight, with the floor's posts by second.
    pub(crate) posts: Vec<(usize, posts::Posts, f64)>,
    /// One commit that stores an ask, an answer, a receipt.
    pub(crate) commits: [Samples; 3],
    /// One call and its reply.
    pub(crate) hops: Samples,
    /// One message on an open stream.
    pub(crate) pushes: Samples,
}

/// Runs one round; `time` is what its measuring takes in all.
pub(crate) async fn round(
    world: &mut World,
    floors: &mut Floors,
    in_flight: &[usize],
    time: Duration,
) -> Result<Round, BenchError> {
    let slots = in_flight.len() * BY_LEVEL + SINGLE;
    let slot = time / u32::try_from(slots).unwrap_or(u32::MAX);
    let mut round = Round::default();
    for (at, &level) in in_flight.iter().enumerate() {
        round.asks.push((level, asks::run(world, level, slot).await?));
        if at == 0 {
            for (samples, fact) in round.commits.iter_mut().zip([Fact::Ask, Fact::Answer, Fact::Receipt]) {
                *samples = floors.commits(fact, slot).await?;
            }
            round.hops = floors.hops(slot).await?;
            round.pushes = floors.pushes(slot).await?;
        }
        let posts = posts::run(world, level, slot).await?;
        round.posts.push((level, posts, floors.posts(level, slot).await?));
    }
    Ok(round)
}
