//! Semantic highlighting.
//!
//! A file is divided into segments: each statement of a definition's block, each part of its header
//! and each other item. The tokens of a segment depend only on its syntax tree and on the resolution
//! of its names, so that a segment whose tree and names are unchanged is reused. One keystroke in a
//! module of 14,500 bindings recomputes one statement instead of the file.

mod names;
mod walk;

use std::{rc::Rc, sync::Arc};

use rustc_hash::FxHashMap;
use semantics::{Db, Def, Module, SourceFile, body::UnitId, modules};
use syntax::{GreenNode, Node, NodeOrToken, SyntaxKind, TextRange, TextSize, Token};

use names::{DefNames, ModuleNames};
use walk::{Walk, kind_of_word, lines_of};

/// The semantic kind of a token.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum TokenKind {
    /// `nn.conv2d`, `+`
    Operator,
    /// `@f`
    Function,
    /// `%x` bound by `let`, by `%0 = …` or a pattern.
    Variable,
    /// `%x` in the list of parameters.
    Parameter,
    /// `Cons`
    Constructor,
    /// `Tensor`, `float32`, `List`
    Type,
    /// `A` in `fn[A](…)`
    TypeParameter,
    /// `axis` in `axis=1`
    Attribute,
    /// `let`
    Keyword,
    /// `1f`
    Number,
    /// `"NCHW"`
    String,
    /// `/* … */`
    Comment,
    /// `meta[relay.Constant][0]`
    Meta,
}

impl TokenKind {
    /// The names of the kinds, which are those of the protocol, in the order of their discriminants.
    pub const NAMES: [&'static str; 13] = [
        "operator",
        "function",
        "variable",
        "parameter",
        "enumMember",
        "type",
        "typeParameter",
        "property",
        "keyword",
        "number",
        "string",
        "comment",
        "macro",
    ];

    /// Returns the name.
    pub const fn name(self) -> &'static str {
        TokenKind::NAMES[self as usize]
    }

    /// Returns true for kinds that a TextMate grammar recognizes as well.
    pub fn is_syntax(self) -> bool {
        use TokenKind::*;
        matches!(self, Keyword | Number | String | Comment)
    }
}

/// The bits of [`Highlight::modifiers`].
pub mod modifier {
    /// Set on the declaration of a name.
    pub const DECLARATION: u8 = 1;
    /// Set on the definition of a name.
    pub const DEFINITION: u8 = 2;
    /// Set on a constant variable.
    pub const READONLY: u8 = 4;
    /// Set on a name from the prelude.
    pub const PRELUDE: u8 = 8;
    /// Set on a variable that a later binding of the same name shadows.
    pub const SHADOWED: u8 = 16;
    /// Set on an unused variable.
    pub const UNUSED: u8 = 32;
}

/// A highlighted token, which is on one line.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Highlight {
    /// The range, relative to the start of the segment.
    pub range: TextRange,
    /// The kind.
    pub kind: TokenKind,
    /// The bits of [`modifier`].
    pub modifiers: u8,
}

/// The highlighted tokens of a segment.
#[derive(Debug)]
pub struct Words {
    /// The tokens in order.
    pub list: Vec<Highlight>,
    key: Key,
}

impl Words {
    /// Returns the tokens whose range, relative to the start of the segment, satisfies `predicate`.
    pub fn only(&self, predicate: impl Fn(TextRange) -> bool) -> Words {
        let list = self.list.iter().copied().filter(|word| predicate(word.range)).collect();
        Words { list, key: self.key.clone() }
    }
}

/// The inputs of the tokens of a segment. Segments with equal keys have equal tokens.
#[derive(Clone, Debug)]
enum Key {
    /// A tree, and a hash of the resolution of its names. The tree is kept alive, so that its
    /// address identifies it.
    Node(GreenNode, u64),
    /// A comment between statements.
    Comment(Box<str>),
}

impl PartialEq for Key {
    fn eq(&self, other: &Key) -> bool {
        match (self, other) {
            (Key::Node(a, x), Key::Node(b, y)) => x == y && address(a) == address(b),
            (Key::Comment(a), Key::Comment(b)) => a == b,
            _ => false,
        }
    }
}

fn address(green: &GreenNode) -> usize {
    std::ptr::from_ref::<syntax::GreenNodeData>(green).addr()
}

/// A part of the file with its tokens.
#[derive(Clone, Debug)]
pub struct Segment {
    /// The offset in the file.
    pub start: TextSize,
    /// The tokens. Two segments that share this allocation have the same text.
    pub words: Arc<Words>,
}

/// The highlighted tokens of a file, by segments in text order.
#[derive(Clone, Debug, Default)]
pub struct Highlights {
    /// The segments that have tokens.
    pub segments: Vec<Segment>,
}

impl Highlights {
    /// Returns the tokens with their ranges in the file.
    pub fn iter(&self) -> impl Iterator<Item = Highlight> {
        self.segments.iter().flat_map(|segment| {
            let words = segment.words.list.iter();
            words.map(|word| Highlight { range: word.range + segment.start, ..*word })
        })
    }
}

/// Returns the highlighted tokens of a file. Segments that are unchanged since `before` are reused.
pub fn highlight(db: &dyn Db, file: SourceFile, before: Option<&Highlights>) -> Highlights {
    let pieces = pieces(db, file, None);
    let before = before.map_or(&[][..], |before| &before.segments);
    let same = |(piece, old): &(&Piece<'_>, &Segment)| piece.key == old.words.key;
    let front = pieces.iter().zip(before).take_while(same).count();
    let rest = pieces[front..].iter().rev().zip(before[front..].iter().rev());
    let back = rest.take_while(same).count();
    // Segments that moved, such as statements that changed places.
    let mut moved: FxHashMap<(usize, u64), &Arc<Words>> = FxHashMap::default();
    for old in &before[front..before.len() - back] {
        if let Key::Node(green, context) = &old.words.key {
            moved.insert((address(green), *context), &old.words);
        }
    }
    let count = pieces.len();
    let segments = pieces.into_iter().enumerate().map(|(at, piece)| {
        let old = if at < front {
            Some(&before[at].words)
        } else if at >= count - back {
            Some(&before[before.len() - (count - at)].words)
        } else {
            match &piece.key {
                Key::Node(green, context) => moved.get(&(address(green), *context)).copied(),
                Key::Comment(_) => None,
            }
        };
        if at % 256 == 0 {
            db.unwind_if_revision_cancelled();
        }
        let start = piece.start;
        let words = old.cloned().unwrap_or_else(|| Arc::new(piece.words()));
        Segment { start, words }
    });
    Highlights { segments: segments.collect() }
}

/// Returns the highlighted tokens of the segments that touch `range`.
pub fn highlight_range(db: &dyn Db, file: SourceFile, range: TextRange) -> Highlights {
    let pieces = pieces(db, file, Some(range)).into_iter();
    let segments =
        pieces.map(|piece| Segment { start: piece.start, words: Arc::new(piece.words()) });
    Highlights { segments: segments.collect() }
}

/// A segment before its tokens are computed.
struct Piece<'db> {
    start: TextSize,
    key: Key,
    /// `None` for a comment and for a node outside of definitions.
    part: Option<DefPart<'db>>,
}

/// A part of a definition.
struct DefPart<'db> {
    /// The node, with offsets relative to the definition.
    node: Node<'db>,
    parent: SyntaxKind,
    /// The names of the definition.
    names: Rc<DefNames<'db>>,
    /// The unit that contains the part.
    unit: UnitId,
}

struct Pieces<'db> {
    range: Option<TextRange>,
    list: Vec<Piece<'db>>,
}

fn pieces<'db>(db: &'db dyn Db, file: SourceFile, range: Option<TextRange>) -> Vec<Piece<'db>> {
    let mut found = Pieces { range, list: Vec::new() };
    let mut items = modules(db, file)
        .iter()
        .flat_map(|&module| module.items(db).iter().map(move |&def| (module, def)))
        .peekable();
    let mut names: Option<(Module<'db>, Rc<ModuleNames<'db>>)> = None;
    let parse = file.parse(db);
    for element in Node::root(&parse.green).elements() {
        match element {
            NodeOrToken::Token(token) => found.comment(token, TextSize::default()),
            NodeOrToken::Node(node) => {
                let item = items.next_if(|(_, def)| def.start(db) == node.start());
                if !found.covers(node.range()) {
                    continue;
                }
                let Some((module, def)) = item else {
                    let key = Key::Node(node.green().to_owned(), 0);
                    found.list.push(Piece { start: node.start(), key, part: None });
                    continue;
                };
                let known = match &names {
                    Some((of, names)) if *of == module => names.clone(),
                    _ => {
                        let fresh = Rc::new(ModuleNames::new(db, module));
                        names = Some((module, fresh.clone()));
                        fresh
                    }
                };
                found.of_def(db, def, known);
            }
        }
    }
    found.list
}

impl<'db> Pieces<'db> {
    fn covers(&self, range: TextRange) -> bool {
        self.range.is_none_or(|own| own.intersect(range).is_some())
    }

    fn comment(&mut self, token: Token<'_>, base: TextSize) {
        if token.kind() != SyntaxKind::WHITESPACE && self.covers(token.range() + base) {
            let key = Key::Comment(token.text().into());
            self.list.push(Piece { start: token.start() + base, key, part: None });
        }
    }

    fn of_def(&mut self, db: &'db dyn Db, def: Def<'db>, module: Rc<ModuleNames<'db>>) {
        let start = def.start(db);
        let root = def.node(db);
        let names = Rc::new(DefNames::new(db, def, module));
        if !def.kind(db).has_body() {
            let (unit, parent) = (UnitId::HEADER, SyntaxKind::SOURCE_FILE);
            let key = Key::Node(root.green().to_owned(), names.context(unit));
            let part = DefPart { node: root, parent, names, unit };
            self.list.push(Piece { start, key, part: Some(part) });
            return;
        }
        // Each part of the header and each statement of the block is a segment.
        let mut last = (UnitId(u32::MAX), 0);
        for outer in root.elements() {
            let inner = match outer {
                NodeOrToken::Node(block) if block.kind() == SyntaxKind::BLOCK => block.elements(),
                _ => {
                    self.part(outer, root.kind(), &names, start, &mut last);
                    continue;
                }
            };
            for element in inner {
                self.part(element, SyntaxKind::BLOCK, &names, start, &mut last);
            }
        }
    }

    fn part(
        &mut self,
        element: NodeOrToken<Node<'db>, Token<'db>>,
        parent: SyntaxKind,
        names: &Rc<DefNames<'db>>,
        base: TextSize,
        last: &mut (UnitId, u64),
    ) {
        match element {
            NodeOrToken::Token(token) => {
                // The text of a keyword or comment determines its highlighting.
                if kind_of_word(token, parent).is_some() {
                    self.comment(token, base);
                }
            }
            NodeOrToken::Node(node) => {
                if !self.covers(node.range() + base) {
                    return;
                }
                let unit = names.unit_at(node.start());
                if last.0 != unit {
                    *last = (unit, names.context(unit));
                }
                self.list.push(Piece {
                    start: node.start() + base,
                    key: Key::Node(node.green().to_owned(), last.1),
                    part: Some(DefPart { node, parent, names: names.clone(), unit }),
                });
            }
        }
    }
}

impl Piece<'_> {
    fn words(self) -> Words {
        let mut list = Vec::new();
        match (&self.part, &self.key) {
            (Some(DefPart { node, parent, names, unit }), _) => {
                let named = names.of_unit(*unit);
                let mut walk = Walk::new(&mut list, node.start(), named, Some(names));
                walk.node(*node, *parent);
            }
            (None, Key::Node(green, _)) => {
                let node = Node::at(green, TextSize::default());
                let mut walk = Walk::new(&mut list, TextSize::default(), Vec::new(), None);
                walk.node(node, SyntaxKind::SOURCE_FILE);
            }
            (None, Key::Comment(text)) => {
                let is_keyword = SyntaxKind::from_keyword(text).is_some();
                let kind = if is_keyword { TokenKind::Keyword } else { TokenKind::Comment };
                lines_of(text, TextSize::default(), kind, 0, &mut list);
            }
        }
        list.shrink_to_fit();
        Words { list, key: self.key }
    }
}

#[cfg(test)]
mod tests;
