//! Attributes, and their operators, that other releases of TVM save in a different form.
//!
//! The files hold every field of a class of attributes, whether it has its default or not. A text holds
//! those that differ from the default of the release that printed it: `nn.conv2d_transpose(%x, %w)` of
//! TVM 0.7 is `kernel_layout="OIHW"`, that of 0.14 is `"IOHW"`. So that the text of a module of TVM 0.6
//! or 0.7 means what the module means, it has the attributes and the defaults of that release, and names
//! the release ([`writes_release`]).
//!
//! `tables/former.txt` has the classes whose fields or defaults are not those of `tables/kinds.txt`: the
//! releases, then the rest in the form of the latter. From 0.8 on only the fields are of the release, as
//! the text has the defaults of 0.14, which is how TVM 0.14 prints what it loaded.
//! `tables/registered.txt` has the operators that were registered with another class than in 0.14, or
//! with none (`-`): their attributes were printed as an entry of the metadata section.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;
use types::{Release, Releases};

use crate::kinds::{self, Field};

/// The rows of a table by name.
type Table<T> = FxHashMap<&'static str, Vec<(Releases, T)>>;

static FORMER: LazyLock<Table<Vec<Field>>> = LazyLock::new(|| {
    table(include_str!("tables/former.txt"), |words| words.filter_map(kinds::field).collect())
});

static REGISTERED: LazyLock<Table<&'static str>> = LazyLock::new(|| {
    table(include_str!("tables/registered.txt"), |words| words.next().unwrap_or_default())
});

/// Reads a table: a line has the releases, a name, and words.
fn table<T>(
    text: &'static str,
    row: impl Fn(&mut dyn Iterator<Item = &'static str>) -> T,
) -> Table<T> {
    let mut table: Table<T> = FxHashMap::default();
    for line in text.lines() {
        let mut words = line.split(' ');
        let releases = words.next().and_then(releases);
        if let (Some(releases), Some(name)) = (releases, words.next()) {
            table.entry(name).or_default().push((releases, row(&mut words)));
        }
    }
    table
}

/// Parses `7` or `6-7`.
fn releases(word: &str) -> Option<Releases> {
    let (first, last) = word.split_once('-').unwrap_or((word, word));
    let release = |minor: &str| Release::parse(&format!("0.{minor}"));
    let (first, last) = (release(first)?, release(last)?);
    Some(
        Release::all()
            .filter(|it| (first..=last).contains(it))
            .fold(Releases::NONE, |all, it| all.or(Releases::only(it))),
    )
}

fn row<'t, T>(table: &'t Table<T>, name: &str, release: Release) -> Option<&'t T> {
    let rows = table.get(name)?;
    rows.iter().find(|(releases, _)| releases.has(release)).map(|(_, row)| row)
}

/// Returns true if the text of a module has the defaults of the release that saved it, so that it must
/// name the release.
pub(crate) fn writes_release(release: Release) -> bool {
    release < Release::minor(8)
}

/// Returns true if the text of a module has a literal. Those of 16 bits, `7i16` and `0.5f16`, are entries
/// of the metadata section where the text is that of its release.
pub(crate) fn has_literal(literal: &str, release: Release) -> bool {
    !writes_release(release) || !literal.ends_with("i16") && !literal.ends_with("f16")
}

/// Returns the name that a text of a release has for the entries of a kind: a size `meta[tir.Var][0]` was
/// `meta[Variable][0]` before 0.7.
pub(crate) fn key(kind: &str, release: Release) -> &str {
    match kind.strip_prefix("tir.") {
        Some("Var") if release < Release::minor(7) => "Variable",
        Some(name) if release < Release::minor(7) => name,
        _ => kind,
    }
}

/// Returns the fields of a known kind of a release.
pub(crate) fn fields(kind: &str, release: Release) -> Option<&'static [Field]> {
    row(&FORMER, kind, release).map(Vec::as_slice).or_else(|| kinds::fields(kind))
}

/// Returns true if the text of a call has its attributes, of a kind, by name. They are an entry of the
/// metadata section if the operator is not registered with this kind. Operators that are unknown or that
/// 0.14 does not have take any.
pub(crate) fn takes(operator: &str, kind: &str, release: Release) -> bool {
    if let Some(registered) = row(&REGISTERED, operator, release) {
        return *registered == kind;
    }
    let takes = |operator: &operators::Operator| {
        operator.registered_attrs().is_some_and(|registered| registered.key == kind)
    };
    operators::other_version(operator).is_some() || operators::find(operator).is_none_or(takes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operators_take_their_own_attributes() {
        let now = Release::DEFAULT;
        assert!(takes("nn.conv2d", "relay.attrs.Conv2DAttrs", now));
        assert!(!takes("nn.conv2d", "relay.attrs.Conv1DAttrs", now));
        assert!(!takes("add", "DictAttrs", now));
        let before = Release::minor(7);
        assert!(takes("argmax", "relay.attrs.ReduceAttrs", before));
        assert!(!takes("argmax", "relay.attrs.ReduceAttrs", now));
        assert!(!takes("device_copy", "relay.attrs.DeviceCopyAttrs", before));
        assert!(takes("device_copy", "relay.attrs.DeviceCopyAttrs", now));
        assert!(takes("image.resize", "relay.attrs.ResizeAttrs", before));
    }

    /// Every line has its releases and is of one that is not the default.
    #[test]
    fn tables_are_complete() {
        let lines = |text: &'static str| text.lines().count();
        let rows: usize = FORMER.values().map(Vec::len).sum();
        assert_eq!(rows, lines(include_str!("tables/former.txt")));
        let rows: usize = REGISTERED.values().map(Vec::len).sum();
        assert_eq!(rows, lines(include_str!("tables/registered.txt")));
        let kinds = FORMER.iter().flat_map(|(kind, rows)| rows.iter().map(move |row| (kind, row)));
        for (kind, (releases, fields)) in kinds {
            assert!(!releases.has(Release::DEFAULT), "{kind}");
            assert!(kind.starts_with("relay.attrs."), "{kind}");
            // A default of the text is of the type of the field.
            assert!(fields.iter().all(|field| field.default != Some("")), "{kind}");
        }
    }

    /// The saved fields and their defaults are the attributes that the operator table lists for the release:
    /// an attribute that 0.14 removed is a field, and an attribute that the release lacks is not.
    #[test]
    fn classes_agree_with_the_table_of_operators() {
        let mut attributes = 0;
        for operator in operators::all() {
            for form in operator.forms {
                let Some(schema) = form.operator.unwrap_or(operator).schema else { continue };
                for release in [Release::minor(6), Release::minor(7)] {
                    if !form.releases.has(release) || !operator.releases.has(release) {
                        continue;
                    }
                    let kind = row(&REGISTERED, operator.name, release).copied();
                    // Their attributes are entries of the metadata section, of any class.
                    if kind == Some("-") {
                        continue;
                    }
                    let kind = kind.unwrap_or(schema.key);
                    let fields = fields(kind, release);
                    let fields = fields.unwrap_or_else(|| panic!("{release}: {kind}"));
                    let without = schema.fields.iter().filter(|field| !field.releases.has(release));
                    let without = without.map(|field| field.name);
                    let find = |name: &str| fields.iter().find(|field| field.name == name);
                    for attr in form.attrs {
                        let name = attr.field.name;
                        assert!(find(name).is_some(), "{release}: {}.{name}", operator.name);
                        attributes += 1;
                    }
                    for name in without.clone() {
                        // Without a value it has its default, which is not written.
                        let is_silent = |field: &Field| field.default.is_some();
                        let at = || format!("{release}: {}.{name}", operator.name);
                        assert!(find(name).is_none_or(is_silent), "{}", at());
                    }
                    // `nn.batch_matmul` has no attributes, and means what they say in 0.14.
                    let is_saved =
                        |(name, _): &&(&str, _)| !without.clone().any(|lacking| lacking == *name);
                    for (name, default) in form.defaults.iter().filter(is_saved) {
                        let at = format!("{release}: {}.{name}: {default:?}", operator.name);
                        let field = find(name).unwrap_or_else(|| panic!("{at}"));
                        let text = field.default.unwrap_or_else(|| panic!("{at}"));
                        assert!(format!("{default:?}").contains(text.trim_matches('"')), "{at}");
                        attributes += 1;
                    }
                }
            }
        }
        assert!(attributes > 20, "{attributes}");
    }
}
