//! Document links: paths in comments, and references to the metadata section.

use semantics::{Db, DefKind, SourceFile, modules};
use syntax::{Node, NodeOrToken, SyntaxKind, TextRange, TextSize, Token};

/// The maximal number of links of a file. A client requests them all at once.
const MAX_LINKS: usize = 20_000;

/// A document link.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Link {
    /// The range of the link text.
    pub range: TextRange,
    /// The target.
    pub target: LinkTarget,
}

/// The target of a link.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LinkTarget {
    /// A file, which may not exist: `span=model/net.py:54:14`.
    Path {
        /// The path as written.
        path: String,
        /// The 1-based line and column.
        line: Option<(u32, Option<u32>)>,
    },
    /// A range in the same file.
    Place(TextRange),
}

/// Returns the links of a file in text order.
pub fn links(db: &dyn Db, file: SourceFile) -> Vec<Link> {
    let parse = file.parse(db);
    // The end of each module, and its metadata section.
    let sections: Vec<(TextSize, Option<TextRange>)> = modules(db, file)
        .iter()
        .filter_map(|module| {
            let items = module.items(db);
            let section = items.iter().find(|def| def.kind(db) == DefKind::Metadata);
            let place = section.map(|def| {
                TextRange::at(def.start(db), TextSize::of("#[metadata]").min(def.range(db).len()))
            });
            Some((items.last()?.range(db).end(), place))
        })
        .collect();
    let mut found = Vec::new();
    let mut stack = vec![Node::root(&parse.green)];
    let mut count = 0u32;
    while let Some(node) = stack.pop() {
        count += 1;
        if count.is_multiple_of(4096) {
            db.unwind_if_revision_cancelled();
        }
        if found.len() >= MAX_LINKS {
            break;
        }
        for element in node.elements() {
            let token = match element {
                NodeOrToken::Token(token) => token,
                NodeOrToken::Node(child) => {
                    stack.push(child);
                    continue;
                }
            };
            match token.kind() {
                kind if kind.is_trivia() && kind != SyntaxKind::WHITESPACE => {
                    in_comment(token, &mut found);
                }
                SyntaxKind::META_REF => {
                    let at = sections.partition_point(|(end, _)| *end < token.start());
                    if let Some((_, Some(place))) = sections.get(at) {
                        let target = LinkTarget::Place(*place);
                        found.push(Link { range: token.range(), target });
                    }
                }
                _ => {}
            }
        }
    }
    found.sort_by_key(|link| link.range.start());
    found
}

/// Adds the paths in a comment: words with a slash and a file extension.
fn in_comment(token: Token<'_>, found: &mut Vec<Link>) {
    let text = token.text();
    let inner = text.trim_start_matches(['/', '*', '#']);
    let from = text.len() - inner.len();
    let inner = inner.trim_end_matches("*/");
    if !inner.contains('/') {
        return;
    }
    for word in inner.split([' ', '\t', '\n', '\r', '"', '\'', '`', '(', ')', '[', ']', ',', ';']) {
        let word = word.strip_prefix("span=").unwrap_or(word);
        let Some((path, line)) = path_in(word) else { continue };
        let at = from + (word.as_ptr() as usize - inner.as_ptr() as usize);
        let len = word.trim_end_matches([':', '.']).len();
        let start = token.start() + TextSize::new(at as u32);
        found.push(Link {
            range: TextRange::at(start, TextSize::new(len as u32)),
            target: LinkTarget::Path { path: path.to_owned(), line },
        });
    }
}

type Line = Option<(u32, Option<u32>)>;

/// Parses a path with an optional position: `a/net.py:54:14` is line 54, column 14 of `a/net.py`.
fn path_in(word: &str) -> Option<(&str, Line)> {
    let word = word.trim_end_matches([':', '.']);
    let (mut path, mut numbers) = (word, Vec::new());
    while numbers.len() < 2
        && let Some((front, number)) = path.rsplit_once(':')
        && let Ok(number) = number.parse::<u32>()
    {
        numbers.push(number);
        path = front;
    }
    let name = path.rsplit('/').next()?;
    let extension = name.rsplit_once('.')?.1;
    let is_path = path.contains('/')
        && !path.contains("//")
        && !path.contains("::")
        && !extension.is_empty()
        && extension.bytes().all(|b| b.is_ascii_alphanumeric());
    let line = match numbers[..] {
        [] => None,
        [line] => Some((line, None)),
        [column, line, ..] => Some((line, Some(column))),
    };
    is_path.then_some((path, line))
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::fixture::Fixture;

    fn check(text: &str, expected: Expect) {
        let fixture = Fixture::new(text);
        let mut out = String::new();
        for link in links(&fixture.db, fixture.file) {
            let text = &fixture.text[std::ops::Range::<usize>::from(link.range)];
            out += &match link.target {
                LinkTarget::Path { path, line } => format!("{text}: {path} {line:?}\n"),
                LinkTarget::Place(place) => {
                    let place = &fixture.text[std::ops::Range::<usize>::from(place)];
                    format!("{text}: {place}\n")
                }
            };
        }
        expected.assert_eq(&out);
    }

    #[test]
    fn paths_in_comments_are_linked() {
        check(
            "
// See models/net.py and `a/b.relay:3`, not a/b or https://tvm.apache.org/x.html.
def @main(%x: int32 /* ty=int32 span=/opt/std/gradient.rly:54:14 */) {
  %x /* span=aten::linear/x:0:0 */ /* span=a/b.c:1:2 */
}
",
            expect![[r#"
                models/net.py: models/net.py None
                a/b.relay:3: a/b.relay Some((3, None))
                /opt/std/gradient.rly:54:14: /opt/std/gradient.rly Some((54, Some(14)))
                a/b.c:1:2: a/b.c Some((1, Some(2)))
            "#]],
        );
    }

    #[test]
    fn metadata_references_are_linked() {
        check(
            "def @main() { meta[relay.Constant][0] }\n#[metadata]\n{ \"root\": 1 }\n",
            expect![[r#"
                meta[relay.Constant][0]: #[metadata]
            "#]],
        );
        check("def @main() { meta[relay.Constant][0] }\n", expect![[r#""#]]);
    }
}
