//! Functions whose result types TVM cannot infer.

use rustc_hash::FxHashSet;

use crate::{
    body::{Callee, Expr, Name, Unit},
    db::Db,
    infer::{Finding, FindingKind, FindingSubject},
    item::Module,
    queries,
};

/// The functions of a module whose result types TVM cannot infer: they are called, their headers
/// have no result, and no call determines it.
#[salsa::tracked(returns(ref))]
pub(super) fn unknown_results<'db>(db: &'db dyn Db, module: Module<'db>) -> FxHashSet<Name> {
    let mut found = FxHashSet::default();
    for &def in module.items(db) {
        if !def.kind(db).has_body() || !queries::uses_open_globals(db, def) {
            continue;
        }
        let (body, inference) = (queries::body(db, def), queries::tvm_inference(db, def));
        for (unit, types) in body.units.iter().zip(&inference.units) {
            for finding in &types.findings {
                if let Some(name) = called_by(unit, finding)
                    && queries::is_open_global(db, module, name)
                {
                    found.insert(name.clone());
                }
            }
        }
    }
    found
}

/// Returns the global whose call TVM infers no type for.
pub(super) fn called_by<'u>(unit: &'u Unit, finding: &Finding) -> Option<&'u Name> {
    let Finding { kind: FindingKind::Open, subject: FindingSubject::Expr(expr), .. } = *finding
    else {
        return None;
    };
    let Expr::Call(call) = unit.expr(expr) else { return None };
    let Callee::Expr(callee) = unit.call(*call).callee else { return None };
    match unit.expr(callee) {
        Expr::Global(name) => Some(name),
        _ => None,
    }
}
