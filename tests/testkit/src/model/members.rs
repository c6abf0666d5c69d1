//! Members of channels: adding, subscribing and removing.

use compass_comms::channels::{
    resolve::ChannelRef,
    update_members::{UpdateMembers, update_members},
};
use compass_domain::{AccountId, ErrorKind};

use super::{
    play::{NAMES, Play, call},
    state::{Place, State, folded},
    step::Dice,
};

/// What becomes of an account in a batch of members; the later one beats the earlier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fate {
    Added,
    Subscribed,
    Unsubscribed,
    Removed,
}

impl Play {
    pub(super) async fn draw_update_members(&mut self, dice: &mut Dice<'_>, is_relayed: bool) {
        let who = self.draw_caller(dice, is_relayed);
        let channel = self.draw_channel_ref(dice, who);
        let mut update = UpdateMembers::of(channel);
        for _ in 0..=dice.below(3) {
            let account = self.draw_account(dice);
            let handle = self.state.who(account).map_or("nobody", |who| &who.handle).to_owned();
            match dice.below(8) {
                0 | 1 => update.add.push(account),
                2 => update.subscribe.push(account),
                3 => update.unsubscribe.push(account),
                4 => update.remove.push(account),
                5 => update.add_handles.push(handle),
                6 => update.subscribe_handles.push(handle),
                _ => update.remove_handles.push(handle),
            }
        }
        if dice.once_in(4) {
            update.new_name = Some(dice.one(NAMES).to_owned());
        }
        let directs = self.state.places_of(who).into_iter().filter(|id| self.state.shown(*id).is_direct);
        if let Some(direct) = dice.pick(&directs.collect::<Vec<_>>())
            && dice.once_in(3)
        {
            // Somebody joins, which ends it as a direct conversation.
            update = UpdateMembers::of(ChannelRef::Id(direct));
            update.add.push(self.draw_account(dice));
            update.new_name = Some(dice.one(&["three of us", "hall"]).to_owned());
        }
        self.update_members(who, update, is_relayed).await;
    }

    pub(super) async fn update_members(&mut self, who: AccountId, update: UpdateMembers, is_relayed: bool) {
        let expected = self.gate(who, is_relayed).and_then(|()| self.after_members(who, &update));
        let came = call!(self, who, is_relayed, UpdateMembers, update_members, update);
        let Some((after, came)) = self.settle(expected, came) else { return };
        let id = after.place.id;
        *self.state.place_mut(id) = after.place;
        for (account, is_subscribed) in after.choices {
            self.state.choices.insert((id, account), is_subscribed);
        }
        if after.ends_direct {
            self.state.directs.retain(|_, direct| *direct != id);
        }
        assert_eq!(Place::from(&came), self.state.shown(id));
    }

    /// What a batch of members makes of its channel.
    fn after_members(&self, who: AccountId, update: &UpdateMembers) -> Result<AfterMembers, ErrorKind> {
        let name = update.new_name.as_deref().map(str::trim);
        if name.is_some_and(str::is_empty) {
            return Err(ErrorKind::InvalidArgument);
        }
        let channel = self.meant(who, &update.channel)?;
        if !self.state.takes_part(who, channel) {
            return Err(ErrorKind::NotFound);
        }
        let before = self.state.place(channel).ok_or(ErrorKind::NotFound)?;
        let fates = self.fates(update)?;
        if before.is_mandatory && fates.iter().any(|(_, fate)| *fate == Fate::Unsubscribed) {
            return Err(ErrorKind::InvalidArgument);
        }
        if before.is_direct {
            let leaves = |(account, fate): &(AccountId, Fate)| {
                *fate == Fate::Removed && self.state.has_row(*account, channel)
            };
            let comes = |(account, fate): &(AccountId, Fate)| {
                *fate != Fate::Removed && !self.state.has_row(*account, channel)
            };
            if fates.iter().any(leaves) || fates.iter().any(comes) != name.is_some() {
                return Err(ErrorKind::InvalidArgument);
            }
        }
        let mut after = AfterMembers { place: before.clone(), choices: Vec::new(), ends_direct: false };
        for (account, fate) in fates {
            after.apply(&self.state, account, fate)?;
        }
        if let Some(name) = name {
            if before.owner.is_some_and(|owner| owner != who) {
                return Err(ErrorKind::PermissionDenied);
            }
            let is_rival =
                |place: &&Place| place.id != channel && place.group.is_some() && place.group == before.group;
            let mut rivals = self.state.places.iter().filter(is_rival);
            if rivals.any(|place| folded(&place.name) == folded(name)) {
                return Err(ErrorKind::Conflict);
            }
            name.clone_into(&mut after.place.name);
            after.ends_direct = before.is_direct;
            after.place.is_direct = false;
        }
        Ok(after)
    }

    /// One fate for each account, in the order in which they are first named.
    fn fates(&self, update: &UpdateMembers) -> Result<Vec<(AccountId, Fate)>, ErrorKind> {
        let lists = [
            (Fate::Added, &update.add, &update.add_handles),
            (Fate::Subscribed, &update.subscribe, &update.subscribe_handles),
            (Fate::Unsubscribed, &update.unsubscribe, &update.unsubscribe_handles),
            (Fate::Removed, &update.remove, &update.remove_handles),
        ];
        let mut fates: Vec<(AccountId, Fate)> = Vec::new();
        for (fate, ids, handles) in lists {
            let by_id = ids.iter().map(|id| self.state.who(*id));
            let by_handle = handles.iter().map(|handle| self.state.by_handle(handle));
            for found in by_id.chain(by_handle) {
                let account = found.ok_or(ErrorKind::InvalidArgument)?.id;
                match fates.iter_mut().find(|(known, _)| *known == account) {
                    Some((_, known)) => *known = fate.max(*known),
                    None => fates.push((account, fate)),
                }
            }
        }
        Ok(fates)
    }
}

/// A channel after a batch of members.
struct AfterMembers {
    place: Place,
    choices: Vec<(AccountId, bool)>,
    /// True if it is no direct conversation any more.
    ends_direct: bool,
}

impl AfterMembers {
    fn has(&self, account: AccountId) -> bool {
        self.place.members.iter().any(|(row, _)| *row == account)
    }

    fn put(&mut self, account: AccountId, is_subscribed: bool) {
        match self.place.members.iter_mut().find(|(row, _)| *row == account) {
            Some((_, known)) => *known = is_subscribed,
            None => self.place.members.push((account, is_subscribed)),
        }
    }

    fn apply(&mut self, state: &State, account: AccountId, fate: Fate) -> Result<(), ErrorKind> {
        if fate != Fate::Removed {
            let is_subscribed = fate == Fate::Subscribed;
            if state.stands_in(account, self.place.id) && !self.has(account) {
                self.choices.push((account, is_subscribed));
                return Ok(());
            }
            self.put(account, is_subscribed);
            if let Some(owner) = state.owner_of(account)
                && !self.has(owner)
                && !state.stands_in(owner, self.place.id)
            {
                self.put(owner, false);
            }
            return Ok(());
        }
        let leaves_bots = self.place.members.iter().any(|(row, _)| state.owner_of(*row) == Some(account));
        if self.place.owner == Some(account) || (self.has(account) && leaves_bots) {
            return Err(ErrorKind::InvalidArgument);
        }
        self.place.members.retain(|(row, _)| *row != account);
        Ok(())
    }
}
