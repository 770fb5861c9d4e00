//! Suppression of cascading errors: unresolved names that follow from an earlier syntax error.
//!
//! A header with a syntax error binds no parameters, so that every use of one would be an error of
//! its own:
//!
//! ```text
//! def @f(%x Tensor[(2), float32]) { exp(%x) }   // one error: the missing `:`
//! ```
//!
//! The names are still in the text: a name that occurs in skipped text is not reported at a later
//! use. After an error outside of all bodies, no errors are reported up to the next definition.

use std::cell::OnceCell;

use rustc_hash::{FxHashMap, FxHashSet};
use syntax::{Element, Node, NodeOrToken, SyntaxKind, TextRange, TextSize, element_range};

use super::error_ranges::ErrorRanges;
use crate::{
    db::{Db, SourceFile},
    diagnostic::{Code, Diagnostic, Severity},
};

/// The maximum number of syntax errors reported for a definition with unbalanced braces.
const MAX_UNBALANCED: usize = 2;

/// The first occurrences of names in skipped text.
#[derive(Default)]
struct Names {
    /// The starts of regions. A region begins with a definition and extends to the next one; a
    /// definition whose beginning does not parse is part of the region before it.
    regions: Vec<TextSize>,
    /// The first occurrence of each local name after the first syntax error of a region, or in the
    /// header that contains the error. The keys are the number of the region and the name.
    locals: FxHashMap<(usize, String), TextSize>,
    /// The first occurrence of other names in items with syntax errors that are not functions, such
    /// as the constructors of a type definition.
    others: FxHashMap<String, TextSize>,
    /// Like `locals`, for other names.
    others_inside: FxHashMap<(usize, String), TextSize>,
    /// The regions with syntax errors.
    broken: FxHashSet<usize>,
    /// The number of braces open at the end of each region with syntax errors.
    levels: FxHashMap<usize, i64>,
    /// The skipped text, in order: the text after an error outside of all bodies, and the text
    /// between a body with errors and the next definition.
    skipped: Vec<TextRange>,
}

/// The names in the skipped text of a file, collected on first use.
pub(super) struct Cascades<'db> {
    db: &'db dyn Db,
    file: SourceFile,
    /// Without names and braces: to find these, every token after an error is visited, and few
    /// errors need them.
    regions: OnceCell<Names>,
    names: OnceCell<Names>,
}

impl<'db> Cascades<'db> {
    pub(super) fn of(db: &'db dyn Db, file: SourceFile) -> Cascades<'db> {
        Cascades { db, file, regions: OnceCell::new(), names: OnceCell::new() }
    }

    fn names(&self, errors: &ErrorRanges, has_names: bool) -> &Names {
        let names = if has_names { &self.names } else { &self.regions };
        names.get_or_init(|| {
            let parse = self.file.parse(self.db);
            Names::of(Node::root(&parse.green), errors, has_names)
        })
    }

    /// Returns true if a diagnostic is an error in skipped text.
    pub(super) fn is_in_skipped_text(&self, errors: &ErrorRanges, diagnostic: &Diagnostic) -> bool {
        if errors.is_empty() || diagnostic.severity < Severity::Error {
            return false;
        }
        let skipped = &self.names(errors, false).skipped;
        let at = diagnostic.range.start();
        let until = skipped.partition_point(|range| range.start() < at);
        until.checked_sub(1).is_some_and(|last| at <= skipped[last].end())
    }

    /// Removes all but the first [`MAX_UNBALANCED`] syntax errors of definitions with unbalanced
    /// braces: the later ones follow from the brace. Other brackets end with their statement.
    pub(super) fn keep_first(&self, errors: &ErrorRanges, found: &mut Vec<Diagnostic>) {
        if errors.is_empty() {
            return;
        }
        let is_counted = |d: &Diagnostic| d.code == Code::SyntaxError;
        found.sort_by_key(|d| d.range.start());
        if found.iter().filter(|d| is_counted(d)).count() <= MAX_UNBALANCED {
            return;
        }
        let names = self.names(errors, true);
        let mut kept: FxHashMap<usize, usize> = FxHashMap::default();
        found.retain(|d| {
            let at = d.range.start();
            let region = names.regions.partition_point(|&start| start <= at);
            let matches = names.levels.get(&region).is_none_or(|level| *level == 0);
            if matches || !is_counted(d) {
                return true;
            }
            let count = kept.entry(region).or_default();
            *count += 1;
            *count <= MAX_UNBALANCED
        });
    }

    /// Returns true if a diagnostic reports an unresolved name that occurs in skipped text before
    /// it.
    pub(super) fn explains(&self, errors: &ErrorRanges, diagnostic: &Diagnostic) -> bool {
        let is_local = diagnostic.code == Code::UnknownVariable;
        let is_other = matches!(
            diagnostic.code,
            Code::UnknownName | Code::UnknownConstructor | Code::UnknownType | Code::UnknownGlobal
        );
        // These depend on data types, whose constructors may be in skipped text, and on arms, which
        // may be skipped themselves.
        let is_of_data = matches!(
            diagnostic.code,
            Code::MatchNotExhaustive | Code::PatternType | Code::PatternArity | Code::TypeArguments
        );
        if errors.is_empty() || !is_local && !is_other && !is_of_data {
            return false;
        }
        let parse = self.file.parse(self.db);
        let root = Node::root(&parse.green);
        let at = diagnostic.range.start();
        let Some(token) = root.token_at(at) else { return false };
        let names = self.names(errors, true);
        if is_of_data && !names.others.is_empty() {
            return true;
        }
        let region = names.regions.partition_point(|&start| start <= at);
        if is_of_data {
            return diagnostic.code == Code::MatchNotExhaustive && names.broken.contains(&region);
        }
        let key = (region, token.text().to_owned());
        let inside = if is_local { &names.locals } else { &names.others_inside };
        let before = |first: Option<&TextSize>| first.is_some_and(|&first| first < at);
        before(inside.get(&key)) || is_other && before(names.others.get(&key.1))
    }
}

impl Names {
    /// Returns the regions of a tree, with or without their names and braces.
    fn of(root: Node<'_>, errors: &ErrorRanges, has_names: bool) -> Names {
        let mut names = Names::default();
        // The offsets from which the names of the current region are collected, and from which its
        // text is skipped.
        let mut collect_from: Option<TextSize> = None;
        let mut skip_from: Option<TextSize> = None;
        for item in root.elements() {
            let range = element_range(&item);
            let kind = item.as_node().map(|node| node.kind());
            let is_function = kind == Some(SyntaxKind::FN_DEF);
            if is_function || kind == Some(SyntaxKind::TYPE_DEF) {
                names.regions.push(range.start());
                names
                    .skipped
                    .extend(skip_from.take().map(|from| TextRange::new(from, range.start())));
                collect_from = None;
            } else if collect_from.is_some()
                && skip_from.is_none()
                && kind != Some(SyntaxKind::METADATA_ITEM)
            {
                skip_from = Some(range.start());
            }
            let first = errors.first_inside(range);
            if let Some(first) = first
                && collect_from.is_none()
            {
                // For an error in the header, names are collected from all of the header.
                let node = item.as_node();
                let body = node.and_then(|node| node.child(SyntaxKind::BLOCK));
                let in_body = body.filter(|_| is_function).is_some_and(|b| b.start() < first);
                collect_from = Some(if in_body { first } else { range.start() });
                // A bare expression may be a chain of bindings.
                let is_binding = |block: Node<'_>| {
                    let mut near = block.children().filter(|child| child.range().contains(first));
                    near.any(|child| child.kind().is_stmt())
                };
                if !in_body && !body.is_some_and(is_binding) {
                    skip_from = Some(first);
                }
            }
            if let Some(from) = collect_from {
                names.broken.insert(names.regions.len());
                if !has_names {
                    continue;
                }
                let is_open = !is_function;
                let level = names.levels.entry(names.regions.len()).or_default();
                count_braces(&item, level);
                names.collect(&item, from, is_open);
            }
        }
        names.skipped.extend(skip_from.map(|from| TextRange::new(from, root.range().end())));
        names
    }

    /// Collects the names of an element that follow `from`. The parser's limits bound the
    /// recursion.
    fn collect(&mut self, element: &Element<'_>, from: TextSize, is_open: bool) {
        if element_range(element).end() <= from {
            return;
        }
        let token = match element {
            NodeOrToken::Node(node) => {
                return node.elements().for_each(|child| self.collect(&child, from, is_open));
            }
            NodeOrToken::Token(token) => token,
        };
        let start = token.range().start();
        let key = || (self.regions.len(), token.text().to_owned());
        match token.kind() {
            SyntaxKind::LOCAL | SyntaxKind::GRAPH => {
                self.locals.entry(key()).or_insert(start);
            }
            SyntaxKind::IDENT | SyntaxKind::GLOBAL => {
                self.others_inside.entry(key()).or_insert(start);
                if is_open {
                    self.others.entry(token.text().to_owned()).or_insert(start);
                }
            }
            _ => {}
        }
    }
}

/// Adds the number of opening braces minus the number of closing braces to `level`. The parser's
/// limits bound the recursion.
fn count_braces(element: &Element<'_>, level: &mut i64) {
    match element {
        NodeOrToken::Node(node) => node.elements().for_each(|child| count_braces(&child, level)),
        NodeOrToken::Token(token) => match token.kind() {
            SyntaxKind::L_BRACE => *level += 1,
            SyntaxKind::R_BRACE => *level -= 1,
            _ => {}
        },
    }
}
