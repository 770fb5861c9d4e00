//! Evidence of different releases in one module, such as a function of a paper that was pasted into a dump of TVM 0.14.

use syntax::TextRange;
use types::Releases;

use crate::{
    body::Expr,
    db::{Db, SourceFile},
    diagnostic::{Code, Diagnostic},
    item::{DefKind, Module},
    queries,
    view::View,
};

/// Returns the hint about a module of which no release wrote all parts.
pub(super) fn hint(db: &dyn Db, file: SourceFile, module: Module<'_>) -> Option<Diagnostic> {
    let evidence = evidence(db, file, module);
    let pairs = (1..evidence.len()).flat_map(|later| (0..later).map(move |first| (first, later)));
    let mut pairs = pairs.map(|(first, later)| (evidence[first], evidence[later]));
    let (a, b) = pairs.find(|(a, b)| a.1.and(b.1).is_empty())?;
    let message = format!("printed by different releases: TVM {} wrote this, but not all", a.1);
    let hint = Diagnostic::new(Code::TvmOtherVersion, a.0, message);
    let hint = hint.related(b.0, format!("TVM {} wrote this", b.1));
    Some(hint.help("each call has the meaning of the releases that write it, else that of 0.14"))
}

/// Returns the places that not every release writes, the first one for each set of releases: as many as the table
/// has rows of former notation and calls.
fn evidence(db: &dyn Db, file: SourceFile, module: Module<'_>) -> Vec<(TextRange, Releases)> {
    let mut found: Vec<(TextRange, Releases)> = Vec::new();
    let mut add = |range: &dyn Fn() -> TextRange, releases: Releases| {
        if releases != Releases::ALL && !found.iter().any(|(_, known)| *known == releases) {
            found.push((range(), releases));
        }
    };
    for error in &file.parse(db).errors {
        add(&|| error.range, queries::releases_of_notation(&error.kind));
    }
    for &def in module.items(db) {
        let release = || queries::metadata(db, module)?.release();
        if def.kind(db) == DefKind::Metadata
            && let Some(release) = release()
        {
            add(&|| TextRange::empty(def.range(db).start()), Releases::only(release));
        }
        let Some(view) = View::new(db, def) else { continue };
        for (number, unit) in view.body.units() {
            if unit.releases == Releases::ALL {
                continue;
            }
            for (expr_ref, expr, _) in view.exprs(number) {
                let Expr::Call(call) = expr else { continue };
                add(&|| view.callee_range(expr_ref), unit.call(*call).releases);
            }
        }
    }
    found
}
