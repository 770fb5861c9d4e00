//! A projection of a value that is not a tuple, or of a field that does not exist.

use types::{Type, describe};

use super::{Code, DefDiagnostic, Site};
use crate::check::plural::count;

pub(super) fn report(site: &Site<'_, '_, '_>, index: u32, ty: &Type) -> DefDiagnostic {
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
