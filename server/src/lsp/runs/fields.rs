//! The parameters of a function that is about to run, for a prompt with a field for each.

use ide::words;
use semantics::View;
use types::Type;

use crate::protocol::ParameterField;

/// The maximal length of a type in a title.
const MAX_TYPE: usize = 120;

/// Returns the parameters of a definition.
pub(super) fn of(view: &View<'_>) -> Vec<ParameterField> {
    let field = |binding| {
        let name = &view.binder(binding).name;
        let ty = view.binding_type(binding);
        ParameterField {
            name: name.trim_start_matches('%').to_owned(),
            title: format!("{name}: {}", words::shortened(ty, MAX_TYPE)),
            accepts: accepted(ty),
        }
    };
    view.parameters().into_iter().map(field).collect()
}

/// Describes what can be entered for a parameter.
fn accepted(ty: &Type) -> String {
    let form = match ty {
        Type::Tensor(tensor) if tensor.rank() == 0 => "a number, or the path of a .npy file",
        Type::Tensor(_) => "lists of numbers such as [[1, 2], [3, 4]], or the path of a .npy file",
        Type::Tuple(_) => return "a tuple such as (1, [2, 3]); empty: random".to_owned(),
        Type::Func(_) => return "a function of the module such as @f".to_owned(),
        _ => return "a value such as Cons(1, Nil)".to_owned(),
    };
    format!("{form}; empty: random")
}
