//! Accounts, the tree, rosters and groups.

use compass_comms::{
    accounts::{
        create_agent::{CreateAgent, create_agent},
        create_user::{CreateUser, create_user},
        get_roster::{GetRoster, get_roster},
        list_accounts::list_accounts,
        reparent_agent::{ReparentAgent, reparent_agent},
        set_status::SetStatus,
    },
    groups::{
        create_group::{CreateGroup, create_group},
        list_groups::list_groups,
        resolve::GroupRef,
    },
    relay_union::{Call, CallOutcome},
};
use compass_domain::{AccountId, ErrorKind, GroupId, Presence, group::Visibility, roster::RosterScope};

use super::{
    play::{NAMES, Play, call, refusal},
    state::{Group, Kind, Place, Who, folded},
    step::Dice,
};

const HANDLES: &[&str] =
    &["four", "five", "six", "ann", "seven", "", "Upper", "compass", "-dash", "eight", "one", "users"];

/// True if a new account may have the handle, as far as its letters go.
fn is_fit(handle: &str) -> bool {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    handle.starts_with(plain)
        && handle.chars().all(|c| plain(c) || "._-".contains(c))
        && !["compass", "everyone", "agents", "users"].contains(&handle)
}

impl Play {
    pub(super) async fn draw_create_user(&mut self, dice: &mut Dice<'_>) {
        let admin = self.state.accounts[0].id;
        let who = if dice.below(3) == 0 { self.draw_caller(dice, false) } else { admin };
        let handle = self.draw_handle(dice);
        self.create_user(who, &handle).await;
    }

    pub(super) async fn create_user(&mut self, who: AccountId, handle: &str) -> Option<AccountId> {
        let is_admin = self.state.who(who).is_some_and(|who| who.kind == Kind::Person { is_admin: true });
        let expected = if !is_admin {
            Err(ErrorKind::PermissionDenied)
        } else if !is_fit(handle) {
            Err(ErrorKind::InvalidArgument)
        } else if self.state.by_handle(handle).is_some() {
            Err(ErrorKind::Conflict)
        } else {
            Ok(())
        };
        let create = CreateUser { handle: handle.to_owned(), display_name: format!("The {handle}") };
        self.note(who, false, &create);
        let came = create_user(&self.comms, &self.caller(who), create).await;
        let ((), came) = self.settle(expected, came.map_err(|error| refusal(&error)))?;
        let kind = Kind::Person { is_admin: false };
        let new = Who { id: came.id, handle: handle.to_owned(), display_name: format!("The {handle}"), kind };
        assert_eq!(Who::from(&came), new);
        self.state.accounts.push(new);
        Some(came.id)
    }

    pub(super) async fn draw_create_agent(&mut self, dice: &mut Dice<'_>) {
        let who = self.draw_caller(dice, false);
        let handle = self.draw_handle(dice);
        let parent = match dice.below(4) {
            0 => None,
            1 => Some(self.draw_account(dice)),
            _ => {
                let owner = self.state.principal(who);
                let all = self.state.accounts.iter().map(|who| who.id);
                let own: Vec<AccountId> =
                    all.filter(|bot| self.state.owner_of(*bot) == Some(owner)).collect();
                dice.pick(&own)
            }
        };
        self.create_agent(who, &handle, parent).await;
    }

    /// A handle, half of the time one that is free.
    fn draw_handle(&self, dice: &mut Dice<'_>) -> String {
        if dice.once_in(2) { format!("n{}", self.state.accounts.len()) } else { dice.one(HANDLES).to_owned() }
    }

    pub(super) async fn create_agent(
        &mut self,
        who: AccountId,
        handle: &str,
        parent: Option<AccountId>,
    ) -> Option<AccountId> {
        let owner = self.state.principal(who);
        let is_taken = self.state.by_handle(handle).is_some();
        let expected = match parent.map(|parent| self.state.owner_of(parent)) {
            _ if !is_fit(handle) => Err(ErrorKind::InvalidArgument),
            Some(None) => Err(ErrorKind::NotFound),
            Some(Some(other)) if other != owner => Err(ErrorKind::PermissionDenied),
            _ if is_taken => Err(ErrorKind::Conflict),
            _ => Ok(()),
        };
        let create = CreateAgent { handle: handle.to_owned(), display_name: String::new(), parent };
        self.note(who, false, &create);
        let came = create_agent(&self.comms, &self.caller(who), create).await;
        let ((), came) = self.settle(expected, came.map_err(|error| refusal(&error)))?;
        let came = Who::from(&came);
        let Kind::Bot { home, .. } = came.kind else { panic!("an agent is made: {came:?}") };
        assert!(self.state.place(home).is_none(), "the home is new");
        let kind = Kind::Bot { owner, home, parent };
        let new = Who { id: came.id, handle: handle.to_owned(), display_name: String::new(), kind };
        assert_eq!(came, new);
        self.state.places.push(Place {
            id: home,
            name: handle.to_owned(),
            group: None,
            is_direct: false,
            anchor: None,
            owner: None,
            is_mandatory: false,
            members: vec![(owner, false), (new.id, true)],
            choosers: Vec::new(),
            pins: Vec::new(),
        });
        self.state.accounts.push(new);
        if let Some(parent) = parent {
            self.report_to(came.id, parent).await;
        }
        Some(came.id)
    }

    /// A report comes into its manager's room; the first one opens it.
    async fn report_to(&mut self, report: AccountId, manager: AccountId) {
        if let Some(room) = self.state.rooms.get(&manager).copied() {
            if !self.state.has_row(report, room) {
                self.state.place_mut(room).members.push((report, false));
            }
            return;
        }
        let owner = self.state.principal(manager);
        let group = self.coordination_group(owner).await;
        let handle = self.state.who(manager).expect("a manager has an account").handle.clone();
        let is_free = |name: &String| {
            self.state.places.iter().all(|place| place.group != Some(group) || folded(&place.name) != *name)
        };
        let plain = format!("{handle}-coordination");
        let mut names = std::iter::once(plain.clone()).chain((2..).map(|n| format!("{plain}-{n}")));
        let name = names.find(is_free).expect("some number is free");
        let mut reports: Vec<AccountId> = self.state.accounts.iter().map(|who| who.id).collect();
        reports.retain(|bot| self.state.parent_of(*bot) == Some(manager));
        reports.sort_unstable();
        let members = std::iter::once(manager).chain(reports).map(|bot| (bot, false)).collect();
        let id = self.channel_unknown_to_the_model(manager).await;
        self.state.rooms.insert(manager, id);
        self.state.places.push(Place {
            id,
            name,
            group: Some(group),
            is_direct: false,
            anchor: None,
            owner: Some(manager),
            is_mandatory: true,
            members,
            choosers: Vec::new(),
            pins: Vec::new(),
        });
    }

    /// The group of an owner's rooms. Only its id is taken from the product.
    async fn coordination_group(&mut self, owner: AccountId) -> GroupId {
        const NAME: &str = "__coordination__";
        let is_ours = |group: &&Group| {
            group.owner == owner && folded(&group.name) == NAME && group.parent.is_none() && !group.is_shared
        };
        if let Some(id) = self.state.groups.iter().filter(is_ours).map(|group| group.id).min() {
            return id;
        }
        let seen = list_groups(&self.comms, &self.caller(owner)).await.expect("groups can be listed");
        let mut new = seen.iter().map(|group| group.id).filter(|id| self.state.group(*id).is_none());
        let id = new.next().expect("the first room of an owner brings its group");
        assert_eq!(new.next(), None, "one group is new");
        let name = NAME.to_owned();
        self.state.groups.push(Group { id, name, parent: None, owner, is_shared: false });
        id
    }

    pub(super) async fn draw_reparent(&mut self, dice: &mut Dice<'_>) {
        let mut who = self.draw_caller(dice, false);
        if !dice.once_in(4) {
            // Someone with a tree worth the name.
            let bots = self.callers().into_iter().filter(|bot| self.state.parent_of(*bot).is_some());
            let bots: Vec<AccountId> = bots.collect();
            who = dice.pick(&bots).map_or(who, |bot| self.state.principal(bot));
        }
        let owner = self.state.principal(who);
        let all = self.state.accounts.iter().map(|who| who.id);
        let own: Vec<AccountId> = all.filter(|bot| self.state.owner_of(*bot) == Some(owner)).collect();
        let draw = |dice: &mut Dice<'_>| match dice.below(8) {
            7 => Some(self.draw_account(dice)),
            _ => dice.pick(&own),
        };
        let agent = draw(dice);
        let new_parent = if dice.once_in(4) { None } else { draw(dice) };
        self.reparent(who, agent, new_parent).await;
    }

    async fn reparent(&mut self, who: AccountId, agent: Option<AccountId>, to: Option<AccountId>) {
        let state = &self.state;
        let owner = agent.and_then(|agent| state.owner_of(agent));
        let expected = match (agent, owner) {
            (Some(agent), Some(owner)) if state.principal(who) == owner => match to {
                None => Ok(agent),
                Some(to) => match state.owner_of(to) {
                    None => Err(ErrorKind::NotFound),
                    Some(other) if other != owner => Err(ErrorKind::PermissionDenied),
                    Some(_) if state.is_below(to, agent) => Err(ErrorKind::FailedPrecondition),
                    Some(_) => Ok(agent),
                },
            },
            _ => Err(ErrorKind::PermissionDenied),
        };
        let reparent = ReparentAgent { agent, new_parent: to };
        self.note(who, false, &reparent);
        let came = reparent_agent(&self.comms, &self.caller(who), reparent).await;
        let settled = self.settle(expected, came.map_err(|error| refusal(&error)));
        let Some((agent, came)) = settled else { return };
        let from = self.state.parent_of(agent);
        let row = self.state.accounts.iter_mut().find(|who| who.id == agent).expect("it was found");
        if let Kind::Bot { parent, .. } = &mut row.kind {
            *parent = to;
        }
        assert_eq!(Who::from(&came), *row);
        if from == to {
            return;
        }
        if let Some(room) = from.and_then(|from| self.state.rooms.get(&from)).copied() {
            self.state.place_mut(room).members.retain(|(member, _)| *member != agent);
        }
        if let Some(to) = to {
            self.report_to(agent, to).await;
        }
    }

    pub(super) async fn draw_list_accounts(&mut self, dice: &mut Dice<'_>) {
        let who = self.draw_caller(dice, false);
        self.list_accounts(who).await;
    }

    pub(super) async fn list_accounts(&mut self, who: AccountId) {
        self.note(who, false, &"ListAccounts");
        let came = list_accounts(&self.comms, &self.caller(who)).await.expect("accounts can be listed");
        let mut seen: Vec<Who> = self.state.accounts.clone();
        seen.retain(|other| self.state.sees_account(who, other.id));
        seen.sort_by(|one, other| one.handle.cmp(&other.handle));
        assert_eq!(came.iter().map(Who::from).collect::<Vec<_>>(), seen);
    }

    pub(super) async fn draw_roster(&mut self, dice: &mut Dice<'_>, is_relayed: bool) {
        let who = self.draw_caller(dice, is_relayed);
        let scopes = [RosterScope::Neighborhood, RosterScope::Subtree, RosterScope::Owner];
        let scope = dice.one(&scopes);
        let vantage = if dice.once_in(3) { None } else { Some(self.draw_account(dice)) };
        let at = vantage.unwrap_or(who);
        let seen = self.gate(who, is_relayed).and_then(|()| {
            if !self.state.sees_account(who, at) {
                return Err(ErrorKind::NotFound);
            }
            let mut agents: Vec<Who> = self.state.accounts.clone();
            agents.retain(|bot| self.is_around(bot.id, at, scope) && self.state.sees_account(who, bot.id));
            agents.sort_by_key(|bot| bot.id);
            let said = |bot: Who| (self.state.activities.get(&bot.id).cloned(), bot);
            Ok(agents.into_iter().map(said).collect::<Vec<_>>())
        });
        let came = call!(self, who, is_relayed, Roster, get_roster, GetRoster { scope, vantage });
        let Some((seen, came)) = self.settle(seen, came) else { return };
        assert!(came.iter().all(|entry| entry.presence == Presence::Offline), "nobody is here: {came:?}");
        let came: Vec<_> = came
            .iter()
            .map(|entry| (entry.activity.as_ref().map(|(text, _)| text.clone()), Who::from(&entry.agent)))
            .collect();
        assert_eq!(came, seen);
    }

    /// True for the agents of a scope around someone.
    fn is_around(&self, bot: AccountId, at: AccountId, scope: RosterScope) -> bool {
        let state = &self.state;
        if !state.is_bot(bot) {
            return false;
        }
        match scope {
            RosterScope::Neighborhood => {
                let (parent, above) = (state.parent_of(bot), state.parent_of(at));
                bot == at || Some(bot) == above || parent == Some(at) || parent == above
            }
            RosterScope::Subtree => state.is_below(bot, at),
            RosterScope::Owner => state.owner_of(bot) == Some(state.principal(at)),
        }
    }

    pub(super) async fn draw_set_status(&mut self, dice: &mut Dice<'_>) {
        let who = self.draw_caller(dice, true);
        let activity = dice.one(&["reads", "", "writes", "waits"]).repeat(1 + dice.below(60));
        let status = SetStatus { activity: activity.clone() };
        self.note(who, true, &status);
        let came =
            compass_comms::relay_union::call(&self.comms, &self.caller(who), Call::SetStatus(status)).await;
        let settled = self.settle(self.gate(who, true), came.map_err(|error| refusal(&error)));
        let Some(((), came)) = settled else { return };
        assert_eq!(came, CallOutcome::SetStatus);
        self.state.activities.insert(who, activity.chars().take(140).collect());
    }

    pub(super) async fn draw_create_group(&mut self, dice: &mut Dice<'_>, is_relayed: bool) {
        let who = self.draw_caller(dice, is_relayed);
        let parent = if dice.below(3) == 0 { None } else { Some(self.draw_group_ref(dice)) };
        let is_shared = dice.below(2) == 1;
        let name = if dice.once_in(10) { "__coordination__" } else { dice.one(NAMES) };
        self.create_group(who, name, parent, is_shared, is_relayed).await;
    }

    pub(super) fn draw_group_ref(&self, dice: &mut Dice<'_>) -> GroupRef {
        let all: Vec<GroupId> = self.state.groups.iter().map(|group| group.id).collect();
        let id = dice.one(&all);
        match dice.below(8) {
            0..5 => GroupRef::Id(id),
            5 => GroupRef::Id(GroupId::from_bytes([0xee; 16])),
            _ => GroupRef::Name(self.state.group(id).map_or("nothing", |group| &group.name).to_uppercase()),
        }
    }

    /// The group in which someone may create, as it may name it.
    pub(super) fn entered(&self, who: AccountId, group: &GroupRef) -> Result<GroupId, ErrorKind> {
        let id = match group {
            GroupRef::Id(id) => *id,
            GroupRef::Name(name) => {
                let named = self.state.groups.iter().filter(|group| folded(&group.name) == folded(name));
                let seen = named.map(|group| group.id).filter(|id| self.state.sees_group(who, *id));
                match seen.collect::<Vec<_>>()[..] {
                    [] => return Err(ErrorKind::NotFound),
                    [one] => one,
                    _ => return Err(ErrorKind::InvalidArgument),
                }
            }
        };
        if self.state.sees_group(who, id) { Ok(id) } else { Err(ErrorKind::NotFound) }
    }

    pub(super) async fn create_group(
        &mut self,
        who: AccountId,
        name: &str,
        parent: Option<GroupRef>,
        is_shared: bool,
        is_relayed: bool,
    ) -> Option<GroupId> {
        let expected = self.gate(who, is_relayed).and_then(|()| {
            if name.trim().is_empty() {
                return Err(ErrorKind::InvalidArgument);
            }
            let parent = parent.as_ref().map(|parent| self.entered(who, parent)).transpose()?;
            match parent {
                Some(parent) if is_shared && !self.state.is_shared(parent) => Err(ErrorKind::InvalidArgument),
                parent => Ok(parent),
            }
        });
        let visibility = if is_shared { Visibility::Shared } else { Visibility::Owner };
        let create = CreateGroup { name: name.to_owned(), parent, visibility };
        let came = call!(self, who, is_relayed, CreateGroup, create_group, create);
        let (parent, came) = self.settle(expected, came)?;
        let new = Group { id: came.id, name: name.trim().to_owned(), parent, owner: who, is_shared };
        assert_eq!(Group::from(&came), new);
        self.state.groups.push(new);
        Some(came.id)
    }

    pub(super) async fn draw_list_groups(&mut self, dice: &mut Dice<'_>) {
        let who = self.draw_caller(dice, false);
        self.note(who, false, &"ListChannelGroups");
        let came = list_groups(&self.comms, &self.caller(who)).await.expect("groups can be listed");
        let mut seen = self.state.groups.clone();
        seen.retain(|group| self.state.sees_group(who, group.id));
        seen.sort_by_key(|group| (folded(&group.name), group.id));
        assert_eq!(came.iter().map(Group::from).collect::<Vec<_>>(), seen);
    }
}
