//! Whether a change keeps what a text means.

use std::collections::BTreeMap;

use semantics::{Database, Db, DefKind, Severity, SourceFile, View, all_defs, check_file, code_of};
use syntax::{ParseLimits, TextRange};

use super::Context;
use crate::edit::apply_all;

/// What has to be as it was.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Level {
    /// There are no errors that were not there.
    Errors,
    /// There are no errors that were not there, and every definition has its type. TVM may find
    /// other things than before: with more types it comes further.
    Written,
    /// There are no errors that were not there, also for TVM, and every definition has its type.
    Types,
    /// That, and no kind of error is gone: the annotation that a value is refused for, say.
    Meaning,
}

/// Looks at the text with the edits.
pub(super) fn check(
    context: &Context<'_>,
    edits: &[(TextRange, String)],
    level: Level,
) -> Result<(), String> {
    if edits.windows(2).any(|pair| pair[0].0.end() > pair[1].0.start()) {
        return Err("two parts of this change touch the same place".into());
    }
    let after = apply_all(context.text(), edits);
    let mut scratch = Database::new();
    scratch.set_prelude(semantics::prelude(context.db).is_some());
    let file = scratch.add_file(&after, ParseLimits::default());
    let (before, now) = (errors(context.db, context.file), errors(&scratch, file));
    for (code, (count, message)) in &now {
        if level == Level::Written && is_compat(code) {
            continue;
        }
        if before.get(code).is_none_or(|(there, _)| there < count) {
            return Err(format!("this cannot be done here: {message}"));
        }
    }
    if level == Level::Meaning {
        for (code, (_, message)) in &before {
            if !now.contains_key(code) && !is_compat(code) {
                return Err(format!("this would hide an error, so mend it first: {message}"));
            }
        }
    }
    if level != Level::Errors {
        let now = types(&scratch, file);
        for (name, ty) in types(context.db, context.file) {
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

/// Returns true if the edits remove at least one error and add none of any code.
pub(super) fn mends(context: &Context<'_>, edits: &[(TextRange, String)]) -> bool {
    let after = apply_all(context.text(), edits);
    let mut scratch = Database::new();
    scratch.set_prelude(semantics::prelude(context.db).is_some());
    let file = scratch.add_file(&after, ParseLimits::default());
    let (before, now) = (errors(context.db, context.file), errors(&scratch, file));
    let count =
        |errors: &BTreeMap<_, (usize, String)>| errors.values().map(|(n, _)| n).sum::<usize>();
    let is_more = |(code, (n, _)): (&&str, &(usize, String))| {
        before.get(code).is_none_or(|(there, _)| there < n)
    };
    count(&now) < count(&before) && !now.iter().any(is_more)
}

/// Returns true for the code of what only TVM does not take.
fn is_compat(code: &str) -> bool {
    code_of(code).is_some_and(|code| code.tvm)
}

/// How many errors of each code a file has, with one of them; what TVM does not take counts, so that
/// a text that TVM reads stays one.
fn errors(db: &dyn Db, file: SourceFile) -> BTreeMap<&'static str, (usize, String)> {
    let mut found: BTreeMap<&'static str, (usize, String)> = BTreeMap::new();
    for diagnostic in check_file(db, file).iter() {
        if diagnostic.severity == Severity::Error || is_compat(diagnostic.code) {
            let entry = found.entry(diagnostic.code).or_default();
            entry.0 += 1;
            entry.1.clone_from(&diagnostic.message);
        }
    }
    found
}

/// The type of each definition by module and name.
fn types(db: &dyn Db, file: SourceFile) -> BTreeMap<(u32, String), String> {
    let defs = all_defs(db, file).filter(|def| matches!(def.kind(db), DefKind::Fn | DefKind::Expr));
    defs.filter_map(|def| {
        let view = View::new(db, def)?;
        let ty = view.inference.signature.as_ref()?.to_string();
        Some(((def.module(db), def.name(db).to_string()), ty))
    })
    .collect()
}
