//! The release of TVM that printed a module, from evidence in its text.
//!
//! A call such as `nn.batch_matmul(%a, %b)` means one thing in TVM 0.7 and another one since, and does not say
//! which. Another part of the module often does: `nn.pad(%x, pad_value=0f, …)` or `%r^` are of 0.5 to 0.7. Else
//! the types that were printed around such a call decide.

mod fit;

use std::sync::Arc;

use fit::Evidence;
use operators::CallForm;
use syntax::SyntaxErrorKind;
use types::{Release, Releases};

use super::lowered::{lowered_body, metadata};
use crate::{
    body::{Body, Callee, Unit},
    db::{Db, Rules, Settings, SourceFile},
    item::{Def, Module, module, modules},
    lower::rebind,
};

/// The releases that write the calls of a definition, and those other than 0.14 in which one may have another meaning.
#[salsa::tracked(returns(copy))]
fn releases_of_def<'db>(db: &'db dyn Db, def: Def<'db>) -> (Releases, Releases) {
    let body = lowered_body(db, def);
    (body.summary.releases, body.summary.other)
}

/// The calls of a definition whose meaning depends on the release, with the types around them.
#[salsa::tracked(returns(clone))]
fn evidence_of_def<'db>(db: &'db dyn Db, def: Def<'db>) -> Arc<Vec<Evidence>> {
    Arc::new(fit::evidence(&lowered_body(db, def)))
}

/// The releases in which these calls have these types.
#[salsa::tracked(returns(copy))]
fn fitting_releases<'db>(db: &'db dyn Db, def: Def<'db>) -> Releases {
    fit::fitting(&evidence_of_def(db, def))
}

/// The releases that write a notation.
pub(crate) fn releases_of_notation(kind: &SyntaxErrorKind) -> Releases {
    match kind {
        SyntaxErrorKind::OldVersion | SyntaxErrorKind::OldSection => Releases::until(6),
        SyntaxErrorKind::OldComment | SyntaxErrorKind::OldLiteral | SyntaxErrorKind::OldTuple => {
            Releases::until(5)
        }
        SyntaxErrorKind::DoubleSemicolon => Releases::between(6, 6),
        SyntaxErrorKind::PrintedRead | SyntaxErrorKind::PrintedWrite => Releases::between(6, 7),
        _ => Releases::ALL,
    }
}

/// The releases that write the notation of a file.
#[salsa::tracked(returns(copy))]
fn releases_of_file(db: &dyn Db, file: SourceFile) -> Releases {
    let errors = &file.parse(db).errors;
    errors.iter().fold(Releases::ALL, |all, error| all.and(releases_of_notation(&error.kind)))
}

/// The releases that may have printed a module; empty if its parts disagree.
#[salsa::tracked(returns(copy))]
pub fn possible_releases<'db>(db: &'db dyn Db, module: Module<'db>) -> Releases {
    let file = module.file(db);
    let mut all = Releases::ALL;
    // In a log, each module may be of another release.
    if modules(db, file).len() == 1 {
        all = releases_of_file(db, file);
    }
    if let Some(metadata) = metadata(db, module)
        && let Some(release) = metadata.release()
    {
        all = all.and(Releases::only(release));
    }
    let defs = module.items(db).iter().filter(|def| def.kind(db).has_body());
    let all = defs.clone().fold(all, |all, &def| all.and(releases_of_def(db, def).0));
    if !all.has(Release::DEFAULT) {
        return all;
    }
    let is_open = |def: &&Def<'_>| !releases_of_def(db, **def).1.and(all).is_empty();
    let fitting = defs.filter(is_open).fold(all, |all, &def| all.and(fitting_releases(db, def)));
    // Comments may be stale, notation is not.
    if fitting.is_empty() { all } else { fitting }
}

/// The release whose defaults and meanings calls of a module have: of those that may have printed it, the one
/// nearest to 0.14, or the one that another file says ([`crate::Setup::assumed`]).
#[salsa::tracked(returns(copy))]
pub fn release<'db>(db: &'db dyn Db, module: Module<'db>) -> Release {
    let settings = Settings::get(db);
    if let Rules::Tvm(release) = settings.rules(db) {
        return release;
    }
    let possible = possible_releases(db, module);
    let assumed = settings.assumed(db).filter(|release| possible.has(*release));
    assumed.or_else(|| possible.nearest()).unwrap_or(Release::DEFAULT)
}

/// Returns the releases that may have printed the only module of a file, if 0.14 is none of them.
pub fn other_releases(db: &dyn Db, file: SourceFile) -> Option<Releases> {
    let [module] = modules(db, file)[..] else { return None };
    let releases = possible_releases(db, module);
    (!releases.is_empty() && !releases.has(Release::DEFAULT)).then_some(releases)
}

/// Returns the release that is asked whether it takes a module.
pub fn asked_release(db: &dyn Db) -> Release {
    match Settings::get(db).rules(db) {
        Rules::Tvm(release) => release,
        Rules::General => Release::DEFAULT,
    }
}

/// Returns a body with the meaning that its module's release gives to its calls.
pub(super) fn in_release<'db>(db: &'db dyn Db, def: Def<'db>, body: Arc<Body>) -> Arc<Body> {
    let Some(module) = module(db, def.file(db), def.module(db)) else { return body };
    let release = release(db, module);
    if release == Release::DEFAULT {
        return body;
    }
    let mut units = body.units.clone();
    for (at, unit) in body.units.iter().enumerate().filter(|(_, unit)| unit.other.has(release)) {
        if let Some(other) = unit_in(unit, release) {
            units.set(at, Arc::new(other));
        }
    }
    Arc::new(Body::new(units))
}

/// Returns a unit in which calls have the meaning of a release, if one changes.
fn unit_in(unit: &Unit, release: Release) -> Option<Unit> {
    let mut changed: Option<Unit> = None;
    for (number, call) in unit.calls.iter().enumerate() {
        let Callee::Operator(operator) = &call.callee else { continue };
        let is_open = |form: &&CallForm| form.releases.has(release);
        let Some(form) = operator.forms.iter().find(is_open) else { continue };
        if !call.releases.has(release) || !call.releases.has(Release::DEFAULT) {
            continue;
        }
        let call = &mut changed.get_or_insert_with(|| unit.clone()).calls[number];
        rebind(call, operator, form);
    }
    changed
}
