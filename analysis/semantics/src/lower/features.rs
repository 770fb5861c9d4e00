//! The features of a unit.

use operators::Effect;
use types::Release;

use crate::{
    body::{BinderKind, Callee, Expr, Literal, Unit, has_meta},
    features::UnitFeatures,
};

/// Returns the features of a unit.
pub(super) fn features_of(unit: &Unit) -> UnitFeatures {
    let mut features = UnitFeatures::default();
    for expr in &unit.exprs {
        let feature = match expr {
            Expr::Literal(Literal::Int { dtype: None, .. }) => UnitFeatures::BARE_INT,
            Expr::Global(_) => UnitFeatures::GLOBAL,
            Expr::Name(_) => UnitFeatures::CONSTRUCTOR.or(UnitFeatures::OTHER_NAME),
            Expr::Meta(_) => UnitFeatures::META,
            Expr::RefNew(_) | Expr::RefRead(_) | Expr::RefWrite(..) => UnitFeatures::EFFECT,
            _ => continue,
        };
        features.add(feature, true);
    }
    for call in &unit.calls {
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
                features.add(UnitFeatures::CONSTRUCTOR.or(UnitFeatures::EFFECT), true);
            }
            Callee::Expr(_) => features.add(UnitFeatures::EFFECT, true),
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
    features
}
