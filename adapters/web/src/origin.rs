//! Whether a request is the page's own: the check against requests that other sites make a browser send.

use http::{
    HeaderMap, HeaderName, Uri,
    header::{HOST, ORIGIN},
    uri::{Authority, Scheme},
};

/// The page sends this with every request; another site's script cannot without being asked first, and is refused.
pub(crate) const PAGE: HeaderName = HeaderName::from_static("x-compass-page");
/// Where a browser says that a request comes from.
const SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
/// How a proxy says that the browser spoke TLS to it.
const FORWARDED: HeaderName = HeaderName::from_static("x-forwarded-proto");

/// Why a request is not taken for the page's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum CrossSite {
    /// The page's header is missing.
    #[error("the header x-compass-page: 1 is missing; only Compass's own page may do this")]
    NoMark,
    /// The browser says so.
    #[error("the header sec-fetch-site is not same-origin; only Compass's own page may do this")]
    Site,
    /// Another origin, or one that cannot be told.
    #[error(
        "the origin is not the host that was asked; only Compass's own page may do this, and a proxy before Compass has to \
         pass the Host header on"
    )]
    Origin,
}

/// Checks that a request is the page's own.
///
/// # Errors
///
/// [`CrossSite`] with the first reason against it.
pub(crate) fn check(uri: &Uri, headers: &HeaderMap) -> Result<(), CrossSite> {
    let mut marks = headers.get_all(PAGE).iter();
    if !(marks.next().is_some_and(|mark| mark == "1") && marks.next().is_none()) {
        return Err(CrossSite::NoMark);
    }
    if headers.get_all(SITE).iter().any(|site| site != "same-origin") {
        return Err(CrossSite::Site);
    }
    let host = host(uri, headers);
    for origin in headers.get_all(ORIGIN) {
        let origin = origin.to_str().ok().and_then(Origin::parse).ok_or(CrossSite::Origin)?;
        if !host.as_ref().is_some_and(|host| origin.is_of(host)) {
            return Err(CrossSite::Origin);
        }
    }
    Ok(())
}

/// True if the browser came over TLS, to here or to a proxy.
pub(crate) fn is_secure(headers: &HeaderMap) -> bool {
    let origin = headers.get(ORIGIN).and_then(|origin| origin.to_str().ok()).and_then(Origin::parse);
    // The first of several proxies is the one that the browser spoke to.
    let forwarded = headers.get(FORWARDED).and_then(|proto| proto.to_str().ok()?.split(',').next());
    origin.is_some_and(|origin| origin.scheme == Scheme::HTTPS)
        || forwarded.is_some_and(|proto| proto.trim().eq_ignore_ascii_case("https"))
}

/// The host that was asked, by whichever version of the protocol.
fn host(uri: &Uri, headers: &HeaderMap) -> Option<Authority> {
    uri.authority().cloned().or_else(|| headers.get(HOST)?.to_str().ok()?.parse().ok())
}

/// The scheme, host and port of a page.
struct Origin {
    scheme: Scheme,
    authority: Authority,
}

impl Origin {
    /// Nothing but a scheme of the web, a host and perhaps a port.
    fn parse(text: &str) -> Option<Self> {
        let (scheme, authority) = text.split_once("://")?;
        let scheme = Scheme::try_from(scheme).ok()?;
        let known = scheme == Scheme::HTTP || scheme == Scheme::HTTPS;
        let authority: Authority = authority.parse().ok()?;
        (known && !authority.as_str().contains('@')).then_some(Self { scheme, authority })
    }

    fn is_of(&self, host: &Authority) -> bool {
        let usual = if self.scheme == Scheme::HTTPS { 443 } else { 80 };
        let port = |of: &Authority| of.port_u16().unwrap_or(usual);
        self.authority.host().eq_ignore_ascii_case(host.host()) && port(&self.authority) == port(host)
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn checked(uri: &'static str, headers: &[(&'static str, &'static str)]) -> Result<(), CrossSite> {
        check(&Uri::from_static(uri), &map(headers))
    }

    fn map(headers: &[(&'static str, &'static str)]) -> HeaderMap {
        let pairs = headers.iter().copied();
        pairs.map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value))).collect()
    }

    const MARK: (&str, &str) = ("x-compass-page", "1");

    #[test]
    fn the_pages_mark_is_needed_once_and_exactly() {
        assert_eq!(checked("/session", &[MARK]), Ok(()));
        for headers in [&[][..], &[("x-compass-page", "0")], &[("x-compass-page", "")]] {
            assert_eq!(checked("/session", headers), Err(CrossSite::NoMark), "{headers:?}");
        }
        let mut twice = map(&[MARK]);
        twice.append(PAGE, HeaderValue::from_static("1"));
        assert_eq!(check(&Uri::from_static("/"), &twice), Err(CrossSite::NoMark));
    }

    #[test]
    fn a_browser_that_names_another_site_or_none_is_believed() {
        assert_eq!(checked("/", &[MARK, ("sec-fetch-site", "same-origin")]), Ok(()));
        for site in ["same-site", "cross-site", "none", "", "Same-Origin"] {
            let checked = checked("/", &[MARK, ("sec-fetch-site", site)]);
            assert_eq!(checked, Err(CrossSite::Site), "{site}");
        }
    }

    #[test]
    fn an_origin_is_the_host_that_was_asked() {
        let own = [
            ("/", "compass.example:7420", "http://compass.example:7420"),
            ("/", "compass.example", "https://Compass.Example"),
            ("/", "compass.example:443", "https://compass.example"),
            ("/", "compass.example", "http://compass.example:80"),
            ("/", "[::1]:7420", "http://[::1]:7420"),
            ("http://compass.example/", "", "http://compass.example"),
        ];
        for (uri, host, origin) in own {
            let host = (!host.is_empty()).then_some(("host", host));
            let headers: Vec<_> = [MARK, ("origin", origin)].into_iter().chain(host).collect();
            assert_eq!(checked(uri, &headers), Ok(()), "{origin}");
        }
    }

    #[test]
    fn any_other_origin_is_refused() {
        let foreign = [
            "http://evil.example",
            "http://compass.example",
            "http://compass.example:7421",
            "http://sub.compass.example:7420",
            "http://compass.example:7420.evil.example",
            "http://user@compass.example:7420",
            "http://compass.example:7420/path",
            "file://compass.example:7420",
            "null",
            "",
        ];
        for origin in foreign {
            let headers = [MARK, ("host", "compass.example:7420"), ("origin", origin)];
            assert_eq!(checked("/", &headers), Err(CrossSite::Origin), "{origin}");
        }
        let nowhere = [MARK, ("origin", "http://compass.example")];
        assert_eq!(checked("/", &nowhere), Err(CrossSite::Origin), "no host to compare with");
        let mut second = map(&[MARK, ("host", "a.example"), ("origin", "http://a.example")]);
        second.append(ORIGIN, HeaderValue::from_static("http://evil.example"));
        assert_eq!(check(&Uri::from_static("/"), &second), Err(CrossSite::Origin));
    }

    #[test]
    fn tls_is_known_from_the_origin_or_from_a_proxy() {
        for secure in [
            ("origin", "https://a.example"),
            ("x-forwarded-proto", "HTTPS"),
            ("x-forwarded-proto", "https, http"),
        ] {
            assert!(is_secure(&map(&[secure])), "{secure:?}");
        }
        for plain in [("origin", "http://a.example"), ("x-forwarded-proto", "http"), ("x-other", "https")] {
            assert!(!is_secure(&map(&[plain])), "{plain:?}");
        }
    }
}
