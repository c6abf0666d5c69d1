//! Which compression a browser takes.

use http::{HeaderMap, header::ACCEPT_ENCODING};

/// A compression that a file may be sent in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Encoding {
    /// The smaller one.
    Brotli,
    /// The one that everything takes.
    Gzip,
}

impl Encoding {
    /// Both, the better one first.
    pub(crate) const ALL: [Self; 2] = [Self::Brotli, Self::Gzip];

    /// Its name in headers.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Brotli => "br",
            Self::Gzip => "gzip",
        }
    }

    /// What the name of a file ends with that was compressed when the page was built.
    pub(crate) fn ending(self) -> &'static str {
        match self {
            Self::Brotli => ".br",
            Self::Gzip => ".gz",
        }
    }

    /// True if the sender of these headers takes it.
    pub(crate) fn is_accepted(self, headers: &HeaderMap) -> bool {
        let lines = headers.get_all(ACCEPT_ENCODING).iter().filter_map(|line| line.to_str().ok());
        let mut any = false;
        for item in lines.flat_map(|line| line.split(',')) {
            let mut parts = item.split(';').map(str::trim);
            let coding = parts.next().unwrap_or_default();
            let taken = !parts.any(is_zero);
            if coding.eq_ignore_ascii_case(self.name()) {
                return taken;
            }
            any |= coding == "*" && taken;
        }
        any
    }
}

/// True for a weight of nothing, such as `q=0.0`.
fn is_zero(parameter: &str) -> bool {
    let weight = parameter.split_once('=').filter(|(name, _)| name.trim().eq_ignore_ascii_case("q"));
    weight.and_then(|(_, weight)| weight.trim().parse::<f32>().ok()).is_some_and(|weight| weight <= 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accepted(value: &'static str) -> [bool; 2] {
        let headers = HeaderMap::from_iter([(ACCEPT_ENCODING, value.parse().unwrap())]);
        Encoding::ALL.map(|encoding| encoding.is_accepted(&headers))
    }

    #[test]
    fn a_compression_is_taken_if_it_is_named_or_all_are_and_its_weight_is_not_nothing() {
        assert_eq!(accepted("gzip, deflate, br, zstd"), [true, true]);
        assert_eq!(accepted("gzip"), [false, true]);
        assert_eq!(accepted("BR;q=0.5"), [true, false]);
        assert_eq!(accepted("br;q=0, gzip;q=0.000"), [false, false]);
        assert_eq!(accepted("*"), [true, true]);
        assert_eq!(accepted("*, gzip; q=0"), [true, false]);
        assert_eq!(accepted("gzip;q=0, *"), [true, false]);
        assert_eq!(accepted("*;q=0, br"), [true, false]);
        assert_eq!(accepted("identity"), [false, false]);
        assert_eq!(accepted(""), [false, false]);
        assert_eq!(Encoding::ALL.map(|encoding| encoding.is_accepted(&HeaderMap::new())), [false, false]);
    }
}
