//! Places that a text names: files in comments, entries of the metadata section.

use semantics::{Db, DefKind, SourceFile, modules};
use syntax::{Node, NodeOrToken, SyntaxKind, TextRange, TextSize, Token};

/// The most links of a file. An editor asks for them all at once.
const MOST: usize = 20_000;

/// Something that leads elsewhere.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Link {
    /// What is clicked.
    pub range: TextRange,
    /// Where it leads.
    pub target: LinkTarget,
}

/// Where a link leads.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LinkTarget {
    /// A file, which may be there or not: `span=model/net.py:54:14`.
    Path {
        /// As it is written.
        path: String,
        /// The line and column, counted from 1.
        line: Option<(u32, Option<u32>)>,
    },
    /// A place in the same file.
    Place(TextRange),
}

/// The links of a file, in the order of the text.
pub fn links(db: &dyn Db, file: SourceFile) -> Vec<Link> {
    let parse = file.parse(db);
    // The metadata section of each module, by where the module ends.
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
        if found.len() >= MOST {
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

/// Paths in a comment: words with a slash and, behind the last, a dot.
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

/// `net.py:54:14` → `net.py`, line 54, column 14.
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
    fn paths_in_comments() {
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
    fn entries_of_the_metadata_section() {
        check(
            "def @main() { meta[relay.Constant][0] }\n#[metadata]\n{ \"root\": 1 }\n",
            expect![[r#"
                meta[relay.Constant][0]: #[metadata]
            "#]],
        );
        check("def @main() { meta[relay.Constant][0] }\n", expect![[r#""#]]);
    }
}
