//! Values whose types cannot be what they have to be, or cannot be inferred, and the limits of inference.

use operators::Operator;
use types::{Constraint, MAX_DEPTH, MAX_WEIGHT, Type, describe};

use super::{Code, DefDiagnostic, Site};
use crate::{
    body::LocalRef,
    check::plural::count,
    infer::{FindingSubject, TypeLimit},
};

/// A function that is called with itself.
pub(super) fn infinite_type(site: &Site<'_, '_, '_>) -> DefDiagnostic {
    site.diagnostic(Code::InfiniteType, "infinite type: this is called with itself")
}

/// A call of a value that is not a function.
pub(super) fn not_callable(site: &Site<'_, '_, '_>, ty: &Type) -> DefDiagnostic {
    site.diagnostic(Code::NotCallable, format!("this is {}, which cannot be called", describe(ty)))
}

/// A projection of a value that is not a tuple, or of a field that does not exist.
pub(super) fn projection(site: &Site<'_, '_, '_>, index: u32, ty: &Type) -> DefDiagnostic {
    let Type::Tuple(fields) = ty else {
        let message = format!("only tuples have fields, but this is {}", describe(ty));
        return site.diagnostic(Code::Projection, message);
    };
    let known = count(fields.len(), "field");
    let message = format!("the tuple has {known}, but no field {index}");
    site.diagnostic(Code::Projection, message).help(match fields.len().checked_sub(1) {
        None => "the empty tuple has no fields".to_owned(),
        Some(last) => format!("its fields are .0 to .{last}"),
    })
}

/// A variable of a type of higher rank.
pub(super) fn higher_rank(site: &Site<'_, '_, '_>, ty: &Type) -> Option<DefDiagnostic> {
    let message = format!(
        "{} has the polymorphic type `{ty}`, but only what `def`, `let` or `%0 =` binds may be \
         polymorphic",
        site.describe()?
    );
    let help = "write the type at which it is used, without type parameters";
    Some(site.diagnostic(Code::HigherRank, message).help(help))
}

/// A variable whose type cannot be inferred.
pub(super) fn missing_annotation(site: &Site<'_, '_, '_>) -> Option<DefDiagnostic> {
    let FindingSubject::Binder(binder) = site.subject else { return None };
    let binding = LocalRef { unit: site.unit, binder };
    let name = &site.view.binder(binding).name;
    let diagnostic = site
        .diagnostic(Code::MissingAnnotation, format!("cannot infer the type of `{name}`"))
        .help(format!("write it: `{name}: Tensor[(…), float32]`"));
    let last = site.view.last_use_of(binding);
    Some(diagnostic.with(last, |diagnostic, last| diagnostic.related(last, "it is used here")))
}

/// An operator without a type relation.
pub(super) fn no_relation(site: &Site<'_, '_, '_>, operator: &Operator) -> DefDiagnostic {
    let message =
        format!("the type relation of `{}` is unknown, so its result has no type", operator.name);
    site.diagnostic(Code::NoRelation, message)
}

/// A rule that does not hold for every instance of a type parameter.
pub(super) fn unproven_relation(site: &Site<'_, '_, '_>, constraint: &Constraint) -> DefDiagnostic {
    let message = format!(
        "`{}`: its rule `{constraint}` does not hold for every instance of the type parameters",
        constraint.relation.operator
    );
    site.diagnostic(Code::UnprovenRelation, message).help(
        "leave the type of the result out, so that inference adds the rule to the type, or write \
         it: `where …`",
    )
}

/// A type that exceeds a limit of inference.
pub(super) fn type_too_large(site: &Site<'_, '_, '_>, limit: TypeLimit) -> Option<DefDiagnostic> {
    let what = site.describe()?;
    let (message, help) = match limit {
        TypeLimit::Size => (
            format!(
                "the type of {what} has more than {MAX_WEIGHT} nodes, or nests more than \
                 {MAX_DEPTH} levels deep"
            ),
            "bind the parts that are needed, and leave the rest out of the tuple",
        ),
        TypeLimit::Parameters(open) => (
            format!("the type of {what} has {open} unresolved type parameters and relations"),
            "write the types of the parameters of the functions that are called here",
        ),
    };
    Some(site.diagnostic(Code::TypeTooLarge, message).help(help))
}

/// The limit on the memory of inference.
pub(super) fn budget(site: &Site<'_, '_, '_>) -> DefDiagnostic {
    let message = format!(
        "the types of `{}` grow too fast: inference stops here, and the rest has no types",
        site.view.def.name(site.view.db)
    );
    site.diagnostic(Code::InferenceBudget, message)
        .help("write the types of the functions that are called before this place")
}
