//! The features of a unit, and whether it is one value.

use operators::Effect;
use types::Release;

use crate::{
    body::{BinderKind, Callee, Expr, Literal, Unit, UnitKind, has_meta},
    features::UnitFeatures,
};

/// Returns the features of a unit, and [`Unit::is_one_value`].
pub(super) fn features_of(unit: &Unit) -> (UnitFeatures, bool) {
    let mut features = UnitFeatures::default();
    // The operands of calls, tuples and projections, and the number of other expressions with operands.
    let (mut operands, mut others) = (0, 0);
    for expr in &unit.exprs {
        let feature = match expr {
            Expr::Free(_) | Expr::Call(_) => continue,
            Expr::Bind { .. } => {
                others += 1;
                continue;
            }
            Expr::Tuple(fields) => {
                operands += fields.len();
                continue;
            }
            Expr::Proj { .. } => {
                operands += 1;
                continue;
            }
            Expr::Literal(Literal::Int { dtype: None, .. }) => UnitFeatures::BARE_INT,
            Expr::Literal(_) => continue,
            _ => {
                others += 1;
                other_feature(expr)
            }
        };
        features.add(feature, true);
    }
    for call in &unit.calls {
        operands += call.args.len();
        match &call.callee {
            Callee::Operator(operator) => {
                features.add(UnitFeatures::OTHER_NAME, call.alias);
                let is_other = !call.releases.has(Release::DEFAULT)
                    || operators::is_other_version(operator)
                    || operator.unreadable_attrs().is_some() && !call.written.is_empty();
                features.add(UnitFeatures::OTHER_RELEASE, is_other);
                features.add(UnitFeatures::DOMAIN, !operator.domains.is_empty());
                features.add(UnitFeatures::EFFECT, operator.effect != Effect::None);
            }
            Callee::Name(_) => {
                features.add(UnitFeatures::CONSTRUCTOR | UnitFeatures::EFFECT, true);
            }
            Callee::Expr(_) => {
                operands += 1;
                features.add(UnitFeatures::EFFECT, true);
            }
        }
        let meta = call.meta_attrs.is_some() || call.written.iter().any(|a| has_meta(&a.value));
        features.add(UnitFeatures::META, meta);
    }
    features.add(UnitFeatures::CONSTRUCTOR, !unit.matches.is_empty());
    features.add(UnitFeatures::TYPE_USE, !unit.type_uses.is_empty());
    features.add(UnitFeatures::FUNCTION, !unit.fns.is_empty());
    let free = unit.binders.iter().any(|binder| binder.kind == BinderKind::Free);
    features.add(UnitFeatures::FREE_VARIABLE, free);
    features.add(UnitFeatures::PROBLEM, !unit.problems.is_empty());
    let has_inner = unit.binders.len() > usize::from(unit.binds.is_some());
    let unused = has_inner && unit.kind != UnitKind::Header && !unit.unused_inside().is_empty();
    features.add(UnitFeatures::UNUSED_INSIDE, unused);
    // In a tree, each expression except the last is an operand of another one.
    let is_tree = others == 1 && operands + 2 == unit.exprs.len();
    (features, is_tree && binds_last(unit))
}

/// Returns true if a unit ends by binding the expression before to its only variable, without a type.
fn binds_last(unit: &Unit) -> bool {
    let [binder] = &unit.binders[..] else { return false };
    let [value @ .., Expr::Bind { value: last, .. }] = &unit.exprs[..] else { return false };
    unit.binds.is_some() && binder.annotation.is_none() && last.index() + 1 == value.len()
}

/// Returns the feature of an expression that is neither a variable of another unit, nor a literal, nor a part of a tree.
fn other_feature(expr: &Expr) -> UnitFeatures {
    match expr {
        Expr::Global(_) => UnitFeatures::GLOBAL,
        Expr::Name(_) => UnitFeatures::CONSTRUCTOR | UnitFeatures::OTHER_NAME,
        Expr::Meta(_) => UnitFeatures::META,
        Expr::RefNew(_) | Expr::RefRead(_) | Expr::RefWrite(..) => UnitFeatures::EFFECT,
        _ => UnitFeatures::default(),
    }
}
