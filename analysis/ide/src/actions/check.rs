//! The check that an action preserves the meaning of the text.

use std::collections::BTreeMap;

use semantics::{Code, Database, Db, Fix, Rules, Setup, Severity, SourceFile, check_file};
use syntax::{ParseLimits, TextRange};

use super::Context;
use crate::{edit::apply_all, lookups::views};

/// The properties that an action has to preserve.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Level {
    /// No new errors.
    Errors,
    /// No new errors, and every definition keeps its type. New TVM findings are allowed, because
    /// TVM's checks reach further when more types are written.
    Written,
    /// No new errors or TVM findings, and every definition keeps its type.
    Types,
    /// As `Types`, and no code of an error disappears, such as that of an annotation that the value
    /// contradicts: a refactoring must not hide an error.
    Meaning,
}

/// Checks the text after applying sorted edits.
///
/// # Errors
/// Returns the property that is not preserved, as a text for the user.
pub(super) fn check(
    context: &Context<'_>,
    edits: &[(TextRange, String)],
    level: Level,
) -> Result<(), String> {
    if edits.windows(2).any(|pair| pair[0].0.end() > pair[1].0.start()) {
        return Err("the edits of this action overlap".into());
    }
    let after = apply_all(context.text(), edits);
    let (scratch, file) = scratch(context, &after);
    compare((context.db, context.file), (&scratch, file), level)
}

/// Checks a text against the one before.
fn compare(
    (old_db, old): (&dyn Db, SourceFile),
    (new_db, new): (&dyn Db, SourceFile),
    level: Level,
) -> Result<(), String> {
    let (before, now) = (errors(old_db, old), errors(new_db, new));
    for (code, (count, message)) in &now {
        if level == Level::Written && code.is_tvm() {
            continue;
        }
        if before.get(code).is_none_or(|(there, _)| there < count) {
            return Err(format!("this would introduce an error: {message}"));
        }
    }
    if level == Level::Meaning {
        for (code, (_, message)) in &before {
            if !now.contains_key(code) && !code.is_tvm() {
                return Err(format!("this would hide an error; fix it first: {message}"));
            }
        }
    }
    if level != Level::Errors {
        let now = types(new_db, new);
        for (name, ty) in types(old_db, old) {
            if let Some(other) = now.get(&name)
                && *other != ty
            {
                return Err(format!(
                    "this would give `{}` the type `{other}` instead of `{ty}`",
                    name.1
                ));
            }
        }
    }
    Ok(())
}

/// Returns a database that holds a text, with the operators of the project.
fn scratch(context: &Context<'_>, text: &str) -> (Database, SourceFile) {
    let mut scratch = Database::new();
    scratch.set_up(&Setup { rules: Rules::General, ..Setup::of(context.db) });
    let file = scratch.add_file(text, ParseLimits::default());
    (scratch, file)
}

/// The largest number of texts that are checked to find the fixes that break something.
const MAX_TRIALS: usize = 64;

/// Returns the text after those of several groups of fixes that preserve what their group has to: a
/// group after the ones before it. A fix that fails its check does not keep the others from being
/// applied: they are tried together, and where that fails by halves.
pub(super) fn fixed(context: &Context<'_>, groups: &[(&[&Fix], Level)]) -> String {
    let mut accepted: Vec<&Fix> = Vec::new();
    let mut text = context.text().to_owned();
    let mut trials = 0..MAX_TRIALS;
    for &(fixes, level) in groups {
        let before = scratch(context, &text);
        let mut left = vec![fixes];
        while let Some(some) = left.pop().filter(|some| !some.is_empty()) {
            let tried: Vec<&Fix> = accepted.iter().chain(some).copied().collect();
            let after = semantics::apply(context.text(), tried.iter().copied());
            if trials.next().is_none() {
                break;
            }
            let (db, file) = scratch(context, &after);
            match compare((&before.0, before.1), (&db, file), level) {
                Ok(()) => (accepted, text) = (tried, after),
                Err(_) if some.len() == 1 => {}
                Err(_) => {
                    let (first, second) = some.split_at(some.len() / 2);
                    left.extend([second, first]);
                }
            }
        }
    }
    text
}

/// Returns the number of errors of each code, and the message of the last one. TVM findings count
/// whatever their severity, so that a text that TVM accepts stays acceptable.
fn errors(db: &dyn Db, file: SourceFile) -> BTreeMap<Code, (usize, String)> {
    let mut found: BTreeMap<Code, (usize, String)> = BTreeMap::new();
    for diagnostic in check_file(db, file).iter() {
        if diagnostic.severity == Severity::Error || diagnostic.code.is_tvm() {
            let entry = found.entry(diagnostic.code).or_default();
            entry.0 += 1;
            entry.1.clone_from(&diagnostic.message);
        }
    }
    found
}

/// Returns the type of each definition by module and name.
fn types(db: &dyn Db, file: SourceFile) -> BTreeMap<(u32, String), String> {
    let typed = views(db, file).filter_map(|view| {
        let ty = view.inference.signature.as_ref()?.to_string();
        Some(((view.def.module(db), view.def.name(db).to_string()), ty))
    });
    typed.collect()
}
