//! Every default of the command line, once: used by code, by help texts and by the documentation's checks.

/// Where the server listens unless told otherwise.
pub(crate) const LISTEN: &str = "127.0.0.1:7420";
/// Where commands look for the server unless told otherwise.
pub(crate) const URL: &str = "http://127.0.0.1:7420";
/// Name of the program's directories.
pub(crate) const PROGRAM: &str = "compass";
/// The saved login, in the configuration directory; mode 0600.
pub(crate) const LOGIN_FILE: &str = "login.toml";
/// The SQLite database, in the data directory.
pub(crate) const DATABASE_FILE: &str = "compass.db";
/// The administrator's sign-in secret of the first start, in the data directory; mode 0600.
pub(crate) const SIGN_IN_FILE: &str = "sign-in";
/// What the server logs unless told otherwise.
pub(crate) const LOG: &str = "info";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_look_where_the_server_listens() {
        assert_eq!(URL, format!("http://{LISTEN}"));
    }
}
