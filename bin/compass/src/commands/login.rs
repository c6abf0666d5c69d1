//! `compass login`: trades a sign-in secret for a token and saves it.

use std::{
    io::{self, BufRead as _},
    path::PathBuf,
};

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
    let given = config
        .given_token()
        .map(str::to_owned)
        .filter(|_| args.secret.is_none() && args.sign_in_file.is_none());
    let token = match given {
        Some(token) => token,
        None => config.anonymous().await?.trade_sign_in(&secret(&args)?).await?.token,
    };
    // The secret is spent by now, so the token is saved before anything else can fail.
    let path = config.save_person(&token)?.display().to_string();
    let client = compass_client::Client::connect(&config.url, Some(&token)).await?;
    let account_id = client.who_am_i().await?.account_id;
    let name = Directory::load(&client).await?.account(&account_id);
    let out = Output::new(args.connection.json);
    if out.is_json() {
        return out.json(&json!({ "url": config.url, "account_id": account_id, "file": path }));
    }
    out.line(&format!("signed in at {} as {name}; saved in {path}", config.url))
}

fn secret(args: &Args) -> Result<String, Failure> {
    let text = match (&args.secret, &args.sign_in_file) {
        (Some(dash), _) if dash == "-" => first_line()?,
        (Some(secret), _) => secret.clone(),
        (None, Some(path)) => config::read_secret(path)?,
        (None, None) => unnamed()?,
    };
    let secret = text.trim();
    if secret.is_empty() {
        return Err(Failure::Usage("the sign-in secret is empty".to_owned()));
    }
    Ok(secret.to_owned())
}

fn unnamed() -> Result<String, Failure> {
    let path = config::data_dir()?.join(defaults::SIGN_IN_FILE);
    if path.exists() {
        return config::read_secret(&path);
    }
    if output::is_interactive() {
        output::remark("paste the sign-in secret and press Enter");
    }
    first_line()
}

fn first_line() -> Result<String, Failure> {
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line)?;
    Ok(line)
}
