//! Comparison of type comments with the inferred types.

use rustc_hash::FxHashMap;
use types::Type;

use crate::body::*;

/// The memo of printed types.
///
/// A dump has a comment for each expression, so that each type is compared with the same text many
/// times.
#[derive(Default)]
pub(super) struct Printer {
    known: FxHashMap<usize, (Type, Box<str>)>,
    /// The addresses of types and texts that agreed recently. The bodies own the texts.
    agreed: Vec<Option<(Type, usize)>>,
    scratch: String,
}

/// The number of agreements in the memo.
const AGREED: usize = 128;

impl Printer {
    /// Returns the indices of the comments of a unit that differ from the types.
    pub(super) fn stale(&mut self, unit: &Unit, exprs: &[Type], binders: &[Type]) -> Vec<u32> {
        let mut stale = Vec::new();
        for (number, comment) in unit.type_comments.iter().enumerate() {
            let ty = match comment.subject {
                Subject::Expr(expr) => exprs.get(expr.index()),
                Subject::Binder(binder) => binders.get(binder.index()),
            };
            if let Some(ty) = ty
                && !self.agrees(ty, &comment.text)
            {
                stale.push(number as u32);
            }
        }
        stale
    }

    fn agrees(&mut self, ty: &Type, text: &str) -> bool {
        // An unknown type agrees with any comment.
        if matches!(ty, Type::Error) {
            return true;
        }
        let address = ty.address();
        if self.agreed.is_empty() {
            self.agreed.resize(AGREED, None);
        }
        let at = text.as_ptr() as usize;
        let slot = ((address >> 4) ^ (at >> 3)) % AGREED;
        if address != 0
            && let Some((known, known_at)) = &self.agreed[slot]
            && *known_at == at
            && known.is_same(ty)
        {
            return true;
        }
        if ty.strip_printed(text) == Some("") {
            self.agreed[slot] = Some((ty.clone(), at));
            return true;
        }
        if address != 0
            && let Some((_, known)) = self.known.get(&address)
        {
            return **known == *text || self.close_enough(ty, text);
        }
        self.scratch.clear();
        let _ = std::fmt::Write::write_fmt(&mut self.scratch, format_args!("{ty}"));
        let same = self.scratch == text;
        if address != 0 {
            self.known.insert(address, (ty.clone(), self.scratch.as_str().into()));
        }
        same || self.close_enough(ty, text)
    }

    /// Returns true for comments that do not state a known type: generated names, entries of the
    /// metadata section, types with unknown parts; or that differ in white space only.
    fn close_enough(&self, ty: &Type, text: &str) -> bool {
        if text.contains("meta[") || text.contains("-malformed-ir") {
            return true;
        }
        if ty.has_error() || !ty.is_closed() {
            return true;
        }
        let plain =
            |text: &str| -> String { text.chars().filter(|c| !c.is_whitespace()).collect() };
        plain(&ty.to_string()) == plain(text)
    }
}
