//! `compass agent setup`: puts Compass into the settings of an agent program, and takes it out again.

mod change;
mod edit;
mod record;

use std::{
    env,
    io::{self, BufRead as _, Write as _},
    path::{Path, PathBuf},
};

use compass_domain::Handle;

use self::{
    change::Target,
    edit::{Entries, Wanted},
    record::Records,
};
use super::agent_hook::{self, SavedAgent};
use crate::{
    config::{self, Config, Connection},
    failure::Failure,
    output::{self, Output},
    render,
};

/// Options of `compass agent setup`.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    #[command(subcommand)]
    program: Program,
}

#[derive(clap::Subcommand, Debug)]
enum Program {
    /// Puts hooks and the MCP server into the settings of Claude Code
    #[command(
        after_help = "Without --user it sets up one project: `.claude/settings.json` and `.mcp.json` in its folder. --undo gives \
                      files back as they were; from a file that was edited since, only the entries of Compass are taken \
                      out.\n\nExample:\n  compass agent setup claude-code --agent deploy-bot --dry-run"
    )]
    ClaudeCode(ClaudeCodeArgs),
}

#[derive(clap::Args, Debug)]
struct ClaudeCodeArgs {
    /// Folder of the project [default: the current one]
    #[arg(long, value_name = "DIR", conflicts_with = "user")]
    project: Option<PathBuf>,
    /// Set up for every project of yours instead of one [default: no]
    #[arg(long)]
    user: bool,
    /// Seconds that a question waits for its answer; its hook's timeout is five seconds more
    #[arg(long, value_name = "SECONDS", default_value_t = agent_hook::WAIT, value_parser = clap::value_parser!(u64).range(..=86_400))]
    wait: u64,
    /// Show what would change and change nothing [default: no]
    #[arg(long)]
    dry_run: bool,
    /// Take Compass out again [default: no]
    #[arg(long)]
    undo: bool,
    /// Write without asking [default: no]
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    agent: SavedAgent,
}

/// Runs the wanted setup.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let Program::ClaudeCode(args) = &args.program;
    if let Some(handle) = &args.agent.agent {
        Handle::parse(handle).map_err(|error| Failure::Usage(format!("--agent: {error}")))?;
    }
    let records = Records::below(&config::state_dir()?);
    let wanted = Wanted {
        program: program()?,
        agent: args.agent.agent.clone(),
        wait: args.wait,
        spare: agent_hook::SPARE,
    };
    let (mut changes, mut clean) = (Vec::new(), Vec::new());
    for target in targets(args)? {
        let change = if args.undo { target.undone(&records)? } else { target.set_up(&wanted, &records)? };
        match change {
            Some(change) => changes.push(change),
            None if args.undo && !args.dry_run => clean.push(target),
            None => {}
        }
    }
    let out = Output::new(false);
    if changes.is_empty() {
        clean.iter().try_for_each(|target| target.forget(&records))?;
        return out.line(if args.undo { "nothing to undo" } else { "nothing to change" });
    }
    for change in &changes {
        out.body(&change.diff(), "")?;
    }
    if args.dry_run {
        return Ok(());
    }
    if !args.yes && !confirmed()? {
        return Err(Failure::Usage("nothing was written".into()));
    }
    clean.iter().try_for_each(|target| target.forget(&records))?;
    for change in &changes {
        change.write(&records)?;
        out.line(&format!("{} {}", change.told(), render::line(&change.path().display().to_string())))?;
    }
    if !args.undo {
        warn(&args.agent)?;
    }
    Ok(())
}

/// The files and which entries each is to have.
fn targets(args: &ClaudeCodeArgs) -> Result<[Target; 2], Failure> {
    let [settings, servers] = if args.user {
        let home = env::var_os("HOME").filter(|home| !home.is_empty());
        let home =
            home.map(PathBuf::from).ok_or_else(|| Failure::Local("no home directory; set HOME".into()))?;
        // Where its own variable puts its folder, its other file is in there too.
        match env::var_os("CLAUDE_CONFIG_DIR").filter(|folder| !folder.is_empty()).map(PathBuf::from) {
            Some(folder) => [folder.join("settings.json"), folder.join(".claude.json")],
            None => [home.join(".claude/settings.json"), home.join(".claude.json")],
        }
    } else {
        let project = args.project.as_deref().unwrap_or(Path::new("."));
        let project = project.canonicalize().map_err(|error| fail(project, &error))?;
        [project.join(".claude/settings.json"), project.join(".mcp.json")]
    };
    Ok([Target::new(&settings, Entries::Hooks)?, Target::new(&servers, Entries::Server)?])
}

/// How the settings name this program: by its name if that finds it, by its path otherwise.
fn program() -> Result<String, Failure> {
    let own = env::current_exe()?.canonicalize()?;
    let path = env::var_os("PATH").unwrap_or_default();
    let found = env::split_paths(&path).map(|folder| folder.join("compass")).find(|file| file.is_file());
    match found.and_then(|file| file.canonicalize().ok()) {
        Some(found) if found == own => Ok("compass".into()),
        _ => own.into_os_string().into_string().map_err(|path| {
            Failure::Local(format!("the path of this program is not UTF-8: {}", path.display()))
        }),
    }
}

fn confirmed() -> Result<bool, Failure> {
    if !output::is_interactive() {
        return Err(Failure::Usage("nothing was written; --yes writes without asking".into()));
    }
    let mut question = io::stderr().lock();
    write!(question, "Write this? [y/N] ")?;
    question.flush()?;
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line)?;
    Ok(matches!(line.trim(), "y" | "Y" | "yes"))
}

/// Says so if the hooks will find no token.
fn warn(agent: &SavedAgent) -> Result<(), Failure> {
    let config = Config::load(&Connection::default())?;
    if !matches!(config.agent(agent.agent.as_deref()), Some((_, Some(_)))) {
        let handle = agent.agent.as_deref().unwrap_or("HANDLE");
        output::remark(&format!(
            "no token of the agent is saved yet; `compass agent create {}` makes one",
            render::line(handle)
        ));
    }
    Ok(())
}

/// A failure that names the file.
fn fail(path: &Path, error: &dyn std::fmt::Display) -> Failure {
    Failure::Local(format!("{}: {error}", path.display()))
}
