//! Annotations written by TVM's printer.
//!
//! TVM prints an annotation for each `let`, even if the source had none: `let %x: Tensor[(10, ?),
//! float32] /* ty=Tensor[(10, ?), float32] */ = …`.

use types::{Flags, Type};

use super::{Env, Infer, UnitRef, learned::settled};
use crate::{body::*, scope::Scopes};

/// Infers a body in which a known type has changed because a `?` was unified with a size.
///
/// A compound type keeps the type of its part at the time, so that it matters if an annotation
/// precedes the type of the value. Printed annotations are treated as inferred types if inference
/// without them finds the same types.
pub(super) fn in_one_table<'a>(
    bodies: &'a [(&'a Body, &'a Scopes)],
    env: &'a dyn Env,
) -> Infer<'a> {
    let infer = settled(bodies, env, |infer| {
        infer.printed = Some(Vec::new());
        infer.whole();
    });
    if infer.has_printed_types() {
        return infer;
    }
    settled(bodies, env, Infer::whole)
}

impl Infer<'_> {
    /// Returns true if the annotation of a variable is treated as printed: it contains a `?`, and a
    /// type comment repeats it.
    pub(super) fn is_printed(&mut self, at: UnitRef, binder: BinderId, annotation: &Type) -> bool {
        let Some(printed) = &mut self.printed else { return false };
        let unit = self.bodies[at.body as usize].0.unit(at.unit);
        let is_printed = annotation.flags().has(Flags::ANY)
            && unit.type_comments.iter().take(1_000).any(|comment| {
                comment.subject == Subject::Binder(binder)
                    && annotation.strip_printed(&comment.text) == Some("")
            });
        if is_printed {
            printed.push((at, binder));
        }
        is_printed
    }

    /// Returns true if there are printed annotations and inference found the same types. Called
    /// after inference.
    pub(super) fn has_printed_types(&self) -> bool {
        let printed = self.printed.as_deref().unwrap_or_default();
        let agrees = |(at, binder): &(UnitRef, BinderId)| {
            let types = self.defs[at.body as usize].done.get(at.unit.index());
            let found = types.map(|types| types.binder(*binder));
            found.is_some() && found == self.unit(*at).binder(*binder).annotation.as_ref()
        };
        !printed.is_empty() && printed.iter().all(agrees)
    }
}
