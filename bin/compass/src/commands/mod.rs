//! One module per command; what several need is [`context`].

pub(crate) mod accounts;
pub(crate) mod agent;
pub(crate) mod agent_attach;
pub(crate) mod answer;
pub(crate) mod answer_flags;
pub(crate) mod ask;
pub(crate) mod asks;
pub(crate) mod bench;
pub(crate) mod channels;
pub(crate) mod completions;
pub(crate) mod context;
pub(crate) mod demo;
pub(crate) mod dm;
pub(crate) mod groups;
pub(crate) mod login;
pub(crate) mod man;
pub(crate) mod post;
pub(crate) mod read;
pub(crate) mod roster;
pub(crate) mod search;
pub(crate) mod serve;
pub(crate) mod status;
pub(crate) mod tail;
pub(crate) mod token;
pub(crate) mod topics;
pub(crate) mod user;
