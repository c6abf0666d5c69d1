//! The one cookie: taken out of a request, set and cleared by an answer.

use std::{fmt, time::Duration};

use http::{HeaderMap, HeaderValue, header::COOKIE};

/// Its name.
const NAME: &str = "compass_session";
/// Longer values are no token of ours.
const LONGEST: usize = 256;

/// The session that a request's cookie holds.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct SessionCookie(String);

impl SessionCookie {
    /// The value of the session's token.
    pub(crate) fn token(&self) -> &str {
        &self.0
    }
}

// The value stays out of logs.
impl fmt::Debug for SessionCookie {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SessionCookie(..)")
    }
}

/// Takes our cookie out of a request and leaves all others. None if there is none, more than one, or no token in it.
pub(crate) fn take(headers: &mut HeaderMap) -> Option<SessionCookie> {
    if !headers.contains_key(COOKIE) {
        return None;
    }
    let mut ours = Vec::new();
    let mut others = Vec::new();
    for line in headers.get_all(COOKIE) {
        for pair in line.as_bytes().split(|byte| *byte == b';').map(<[u8]>::trim_ascii) {
            match pair.strip_prefix(NAME.as_bytes()).and_then(|rest| rest.strip_prefix(b"=")) {
                Some(value) => ours.push(value.to_vec()),
                None if pair.is_empty() => {}
                None => others.push(pair.to_vec()),
            }
        }
    }
    headers.remove(COOKIE);
    if let (false, Ok(value)) = (others.is_empty(), HeaderValue::from_bytes(&others.join(&b"; "[..]))) {
        headers.insert(COOKIE, value);
    }
    let [value] = <[Vec<u8>; 1]>::try_from(ours).ok()?;
    let value = String::from_utf8(value).ok()?;
    is_token(&value).then_some(SessionCookie(value))
}

/// What sets the cookie, for as long as its session lasts; none if the token could not stand in a cookie.
pub(crate) fn set(token: &str, lasts: Duration, is_secure: bool) -> Option<HeaderValue> {
    is_token(token).then(|| header(token, lasts.as_secs(), is_secure)).flatten()
}

/// What makes a browser forget it.
pub(crate) fn clear(is_secure: bool) -> Option<HeaderValue> {
    header("", 0, is_secure)
}

fn header(value: &str, max_age_s: u64, is_secure: bool) -> Option<HeaderValue> {
    let secure = if is_secure { "; Secure" } else { "" };
    let text = format!("{NAME}={value}; HttpOnly; SameSite=Strict; Path=/; Max-Age={max_age_s}{secure}");
    let mut header = HeaderValue::try_from(text).ok()?;
    header.set_sensitive(true);
    Some(header)
}

fn is_token(value: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    !value.is_empty() && value.len() <= LONGEST && value.bytes().all(allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(lines: &[&str]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(COOKIE, line.parse().unwrap());
        }
        headers
    }

    /// What is taken, and what is left.
    fn taken(lines: &[&str]) -> (Option<String>, Option<String>) {
        let mut headers = headers(lines);
        let taken = take(&mut headers).map(|cookie| cookie.0);
        let mut left = headers.get_all(COOKIE).iter().map(|line| line.to_str().unwrap().to_owned());
        let first = left.next();
        assert_eq!(left.next(), None, "one line at the most");
        (taken, first)
    }

    fn check(lines: &[&str], token: Option<&str>, left: Option<&str>) {
        assert_eq!(taken(lines), (token.map(str::to_owned), left.map(str::to_owned)), "{lines:?}");
    }

    #[test]
    fn our_cookie_is_taken_out_and_the_others_stay_in_their_order() {
        check(&[], None, None);
        check(&["compass_session=abc"], Some("abc"), None);
        check(&["a=1; compass_session=a-b_C; b=2"], Some("a-b_C"), Some("a=1; b=2"));
        check(&["a=1;compass_session=abc ;", "b=2"], Some("abc"), Some("a=1; b=2"));
        check(&["a=1; b=x y"], None, Some("a=1; b=x y"));
        check(
            &["xcompass_session=abc; compass_sessions=1"],
            None,
            Some("xcompass_session=abc; compass_sessions=1"),
        );
    }

    #[test]
    fn two_of_ours_are_none_and_neither_goes_on() {
        check(&["compass_session=abc; a=1; compass_session=def"], None, Some("a=1"));
        check(&["compass_session=abc", "compass_session=abc"], None, None);
    }

    #[test]
    fn what_is_no_token_is_taken_out_and_is_none() {
        let long = format!("compass_session={}", "a".repeat(LONGEST + 1));
        for line in ["compass_session=", "compass_session=\"abc\"", "compass_session=a b", &long] {
            check(&[line], None, None);
        }
        let longest = "a".repeat(LONGEST);
        check(&[&format!("compass_session={longest}")], Some(&longest), None);
    }

    #[test]
    fn it_is_set_for_this_host_and_no_script_and_shown_to_no_log() {
        let set = set("abc", Duration::from_mins(1), false).unwrap();
        assert_eq!(set, "compass_session=abc; HttpOnly; SameSite=Strict; Path=/; Max-Age=60");
        assert!(set.is_sensitive());
        let secure = super::set("abc", Duration::from_mins(1), true).unwrap();
        assert_eq!(secure, "compass_session=abc; HttpOnly; SameSite=Strict; Path=/; Max-Age=60; Secure");
        let cleared = clear(false).unwrap();
        assert_eq!(cleared, "compass_session=; HttpOnly; SameSite=Strict; Path=/; Max-Age=0");
        assert_eq!(super::set("a; Domain=x", Duration::from_mins(1), false), None);
        let taken = take(&mut headers(&["compass_session=abc"])).unwrap();
        assert!(!format!("{taken:?}").contains("abc"));
    }
}
