//! Asks: answering, withdrawing and listing; and the stream of events.

use std::sync::Arc;

use compass_comms::{
    asks::{
        cancel_ask::{CancelAsk, Withdrawn, cancel_ask},
        list_open_asks::{ListOpenAsks, list_open_asks},
        respond_to_ask::{RespondToAsk, respond_to_ask},
    },
    events::{StreamItem, SubscribeFrom, subscribe},
};
use compass_domain::{
    Account, AccountId, AccountKind, AskId, ErrorKind, Event, Handle, MessageId, UserRole, ask::AnswerDraft,
};

use super::{
    play::{Play, call, refusal},
    state::{Asked, End, Part, Said},
    step::Dice,
    talk::clamped,
};
use crate::drafts;

/// The display name of an account that marks the end of what is told.
const CANARY: &str = "the end of the tale";

impl Play {
    /// An ask, mostly one that the caller sees and that is open.
    fn draw_ask_id(&self, dice: &mut Dice<'_>, who: AccountId, is_own: bool) -> Option<AskId> {
        let asks = |keep: &dyn Fn(&Said, &Asked) -> bool| -> Vec<AskId> {
            let all = self.state.messages.iter().flat_map(|said| said.asks().map(move |asked| (said, asked)));
            all.filter(|(said, asked)| keep(said, asked)).map(|(_, asked)| asked.id).collect()
        };
        let ids = match dice.below(8) {
            0..3 if is_own => asks(&|said, asked| said.author == who && asked.end == End::Open),
            3 if is_own => asks(&|said, _| said.author == who),
            0..4 => asks(&|said, asked| self.state.takes_part(who, said.channel) && asked.end == End::Open),
            4..6 => asks(&|said, _| self.state.takes_part(who, said.channel)),
            6 => asks(&|_, _| true),
            _ => match dice.below(3) {
                0 => return None,
                1 => vec![AskId::from_bytes([0xee; 16])],
                _ => asks(&|_, _| true),
            },
        };
        Some(dice.pick(&ids).unwrap_or(AskId::from_bytes([0xee; 16])))
    }

    pub(super) async fn draw_respond(&mut self, dice: &mut Dice<'_>) {
        let asked = |who: &AccountId| {
            let mut said = self.state.messages.iter();
            self.state.is_person(*who)
                && said.any(|said| said.has_open_ask() && self.state.takes_part(*who, said.channel))
        };
        let asked: Vec<AccountId> = self.callers().into_iter().filter(asked).collect();
        let is_asked = !dice.once_in(4);
        let who = dice.pick(&asked).filter(|_| is_asked).unwrap_or_else(|| self.draw_person(dice));
        let ask = self.draw_ask_id(dice, who, false);
        let custom = dice.one(&["", "", "", "a stone", "cloud or tiger"]);
        let questions = ask.and_then(|ask| self.state.ask(ask)).map(|(_, asked)| asked.questions.clone());
        let mut answers: Vec<AnswerDraft> = Vec::new();
        for question in questions.unwrap_or_else(|| drafts::yes_or_no().questions) {
            let options: Vec<&str> = question.options.iter().map(|option| option.id.as_str()).collect();
            let mut chosen: Vec<&str> = dice.pick(&options).into_iter().collect();
            if dice.once_in(8) {
                chosen.extend(dice.pick(&options));
            }
            let custom =
                if question.allow_multiple || chosen.is_empty() || dice.once_in(8) { custom } else { "" };
            if dice.once_in(8) {
                chosen.clear();
            }
            answers.push(drafts::entry(&question.id, &chosen, custom));
        }
        match dice.below(16) {
            12 => answers.extend(answers.first().cloned()),
            13 => answers.push(drafts::entry("unheard of", &[], "")),
            14 => {
                if let Some(last) = answers.last_mut() {
                    last.chosen_option_ids = vec!["maybe".to_owned()];
                }
            }
            15 => answers.clear(),
            _ => {}
        }
        self.respond(who, RespondToAsk { ask, answers }).await;
    }

    pub(super) async fn respond(&mut self, who: AccountId, respond: RespondToAsk) {
        let expected = self.answered(who, &respond);
        self.note(who, false, &respond);
        let came = respond_to_ask(&self.comms, &self.caller(who), respond).await;
        let settled = self.settle(expected, came.map_err(|error| refusal(&error)));
        let Some(((asking, ended), came)) = settled else { return };
        let answer = Said::from(&*came.answer_message);
        assert!(self.state.message(answer.id).is_none(), "the id of an answer is new");
        let block = Part::Answer { ask: ended.clone(), asker: asking.author };
        let said = self.next_message(answer.id, asking.channel, asking.topic, who, vec![block]);
        assert_eq!(answer, said);
        self.state.end_ask(ended.id, ended.end);
        self.state.messages.push(said);
        assert_eq!(Some(&Said::from(&*came.ask_message)), self.state.message(asking.id));
        self.told.extend([asking.id, answer.id]);
    }

    /// The message that holds the ask, and the ask as the answer leaves it.
    fn answered(&self, who: AccountId, respond: &RespondToAsk) -> Result<(Said, Asked), ErrorKind> {
        if !self.state.is_person(who) {
            return Err(ErrorKind::PermissionDenied);
        }
        let found = respond.ask.and_then(|ask| self.state.ask(ask));
        let (said, asked) = found.ok_or(ErrorKind::NotFound)?;
        if !self.state.takes_part(who, said.channel) {
            return Err(ErrorKind::NotFound);
        }
        if asked.end != End::Open {
            return Err(ErrorKind::Conflict);
        }
        let mut given = Vec::new();
        for question in &asked.questions {
            let mut entries = respond.answers.iter().filter(|answer| answer.question_id == question.id);
            let (Some(entry), None) = (entries.next(), entries.next()) else {
                return Err(ErrorKind::InvalidArgument);
            };
            let chosen = &entry.chosen_option_ids;
            let is_offered = |id: &String| question.options.iter().any(|option| option.id == *id);
            let is_once = |id: &String| chosen.iter().filter(|other| *other == id).count() == 1;
            let parts = chosen.len() + usize::from(!entry.custom_text.is_empty());
            let fits = chosen.iter().all(|id| is_offered(id) && is_once(id));
            if !fits || (!question.allow_multiple && parts > 1) {
                return Err(ErrorKind::InvalidArgument);
            }
            given.push((chosen.clone(), entry.custom_text.clone()));
        }
        if respond.answers.len() != asked.questions.len() {
            return Err(ErrorKind::InvalidArgument);
        }
        let end = End::Answered(given, who);
        Ok((said.clone(), Asked { end, ..asked.clone() }))
    }

    pub(super) async fn draw_cancel(&mut self, dice: &mut Dice<'_>) {
        let who = self.draw_caller(dice, true);
        let ask = self.draw_ask_id(dice, who, true);
        self.cancel(who, ask).await;
    }

    pub(super) async fn cancel(&mut self, who: AccountId, ask: Option<AskId>) {
        let expected = self.gate(who, true).and_then(|()| {
            let found = ask.and_then(|ask| self.state.ask(ask));
            let (said, asked) = found.ok_or(ErrorKind::NotFound)?;
            if !self.state.takes_part(who, said.channel) {
                return Err(ErrorKind::NotFound);
            }
            match asked.end {
                _ if said.author != who => Err(ErrorKind::PermissionDenied),
                End::Answered(..) => Err(ErrorKind::Conflict),
                End::Cancelled => Ok((said.id, asked.id, Withdrawn::Before)),
                End::Open => Ok((said.id, asked.id, Withdrawn::Now)),
            }
        });
        let came = call!(self, who, true, CancelAsk, cancel_ask, CancelAsk { ask });
        let Some(((message, ask, withdrawn), came)) = self.settle(expected, came) else { return };
        assert_eq!(came, withdrawn);
        if withdrawn == Withdrawn::Now {
            self.state.end_ask(ask, End::Cancelled);
            self.told.push(message);
        }
    }

    pub(super) async fn draw_list_open_asks(&mut self, dice: &mut Dice<'_>) {
        let who = self.draw_caller(dice, false);
        let channel = dice.once_in(3).then(|| self.draw_channel(dice, who));
        let before = dice.once_in(2).then(|| self.draw_message(dice, channel));
        let limit = dice.one(&[0, 1, 2, 200, 300]);
        self.list_open_asks(who, ListOpenAsks { channel, limit, before }).await;
    }

    pub(super) async fn list_open_asks(&mut self, who: AccountId, list: ListOpenAsks) {
        let at = |id: MessageId| {
            let at = self.state.messages.iter().position(|said| said.id == id);
            at.filter(|at| self.state.takes_part(who, self.state.messages[*at].channel))
        };
        let expected = match list.before.map(at) {
            Some(None) => Err(ErrorKind::InvalidArgument),
            before => {
                let before = before.flatten().unwrap_or(self.state.messages.len());
                let mut open: Vec<Said> = self.state.messages[..before].to_vec();
                open.retain(|said| {
                    said.has_open_ask()
                        && self.state.takes_part(who, said.channel)
                        && list.channel.is_none_or(|channel| channel == said.channel)
                });
                open.reverse();
                open.truncate(clamped(list.limit));
                Ok(open)
            }
        };
        self.note(who, false, &list);
        let came = list_open_asks(&self.comms, &self.caller(who), list).await;
        let settled = self.settle(expected, came.map_err(|error| refusal(&error)));
        let Some((expected, came)) = settled else { return };
        assert_eq!(came.iter().map(|message| Said::from(&**message)).collect::<Vec<_>>(), expected);
    }

    pub(super) async fn draw_subscribe(&mut self, dice: &mut Dice<'_>) {
        let who = self.draw_caller(dice, false);
        self.note(who, false, &"SubscribeComms");
        let caller = self.caller(who);
        let mut stream = subscribe(&self.comms, &self.audiences, &caller, SubscribeFrom::default()).await;
        let StreamItem::Boundary { snapshot, .. } = stream.next().await else { panic!("a boundary first") };
        assert_eq!(snapshot, self.newest_position(who).await);
        self.streams.push((who, stream));
    }

    /// Every subscriber is told of every message that was posted or changed, in order, where it takes part now: a
    /// subscription that starts over replays what the bus retains.
    pub(super) async fn hear_streams(&mut self) {
        let canary = Account {
            id: AccountId::from_bytes([0xcc; 16]),
            handle: Handle::parse("canary").expect("a valid handle"),
            display_name: CANARY.to_owned(),
            kind: AccountKind::User { role: UserRole::Member },
        };
        let told = Event::AccountChanged(Arc::new(canary));
        self.comms.bus.publish(&self.tenant, vec![told]);
        for (who, mut stream) in std::mem::take(&mut self.streams) {
            self.note(who, false, &"what its subscription told");
            let mut heard = Vec::new();
            loop {
                match stream.next().await {
                    StreamItem::Event(event) => match &event.event {
                        Event::MessagePosted(message) | Event::MessageUpdated(message) => {
                            heard.push(message.id());
                        }
                        Event::AccountChanged(account) if account.display_name == CANARY => break,
                        _ => {}
                    },
                    other => panic!("a stream goes on: {other:?}"),
                }
            }
            let mut expected = self.told.clone();
            expected.retain(|id| {
                let said = self.state.message(*id).expect("the model knows what it told");
                self.state.takes_part(who, said.channel)
            });
            assert_eq!(heard, expected);
        }
    }
}
