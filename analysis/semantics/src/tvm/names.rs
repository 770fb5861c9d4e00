//! Names that TVM prints but cannot read: `%input.1`, `%aten::linear_3.bias`.

use rustc_hash::{FxHashMap, FxHashSet};
use syntax::{GreenNode, Node, SyntaxKind, TextRange};

use super::Edit;
use crate::diagnostic::{Diagnostic, Edits, Fix};

/// Adds the fix that renames all such names of a file consistently.
pub(super) fn fix(tree: &GreenNode, finding: &mut Diagnostic) {
    finding.help = Some("rename them to names of letters, digits, `_` and `/`".into());
    finding.fixes = vec![Fix {
        title: "Rename all printed names to legal ones".into(),
        edits: Edits::deferred(tree.clone(), rename_all),
    }];
}

/// Returns the edits that rename all such names of a tree, in text order.
fn rename_all(root: Node<'_>) -> Vec<Edit> {
    let mut taken: FxHashSet<String> = FxHashSet::default();
    let mut unreadable: Vec<(TextRange, String)> = Vec::new();
    // Printed names that end in a dot and digits are several tokens.
    let mut declared: FxHashSet<String> = FxHashSet::default();
    for node in root.descendants() {
        match node.kind() {
            SyntaxKind::NAME => {
                let text: String =
                    node.tokens().filter(|t| !t.kind().is_trivia()).map(|t| t.text()).collect();
                if is_unreadable(&text) {
                    declared.insert(text.clone());
                    unreadable.push((node.range(), text));
                } else {
                    taken.insert(text);
                }
            }
            SyntaxKind::LOCAL_REF | SyntaxKind::GLOBAL_REF => {
                if let Some(token) = node.tokens().next()
                    && is_unreadable(token.text())
                {
                    unreadable.push((node.range(), token.text().to_owned()));
                }
            }
            SyntaxKind::PROJ_EXPR => {
                let whole = node.to_string();
                if declared.contains(&whole) {
                    unreadable.push((node.range(), whole));
                }
            }
            _ => {}
        }
    }
    let mut renamed: FxHashMap<String, String> = FxHashMap::default();
    let edits = unreadable.into_iter().map(|(range, name)| {
        let new = renamed.entry(name).or_insert_with_key(|name| {
            let mut legal = legal_name(name);
            while !taken.insert(legal.clone()) {
                legal.push('_');
            }
            legal
        });
        (range, new.clone())
    });
    edits.collect()
}

fn is_unreadable(name: &str) -> bool {
    let legal = |b: u8| b == b'_' || b == b'/' || b.is_ascii_alphanumeric();
    matches!(name.as_bytes().first(), Some(b'%' | b'@'))
        && (!name.bytes().skip(1).all(legal) || is_reserved(&name[1..]) || begins_with_digit(name))
}

/// Returns true for `%0q`, which is neither a graph variable nor a valid name.
fn begins_with_digit(name: &str) -> bool {
    let mut letters = name.bytes().skip(1);
    letters.next().is_some_and(|b| b.is_ascii_digit()) && !letters.all(|b| b.is_ascii_digit())
}

/// Returns true for a word that TVM does not accept as a name. It accepts `True` and `False` after
/// a sigil.
fn is_reserved(word: &str) -> bool {
    SyntaxKind::from_keyword(word)
        .is_some_and(|kind| !matches!(kind, SyntaxKind::TRUE_KW | SyntaxKind::FALSE_KW))
}

fn legal_name(name: &str) -> String {
    let mut legal = String::with_capacity(name.len());
    for (i, c) in name.chars().enumerate() {
        if i == 0 || c == '/' || c == '_' || c.is_ascii_alphanumeric() {
            legal.push(c);
        } else if !legal.ends_with('_') {
            legal.push('_');
        }
    }
    if begins_with_digit(&legal) {
        legal.insert(1, '_');
    }
    if is_reserved(&legal[1..]) {
        legal.push('_');
    }
    legal
}
