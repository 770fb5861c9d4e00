//! Actions that change the whole file, and the fixes of several diagnostics at once.

use semantics::{Code, Diagnostic, Fix, check_file};
use syntax::{Node, SyntaxKind, TextRange, TextSize, format::difference};

use super::{Context, check, unused};
use crate::edit::Edits;

fn has_version(context: &Context<'_>) -> bool {
    let parse = context.file.parse(context.db);
    Node::root(&parse.green).child(SyntaxKind::VERSION).is_some()
}

pub(super) fn offer_version(context: &Context<'_>) -> Option<String> {
    let parse = context.file.parse(context.db);
    let has_items = Node::root(&parse.green).children().next().is_some();
    (has_items && !has_version(context)).then(|| "Add the version header".into())
}

pub(super) fn version(context: &Context<'_>) -> Result<Edits, String> {
    if has_version(context) {
        return Err("the file already has a version header".into());
    }
    Ok(vec![(TextRange::empty(TextSize::new(0)), "#[version = \"0.0.5\"]\n".into())])
}

pub(super) fn offer_tvm(context: &Context<'_>) -> Option<String> {
    let found = check_file(context.db, context.file);
    let any =
        found.iter().any(|diagnostic| diagnostic.code.is_tvm() && !diagnostic.fixes.is_empty());
    any.then(|| "Convert the file to TVM's text format".into())
}

pub(super) fn tvm(context: &Context<'_>) -> Result<Edits, String> {
    let converted = semantics::to_tvm(context.text());
    let edits = difference(context.text(), &converted.text);
    if edits.is_empty() {
        return Err(match converted.left.first() {
            Some(left) => format!("nothing can be converted: {}", left.message),
            None => "the file is already in TVM's text format".into(),
        });
    }
    Ok(edits)
}

/// Returns the fix of a diagnostic that can be applied unattended: it is unambiguous and keeps the
/// meaning. Those of unused bindings are in [`unused::reported`]. A guessed name (`did you mean`) is left to the user.
fn safe_fix(diagnostic: &Diagnostic) -> Option<&Fix> {
    let safe = diagnostic.code.is_tvm()
        || matches!(
            diagnostic.code,
            Code::StaleTypeComment | Code::PastedText | Code::PythonCall | Code::AttributeType
        )
        || diagnostic.unnecessary;
    diagnostic.fixes.first().filter(|_| safe)
}

pub(super) fn offer_fix_all(context: &Context<'_>) -> Option<String> {
    let found = check_file(context.db, context.file);
    let any = found.iter().any(|diagnostic| safe_fix(diagnostic).is_some());
    (any || !unused::reported(context, &found).is_empty())
        .then(|| "Fix all auto-fixable problems".into())
}

pub(super) fn fix_all(context: &Context<'_>) -> Result<Edits, String> {
    let found = check_file(context.db, context.file);
    // The other fixes are those of the clean text.
    let is_pasted = |diagnostic: &&Diagnostic| diagnostic.code == Code::PastedText;
    let clean = found.iter().filter(is_pasted).find_map(safe_fix);
    let fixes: Vec<&Fix> = match clean {
        Some(clean) => vec![clean],
        None => found.iter().filter_map(safe_fix).collect(),
    };
    let unused = if clean.is_some() { Vec::new() } else { unused::reported(context, &found) };
    let unused: Vec<&Fix> = unused.iter().collect();
    // A removed binding may have determined a type.
    let after =
        check::fixed(context, &[(&fixes, check::Level::Errors), (&unused, check::Level::Types)]);
    let edits = difference(context.text(), &after);
    if edits.is_empty() { Err("there is nothing to fix".into()) } else { Ok(edits) }
}

/// Returns the fixes of all diagnostics that have the code of the one at the cursor.
fn same_fixes<'d>(context: &Context<'_>, found: &'d [Diagnostic]) -> Vec<&'d Fix> {
    let touches = |diagnostic: &&Diagnostic| diagnostic.range.intersect(context.range).is_some();
    let here = found.iter().filter(touches).find(|diagnostic| safe_fix(diagnostic).is_some());
    let Some(code) = here.map(|diagnostic| diagnostic.code) else { return Vec::new() };
    found.iter().filter(|diagnostic| diagnostic.code == code).filter_map(safe_fix).collect()
}

pub(super) fn offer_fix_code(context: &Context<'_>) -> Option<String> {
    let found = check_file(context.db, context.file);
    let count = same_fixes(context, &found).len();
    (count > 1).then(|| format!("Fix all {count} problems of this kind"))
}

pub(super) fn fix_code(context: &Context<'_>) -> Result<Edits, String> {
    let found = check_file(context.db, context.file);
    let after = semantics::apply(context.text(), same_fixes(context, &found));
    let edits = difference(context.text(), &after);
    if edits.is_empty() { Err("there is nothing to fix here".into()) } else { Ok(edits) }
}
