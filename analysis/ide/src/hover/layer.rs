//! The layer of a value, with the names that the framework's program gave to it.

use semantics::{Db, ExprRef, SourceFile, View};
use syntax::TextSize;

use crate::{
    layers::{Grouping, place_of},
    markdown::{code_span, escaped},
    place::{Symbol, place_at},
    weights::{Leaf, weights_of},
};

/// The maximal number of weights that are named.
const MAX_WEIGHTS: usize = 4;

/// Returns the layer of the binding or call at `offset` as Markdown: ``in layer 3, attention, with `%…query.weight` ``.
pub fn layer(
    db: &dyn Db,
    file: SourceFile,
    offset: TextSize,
    grouping: Grouping,
) -> Option<String> {
    let place = place_at(db, file, offset)?;
    let view = place.view.as_ref()?;
    let expr_ref = match place.symbol(db) {
        Some((Symbol::Local(binding), _)) => view.value(binding)?,
        Some((Symbol::Operator(_) | Symbol::Global(_), _)) => place.expr()?,
        _ => return None,
    };
    let parts = place_of(db, file, grouping, view.range(expr_ref));
    if parts.is_empty() {
        return None;
    }
    let names: Vec<String> = parts.iter().map(|part| escaped(&part.name)).collect();
    let weights: Vec<String> = weights(view, expr_ref).iter().map(|name| code_span(name)).collect();
    let with = match &weights[..] {
        [] => String::new(),
        weights => format!(", with {}", weights.join(", ")),
    };
    Some(format!("in {}{with}", names.join(", ")))
}

/// Returns the names of the weights that a call takes.
fn weights(view: &View<'_>, expr_ref: ExprRef) -> Vec<String> {
    let params = weights_of(view, expr_ref).into_iter().filter_map(|leaf| match leaf {
        Leaf::Param(binding) => Some(view.binder(binding).name.to_string()),
        Leaf::Constant(_) => None,
    });
    params.take(MAX_WEIGHTS).collect()
}
