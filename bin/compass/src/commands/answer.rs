//! `compass answer`: answers an ask, at the terminal or by flags.

use std::io::{self, BufRead as _};

use compass_client::model::{Ask, OpenAsk};
use compass_domain::ask::AnswerDraft;
use serde_json::json;

use super::{
    answer_flags::{self, Flags},
    asks,
    context::Context,
};
use crate::{config::Connection, directory::Directory, failure::Failure, output, picker, render};

/// Options of `compass answer`.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Id of the ask [default: the only open one; at a terminal you choose]
    #[arg(long, value_name = "ASK")]
    ask: Option<String>,
    #[command(flatten)]
    flags: Flags,
    #[command(flatten)]
    connection: Connection,
}

/// Answers; without flags a person is asked question by question.
pub(crate) async fn run(args: Args) -> Result<(), Failure> {
    let context = Context::open(&args.connection).await?;
    let (names, entries) = asks::load(&context, None).await?;
    let now = context.client.server_time_unix_ms();
    let answers = if args.flags.is_empty() {
        if !output::is_interactive() {
            return Err(Failure::Usage(
                "this is no terminal; answer with --option, --text and --skip".to_owned(),
            ));
        }
        let (entry, ask) = choose(&entries, args.ask.as_deref(), &names, now)?;
        output::remark(&asks::headline(entry, ask, &names, now));
        let Some(answers) = at_terminal(ask.clone()).await? else {
            output::remark("nothing was sent; the ask stays open");
            return Ok(());
        };
        (ask.ask_id.clone(), answers)
    } else {
        by_flags(&args, &entries, &names, now)?
    };
    send(&context, answers).await
}

async fn send(context: &Context, (ask_id, answers): (String, Vec<AnswerDraft>)) -> Result<(), Failure> {
    context.client.answer(&ask_id, answers).await?;
    if context.out.is_json() {
        return context.out.json(&json!({ "ask_id": ask_id, "answered": true }));
    }
    context.out.line(&format!("answered ask {}", render::line(&ask_id)))
}

fn by_flags(
    args: &Args,
    entries: &[OpenAsk],
    names: &Directory,
    now: Option<i64>,
) -> Result<(String, Vec<AnswerDraft>), Failure> {
    let found = match &args.ask {
        // An ask that is not open is sent as it is: the server says how it ended, or that there is none.
        Some(id) => find(entries, id).map(|(_, ask)| ask),
        None => Some(pick(entries, None, names, now)?.1),
    };
    let answers = match found {
        Some(ask) => answer_flags::fit(&args.flags, &ask.questions)?,
        None => answer_flags::unchecked(&args.flags)?,
    };
    let id = args.ask.clone().or_else(|| found.map(|ask| ask.ask_id.clone())).unwrap_or_default();
    Ok((id, answers))
}

fn pick<'a>(
    entries: &'a [OpenAsk],
    wanted: Option<&str>,
    names: &Directory,
    now: Option<i64>,
) -> Result<(&'a OpenAsk, &'a Ask), Failure> {
    if let Some(id) = wanted {
        let missing = || Failure::Usage(format!("no open ask {id:?} that you can see"));
        return find(entries, id).ok_or_else(missing);
    }
    let mut all = entries.iter().flat_map(|entry| asks::open(entry).map(move |ask| (entry, ask)));
    match (all.next(), all.next()) {
        (None, _) => Err(Failure::Usage("no open asks".to_owned())),
        (Some(only), None) => Ok(only),
        (Some(_), Some(_)) => {
            let all = oldest_first(entries).into_iter();
            let lines: Vec<_> = all.map(|(entry, ask)| asks::listed(entry, ask, names, now)).collect();
            Err(Failure::Usage(format!("several asks are open, name one with --ask:\n{}", lines.join("\n"))))
        }
    }
}

/// As [`pick`], but with several open asks the person at the terminal names one by its number.
fn choose<'a>(
    entries: &'a [OpenAsk],
    wanted: Option<&str>,
    names: &Directory,
    now: Option<i64>,
) -> Result<(&'a OpenAsk, &'a Ask), Failure> {
    let all = oldest_first(entries);
    if wanted.is_some() || all.len() < 2 {
        return pick(entries, wanted, names, now);
    }
    for (index, (entry, ask)) in all.iter().enumerate() {
        output::remark(&format!("{}. {}", index + 1, asks::listed(entry, ask, names, now)));
    }
    output::remark("type the number of the ask to answer and press Enter");
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line)?;
    let number = line.trim().parse::<usize>().ok().and_then(|number| number.checked_sub(1));
    let chosen = number.and_then(|index| all.get(index).copied());
    chosen
        .ok_or_else(|| Failure::Usage(format!("{:?} is none of the numbers 1 to {}", line.trim(), all.len())))
}

fn oldest_first(entries: &[OpenAsk]) -> Vec<(&OpenAsk, &Ask)> {
    let all = entries.iter().rev();
    all.flat_map(|entry| asks::open(entry).map(move |ask| (entry, ask))).collect()
}

fn find<'a>(entries: &'a [OpenAsk], id: &str) -> Option<(&'a OpenAsk, &'a Ask)> {
    let mut all = entries.iter().flat_map(|entry| asks::open(entry).map(move |ask| (entry, ask)));
    all.find(|(_, ask)| ask.ask_id == id)
}

/// Runs the picker on a thread of its own: reading keys blocks.
pub(crate) async fn at_terminal(ask: Ask) -> Result<Option<Vec<AnswerDraft>>, Failure> {
    let asked = tokio::task::spawn_blocking(move || picker::ask_person(ask.questions));
    asked.await.map_err(|error| Failure::Local(error.to_string()))?
}
