//! What each word of a text is, for colours.
//!
//! A file is cut into segments: each statement of a definition's block, each part of its header,
//! each other item. The words of a segment follow from its tree and from what its names mean, so
//! that a segment that has the same of both is taken over from the last time as it is. One
//! keystroke in a module of 14,500 bindings costs one statement.

mod names;
mod walk;

use std::{rc::Rc, sync::Arc};

use rustc_hash::FxHashMap;
use semantics::{Db, Def, DefKind, Module, SourceFile, modules};
use syntax::{GreenNode, Node, NodeOrToken, SyntaxKind, TextRange, TextSize, Token};

use names::{DefNames, ModuleNames};
use walk::{Walk, kind_of_word, lines_of};

/// What a word is.
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
    /// Every kind, in the order of their numbers.
    pub const ALL: [TokenKind; 13] = [
        TokenKind::Operator,
        TokenKind::Function,
        TokenKind::Variable,
        TokenKind::Parameter,
        TokenKind::Constructor,
        TokenKind::Type,
        TokenKind::TypeParameter,
        TokenKind::Attribute,
        TokenKind::Keyword,
        TokenKind::Number,
        TokenKind::String,
        TokenKind::Comment,
        TokenKind::Meta,
    ];
}

impl TokenKind {
    /// Whether a grammar of regular expressions knows such words as well.
    pub fn is_syntax(self) -> bool {
        use TokenKind::*;
        matches!(self, Keyword | Number | String | Comment)
    }
}

/// What else is to be said of a word: bits.
pub mod modifier {
    /// The name is declared here.
    pub const DECLARATION: u8 = 1;
    /// What the name means is defined here.
    pub const DEFINITION: u8 = 2;
    /// The variable is a constant.
    pub const READONLY: u8 = 4;
    /// It comes from the prelude.
    pub const PRELUDE: u8 = 8;
    /// A later binding of the same name hides this variable.
    pub const SHADOWED: u8 = 16;
    /// Nothing uses it.
    pub const UNUSED: u8 = 32;
}

/// A word and what it is. It stands on one line.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Highlight {
    /// Where, counted from the start of the segment.
    pub range: TextRange,
    /// What it is.
    pub kind: TokenKind,
    /// What else: see [`modifier`].
    pub modifiers: u8,
}

/// The words of a segment.
#[derive(Debug)]
pub struct Words {
    /// The words, in order.
    pub list: Vec<Highlight>,
    key: Key,
}

impl Words {
    /// Those words whose range, counted from the start of the segment, is wanted.
    pub fn only(&self, wanted: impl Fn(TextRange) -> bool) -> Words {
        let list = self.list.iter().copied().filter(|word| wanted(word.range)).collect();
        Words { list, key: self.key.clone() }
    }
}

/// What the words of a segment follow from.
#[derive(Clone, Debug)]
enum Key {
    /// A tree, and a hash of what its names mean. The tree is kept, so that its place in memory
    /// stands for it.
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

/// A piece of the file with its words.
#[derive(Clone, Debug)]
pub struct Segment {
    /// Where it begins in the file.
    pub start: TextSize,
    /// Its words. Two segments with the same words in memory have the same text.
    pub words: Arc<Words>,
}

/// The words of a file, segment by segment in the order of the text.
#[derive(Clone, Debug, Default)]
pub struct Highlights {
    /// The segments that have words.
    pub segments: Vec<Segment>,
}

impl Highlights {
    /// Each word with its place in the file.
    pub fn iter(&self) -> impl Iterator<Item = Highlight> {
        self.segments.iter().flat_map(|segment| {
            let words = segment.words.list.iter();
            words.map(|word| Highlight { range: word.range + segment.start, ..*word })
        })
    }
}

/// The words of a file; segments that are as they were in `before` are taken over.
pub fn highlight(db: &dyn Db, file: SourceFile, before: Option<&Highlights>) -> Highlights {
    let pieces = pieces(db, file, None);
    let before = before.map_or(&[][..], |before| &before.segments);
    let same = |(piece, old): &(&Piece<'_>, &Segment)| piece.key == old.words.key;
    let front = pieces.iter().zip(before).take_while(same).count();
    let rest = pieces[front..].iter().rev().zip(before[front..].iter().rev());
    let back = rest.take_while(same).count();
    // What moved: a statement that changed places, a definition that was copied.
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

/// The words of the segments that touch `range`.
pub fn highlight_range(db: &dyn Db, file: SourceFile, range: TextRange) -> Highlights {
    let pieces = pieces(db, file, Some(range)).into_iter();
    let segments =
        pieces.map(|piece| Segment { start: piece.start, words: Arc::new(piece.words()) });
    Highlights { segments: segments.collect() }
}

/// A segment whose words are still to be found.
struct Piece<'db> {
    start: TextSize,
    source: Source<'db>,
    key: Key,
    /// The names around it, and the unit of the definition that it belongs to.
    names: Option<(Rc<DefNames<'db>>, usize)>,
}

enum Source<'db> {
    /// A part of a definition, with offsets from the start of the definition, and the kind of the
    /// node around it.
    Part(Node<'db>, SyntaxKind),
    /// What belongs to no definition.
    Loose(GreenNode),
    /// A comment.
    Comment,
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
                if !found.wants(node.range()) {
                    continue;
                }
                let Some((module, def)) = item else {
                    let green = node.green().to_owned();
                    let key = Key::Node(green.clone(), 0);
                    let source = Source::Loose(green);
                    found.list.push(Piece { start: node.start(), source, key, names: None });
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
    fn wants(&self, range: TextRange) -> bool {
        self.range.is_none_or(|wanted| wanted.intersect(range).is_some())
    }

    fn comment(&mut self, token: Token<'_>, base: TextSize) {
        if token.kind() != SyntaxKind::WHITESPACE && self.wants(token.range() + base) {
            self.list.push(Piece {
                start: token.start() + base,
                source: Source::Comment,
                key: Key::Comment(token.text().into()),
                names: None,
            });
        }
    }

    fn of_def(&mut self, db: &'db dyn Db, def: Def<'db>, module: Rc<ModuleNames<'db>>) {
        let start = def.start(db);
        let root = def.node(db);
        let names = Rc::new(DefNames::new(db, def, module));
        if !matches!(def.kind(db), DefKind::Fn | DefKind::Expr) {
            let context = names.context(0);
            let key = Key::Node(root.green().to_owned(), context);
            let source = Source::Part(root, SyntaxKind::SOURCE_FILE);
            self.list.push(Piece { start, source, key, names: Some((names, 0)) });
            return;
        }
        // The header part by part, the block statement by statement.
        let mut last = (usize::MAX, 0);
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
        last: &mut (usize, u64),
    ) {
        match element {
            NodeOrToken::Token(token) => {
                // A keyword of the header, or a comment: its text says all.
                if kind_of_word(token, parent).is_some() {
                    self.comment(token, base);
                }
            }
            NodeOrToken::Node(node) => {
                if !self.wants(node.range() + base) {
                    return;
                }
                let unit = names.unit_at(node.start());
                if last.0 != unit {
                    *last = (unit, names.context(unit));
                }
                self.list.push(Piece {
                    start: node.start() + base,
                    source: Source::Part(node, parent),
                    key: Key::Node(node.green().to_owned(), last.1),
                    names: Some((names.clone(), unit)),
                });
            }
        }
    }
}

impl Piece<'_> {
    fn words(self) -> Words {
        let mut list = Vec::new();
        match (&self.source, &self.names, &self.key) {
            (Source::Part(node, parent), Some((names, unit)), _) => {
                let named = names.of_unit(*unit);
                let mut walk = Walk::new(&mut list, node.start(), named, Some(names));
                walk.node(*node, *parent);
            }
            (Source::Loose(green), ..) => {
                let node = Node::at(green, TextSize::default());
                let mut walk = Walk::new(&mut list, TextSize::default(), Vec::new(), None);
                walk.node(node, SyntaxKind::SOURCE_FILE);
            }
            (_, _, Key::Comment(text)) => {
                let is_keyword = SyntaxKind::from_keyword(text).is_some();
                let kind = if is_keyword { TokenKind::Keyword } else { TokenKind::Comment };
                lines_of(text, TextSize::default(), kind, 0, &mut list);
            }
            _ => {}
        }
        list.shrink_to_fit();
        Words { list, key: self.key }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use expect_test::{Expect, expect};
    use syntax::{Edit, ParseLimits, TextRange};

    use super::*;
    use crate::fixture::Fixture;

    fn shown(fixture: &Fixture, words: &Highlights) -> String {
        let mut out = String::new();
        for word in words.iter() {
            let text = &fixture.text[std::ops::Range::<usize>::from(word.range)];
            let names = ["declaration", "definition", "readonly", "prelude", "shadowed", "unused"];
            let bits = names.iter().enumerate().filter(|(bit, _)| word.modifiers & (1 << bit) != 0);
            let bits: String = bits.map(|(_, name)| format!(" {name}")).collect();
            out += &format!("{text}  {:?}{bits}\n", word.kind);
        }
        out
    }

    fn check(text: &str, expected: Expect) {
        let fixture = Fixture::new(text);
        let words = highlight(&fixture.db, fixture.file, None);
        expected.assert_eq(&shown(&fixture, &words));
    }

    #[test]
    fn variables() {
        check(
            "
def @main(%x: int32, %input.1: int32, %w: int32) -> int32 {
  let %y = meta[relay.Constant][0];
  let %y = add(%x, %y);
  %0 = (%y, %input.1);
  let %_q = %0.1;
  %y
}
",
            expect![[r#"
                def  Keyword
                @main  Function definition
                %x  Parameter declaration
                int32  Type prelude
                %input.1  Parameter declaration
                int32  Type prelude
                %w  Parameter declaration unused
                int32  Type prelude
                int32  Type prelude
                let  Keyword
                %y  Variable declaration readonly shadowed
                meta[relay.Constant][0]  Meta
                let  Keyword
                %y  Variable declaration
                add  Operator
                %x  Parameter
                %y  Variable readonly shadowed
                %0  Variable declaration
                %y  Variable
                %input.1  Parameter
                let  Keyword
                %_q  Variable declaration
                %0  Variable
                1  Number
                %y  Variable
            "#]],
        );
    }

    #[test]
    fn types_and_constructors() {
        check(
            "
// Two
type Pair[A] { P(A, List[A]) }
def @f<s : Shape, b : BaseType>(%x: Tensor[s, b], %p: Pair[int32]) {
  match (%p) { P(%a, Cons(_, _)) => @hd(Cons(%a + 1, Nil)), /* a
    b */
    _ => fn[B](%q: B) -> B { %q }(2) }
}
",
            expect![[r#"
                // Two  Comment
                type  Keyword
                Pair  Type definition
                A  TypeParameter declaration
                P  Constructor definition
                A  TypeParameter
                List  Type prelude
                A  TypeParameter
                def  Keyword
                @f  Function definition
                s  TypeParameter declaration
                Shape  Type prelude
                b  TypeParameter declaration
                BaseType  Type prelude
                %x  Parameter declaration unused
                Tensor  Type prelude
                s  TypeParameter
                b  TypeParameter
                %p  Parameter declaration
                Pair  Type
                int32  Type prelude
                match  Keyword
                %p  Parameter
                P  Constructor
                %a  Variable declaration
                Cons  Constructor prelude
                @hd  Function prelude
                Cons  Constructor prelude
                %a  Variable
                +  Operator
                1  Number
                Nil  Constructor prelude
                /* a  Comment
                    b */  Comment
                fn  Keyword
                B  TypeParameter declaration
                %q  Parameter declaration
                B  TypeParameter
                B  TypeParameter
                %q  Parameter
                2  Number
            "#]],
        );
    }

    #[test]
    fn attributes_strings_and_what_is_broken() {
        check(
            "
#[version = \"0.0.5\"]
def @main(%x: Tensor[(1, 3, 8, 8), float32], Primitive=1) {
  let = nn.conv2d(%x, %nowhere, data_layout=\"NCHW\", padding=[1, 1]) ) ;
}
def def
",
            expect![[r#"
                "0.0.5"  String
                def  Keyword
                @main  Function definition
                %x  Parameter declaration
                Tensor  Type prelude
                1  Number
                3  Number
                8  Number
                8  Number
                float32  Type prelude
                Primitive  Attribute
                1  Number
                let  Keyword
                nn.conv2d  Operator
                %x  Parameter
                %nowhere  Variable
                data_layout  Attribute
                "NCHW"  String
                padding  Attribute
                1  Number
                1  Number
                def  Keyword
                def  Keyword
            "#]],
        );
    }

    /// What is taken over equals what is found anew.
    #[test]
    fn edits_cost_what_they_touch() {
        let text = "
def @main(%x: int32) -> int32 {
  let %a = add(%x, 1);
  // between
  let %b = add(%a, 2);
  %0 = add(%b, 3);
  let %c = fn (%y: int32) -> int32 { %y };
  %c(%0)
}
def @other() -> int32 { 1 }
";
        let mut fixture = Fixture::new(text);
        let mut before = highlight(&fixture.db, fixture.file, None);
        let edits: &[(&str, &str, usize)] = &[
            ("add(%a, 2)", "subtract(%a, 2)", 1),
            // The last statement ceases to use `%0`.
            ("%c(%0)", "%c(%b)", 2),
            // A line more moves everything behind it, and changes nothing there.
            ("// between", "// between\n\n  // more", 1),
            // `%a` hides the first: what is said of the first changes. One statement has become
            // two, and the parser reads the block anew.
            ("  %0 =", "  let %a = 1;\n  %0 =", 6),
        ];
        for (from, to, fresh) in edits {
            let at = fixture.text.find(from).expect("the text is there");
            let range = TextRange::at((at as u32).into(), TextSize::of(*from));
            let edit = Edit { range, insert: (*to).into() };
            edit.apply(&mut fixture.text);
            let parse = fixture.file.parse(&fixture.db);
            let next = parse.reparse(&fixture.text, &edit, ParseLimits::default());
            fixture.db.set_parse(fixture.file, Arc::new(next));
            let after = highlight(&fixture.db, fixture.file, Some(&before));
            let anew = highlight(&fixture.db, fixture.file, None);
            assert_eq!(shown(&fixture, &after), shown(&fixture, &anew));
            let old: Vec<_> = before.segments.iter().map(|s| Arc::as_ptr(&s.words)).collect();
            let new = after.segments.iter().filter(|s| !old.contains(&Arc::as_ptr(&s.words)));
            assert_eq!(new.count(), *fresh, "{to}");
            before = after;
        }
    }

    #[test]
    fn a_range_is_a_part_of_the_whole() {
        let fixture = Fixture::new("def @f() { 1 }\ndef @g() { let %x = 2; %x }\n");
        let at = TextRange::new(27.into(), 30.into());
        let words = highlight_range(&fixture.db, fixture.file, at);
        expect![[r#"
            let  Keyword
            %x  Variable declaration readonly
            2  Number
        "#]]
        .assert_eq(&shown(&fixture, &words));
    }
}
