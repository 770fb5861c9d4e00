//! Type comments held against the types.

use rustc_hash::FxHashMap;
use types::Type;

use crate::body::*;

/// Types as text, each printed once in a run.
///
/// A dump says the type of everything in comments, so that each type is compared with text many
/// times over.
#[derive(Default)]
pub(super) struct Printer {
    known: FxHashMap<usize, (Type, Box<str>)>,
    /// Types and texts, by their addresses, that agreed last; the bodies own the texts.
    agreed: Vec<Option<(Type, usize)>>,
    scratch: String,
}

/// How many agreements are remembered.
const AGREED: usize = 128;

impl Printer {
    /// The comments of a unit that are not what the types say.
    pub(super) fn stale(&mut self, unit: &Unit, exprs: &[Type], binders: &[Type]) -> Vec<u32> {
        let mut stale = Vec::new();
        for (number, evidence) in unit.evidence.iter().enumerate() {
            let ty = match evidence.about {
                Subject::Expr(expr) => exprs.get(expr.index()),
                Subject::Binder(binder) => binders.get(binder.index()),
            };
            if let Some(ty) = ty
                && !self.agrees(ty, &evidence.text)
            {
                stale.push(number as u32);
            }
        }
        stale
    }

    fn agrees(&mut self, ty: &Type, text: &str) -> bool {
        // What is not known disagrees with nothing.
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

    /// Comments that state nothing: names that TVM made up, entries of the metadata section, types
    /// of which a part is not known; and spacing.
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
