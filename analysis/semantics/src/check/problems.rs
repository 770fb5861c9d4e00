//! Diagnostics for the problems that lowering finds in a unit or in a type definition: the choice of the file
//! that has the words.

use operators::attrs::AttrProblem;

use super::{
    findings::{
        attribute_type, attribute_value, attributes_not_taken, duplicate_attribute,
        duplicate_parameter, invalid_binder, kind_mismatch, match_without_arms, missing_attribute,
        negative_size, number_range, number_suffix, open_field, python_call, syntax_error,
        tvm_detached_attributes, type_arguments, unknown_attribute, unknown_dtype, unknown_kind,
        unknown_name, unknown_relation,
    },
    site::ProblemSite,
};
use crate::{body::ProblemKind, diagnostic::DefDiagnostic};

/// Returns what a user sees of a problem; `None` if a finding says it: inference reports a call by an unqualified
/// name, and TVM's rules report printed types.
pub(super) fn report(site: &ProblemSite<'_, '_, '_>) -> Option<DefDiagnostic> {
    use ProblemKind::*;
    Some(match &site.problem.kind {
        Attr { operator, name, problem } => match *problem {
            AttrProblem::Unknown { nearest, .. } => {
                unknown_attribute::report(site, operator, name, nearest)
            }
            AttrProblem::Type { expected, none, .. } => {
                attribute_type::report(site, operator, name, (expected, none))
            }
            AttrProblem::Choice { choices, nearest, .. } => {
                attribute_value::choice(site, operator, name, (choices, nearest))
            }
            AttrProblem::DType { nearest, .. } => {
                attribute_value::dtype(site, operator, name, nearest)
            }
            AttrProblem::TooSmall { min, .. } => {
                attribute_value::too_small(site, operator, name, min)
            }
            AttrProblem::TypeKey { expected } => {
                attribute_value::type_key(site, operator, expected)
            }
            AttrProblem::Missing { name } => missing_attribute::of_call(site, operator, name),
            AttrProblem::Twice { .. } => duplicate_attribute::report(site, operator, name),
        },
        AttrsNotTaken { callee, .. } => attributes_not_taken::report(site, callee),
        DetachedAttrs(operator) => tvm_detached_attributes::report(site, operator),
        Kind { param, expected } => kind_mismatch::of_parameter(site, param, *expected),
        UnknownKind(name) => unknown_kind::report(site, name),
        UnknownRelation(name) => unknown_relation::report(site, name),
        UnknownDType(name) => unknown_dtype::report(site, name),
        NumberRange { text, dtype } => number_range::of_literal(site, text, *dtype),
        NumberSuffix(suffix) => number_suffix::report(site, suffix),
        NegativeDim(size) => negative_size::report(site, *size),
        BadBinder { name, kind } => invalid_binder::report(site, name, *kind),
        DuplicateParam { name, first } => duplicate_parameter::report(site, name, *first),
        NoArms => match_without_arms::report(site),
        ParamWithArgs(param) => type_arguments::of_parameter(site, param),
        ArgAfterAttr => syntax_error::argument_after_attribute(site),
        StringValue => syntax_error::string_value(site),
        ListValue { is_tuple } => syntax_error::list_value(site, *is_tuple),
        PythonCall(call) => python_call::of_call(site, call),
        PythonExpr(expr) => python_call::of_expr(site, expr),
        PythonName(operator) => unknown_name::with_modules(site, operator),
        OpenField => open_field::report(site),
        Unqualified(_) | PrintedTypes => return None,
    })
}
