//! Channels: creating, policy, boards, joining and direct conversations.

use compass_comms::{
    channels::{
        create_channel::{CreateChannel, Mode, create_channel},
        join_channel::join_channel,
        list_channels::list_channels,
        open_dm::{OpenDm, open_dm},
        set_policy::{SetPolicy, set_policy},
        update_board::{BoardChange, UpdateBoard, update_board},
    },
    groups::resolve::GroupRef,
};
use compass_domain::{AccountId, ChannelId, ErrorKind, MessageId};

use super::{
    play::{NAMES, Play, call, refusal},
    state::{Kind, Place, folded},
    step::Dice,
};

impl Play {
    pub(super) async fn draw_list_channels(&mut self, dice: &mut Dice<'_>) {
        let who = self.draw_caller(dice, false);
        self.list_channels(who).await;
    }

    pub(super) async fn list_channels(&mut self, who: AccountId) {
        self.note(who, false, &"ListChannels");
        let came = list_channels(&self.comms, &self.caller(who)).await.expect("channels can be listed");
        let mut ids: Vec<ChannelId> = self.state.places.iter().map(|place| place.id).collect();
        ids.retain(|id| self.state.sees_place(who, *id));
        let mut seen: Vec<Place> = ids.into_iter().map(|id| self.state.shown(id)).collect();
        seen.sort_by_key(|place| (folded(&place.name), place.id));
        assert_eq!(came.iter().map(Place::from).collect::<Vec<_>>(), seen);
    }

    /// The id of the one channel that `who` sees and the model does not know yet.
    pub(super) async fn channel_unknown_to_the_model(&self, who: AccountId) -> ChannelId {
        let came = list_channels(&self.comms, &self.caller(who)).await.expect("channels can be listed");
        let mut new = came.iter().map(|channel| channel.id).filter(|id| self.state.place(*id).is_none());
        let id = new.next().expect("a channel is new");
        assert_eq!(new.next(), None, "one channel is new");
        id
    }

    pub(super) async fn draw_create_channel(&mut self, dice: &mut Dice<'_>, is_relayed: bool) {
        let who = self.draw_caller(dice, is_relayed);
        let name = dice.one(NAMES);
        let group = if dice.below(2) == 0 { None } else { Some(self.draw_group_ref(dice)) };
        let members: Vec<AccountId> = (0..dice.below(3)).map(|_| self.draw_account(dice)).collect();
        let anchor = match dice.below(6) {
            0..3 => None,
            3 => Some(self.draw_account(dice)),
            _ => {
                let mine = self.state.accounts.iter().map(|bot| bot.id);
                let mine = mine.filter(|bot| {
                    self.state.owner_of(*bot) == Some(who) || (*bot == who && self.state.is_bot(who))
                });
                dice.pick(&mine.collect::<Vec<_>>())
            }
        };
        self.create_channel(who, name, group, members, anchor, is_relayed).await;
    }

    pub(super) async fn create_channel(
        &mut self,
        who: AccountId,
        name: &str,
        group: Option<GroupRef>,
        members: Vec<AccountId>,
        anchor: Option<AccountId>,
        is_relayed: bool,
    ) -> Option<ChannelId> {
        let expected = self.gate(who, is_relayed).and_then(|()| {
            if name.trim().is_empty() {
                return Err(ErrorKind::InvalidArgument);
            }
            let group = group.as_ref().map(|group| self.entered(who, group)).transpose()?;
            let is_foreign = |anchor: AccountId| match self.state.owner_of(anchor) {
                Some(owner) => anchor != who && owner != who,
                None => true,
            };
            if anchor.is_some_and(is_foreign) {
                return Err(ErrorKind::PermissionDenied);
            }
            if members.iter().any(|member| self.state.who(*member).is_none()) {
                return Err(ErrorKind::InvalidArgument);
            }
            let rivals =
                self.state.places.iter().filter(|place| place.group.is_some() && place.group == group);
            if rivals.into_iter().any(|place| folded(&place.name) == folded(name)) {
                return Err(ErrorKind::Conflict);
            }
            Ok(group)
        });
        let create = CreateChannel {
            name: name.to_owned(),
            group,
            members: members.clone(),
            member_handles: Vec::new(),
            mode: anchor.map_or(Mode::Flat, |anchor| Mode::Tree { anchor }),
        };
        let came = call!(self, who, is_relayed, CreateChannel, create_channel, create);
        let (group, came) = self.settle(expected, came)?;
        let named: Vec<AccountId> = std::iter::once(who).chain(members).collect();
        let owners: Vec<AccountId> = named.iter().filter_map(|bot| self.state.owner_of(*bot)).collect();
        let mut rows: Vec<(AccountId, bool)> = Vec::new();
        for account in named.into_iter().chain(owners) {
            let owns = anchor.is_some_and(|anchor| self.state.owner_of(anchor) == Some(account));
            let stands = anchor.is_some_and(|anchor| self.state.is_below(account, anchor));
            let is_new = rows.iter().all(|(row, _)| *row != account);
            if is_new && (owns || !stands) {
                rows.push((account, false));
            }
        }
        let new = Place {
            id: came.id,
            name: name.trim().to_owned(),
            group,
            is_direct: false,
            anchor,
            owner: None,
            is_mandatory: false,
            members: rows,
            choosers: Vec::new(),
            pins: Vec::new(),
        };
        assert_eq!(Place::from(&came), new);
        self.state.places.push(new);
        Some(came.id)
    }

    pub(super) async fn draw_join(&mut self, dice: &mut Dice<'_>) {
        let who = self.draw_person(dice);
        let channel = if dice.below(2) == 0 {
            let seen = self.state.places.iter().map(|place| place.id);
            let seen = seen.filter(|id| self.state.sees_place(who, *id) && !self.state.takes_part(who, *id));
            dice.pick(&seen.collect::<Vec<_>>())
        } else {
            None
        };
        let channel = channel.unwrap_or_else(|| self.draw_channel(dice, who));
        let expected = if !self.state.is_person(who) {
            Err(ErrorKind::PermissionDenied)
        } else if self.state.sees_place(who, channel) {
            Ok(())
        } else {
            Err(ErrorKind::NotFound)
        };
        self.note(who, false, &("JoinChannel", channel));
        let came = join_channel(&self.comms, &self.caller(who), channel).await;
        let settled = self.settle(expected, came.map_err(|error| refusal(&error)));
        let Some(((), came)) = settled else { return };
        if !self.state.takes_part(who, channel) {
            self.state.place_mut(channel).members.push((who, true));
        }
        assert_eq!(Place::from(&came), self.state.shown(channel));
    }

    pub(super) async fn draw_set_policy(&mut self, dice: &mut Dice<'_>) {
        let who = self.draw_caller(dice, false);
        let channel = self.draw_channel(dice, who);
        let owner_only = dice.below(2) == 1;
        let owner = match dice.below(8) {
            0 if owner_only => None,
            0..3 => Some(self.draw_account(dice)),
            _ if !owner_only => None,
            _ => {
                let rows = self.state.place(channel).map(|place| place.members.clone()).unwrap_or_default();
                dice.pick(&rows).map(|(member, _)| member)
            }
        };
        let set = SetPolicy { channel, owner_only, owner, mandatory: dice.below(3) == 1 };
        self.set_policy(who, set).await;
    }

    async fn set_policy(&mut self, who: AccountId, set: SetPolicy) {
        let is_others =
            self.state.place(set.channel).is_some_and(|place| place.owner.is_some_and(|owner| owner != who));
        let fits = |owner: AccountId| {
            let anchor = self.state.place(set.channel).and_then(|place| place.anchor);
            self.state.has_row(owner, set.channel) || anchor == Some(owner)
        };
        let expected = if !self.state.takes_part(who, set.channel) || is_others {
            Err(ErrorKind::NotFound)
        } else if set.owner_only != set.owner.is_some() || !set.owner.is_none_or(fits) {
            Err(ErrorKind::InvalidArgument)
        } else {
            Ok(())
        };
        self.note(who, false, &set);
        let came = set_policy(&self.comms, &self.caller(who), set).await;
        let settled = self.settle(expected, came.map_err(|error| refusal(&error)));
        let Some(((), came)) = settled else { return };
        let place = self.state.place_mut(set.channel);
        (place.owner, place.is_mandatory) = (set.owner, set.mandatory);
        assert_eq!(Place::from(&came), self.state.shown(set.channel));
    }

    pub(super) async fn draw_update_board(&mut self, dice: &mut Dice<'_>, is_relayed: bool) {
        let who = self.draw_caller(dice, is_relayed);
        let channel = self.draw_busy_channel(dice, who);
        let pinned: Vec<MessageId> = self
            .state
            .place(channel)
            .map(|place| place.pins.iter().map(|(id, _)| *id).collect())
            .unwrap_or_default();
        let draw = |dice: &mut Dice<'_>, of_board: bool| match dice.pick(&pinned) {
            Some(pinned) if of_board => pinned,
            _ => self.draw_message(dice, Some(channel)),
        };
        let change = match dice.below(8) {
            0 => BoardChange::Unpin(Some(draw(dice, true))),
            1 => BoardChange::Unpin(None),
            2 | 3 => BoardChange::Pin { message: draw(dice, false), replace: Some(draw(dice, true)) },
            _ => BoardChange::Pin { message: draw(dice, false), replace: None },
        };
        self.update_board(who, UpdateBoard { channel, change }, is_relayed).await;
    }

    pub(super) async fn update_board(&mut self, who: AccountId, update: UpdateBoard, is_relayed: bool) {
        let id = update.channel;
        let expected = self.gate(who, is_relayed).and_then(|()| self.after_board(who, &update));
        let came = call!(self, who, is_relayed, Pin, update_board, update);
        let Some((pins, came)) = self.settle(expected, came) else { return };
        self.state.place_mut(id).pins = pins;
        assert_eq!(Place::from(&came), self.state.shown(id));
    }

    fn after_board(
        &self,
        who: AccountId,
        update: &UpdateBoard,
    ) -> Result<Vec<(MessageId, AccountId)>, ErrorKind> {
        let place = self.state.place(update.channel).ok_or(ErrorKind::NotFound)?;
        if !self.state.takes_part(who, place.id) || place.owner.is_some_and(|owner| owner != who) {
            return Err(ErrorKind::NotFound);
        }
        let mut pins = place.pins.clone();
        let (message, replace) = match update.change {
            BoardChange::Unpin(message) => {
                pins.retain(|(pinned, _)| Some(*pinned) != message);
                return Ok(pins);
            }
            BoardChange::Pin { message, replace } => (message, replace),
        };
        if self.state.message(message).is_none_or(|found| found.channel != place.id) {
            return Err(ErrorKind::NotFound);
        }
        let at = |wanted: MessageId| pins.iter().position(|(pinned, _)| *pinned == wanted);
        match replace.map(at) {
            Some(None) => Err(ErrorKind::Conflict),
            _ if at(message).is_some() => Err(ErrorKind::Conflict),
            Some(Some(at)) => {
                pins[at] = (message, who);
                Ok(pins)
            }
            None if pins.len() == 5 => Err(ErrorKind::FailedPrecondition),
            None => {
                pins.push((message, who));
                Ok(pins)
            }
        }
    }

    pub(super) async fn draw_open_dm(&mut self, dice: &mut Dice<'_>, is_relayed: bool) {
        let (mut who, mut peer) = (self.draw_caller(dice, is_relayed), self.draw_account(dice));
        if let Some(pair) = dice.pick(&self.state.pairs).filter(|_| !is_relayed)
            && dice.once_in(3)
        {
            (who, peer) = if dice.once_in(2) { pair } else { (pair.1, pair.0) };
        }
        let handle = self.state.who(peer).map_or("nobody", |who| &who.handle).to_owned();
        let handle = if dice.once_in(12) { String::new() } else { handle };
        self.open_dm(who, handle, is_relayed).await;
    }

    pub(super) async fn open_dm(&mut self, who: AccountId, handle: String, is_relayed: bool) {
        let expected = self.gate(who, is_relayed).and_then(|()| self.direct_with(who, &handle));
        let open = OpenDm { peer_handle: handle };
        let came = call!(self, who, is_relayed, OpenDm, open_dm, open);
        let Some((expected, came)) = self.settle(expected, came) else { return };
        match expected {
            Direct::Known(id) => {
                assert!(!came.created, "it was there before");
                assert_eq!(Place::from(&came.channel), self.state.shown(id));
            }
            Direct::New(place, pair) => {
                assert!(came.created && self.state.place(came.channel.id).is_none(), "it is new");
                let place = Place { id: came.channel.id, ..place };
                assert_eq!(Place::from(&came.channel), place);
                self.state.directs.insert(pair, place.id);
                self.state.pairs.push(pair);
                self.state.places.push(place);
            }
        }
    }

    fn direct_with(&self, who: AccountId, handle: &str) -> Result<Direct, ErrorKind> {
        let state = &self.state;
        let (own, peer) = (state.who(who), state.by_handle(handle));
        let (Some(own), Some(peer)) = (own, peer) else { return Err(ErrorKind::NotFound) };
        if own.id == peer.id {
            return Err(ErrorKind::InvalidArgument);
        }
        let home = |bot: AccountId, person: AccountId| {
            state.home_of(bot).filter(|_| state.owner_of(bot) == Some(person))
        };
        let pair = (own.id.min(peer.id), own.id.max(peer.id));
        let known = home(own.id, peer.id).or(home(peer.id, own.id)).or(state.directs.get(&pair).copied());
        if let Some(known) = known {
            return if state.takes_part(who, known) {
                Ok(Direct::Known(known))
            } else {
                Err(ErrorKind::NotFound)
            };
        }
        let may = match (own.kind, peer.kind) {
            (Kind::Person { .. }, Kind::Person { .. }) => true,
            (Kind::Person { .. }, Kind::Bot { .. }) => state.sees_account(who, peer.id),
            (Kind::Bot { owner, .. }, Kind::Bot { owner: other, .. }) => owner == other,
            _ => false,
        };
        if !may {
            return Err(ErrorKind::NotFound);
        }
        let mut members = vec![(own.id, false), (peer.id, false)];
        for owner in [own.id, peer.id].into_iter().filter_map(|bot| state.owner_of(bot)) {
            if members.iter().all(|(member, _)| *member != owner) {
                members.push((owner, false));
            }
        }
        let mut handles = [&*own.handle, &*peer.handle];
        handles.sort_unstable();
        let place = Place {
            id: ChannelId::from_bytes([0; 16]),
            name: format!("dm:{}:{}", handles[0], handles[1]),
            group: None,
            is_direct: true,
            anchor: None,
            owner: None,
            is_mandatory: true,
            members,
            choosers: Vec::new(),
            pins: Vec::new(),
        };
        Ok(Direct::New(place, pair))
    }
}

/// What opening a direct conversation leads to.
enum Direct {
    Known(ChannelId),
    New(Place, (AccountId, AccountId)),
}
