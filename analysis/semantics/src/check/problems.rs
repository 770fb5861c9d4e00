//! Diagnostics for the problems that lowering finds in a unit or in a type definition: the choice of the file
//! that has the words.

use operators::attrs::AttrProblem;

use super::{
    findings::{
        attribute_type, attribute_value, attributes, bindings, duplicates, kind_mismatch,
        missing_attribute, number, patterns, python_call, syntax_error, type_arguments,
        unknown_name, written_type,
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
                attributes::unknown(site, operator, name, nearest)
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
            AttrProblem::Twice { .. } => duplicates::attribute(site, operator, name),
        },
        AttrsNotTaken { callee, .. } => attributes::not_taken(site, callee),
        DetachedAttrs(operator) => attributes::detached(site, operator),
        Kind { param, expected } => kind_mismatch::of_parameter(site, param, *expected),
        UnknownKind(name) => written_type::unknown_kind(site, name),
        UnknownRelation(name) => written_type::unknown_relation(site, name),
        UnknownDType(name) => written_type::unknown_dtype(site, name),
        NumberRange { text, dtype } => number::literal_out_of_range(site, text, *dtype),
        NumberSuffix(suffix) => number::unknown_suffix(site, suffix),
        NegativeDim(size) => written_type::negative_size(site, *size),
        BadBinder { name, kind } => bindings::invalid(site, name, *kind),
        DuplicateParam { name, first } => duplicates::parameter(site, name, *first),
        NoArms => patterns::without_arms(site),
        ParamWithArgs(param) => type_arguments::of_parameter(site, param),
        ArgAfterAttr => syntax_error::argument_after_attribute(site),
        StringValue => syntax_error::string_value(site),
        ListValue { is_tuple } => syntax_error::list_value(site, *is_tuple),
        PythonCall(call) => python_call::of_call(site, call),
        PythonExpr(expr) => python_call::of_expr(site, expr),
        PythonName(operator) => unknown_name::with_modules(site, operator),
        OpenField => written_type::open_field(site),
        Unqualified(_) | PrintedTypes => return None,
    })
}
