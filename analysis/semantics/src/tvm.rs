//! Compatibility with TVM: reports valid code that TVM rejects or reads differently, with fixes.
//!
//! [`check`] covers the notation of the manual, text that TVM prints and cannot read
//! back, and code that TVM's parser or type inference interprets differently:
//!
//! ```text
//! def @id<t : Type>(%x: t) { %x }   // TVM: `def @id[t](%x: t)`
//! ```
//!
//! A fix changes a few tokens and preserves the meaning. Fixes of different findings compose:
//! overlapping fixes are applied in separate rounds, which is how [`to_tvm`] converts a whole file.

mod annotate;
mod convert;
mod literals;
mod mixed;
mod module;
mod names;
mod notation;
mod params;
mod pasted;
mod results;
mod rewrite;
pub(crate) mod rules;
mod scopes;
mod types;
mod uses;

use rustc_hash::FxHashMap;

use crate::{
    check::{allows::AllowedRange, error_ranges::ErrorRanges},
    db::{Db, SourceFile},
    diagnostic::{Code, Diagnostic, Edit, Fix, Severity, insert, parenthesise},
    item::{Def, modules},
    queries,
    view::View,
};
pub use convert::{Conversion, apply, to_tvm};
pub(crate) use literals::suffix_of;

/// Adds what TVM rejects or reads differently in a file to `found`, where findings that only TVM
/// demands become errors if its rules hold. `errors` are the syntax errors of the file, `allowed` the
/// ranges in which comments allow findings, and `of_defs` the findings of the definitions of each module.
pub(crate) fn check(
    db: &dyn Db,
    file: SourceFile,
    errors: &ErrorRanges,
    allowed: &[AllowedRange],
    of_defs: Vec<Vec<MergedDiagnostic>>,
    found: &mut Vec<Diagnostic>,
) {
    // Notation is reported as a syntax error that only TVM has, even inside another one.
    let no_errors = ErrorRanges::default();
    let mut findings = MergedDiagnostics::new(&no_errors, allowed);
    notation::check(db, file, &mut findings);
    findings.finish(found);
    let mut findings = MergedDiagnostics::new(errors, allowed);
    for (&module, of_defs) in modules(db, file).iter().zip(of_defs) {
        findings.extend(of_defs);
        module::check(db, module, &mut findings);
        scopes::check_graph_variables(db, module, &mut findings);
    }
    findings.finish(found);
    if rules::hold(db) {
        // TVM reads no text that was damaged.
        let of_tvm = |code: Code| code.is_tvm() || code == Code::PastedText;
        for diagnostic in found.iter_mut().filter(|diagnostic| of_tvm(diagnostic.code)) {
            diagnostic.severity = Severity::Error;
        }
    } else {
        join_other_release(db, file, found);
    }
}

/// The notation that old releases print, too: where the release is known, it needs no hints of its own.
const OF_OLD_RELEASES: &[Code] = &[
    Code::TvmOtherVersion,
    Code::TvmSemicolon,
    Code::TvmHashComment,
    Code::TvmLiteralType,
    Code::TvmBareFloat,
];

/// Makes one hint of those about a module that another release printed.
fn join_other_release(db: &dyn Db, file: SourceFile, found: &mut Vec<Diagnostic>) {
    let [module] = modules(db, file)[..] else { return };
    if queries::possible_releases(db, module).is_empty()
        && let Some(hint) = mixed::hint(db, file, module)
    {
        found.retain(|diagnostic| !OF_OLD_RELEASES.contains(&diagnostic.code));
        return found.push(hint);
    }
    let Some(releases) = queries::other_releases(db, file) else { return };
    let mut hint = match found.iter().position(|it| it.code == Code::TvmOtherVersion) {
        Some(first) => found.remove(first),
        None => {
            let is_code = |def: &&Def<'_>| def.kind(db).has_body();
            let Some(&def) = module.items(db).iter().find(is_code) else { return };
            let at = def.name_range(db) + def.start(db);
            let message = "its calls have the types in the comments in these releases only";
            Diagnostic::new(Code::TvmOtherVersion, at, message)
        }
    };
    hint.message = format!("printed by TVM {releases}, not by 0.14: {}", hint.message);
    let joined = found.extract_if(.., |it| OF_OLD_RELEASES.contains(&it.code));
    joined.for_each(|joined| join_fixes(&mut hint, joined.fixes));
    // Without the evidence of its release, each call must have the same meaning by itself.
    let known = hint.fixes.first_mut().map(|fix| std::mem::take(&mut fix.edits));
    hint.fixes.clear();
    match rewrite::calls(db, module, queries::release(db, module)) {
        None => {
            hint.help = Some(
                "some of its calls mean something else in 0.14 and have no form there".to_owned(),
            );
        }
        Some(calls) => {
            let edits: Vec<Edit> = known.into_iter().flatten().chain(calls).collect();
            if !edits.is_empty() {
                hint.add_fix("Rewrite the module for TVM 0.14", edits);
            }
        }
    }
    hint.fixes.iter_mut().for_each(normalize);
    found.push(hint);
}

/// Returns what TVM rejects or reads differently in a definition. Ranges are those of the view.
pub(crate) fn check_def(
    view: &View<'_>,
    errors: &ErrorRanges,
    allowed: &[AllowedRange],
) -> Vec<MergedDiagnostic> {
    let mut findings = MergedDiagnostics::new(errors, allowed);
    annotate::check(view, &mut findings);
    literals::check(view, &mut findings);
    scopes::check_locals(view, &mut findings);
    module::check_def(view, &mut findings);
    findings.found
}

/// A finding of the group.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct MergedDiagnostic {
    pub(crate) diagnostic: Diagnostic,
    /// The number of places that it was found in.
    count: usize,
    /// Set if those of a file are merged.
    is_folded: bool,
}

/// The findings of the group, with repeated ones merged.
struct MergedDiagnostics<'b> {
    /// The syntax errors: findings that touch them are dropped.
    errors: &'b ErrorRanges,
    /// The ranges in which findings are allowed: such a finding is merged into no other one.
    allowed: &'b [AllowedRange],
    found: Vec<MergedDiagnostic>,
    folded: FxHashMap<Code, usize>,
}

impl<'b> MergedDiagnostics<'b> {
    fn new(errors: &'b ErrorRanges, allowed: &'b [AllowedRange]) -> MergedDiagnostics<'b> {
        MergedDiagnostics { errors, allowed, found: Vec::new(), folded: FxHashMap::default() }
    }

    /// Adds a single finding.
    fn add(&mut self, diagnostic: Diagnostic) {
        if !self.errors.touches(diagnostic.range) {
            self.found.push(MergedDiagnostic { diagnostic, count: 1, is_folded: false });
        }
    }

    /// Adds a finding that a file may repeat hundreds of times: repetitions are merged into the
    /// first one, and its fix covers all of them.
    fn fold(&mut self, diagnostic: Diagnostic) {
        if !self.errors.touches(diagnostic.range) {
            self.merge(MergedDiagnostic { diagnostic, count: 1, is_folded: true });
        }
    }

    fn merge(&mut self, finding: MergedDiagnostic) {
        let (code, at) = (finding.diagnostic.code, finding.diagnostic.range.start());
        if self.allowed.iter().any(|(allowed, range)| *allowed == code && range.contains(at)) {
            self.found.push(finding);
            return;
        }
        let Some(&at) = self.folded.get(&code) else {
            self.folded.insert(code, self.found.len());
            self.found.push(finding);
            return;
        };
        let MergedDiagnostic { diagnostic: first, count, .. } = &mut self.found[at];
        *count += finding.count;
        join_fixes(first, finding.diagnostic.fixes);
        first.help = first.help.take().or(finding.diagnostic.help);
    }

    /// Adds findings of definitions.
    fn extend(&mut self, findings: Vec<MergedDiagnostic>) {
        for finding in findings {
            match finding.is_folded {
                true => self.merge(finding),
                false => self.found.push(finding),
            }
        }
    }

    /// Appends all findings to `found`.
    fn finish(self, found: &mut Vec<Diagnostic>) {
        for MergedDiagnostic { mut diagnostic, count, .. } in self.found {
            if count > 1 {
                let more = count - 1;
                let places = if more == 1 { "place" } else { "places" };
                diagnostic.message =
                    format!("{} (and in {more} more {places})", diagnostic.message);
            }
            diagnostic.fixes.iter_mut().for_each(normalize);
            found.push(diagnostic);
        }
    }
}

/// Adds the edits of fixes to the first fix of a diagnostic.
fn join_fixes(diagnostic: &mut Diagnostic, fixes: Vec<Fix>) {
    for fix in fixes {
        match diagnostic.fixes.first_mut() {
            Some(known) => known.edits.extend(fix.edits),
            None => diagnostic.fixes.push(fix),
        }
    }
}

/// Sorts the edits of a fix and merges insertions at the same offset.
///
/// A later edit encloses an earlier one: in `%a && %b || %c` the call of `logical_or` begins at the
/// same offset as that of `logical_and`, and contains it.
fn normalize(fix: &mut Fix) {
    // Deferred edits are in order.
    if fix.edits.is_deferred() {
        return;
    }
    fix.edits.reverse();
    fix.edits.sort_by_key(|(range, _)| (range.start(), range.end()));
    let mut normalized: Vec<Edit> = Vec::with_capacity(fix.edits.len());
    for (range, text) in fix.edits.drain(..) {
        match normalized.last_mut() {
            Some((last, known)) if *last == range && range.is_empty() => known.push_str(&text),
            Some((last, known)) if *last == range && *known == text => {}
            _ => normalized.push((range, text)),
        }
    }
    fix.edits = normalized.into();
}

#[cfg(test)]
mod tests {
    use syntax::TextRange;

    use super::*;

    #[test]
    fn insertions_at_the_same_offset_are_merged() {
        let at = |start: u32, end: u32| TextRange::new(start.into(), end.into());
        let edits =
            [(at(4, 4), ")"), (at(0, 0), "b("), (at(0, 2), "x"), (at(4, 4), ")"), (at(0, 0), "a(")];
        let edits = edits.into_iter().map(|(range, text)| (range, text.to_owned())).collect();
        let mut fix = Fix { title: String::new(), edits };
        normalize(&mut fix);
        let texts: Vec<&str> = fix.edits.iter().map(|(_, text)| text.as_str()).collect();
        assert_eq!(texts, ["a(b(", "x", "))"]);
    }
}
