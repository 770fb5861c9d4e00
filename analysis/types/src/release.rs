//! The releases of TVM that have Relay.

use std::fmt;

/// A release of TVM: 0.5 to 0.19. Those before have no text form, those after no Relay.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Release(u8);

impl Release {
    /// The first release with a text form.
    pub const FIRST: Release = Release(5);
    /// The last release with Relay.
    pub const LAST: Release = Release(19);
    /// The release whose rules are checked by default.
    pub const DEFAULT: Release = Release(14);

    /// Returns release `0.minor`.
    ///
    /// # Panics
    /// There is none, which in a constant is an error of compilation.
    pub const fn minor(minor: u8) -> Release {
        assert!(Release::FIRST.0 <= minor && minor <= Release::LAST.0);
        Release(minor)
    }

    /// Parses `0.8`, `v0.8` or `0.8.0`; `None` for other texts and releases.
    pub fn parse(text: &str) -> Option<Release> {
        let mut parts = text.strip_prefix('v').unwrap_or(text).split('.');
        let is_zero = parts.next()? == "0";
        let minor: u8 = parts.next()?.parse().ok()?;
        // `0.9.dev100` is a build between releases.
        let known = Release::FIRST.0..=Release::LAST.0;
        (is_zero && known.contains(&minor)).then_some(Release(minor))
    }

    /// Returns all releases, the oldest first.
    pub fn all() -> impl DoubleEndedIterator<Item = Release> {
        (Release::FIRST.0..=Release::LAST.0).map(Release)
    }
}

impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "0.{}", self.0)
    }
}

/// A set of releases.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Releases(u16);

impl Releases {
    /// All releases.
    pub const ALL: Releases = Releases::between(Release::FIRST.0, Release::LAST.0);
    /// No release.
    pub const NONE: Releases = Releases(0);

    /// Returns the releases `0.first` to `0.last`.
    ///
    /// # Panics
    /// One of them does not exist, which in a constant is an error of compilation.
    pub const fn between(first: u8, last: u8) -> Releases {
        let (first, last) = (Release::minor(first), Release::minor(last));
        let low = first.0 - Release::FIRST.0;
        let high = last.0 - Release::FIRST.0;
        Releases(((1 << (high + 1)) - 1) & !((1 << low) - 1))
    }

    /// Returns the releases from `0.first` on.
    pub const fn since(first: u8) -> Releases {
        Releases::between(first, Release::LAST.0)
    }

    /// Returns the releases up to `0.last`.
    pub const fn until(last: u8) -> Releases {
        Releases::between(Release::FIRST.0, last)
    }

    /// Returns one release.
    pub const fn only(release: Release) -> Releases {
        Releases::between(release.0, release.0)
    }

    /// Returns true if the release is in the set.
    pub const fn has(self, release: Release) -> bool {
        self.0 & (1 << (release.0 - Release::FIRST.0)) != 0
    }

    /// Returns the releases in both sets.
    #[must_use]
    pub const fn and(self, other: Releases) -> Releases {
        Releases(self.0 & other.0)
    }

    /// Returns the releases in either set.
    #[must_use]
    pub const fn or(self, other: Releases) -> Releases {
        Releases(self.0 | other.0)
    }

    /// Returns the releases that are not in another set.
    #[must_use]
    pub const fn without(self, other: Releases) -> Releases {
        Releases(self.0 & !other.0)
    }

    /// Returns true if there is none.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns the releases, the oldest first.
    pub fn iter(self) -> impl DoubleEndedIterator<Item = Release> {
        Release::all().filter(move |release| self.has(*release))
    }

    /// Returns the release of the set that is nearest to the default one; of two, the newer.
    pub fn nearest(self) -> Option<Release> {
        let distance = |release: &Release| release.0.abs_diff(Release::DEFAULT.0);
        self.iter().rev().min_by_key(distance)
    }
}

impl Default for Releases {
    fn default() -> Releases {
        Releases::ALL
    }
}

/// `0.8`, `0.6 to 0.8`
impl fmt::Display for Releases {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.iter().next(), self.iter().next_back()) {
            (Some(first), Some(last)) if first == last => write!(f, "{first}"),
            (Some(first), Some(last)) => write!(f, "{first} to {last}"),
            _ => f.write_str("no release"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_those_of_their_bounds() {
        for first in Release::all() {
            for last in Release::all().filter(|last| first <= *last) {
                let set = Releases::between(first.0, last.0);
                for release in Release::all() {
                    assert_eq!(set.has(release), first <= release && release <= last);
                }
                assert_eq!(set.iter().count(), usize::from(last.0 - first.0) + 1);
            }
        }
        assert_eq!(Releases::between(6, 8).to_string(), "0.6 to 0.8");
        assert_eq!(Releases::until(8).nearest(), Some(Release::minor(8)));
        assert_eq!(Releases::ALL.nearest(), Some(Release::DEFAULT));
    }

    #[test]
    fn releases_are_parsed() {
        for text in ["0.8", "v0.8", "0.8.0", "0.8.dev12"] {
            assert_eq!(Release::parse(text), Some(Release::minor(8)), "{text}");
        }
        for text in ["", "0.4", "0.20", "1.8", "0", "0.x", "8", "0.255", "0.256"] {
            assert_eq!(Release::parse(text), None, "{text}");
        }
    }
}
