//! `compass login`: trades a sign-in secret for a token and saves it.

use std::{
    io::{self, BufRead as _, IsTerminal as _},
    path::PathBuf,
};

use compass_client::Client;
use serde_json::json;

use crate::{
    config::{self, Config, Connection},
    defaults,
    directory::Directory,
    failure::Failure,
    output::{self, Output},
};

/// Options of `compass login`.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// The sign-in secret, or `-` for standard input [default: the file --sign-in-file names]
    #[arg(value_name = "SECRET", conflicts_with = "sign_in_file")]
    secret: Option<String>,
    #[arg(
        long,
        value_name = "FILE",
        help = format!(
            "File that holds the secret [default: {} in the server's data directory, if it is there]",
            defaults::SIGN_IN_FILE
        )
    )]
    sign_in_file: Option<PathBuf>,
    #[command(flatten)]
    connection: Connection,
}

/// Signs in. With a token by flag or environment and no secret, that token is checked and saved.
pub(crate) async fn run(args: Args) -> Result<(), Failure> {
    let mut config = Config::load(&args.connection)?;
    let is_named = args.secret.is_some() || args.sign_in_file.is_some();
    let given = config.given_token().map(str::to_owned).filter(|_| !is_named);
    let token = match given {
        Some(token) => token,
        None => match trade(&args, &config).await {
            Ok(token) => token,
            // The first sign-in's file stays behind, spent: who comes again without a secret is signed in already.
            Err(failure) if !is_named => match owner(&config).await {
                Some(owner) => return already(&args, &config, owner).await,
                None => return Err(failure),
            },
            Err(failure) => return Err(failure),
        },
    };
    // The secret is spent by now, so the token is saved before anything else can fail.
    let path = config.save_person(&token)?.display().to_string();
    let client = Client::connect(&config.url, Some(&token)).await?;
    let account_id = client.who_am_i().await?.account_id;
    let name = Directory::load(&client).await?.account(&account_id);
    let out = Output::new(args.connection.json);
    if out.is_json() {
        return out.json(&json!({ "url": config.url, "account_id": account_id, "file": path }));
    }
    out.line(&format!("signed in at {} as {name}; saved in {path}", config.url))
}

async fn trade(args: &Args, config: &Config) -> Result<String, Failure> {
    let secret = secret(args, config).await?;
    Ok(config.anonymous().await?.trade_sign_in(&secret).await.map_err(Failure::SignIn)?.token)
}

/// A connection with the saved token and its person's id, if the server still takes it.
async fn owner(config: &Config) -> Option<(Client, String)> {
    let client = Client::connect(&config.url, Some(config.saved_person()?)).await.ok()?;
    let account_id = client.who_am_i().await.ok()?.account_id;
    Some((client, account_id))
}

async fn already(
    args: &Args,
    config: &Config,
    (client, account_id): (Client, String),
) -> Result<(), Failure> {
    let path = config::login_path()?.display().to_string();
    let out = Output::new(args.connection.json);
    if out.is_json() {
        return out.json(&json!({ "url": config.url, "account_id": account_id, "file": path }));
    }
    let name = Directory::load(&client).await?.account(&account_id);
    out.line(&format!(
        "signed in already at {} as {name}, by {path}; `compass login SECRET` signs somebody else in",
        config.url
    ))
}

async fn secret(args: &Args, config: &Config) -> Result<String, Failure> {
    let text = match (&args.secret, &args.sign_in_file) {
        (Some(dash), _) if dash == "-" => first_line()?,
        (Some(secret), _) => secret.clone(),
        (None, Some(path)) => config::read_secret(path)?,
        (None, None) => unnamed(config).await?,
    };
    let secret = text.trim();
    if secret.is_empty() {
        return Err(Failure::Usage("the sign-in secret is empty".to_owned()));
    }
    Ok(secret.to_owned())
}

async fn unnamed(config: &Config) -> Result<String, Failure> {
    let path = config::data_dir()?.join(defaults::SIGN_IN_FILE);
    if path.exists() {
        return config::read_secret(&path);
    }
    let looked = format!("there is no sign-in file {}", path.display());
    if !io::stdin().is_terminal() {
        let line = first_line()?;
        return if line.trim().is_empty() { Err(without_secret(&looked)) } else { Ok(line) };
    }
    if owner(config).await.is_some() {
        return Err(without_secret(&looked));
    }
    output::remark(&format!(
        "{looked}; paste the sign-in secret and press Enter, or run `compass login SECRET`"
    ));
    let line = first_line()?;
    if line.trim().is_empty() { Err(without_secret(&looked)) } else { Ok(line) }
}

fn without_secret(looked: &str) -> Failure {
    Failure::Usage(format!(
        "{looked}; run `compass login SECRET`, or name the file with --sign-in-file. Who has none asks an administrator, \
         who makes one with `compass token sign-in HANDLE`"
    ))
}

fn first_line() -> Result<String, Failure> {
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line)?;
    Ok(line)
}
