//! `compass serve`: runs a server.

use crate::{
    failure::Failure,
    server::{self, ServeArgs},
};

/// Options of `compass serve`.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    #[command(flatten)]
    serve: ServeArgs,
}

/// Serves until a signal ends it.
pub(crate) async fn run(args: Args) -> Result<(), Failure> {
    server::serve(args.serve).await
}
