//! Syntax errors and departures from TVM's text format, in words.

use rustc_hash::FxHashMap;
use syntax::{SyntaxErrorKind, SyntaxKind, TextRange};

use crate::{
    db::{Db, SourceFile},
    diagnostic::Diagnostic,
};

pub(super) fn check(db: &dyn Db, file: SourceFile, found: &mut Vec<Diagnostic>) {
    let parse = file.parse(db);
    let root = syntax::Node::root(&parse.green);
    let text_of = |range: TextRange| -> String {
        match root.token_at(range.start()) {
            Some(token) if token.range() == range => token.text().to_owned(),
            _ => String::new(),
        }
    };
    // Departures that a dump repeats hundreds of times are one finding each.
    let mut repeated: FxHashMap<&'static str, (Diagnostic, usize)> = FxHashMap::default();
    let mut order = Vec::new();
    for error in &parse.errors {
        let (code, message) = words(&error.kind, &text_of(error.range));
        let diagnostic = detail(error, Diagnostic::new(code, error.range, message));
        if !error.kind.is_compat() {
            found.push(diagnostic);
            continue;
        }
        match repeated.get_mut(code) {
            Some((first, count)) => {
                *count += 1;
                for fix in diagnostic.fixes {
                    let same = first.fixes.iter_mut().find(|known| known.title == fix.title);
                    if let Some(known) = same {
                        known.edits.extend(fix.edits);
                    }
                }
            }
            None => {
                order.push(code);
                repeated.insert(code, (diagnostic, 1));
            }
        }
    }
    for code in order {
        if let Some((mut first, count)) = repeated.remove(code) {
            if count > 1 {
                let more = count - 1;
                let places = if more == 1 { "place" } else { "places" };
                first.message = format!("{} (and in {more} more {places})", first.message);
            }
            found.push(first);
        }
    }
    unreadable_names(&parse.green, found);
}

/// Places, help and fixes that depend on the error.
fn detail(error: &syntax::SyntaxError, diagnostic: Diagnostic) -> Diagnostic {
    use SyntaxErrorKind::*;
    let range = error.range;
    let at_end = TextRange::empty(range.end());
    match &error.kind {
        Expected { open: Some(open), .. } => diagnostic.related(*open, "opened here"),
        MissingSemicolon => diagnostic.fix("Add the missing `;`", [(at_end, ";".to_owned())]),
        HashComment => diagnostic.fix("Write `//` for `#`", [(range, "//".to_owned())]),
        BareFloat => diagnostic.fix("Add the suffix `f`", [(at_end, "f".to_owned())]),
        BareBlock => diagnostic.fix(
            "Put it in brackets",
            [(TextRange::empty(range.start()), "(".to_owned()), (at_end, ")".to_owned())],
        ),
        DataDefinition => diagnostic.fix("Write `type` for `data`", [(range, "type".to_owned())]),
        UnknownVersion => diagnostic.fix("Write 0.0.5", [(range, "\"0.0.5\"".to_owned())]),
        GluedMinus => {
            let behind = TextRange::empty(range.end());
            diagnostic.fix("Put a space behind the `-`", [(behind, " ".to_owned())])
        }
        UnclosedComment => diagnostic.help("close it with `*/`; comments nest"),
        UnclosedString => diagnostic.help("close it with `\"` on the same line"),
        TooDeep => diagnostic.help("bind inner expressions to names with `let` or `%0 = …;`"),
        _ => diagnostic,
    }
}

/// The code and first sentence of an error; `text` is what stands at its place.
fn words(kind: &SyntaxErrorKind, text: &str) -> (&'static str, String) {
    use SyntaxErrorKind::*;
    let found = |kind: SyntaxKind| match kind {
        SyntaxKind::END_OF_FILE => "the file ends here".to_owned(),
        _ if !text.is_empty() && text.len() <= 30 && !text.contains('\n') => {
            format!("found `{text}`")
        }
        SyntaxKind::ERROR | SyntaxKind::UNKNOWN => "found something else".to_owned(),
        kind => format!("found {}", kind.describe()),
    };
    let (code, message): (_, &str) = match kind {
        Expected { expected, found: what, .. } => {
            return ("syntax-error", format!("expected {expected}, {}", found(*what)));
        }
        Unexpected(what) => {
            let what = if text.is_empty() || text.len() > 30 || text.contains('\n') {
                what.describe().to_owned()
            } else {
                format!("`{text}`")
            };
            return ("syntax-error", format!("{what} does not belong here"));
        }
        UnclosedComment => ("unclosed-comment", "this comment is never closed"),
        UnclosedString => ("unclosed-string", "this string is never closed"),
        UnknownCharacter => ("unknown-character", "these characters begin nothing in Relay"),
        TooDeep => ("nested-too-deep", "expressions nest too deep here; the rest is not read"),
        UnknownSection => {
            ("unknown-section", "only `#[version = \"0.0.5\"]` and `#[metadata]` are sections")
        }
        UnknownVersion => ("unknown-version", "this version of the text format is not known"),
        SecondExpression => {
            ("second-expression", "a file holds at most one expression outside of definitions")
        }
        HashComment => {
            ("tvm-hash-comment", "TVM reads `#` as the start of a section, not of a comment")
        }
        LoneCarriageReturn => {
            ("tvm-carriage-return", "TVM stops at a carriage return that no line feed follows")
        }
        MissingSemicolon => ("tvm-semicolon", "TVM needs a `;` after a graph binding"),
        DataDefinition => {
            ("tvm-data-definition", "TVM spells `data` definitions `type T { C(A), D }`")
        }
        CaseArm => ("tvm-case-arm", "TVM spells `case` arms `C(%x) => e,`"),
        AngleTypeParams => {
            ("tvm-type-parameters", "TVM writes type parameters in brackets, without kinds: `[t]`")
        }
        TypeArguments => ("tvm-type-arguments", "TVM reads no type arguments at calls"),
        WhereClause => ("tvm-where-clause", "TVM reads no `where` clauses"),
        ConstructorSignature => {
            ("tvm-constructor-signature", "TVM writes the fields of a constructor: `C(A, B)`")
        }
        LogicalOperator => (
            "tvm-logical-operator",
            "TVM has no `&&` and `||`; it calls `logical_and` and `logical_or`",
        ),
        ConstantExpression => {
            ("tvm-constant-expression", "TVM reads no `Constant(…)`; it calls `full`")
        }
        BareFloat => ("tvm-bare-float", "TVM needs the suffix `f` on a number with a point"),
        GluedNumber => {
            ("tvm-glued-number", "TVM reads what follows this number without a space as part of it")
        }
        GluedMinus => ("tvm-glued-minus", "TVM reads a `-` against a number as its sign"),
        UnreadableName => ("tvm-name", "TVM prints names like this one but cannot read them back"),
        RefType => ("tvm-ref-type", "TVM prints the type `ref(T)` but cannot read it back"),
        ExternalFunction => {
            ("tvm-external-function", "TVM prints external functions but cannot read them back")
        }
        TirFunction => ("tvm-tir-function", "TVM prints TIR functions but cannot read them back"),
        PrintedAttribute => (
            "tvm-printed-attribute",
            "TVM prints attributes like this one but cannot read them back",
        ),
        LogLine => ("tvm-log-line", "this line of a log is no Relay"),
        SecondModule => ("tvm-second-module", "TVM reads one module a file; here begins another"),
        ChainedProjection => {
            ("tvm-chained-projection", "TVM projects a tuple once, and not the result of a call")
        }
        NestedLet => ("tvm-nested-let", "TVM needs brackets around a binding inside a binding"),
        BareBlock => ("tvm-brackets", "TVM needs brackets around a block or a `match` here"),
        ShapeVariable => ("tvm-shape-variable", "TVM reads no shape variables"),
        LiteralSuffix => ("tvm-literal-suffix", "TVM has no literal of this form"),
        MatchScrutinee => ("tvm-match-scrutinee", "TVM needs brackets around what is matched on"),
        ElseIf => ("tvm-else-if", "TVM needs braces around the `if` after `else`"),
        PolymorphicFnType => (
            "tvm-polymorphic-type",
            "TVM prints the types of generic functions but cannot read them",
        ),
    };
    (code, message.to_owned())
}

/// The fix for printed names: legal ones, the same everywhere.
fn unreadable_names(green: &syntax::GreenNode, found: &mut [Diagnostic]) {
    let Some(finding) = found.iter_mut().find(|d| d.code == "tvm-name") else { return };
    let root = syntax::Node::root(green);
    let mut taken: FxHashMap<String, ()> = FxHashMap::default();
    let mut unreadable: Vec<(TextRange, String)> = Vec::new();
    // Printed names with a part of digits at the end are several tokens.
    let mut declared: Vec<String> = Vec::new();
    for node in root.descendants() {
        match node.kind() {
            SyntaxKind::NAME => {
                let text: String =
                    node.tokens().filter(|t| !t.kind().is_trivia()).map(|t| t.text()).collect();
                if is_unreadable(&text) {
                    declared.push(text.clone());
                    unreadable.push((node.range(), text));
                } else {
                    taken.insert(text, ());
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
    let edits: Vec<(TextRange, String)> = unreadable
        .into_iter()
        .map(|(range, name)| {
            let new = renamed.entry(name).or_insert_with_key(|name| {
                let mut legal = legal_name(name);
                while taken.contains_key(&legal) {
                    legal.push('_');
                }
                taken.insert(legal.clone(), ());
                legal
            });
            (range, new.clone())
        })
        .collect();
    finding.help = Some("rename them to names of letters, digits, `_` and `/`".into());
    finding.fixes = vec![crate::diagnostic::Fix {
        title: "Rename all printed names to legal ones".into(),
        edits,
    }];
}

fn is_unreadable(name: &str) -> bool {
    let legal = |b: u8| b == b'_' || b == b'/' || b.is_ascii_alphanumeric();
    matches!(name.as_bytes().first(), Some(b'%' | b'@'))
        && (!name.bytes().skip(1).all(legal)
            || SyntaxKind::from_keyword(&name[1..])
                .is_some_and(|k| !matches!(k, SyntaxKind::TRUE_KW | SyntaxKind::FALSE_KW)))
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
    if SyntaxKind::from_keyword(&legal[1..]).is_some() {
        legal.push('_');
    }
    legal
}
