//! Types, texts and other values that occur many times in a definition, computed once.

use std::sync::LazyLock;

use memchr::memmem::Finder;
use operators::Operator;
use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::SmolStr;
use syntax::{
    GreenNodeData, SyntaxKind, TextRange, TextSize, Token,
    ast::{self, AstNode},
};
use types::Type;

use crate::body::UnitRanges;

/// The sizes of the caches by address.
const SLOTS: usize = 64;

/// Types and texts that occur many times in a definition, shared.
#[derive(Default)]
pub(super) struct LoweringCache {
    /// Types of tensors and tuples of them, by green node: equal nodes of a tree are shared.
    pub(super) types: FxHashMap<*const GreenNodeData, Type>,
    /// The texts of type comments.
    texts: FxHashSet<SmolStr>,
    /// The claims of the last comments, by the address of the text: equal comments are one token.
    claims: Vec<(usize, Option<Claim>)>,
    /// The operators of the last names, by green node: equal nodes of a tree are shared.
    operators: Vec<(usize, Option<&'static Operator>)>,
    /// The last ranges of each length: statements of the same form have equal ones.
    ranges: Vec<Option<UnitRanges>>,
}

/// The type in a `/* ty=T */` comment.
#[derive(Clone)]
pub(super) struct Claim {
    pub(super) at: TextSize,
    pub(super) text: SmolStr,
}

impl LoweringCache {
    /// Returns the ranges of a unit, in the allocation of equal ones.
    pub(super) fn ranges(
        &mut self,
        len: TextSize,
        exprs: &[TextRange],
        others: &[TextRange],
    ) -> UnitRanges {
        if self.ranges.is_empty() {
            self.ranges.resize(SLOTS, None);
        }
        let slot = &mut self.ranges[usize::from(len) % SLOTS];
        match slot.as_ref().filter(|known| known.are(len, exprs, others)) {
            Some(known) => known.clone(),
            None => slot.insert(UnitRanges::new(len, exprs, others)).clone(),
        }
    }

    /// Returns the operator with a name.
    pub(super) fn operator(&mut self, name: ast::NameRef<'_>) -> Option<&'static Operator> {
        if self.operators.is_empty() {
            self.operators.resize(SLOTS, (0, None));
        }
        let address = std::ptr::from_ref(name.node().green()) as usize;
        let slot = (address >> 4) % SLOTS;
        let (known, operator) = self.operators[slot];
        if known == address {
            return operator;
        }
        let operator = operators::named(&name.text());
        self.operators[slot] = (address, operator);
        operator
    }

    /// Returns the claim of a comment.
    pub(super) fn claim(&mut self, comment: &str) -> Option<Claim> {
        if self.claims.is_empty() {
            self.claims.resize(SLOTS, (0, None));
        }
        let address = comment.as_ptr() as usize;
        let slot = (address >> 3) % SLOTS;
        let (known, claim) = &self.claims[slot];
        if *known == address {
            return claim.clone();
        }
        // Fast path for the form that TVM prints.
        let at = match comment.starts_with("/* ty=") {
            true => Some(3),
            false => memchr::memmem::find(comment.as_bytes(), b"ty="),
        };
        let claim = at.map(|at| at + 3).map(|at| {
            let text = self.text(claimed_type(&comment[at..]));
            Claim { at: TextSize::new(at as u32), text }
        });
        self.claims[slot] = (address, claim.clone());
        claim
    }

    fn text(&mut self, text: &str) -> SmolStr {
        if let Some(known) = self.texts.get(text) {
            return known.clone();
        }
        let text = SmolStr::new(text);
        self.texts.insert(text.clone());
        text
    }
}

/// Returns true for a comment with a type: `/* ty=T span=S */`, and `# ty=T` at the end of a line in TVM
/// 0.5. In TVM 0.8 the name of the source precedes it, in a comment of its own.
#[inline]
pub(super) fn is_claim(token: &Token<'_>) -> bool {
    use SyntaxKind::*;
    matches!(token.kind(), BLOCK_COMMENT | HASH_COMMENT | LINE_COMMENT) && states_type(token)
}

fn states_type(comment: &Token<'_>) -> bool {
    let text = comment.text();
    if comment.kind() == SyntaxKind::BLOCK_COMMENT {
        let text = text.as_bytes();
        return text.starts_with(b"/* ty=") || memchr::memmem::find(text, b"ty=").is_some();
    }
    text.trim_start_matches(['#', '/', ' ']).starts_with("ty=")
}

/// A dump has such a comment for each expression, and preparing a search takes longer than the search.
static SPAN: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b" span="));

/// Returns the type in a comment: the text up to ` span=` or the end of the comment.
pub(super) fn claimed_type(text: &str) -> &str {
    let span = SPAN.find(text.as_bytes());
    let end = span.unwrap_or_else(|| match text.strip_suffix("*/") {
        Some(inner) => inner.len(),
        // A comment may have lost its asterisks.
        None => text.strip_suffix('/').unwrap_or(text).len(),
    });
    text[..end].trim_end()
}
