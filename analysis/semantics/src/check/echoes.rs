//! Names that are unknown because of a syntax error before them.
//!
//! A definition whose header cannot be read binds no parameters, and each use of one of them would be
//! an error of its own. The names are in the text all the same: a name that is in what could not be
//! read, before the use, is not reported at the use.
//!
//! Where it is not even clear what the text around an error is, because the error is outside of all
//! bodies, the error stands for all that follows up to the next definition.

use std::cell::OnceCell;

use rustc_hash::{FxHashMap, FxHashSet};
use syntax::{Element, Node, NodeOrToken, SyntaxKind, TextRange, TextSize};

use super::broken::Broken;
use crate::{
    db::{Db, SourceFile},
    diagnostic::{Diagnostic, Severity},
};

/// How many syntax errors are shown of a definition whose braces do not match.
const MOST_UNMATCHED: usize = 2;

/// Where names are first, in text that is in doubt.
#[derive(Default)]
struct Names {
    /// The starts of regions: each begins with a definition, and goes on up to the next one. Where
    /// the beginning of a definition cannot be read, it is part of the region before it.
    regions: Vec<TextSize>,
    /// The first place of each local name after the first syntax error of a region, or in the header
    /// that the error is in. By the number of the region.
    locals: FxHashMap<(usize, String), TextSize>,
    /// The first place of other names in items that are no functions and have syntax errors: a type
    /// definition that cannot be read has constructors.
    others: FxHashMap<String, TextSize>,
    /// As `locals`, for other names.
    others_inside: FxHashMap<(usize, String), TextSize>,
    /// The regions with syntax errors.
    broken: FxHashSet<usize>,
    /// Of each region with syntax errors, how many braces are open at its end.
    levels: FxHashMap<usize, i64>,
    /// Text that is lost, in order: after an error outside of all bodies, and what follows a broken
    /// body without being a definition, because the body has lost its end.
    lost: Vec<TextRange>,
}

/// The names in what could not be read of a file. They are looked for when they are asked for first.
pub(super) struct Echoes<'db> {
    db: &'db dyn Db,
    file: SourceFile,
    names: OnceCell<Names>,
}

impl<'db> Echoes<'db> {
    pub(super) fn of(db: &'db dyn Db, file: SourceFile) -> Echoes<'db> {
        Echoes { db, file, names: OnceCell::new() }
    }

    fn names(&self, broken: &Broken) -> &Names {
        self.names.get_or_init(|| {
            let parse = self.file.parse(self.db);
            Names::of(Node::root(&parse.green), broken)
        })
    }

    /// Whether a finding is in text that is lost, after the error by which it is.
    pub(super) fn is_lost(&self, broken: &Broken, diagnostic: &Diagnostic) -> bool {
        if broken.is_empty() || diagnostic.severity < Severity::Error {
            return false;
        }
        let lost = &self.names(broken).lost;
        let at = diagnostic.range.start();
        let until = lost.partition_point(|lost| lost.start() < at);
        until.checked_sub(1).is_some_and(|last| at <= lost[last].end())
    }

    /// Takes away all but the first syntax errors of definitions whose braces do not match: what is
    /// expected after the brace that is missing, or one too many, says little. Other brackets end with
    /// their statement.
    pub(super) fn keep_first(&self, broken: &Broken, found: &mut Vec<Diagnostic>) {
        if broken.is_empty() {
            return;
        }
        let names = self.names(broken);
        found.sort_by_key(|d| d.range.start());
        let mut kept: FxHashMap<usize, usize> = FxHashMap::default();
        found.retain(|d| {
            let at = d.range.start();
            let region = names.regions.partition_point(|&start| start <= at);
            let matches = names.levels.get(&region).is_none_or(|level| *level == 0);
            if matches || d.code != "syntax-error" {
                return true;
            }
            let count = kept.entry(region).or_default();
            *count += 1;
            *count <= MOST_UNMATCHED
        });
    }

    /// Whether a finding is about an unknown name that is in what could not be read before it.
    pub(super) fn holds(&self, broken: &Broken, diagnostic: &Diagnostic) -> bool {
        let is_local = diagnostic.code == "unknown-variable";
        let is_other = matches!(
            diagnostic.code,
            "unknown-name" | "unknown-constructor" | "unknown-type" | "unknown-global"
        );
        // What data types are, which cannot be read: of arms, which may be in what is skipped.
        let is_of_data = matches!(
            diagnostic.code,
            "match-not-exhaustive" | "pattern-type" | "pattern-arity" | "type-arguments"
        );
        if broken.is_empty() || !is_local && !is_other && !is_of_data {
            return false;
        }
        let parse = self.file.parse(self.db);
        let root = Node::root(&parse.green);
        let at = diagnostic.range.start();
        let Some(token) = root.token_at(at) else { return false };
        let names = self.names(broken);
        if is_of_data && !names.others.is_empty() {
            return true;
        }
        let region = names.regions.partition_point(|&start| start <= at);
        if is_of_data {
            return diagnostic.code == "match-not-exhaustive" && names.broken.contains(&region);
        }
        let key = (region, token.text().to_owned());
        let inside = if is_local { &names.locals } else { &names.others_inside };
        let before = |first: Option<&TextSize>| first.is_some_and(|&first| first < at);
        before(inside.get(&key)) || is_other && before(names.others.get(&key.1))
    }
}

impl Names {
    fn of(root: Node<'_>, broken: &Broken) -> Names {
        let mut names = Names::default();
        // From where on names of the present region are in doubt, and from where on it is lost.
        let mut doubtful: Option<TextSize> = None;
        let mut lost: Option<TextSize> = None;
        for item in root.elements() {
            let range = range_of(&item);
            let kind = item.as_node().map(|node| node.kind());
            let is_function = kind == Some(SyntaxKind::FN_DEF);
            if is_function || kind == Some(SyntaxKind::TYPE_DEF) {
                names.regions.push(range.start());
                names.lost.extend(lost.take().map(|from| TextRange::new(from, range.start())));
                doubtful = None;
            } else if doubtful.is_some()
                && lost.is_none()
                && kind != Some(SyntaxKind::METADATA_ITEM)
            {
                lost = Some(range.start());
            }
            let first = broken.first_inside(range);
            if let Some(first) = first
                && doubtful.is_none()
            {
                // An error of the header puts all of the header in doubt.
                let node = item.as_node();
                let body = node.and_then(|node| node.child(SyntaxKind::BLOCK));
                let in_body = body.filter(|_| is_function).is_some_and(|b| b.start() < first);
                doubtful = Some(if in_body { first } else { range.start() });
                // A bare expression may be a chain of bindings.
                let is_binding = |block: Node<'_>| {
                    let mut near = block.children().filter(|child| child.range().contains(first));
                    near.any(|child| child.kind().is_stmt())
                };
                if !in_body && !body.is_some_and(is_binding) {
                    lost = Some(first);
                }
            }
            if let Some(from) = doubtful {
                names.broken.insert(names.regions.len());
                let is_open = !is_function;
                let level = names.levels.entry(names.regions.len()).or_default();
                count_braces(&item, level);
                names.collect(&item, from, is_open);
            }
        }
        names.lost.extend(lost.map(|from| TextRange::new(from, root.range().end())));
        names
    }

    /// Takes the names of an item from a place on. The depth of a tree is bounded by the limits of the
    /// parser.
    fn collect(&mut self, element: &Element<'_>, from: TextSize, is_open: bool) {
        if range_of(element).end() <= from {
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

/// Counts the braces in an element: those that open, less those that close. The depth of a tree is
/// bounded by the limits of the parser.
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

fn range_of(element: &Element<'_>) -> TextRange {
    match element {
        NodeOrToken::Node(node) => node.range(),
        NodeOrToken::Token(token) => token.range(),
    }
}
