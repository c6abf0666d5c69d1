//! The command line: every command, its help and an example of it.

use clap::{CommandFactory as _, Parser, Subcommand};

use crate::{
    commands::{
        accounts, agent, agents, answer, ask, asks, bench, channels, completions, demo, dm, doctor, groups,
        login, man, post, read, roster, runner, search, serve, status, tail, token, topics, user,
    },
    failure::{EXIT_CODES, Failure},
};

/// Channels where AI agents and people decide together.
#[derive(Parser, Debug)]
#[command(name = "compass", version, propagate_version = true, max_term_width = 100)]
#[command(after_help = format!("{EXIT_CODES}\n\nExample:\n  compass asks"))]
pub(crate) struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Runs a server and its page
    #[command(
        after_help = "The first start makes an administrator and writes a sign-in for them to the file sign-in in the data \
                      directory; on a terminal it also prints the link that signs them in to the page. A start with --admin \
                      and a new handle makes another administrator, with a fresh sign-in, on a database in use, too: the way \
                      back in when the only one is locked out.\n\nExample:\n  compass serve"
    )]
    Serve(serve::Args),
    /// Shows the main job from end to end: an agent asks, you answer, the agent gets the answer
    #[command(after_help = "Example:\n  compass demo")]
    Demo(demo::Args),
    /// Plays the agent of the demo
    #[command(hide = true, after_help = "Example:\n  compass demo-agent --state-dir ./state")]
    DemoAgent(demo::AgentArgs),
    /// Asks people as an agent, from a script or a pipeline
    #[command(
        after_help = "Exit codes: 0 answered, or posted without --wait; 1 a failure on this machine, such as an answer that \
                      could not be written and is still owed; 2 wrong usage; 3 still open when the time was up; \
                      4 withdrawn; 5 refused by the server; 6 server unreachable or outcome unknown.\n\nExample:\n  \
                      compass ask --agent deploy-bot --wait --option Yes --option No \"Deploy 4.2 now?\""
    )]
    Ask(ask::Args),
    /// Signs you in with a sign-in secret and saves the token
    #[command(after_help = "Example:\n  compass login --sign-in-file ./sign-in")]
    Login(login::Args),
    /// Lists groups of channels, or creates one
    #[command(after_help = "Example:\n  compass groups")]
    Groups(groups::Args),
    /// Lists, creates and joins channels, and changes their members, policy and board
    #[command(after_help = "Example:\n  compass channels")]
    Channels(channels::Args),
    /// Opens a direct conversation with a person or an agent, and says something in it
    #[command(after_help = "Example:\n  compass dm ben \"Lunch?\"")]
    Dm(dm::Args),
    /// Lists a channel's topics, or changes one
    #[command(after_help = "Example:\n  compass topics --channel releases")]
    Topics(topics::Args),
    /// Posts a message, or an ask of your own
    #[command(after_help = "Example:\n  compass post --channel releases --topic 4.2 \"Staging looks good\"")]
    Post(post::Args),
    /// Shows a channel's messages, oldest first
    #[command(after_help = "Example:\n  compass read --channel releases --topic 4.2 --limit 20 --mark")]
    Read(read::Args),
    /// Finds messages, the best first
    #[command(
        after_help = "All words must occur. Words in quotes must follow each other, `or` stands between alternatives, \
                      and a word after a minus must not occur.\n\nExample:\n  compass search --channel releases \
                      rollback staging"
    )]
    Search(search::Args),
    /// Lists the open asks, oldest first
    #[command(after_help = "Example:\n  compass asks --full")]
    Asks(asks::Args),
    /// Answers an ask; without flags question by question at the terminal
    #[command(
        after_help = "An answer is final. Question and option ids are in `compass asks --full`.\n\nExample:\n  \
                      compass answer --ask 0195e0c2a1b27c3d8e4f506172839405 --option 0=1 --text \"1=after lunch\" --skip 2"
    )]
    Answer(answer::Args),
    /// Prints messages as they come
    #[command(after_help = "Example:\n  compass tail --channel releases")]
    Tail(tail::Args),
    /// Creates, lists and revokes tokens
    #[command(after_help = "Example:\n  compass token create --agent deploy-bot")]
    Token(token::Args),
    /// Shows agents with their presence and what they say they do
    #[command(after_help = "Example:\n  compass roster --watch")]
    Roster(roster::Args),
    /// Sets what an agent says it is doing, or shows it
    #[command(after_help = "Example:\n  compass status --agent deploy-bot \"reading the logs\"")]
    Status(status::Args),
    /// Lists the people and agents you can see
    #[command(after_help = "Example:\n  compass accounts --json")]
    Accounts(accounts::Args),
    /// Creates agents, moves them in the tree and attaches them
    #[command(after_help = "Example:\n  compass agent create deploy-bot")]
    Agent(agent::Args),
    /// Starts agents on runners, shows and follows them, and ends them
    #[command(after_help = "Example:\n  compass agents")]
    Agents(agents::Args),
    /// Runs agents on this machine, for a server here or elsewhere
    #[command(after_help = "Example:\n  compass runner --config runner.toml --token-file runner-token")]
    Runner(runner::Args),
    /// Looks for what is wrong on the server; ends with code 1 if anything is
    #[command(after_help = "Example:\n  compass doctor")]
    Doctor(doctor::Args),
    /// Creates people
    #[command(after_help = "Example:\n  compass user create ana")]
    User(user::Args),
    /// Prints what a shell needs to complete commands and options
    #[command(after_help = "Example:\n  compass completions bash")]
    Completions(completions::Args),
    /// Prints or writes the manual pages
    #[command(after_help = "Example:\n  compass man --dir ./man")]
    Man(man::Args),
    /// Measures this program on this machine, as ratios to what the machine allows
    #[command(after_help = "Example:\n  compass bench")]
    Bench(bench::Args),
    /// Sends back what it gets; the bench compares with it
    #[command(hide = true, after_help = "Example:\n  compass bench-echo")]
    BenchEcho,
}

impl Cli {
    /// Runs the command.
    pub(crate) async fn run(self) -> Result<(), Failure> {
        match self.command {
            Command::Serve(args) => serve::run(args).await,
            Command::Demo(args) => demo::run(args).await,
            Command::DemoAgent(args) => demo::run_agent(args).await,
            Command::Ask(args) => ask::run(args).await,
            Command::Login(args) => login::run(args).await,
            Command::Groups(args) => groups::run(args).await,
            Command::Channels(args) => channels::run(args).await,
            Command::Dm(args) => dm::run(args).await,
            Command::Topics(args) => topics::run(args).await,
            Command::Post(args) => post::run(args).await,
            Command::Read(args) => read::run(args).await,
            Command::Search(args) => search::run(args).await,
            Command::Asks(args) => asks::run(args).await,
            Command::Answer(args) => answer::run(args).await,
            Command::Tail(args) => tail::run(args).await,
            Command::Token(args) => token::run(args).await,
            Command::Roster(args) => roster::run(args).await,
            Command::Status(args) => status::run(args).await,
            Command::Accounts(args) => accounts::run(args).await,
            Command::Agent(args) => agent::run(args).await,
            Command::Agents(args) => agents::run(args).await,
            Command::Runner(args) => runner::run(args).await,
            Command::Doctor(args) => doctor::run(args).await,
            Command::User(args) => user::run(args).await,
            Command::Completions(args) => completions::run(&args, Self::command()),
            Command::Man(args) => man::run(&args, Self::command()),
            Command::Bench(args) => bench::run(args).await,
            Command::BenchEcho => bench::run_echo().await,
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::Command;

    use super::*;
    use crate::defaults;

    fn every_command(command: &mut Command, path: &str, check: &mut dyn FnMut(&str, &mut Command)) {
        check(path, command);
        let names: Vec<_> = command.get_subcommands().map(|sub| sub.get_name().to_owned()).collect();
        for name in names.into_iter().filter(|name| name != "help") {
            if let Some(sub) = command.find_subcommand_mut(&name) {
                every_command(sub, &format!("{path} {name}"), check);
            }
        }
    }

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_help_ends_with_an_example_that_parses() {
        every_command(&mut Cli::command(), "compass", &mut |path, command| {
            for help in [command.render_long_help(), command.render_help()] {
                let help = help.to_string();
                let last = help.trim_end().lines().last().unwrap_or_default();
                let example = last.strip_prefix("  ").unwrap_or_else(|| panic!("{path}: {last:?}"));
                assert!(help.contains("\nExample:\n  "), "{path}:\n{help}");
                assert!(example.starts_with(path), "{path}: {example}");
                let words = example.split('"').enumerate().flat_map(|(index, part)| {
                    // Between quotes is one word; this is all the shell syntax our examples use.
                    if index % 2 == 1 {
                        vec![part.to_owned()]
                    } else {
                        part.split_whitespace().map(str::to_owned).collect()
                    }
                });
                let words: Vec<_> = words.collect();
                assert!(Cli::try_parse_from(&words).is_ok(), "{path}: {words:?}");
            }
        });
    }

    #[test]
    fn every_help_states_the_defaults_of_its_options() {
        every_command(&mut Cli::command(), "compass", &mut |path, command| {
            let help = command.render_long_help().to_string();
            if help.contains("--url") {
                assert!(help.contains(defaults::URL), "{path}:\n{help}");
                assert!(help.contains("COMPASS_URL") && help.contains("COMPASS_TOKEN"), "{path}:\n{help}");
            }
            for arg in command
                .get_arguments()
                .filter(|arg| !arg.is_required_set() && !arg.is_positional() && !arg.is_hide_set())
            {
                let told = arg.get_help().map(ToString::to_string).unwrap_or_default();
                let own = matches!(arg.get_id().as_str(), "help" | "version");
                let switch = !arg.get_action().takes_values();
                let default = switch || told.contains("[default: ") || !arg.get_default_values().is_empty();
                assert!(own || default, "{path} --{}: {told}", arg.get_id());
            }
        });
    }

    #[test]
    fn a_token_of_the_environment_is_not_shown_in_help() {
        every_command(&mut Cli::command(), "compass", &mut |path, command| {
            for arg in command.get_arguments().filter(|arg| arg.get_id() == "token") {
                assert!(arg.is_hide_env_values_set(), "{path}");
            }
        });
    }
}
