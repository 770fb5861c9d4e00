//! The notation of the manual, and notation that TVM prints but cannot read.

use std::cell::OnceCell;

use rustc_hash::{FxHashMap, FxHashSet};
use syntax::{
    Node, NodeOrToken, SyntaxError, SyntaxErrorKind, SyntaxKind, TextRange, TextSize,
    ast::{self, AstNode},
};

use super::{
    Edit, MergedDiagnostics, insert, literals, names, params, parenthesise, pasted, rules, types,
};
use crate::{
    body::ProblemKind,
    db::{Db, SourceFile},
    diagnostic::{Code, Diagnostic},
};

const REMOVE_TYPES: &str = "Remove the types";

pub(super) fn check(db: &dyn Db, file: SourceFile, findings: &mut MergedDiagnostics<'_>) {
    let parse = file.parse(db);
    pasted::check(&parse, findings);
    let mut errors: Vec<&SyntaxError> =
        parse.errors.iter().filter(|error| error.kind.is_compat()).collect();
    if errors.is_empty() {
        return;
    }
    errors.sort_by_key(|error| error.range.start());
    let root = Node::root(&parse.green);
    let sites = Sites::new(root, &errors);
    // A list of type parameters is reported once.
    let mut lists: FxHashSet<TextSize> = FxHashSet::default();
    for error in errors {
        if matches!(error.kind, SyntaxErrorKind::AngleTypeParams) {
            let Some(list) = sites.node(error) else { continue };
            if lists.insert(list.start()) {
                findings.fold(params::type_params(db, file, root, list));
            }
            continue;
        }
        if matches!(error.kind, SyntaxErrorKind::PrintedMessage) {
            findings.add(pasted::said(root, error));
            if !rules::hold(db) {
                continue;
            }
        }
        let Some((code, message)) = message_of(&error.kind) else { continue };
        let diagnostic = Diagnostic::new(code, place(root, error), message);
        let mut diagnostic = with_fix(db, file, root, &sites, error, diagnostic);
        if matches!(error.kind, SyntaxErrorKind::MissingSemicolon)
            && let Some(next) = root.token_from(error.range.end())
        {
            diagnostic = diagnostic.related(next.range(), "the next statement begins here");
        }
        findings.fold(diagnostic);
    }
    if let Some(names) = findings.folded.get(&Code::TvmName).copied() {
        names::fix(&parse.green, &mut findings.found[names].diagnostic);
    }
}

/// Returns the diagnostic for the types of scalars after the arguments of a call. The range begins with the comma.
pub(super) fn printed_types(range: TextRange) -> Diagnostic {
    let types = TextRange::new(range.start() + TextSize::of(','), range.end());
    Diagnostic::new(Code::TvmOtherVersion, types, ProblemKind::PRINTED_TYPES)
        .fix(REMOVE_TYPES, [(range, String::new())])
}

/// Returns the range to report: the first token of an operand, which may have many lines.
fn place(root: Node<'_>, error: &SyntaxError) -> TextRange {
    match error.kind {
        SyntaxErrorKind::BareOperand => {
            root.token_at(error.range.start()).map_or(error.range, |token| token.range())
        }
        // The comma before the types belongs to the fix.
        SyntaxErrorKind::PrintedTypes => {
            let types = root.token_at(error.range.start()).map(|comma| comma.range().end());
            let first = types.and_then(|after| root.token_from(after));
            first.map_or(error.range, |first| TextRange::new(first.start(), error.range.end()))
        }
        _ => error.range,
    }
}

/// Returns the code and the message of an error. Shape variables are reported at their
/// declarations.
fn message_of(kind: &SyntaxErrorKind) -> Option<(Code, &'static str)> {
    use SyntaxErrorKind::*;
    Some(match kind {
        HashComment => {
            (Code::TvmHashComment, "TVM reads `#` as the start of a section, not of a comment")
        }
        LoneCarriageReturn => {
            (Code::TvmCarriageReturn, "TVM stops at a carriage return that no line feed follows")
        }
        MissingSemicolon => (Code::TvmSemicolon, "TVM requires a `;` after a binding"),
        MissingComma => (Code::TvmComma, "TVM requires a `,` here"),
        DataDefinition => {
            (Code::TvmDataDefinition, "TVM writes `data` definitions as `type T { C(A), D }`")
        }
        CaseArm => (Code::TvmCaseArm, "TVM writes `case` arms as `C(%x) => e,`"),
        TypeArguments => (Code::TvmTypeArguments, "TVM does not support type arguments of calls"),
        WhereClause => (Code::TvmWhereClause, "TVM does not support `where` clauses"),
        ConstructorSignature => {
            (Code::TvmConstructorSignature, "TVM writes constructors with their fields: `C(A, B)`")
        }
        LogicalOperator => (
            Code::TvmLogicalOperator,
            "TVM does not support `&&` and `||`; call `logical_and` or `logical_or`",
        ),
        ConstantExpression => {
            (Code::TvmConstantExpression, "TVM does not support `Constant(…)`; call `full`")
        }
        BareFloat => (Code::TvmBareFloat, "TVM requires the suffix `f` on a floating-point number"),
        GluedNumber => {
            (Code::TvmGluedNumber, "TVM reads the text directly after this number as part of it")
        }
        GluedMinus => (Code::TvmGluedMinus, "TVM reads a `-` directly before a number as its sign"),
        UnreadableName => {
            (Code::TvmName, "TVM prints names like this one, but cannot read them back")
        }
        MetaType => (
            Code::TvmMetaType,
            "TVM prints a type as an entry of the metadata section but cannot read it back",
        ),
        RefType => (Code::TvmRefType, "TVM prints the type `ref(T)` but cannot read it back"),
        ExternalFunction => {
            (Code::TvmExternalFunction, "TVM prints external functions but cannot read them back")
        }
        TirFunction => (Code::TvmTirFunction, "TVM prints TIR functions but cannot read them back"),
        PrintedAttribute => (
            Code::TvmPrintedAttribute,
            "TVM prints attributes like this one but cannot read them back",
        ),
        OldVersion => (Code::TvmOtherVersion, "this is the version line of TVM 0.6 and before"),
        OldComment => (Code::TvmOtherVersion, "TVM 0.5 prints comments after `#`"),
        OldLiteral => (Code::TvmOtherVersion, "TVM 0.5 prints numbers of 64 bits so"),
        OldTuple => (Code::TvmOtherVersion, "TVM 0.5 prints tuple types as `Tuple[…]`"),
        OldSection => {
            (Code::TvmOtherVersion, "the metadata section begins like that of TVM 0.6 and before")
        }
        PrintedRead => (Code::TvmOtherVersion, "TVM 0.6 and 0.7 print `ref_read(%r)` as `%r^`"),
        PrintedWrite => {
            (Code::TvmOtherVersion, "TVM 0.6 and 0.7 print `ref_write(%r, %v)` as `%r := %v`")
        }
        PrintedTypes => (Code::TvmOtherVersion, ProblemKind::PRINTED_TYPES),
        DoubleSemicolon => (Code::TvmOtherVersion, "TVM 0.6 writes `;;` between expressions"),
        PrintedMessage => (Code::TvmLogLine, "this message of TVM is not Relay"),
        LogLine => (Code::TvmLogLine, "this line of a log is not Relay"),
        SecondModule => {
            (Code::TvmSecondModule, "TVM reads one module per file; another one begins here")
        }
        ChainedProjection => (
            Code::TvmChainedProjection,
            "TVM does not support chained projections, or projections of calls",
        ),
        NestedLet => (Code::TvmNestedLet, "TVM requires parentheses around a nested binding"),
        LiteralSuffix => (Code::TvmLiteralSuffix, "TVM has no literal of this form"),
        MatchScrutinee => {
            (Code::TvmMatchScrutinee, "TVM requires parentheses around the matched value")
        }
        BareOperand => (
            Code::TvmOperand,
            "TVM requires parentheses around a `match` or a block inside of an expression",
        ),
        ElseIf => (Code::TvmElseIf, "TVM requires braces around the `if` after `else`"),
        PolymorphicFnType => (
            Code::TvmPolymorphicType,
            "TVM prints the types of generic functions, but cannot read them back",
        ),
        NestedHole => (Code::TvmHole, "TVM accepts `_` for a whole type only, not inside of one"),
        AttributeTuple => {
            (Code::TvmAttributeTuple, "TVM writes lists in attributes in square brackets: `[1, 0]`")
        }
        _ => return None,
    })
}

/// Adds the fix that makes the text valid in TVM, or help if there is no fix.
fn with_fix(
    db: &dyn Db,
    file: SourceFile,
    root: Node<'_>,
    sites: &Sites<'_>,
    error: &SyntaxError,
    diagnostic: Diagnostic,
) -> Diagnostic {
    use SyntaxErrorKind::*;
    let range = error.range;
    let to = |text: &str| Some(vec![(range, text.to_owned())]);
    let after = |text: &str| Some(vec![insert(range.end(), text)]);
    let node = || sites.node(error);
    let (title, edits): (&str, Option<Vec<Edit>>) = match &error.kind {
        HashComment | OldComment => ("Replace `#` with `//`", to("//")),
        // A log line must remain one line.
        LoneCarriageReturn
            if root.token_at(range.start()).is_some_and(|t| t.kind() == SyntaxKind::BANNER) =>
        {
            ("Replace the carriage return with a space", to(" "))
        }
        LoneCarriageReturn => ("Replace the carriage return with a line feed", to("\n")),
        MissingSemicolon => ("Add the missing `;`", after(";")),
        OldVersion => ("Write the line of TVM 0.7", to("#[version = \"0.0.5\"]")),
        OldLiteral => ("Write the suffix of 64 bits", literals::old(root, range)),
        OldTuple => ("Write the types in parentheses", node().and_then(types::old_tuple)),
        PrintedRead => (
            "Call `ref_read`",
            node().map(|read| vec![insert(read.start(), "ref_read("), (range, ")".to_owned())]),
        ),
        PrintedWrite => (
            "Call `ref_write`",
            node().map(|write| {
                let end = insert(write.range().end(), ")");
                vec![insert(write.start(), "ref_write("), (range, ",".to_owned()), end]
            }),
        ),
        PrintedTypes => (REMOVE_TYPES, to("")),
        DoubleSemicolon => ("Write one `;`", to(";")),
        MissingComma => ("Add the missing `,`", after(",")),
        BareFloat => ("Add the suffix `f`", after("f")),
        GluedNumber => {
            let after = range.end() - TextSize::new(1);
            ("Put a space after the number", Some(vec![insert(after, " ")]))
        }
        GluedMinus => ("Put a space after the `-`", after(" ")),
        DataDefinition => ("Replace `data` with `type`", to("type")),
        ConstructorSignature => {
            ("Write only the fields", node().and_then(|list| constructor(list, range.start())))
        }
        CaseArm => {
            ("Write the arm with `=>`", node().and_then(|list| case_arm(list, range.start())))
        }
        LogicalOperator => ("Call the operator", node().and_then(logical)),
        ConstantExpression => ("Call `full`", node().and_then(literals::constant)),
        LiteralSuffix => ("Write it as TVM can read it", literals::suffix(root, range)),
        ChainedProjection => {
            let tuple = node().and_then(ast::ProjExpr::cast).and_then(ast::ProjExpr::tuple);
            let edits = tuple.map(|tuple| parenthesise(tuple.range()).into());
            ("Add parentheses around the tuple", edits)
        }
        NestedLet => (
            "Add parentheses around the bindings",
            node().map(|block| parenthesise(block.range()).into()),
        ),
        MatchScrutinee | BareOperand => ("Add parentheses", Some(parenthesise(range).into())),
        ElseIf => {
            let braces =
                |node: Node<'_>| vec![insert(node.start(), "{ "), insert(node.range().end(), " }")];
            ("Add braces around the `if`", node().map(braces))
        }
        AttributeTuple => {
            let inner = range.len() - TextSize::new(1);
            let open = TextRange::at(range.start(), 1.into());
            let close = TextRange::at(range.start() + inner, 1.into());
            ("Write a list", Some(vec![(open, "[".to_owned()), (close, "]".to_owned())]))
        }
        TypeArguments => ("Remove the type arguments", params::type_args(db, file, range, node())),
        WhereClause => ("Remove the `where` clause", params::where_clause(db, file, node())),
        RefType | PolymorphicFnType | NestedHole => {
            return types::annotation(db, file, root, range, diagnostic);
        }
        LogLine => {
            // The indented lines of a trace belong to the line that begins it: all of them, or none.
            let are_alone = *sites.are_alone.get_or_init(|| {
                let errors = &file.parse(db).errors;
                let mut lines = errors.iter().filter(|error| error.kind == LogLine);
                !holds_modules(root) && lines.all(|line| ends_its_line(root, line.range.start()))
            });
            ("Make it a comment", are_alone.then(|| vec![insert(range.start(), "// ")]))
        }
        SecondModule | ExternalFunction | TirFunction | PrintedAttribute => ("", None),
        _ => return diagnostic,
    };
    match edits {
        Some(edits) => diagnostic.fix(title, edits),
        None => diagnostic.with(help(&error.kind), Diagnostic::help),
    }
}

/// Returns the help for an error without a fix.
fn help(kind: &SyntaxErrorKind) -> Option<&'static str> {
    Some(match kind {
        SyntaxErrorKind::TypeArguments => {
            "the arguments do not determine all of them: annotate the binding of the result, \
             `let %x: T = …`"
        }
        SyntaxErrorKind::WhereClause => {
            "the relation restricts the types further: write the types of the parameters and of \
             the result"
        }
        SyntaxErrorKind::LogLine => "keep one module of the log, and remove the other lines",
        SyntaxErrorKind::LiteralSuffix => "TVM accepts an attribute of this value only from Python",
        SyntaxErrorKind::SecondModule => {
            "keep one module and move the others to files of their own"
        }
        SyntaxErrorKind::ExternalFunction => {
            "Relay's text format does not contain its body; remove it to read the rest"
        }
        SyntaxErrorKind::TirFunction => "remove it: Relay's text format does not support it",
        SyntaxErrorKind::PrintedAttribute => {
            "print the module with its metadata: `mod.astext(show_meta_data=True)`"
        }
        _ => return None,
    })
}

/// The most errors whose nodes are found one by one.
const MAX_PATHS: usize = 16;

/// The nodes that contain reported errors.
struct Sites<'t> {
    root: Node<'t>,
    /// All nodes by kind and reported offset, where many errors have one.
    nodes: Option<FxHashMap<(SyntaxKind, TextSize), Node<'t>>>,
    /// True if all lines of logs can be comments, once it is known.
    are_alone: OnceCell<bool>,
}

impl<'t> Sites<'t> {
    /// A printed module has thousands of nodes and few such errors, which are looked up after each
    /// edit: only the nodes around their places are visited. In `a && b && …`, each of many errors lies
    /// as deep as there are operators: one walk over the tree finds all.
    fn new(root: Node<'t>, errors: &[&SyntaxError]) -> Sites<'t> {
        let has_site = |error: &&&SyntaxError| site_kind(&error.kind).is_some();
        let is_walked = errors.iter().filter(has_site).nth(MAX_PATHS).is_some();
        let nodes = is_walked.then(|| {
            let mut nodes = FxHashMap::default();
            for node in root.descendants() {
                for at in anchors(node) {
                    nodes.entry((node.kind(), at)).or_insert(node);
                }
            }
            nodes
        });
        Sites { root, nodes, are_alone: OnceCell::new() }
    }

    /// Returns the outermost node of the kind that an error is about, at its place.
    fn node(&self, error: &SyntaxError) -> Option<Node<'t>> {
        let kind = site_kind(&error.kind)?;
        let at = error.range.start();
        if let Some(nodes) = &self.nodes {
            return nodes.get(&(kind, at)).copied();
        }
        let path = self.root.path_to(TextRange::at(at, 1.into()));
        path.into_iter().find(|node| node.kind() == kind && anchors(*node).contains(&at))
    }
}

fn site_kind(kind: &SyntaxErrorKind) -> Option<SyntaxKind> {
    Some(match kind {
        SyntaxErrorKind::AngleTypeParams => SyntaxKind::TYPE_PARAM_LIST,
        SyntaxErrorKind::TypeArguments => SyntaxKind::TYPE_ARG_LIST,
        SyntaxErrorKind::WhereClause => SyntaxKind::WHERE_CLAUSE,
        SyntaxErrorKind::ConstructorSignature => SyntaxKind::CONSTRUCTOR_LIST,
        SyntaxErrorKind::CaseArm => SyntaxKind::ARM_LIST,
        SyntaxErrorKind::LogicalOperator => SyntaxKind::INFIX_EXPR,
        SyntaxErrorKind::ConstantExpression => SyntaxKind::CONSTANT_EXPR,
        SyntaxErrorKind::ChainedProjection => SyntaxKind::PROJ_EXPR,
        SyntaxErrorKind::NestedLet => SyntaxKind::BLOCK,
        SyntaxErrorKind::ElseIf => SyntaxKind::IF_EXPR,
        SyntaxErrorKind::OldTuple => SyntaxKind::TUPLE_TYPE,
        SyntaxErrorKind::PrintedRead => SyntaxKind::REF_READ_EXPR,
        SyntaxErrorKind::PrintedWrite => SyntaxKind::REF_WRITE_EXPR,
        _ => return None,
    })
}

/// Returns the offsets at which errors in a node are reported.
fn anchors(node: Node<'_>) -> Vec<TextSize> {
    let token = |kind: SyntaxKind| node.token(kind).map(|token| token.start());
    match node.kind() {
        SyntaxKind::TYPE_PARAM_LIST => {
            let colons = node.children().filter_map(|param| param.token(SyntaxKind::COLON));
            std::iter::once(node.start()).chain(colons.map(|colon| colon.start())).collect()
        }
        SyntaxKind::TYPE_ARG_LIST
        | SyntaxKind::WHERE_CLAUSE
        | SyntaxKind::CONSTANT_EXPR
        | SyntaxKind::BLOCK
        | SyntaxKind::IF_EXPR => vec![node.start()],
        // Elements are looked up with their list, to see if a comma follows.
        SyntaxKind::CONSTRUCTOR_LIST => {
            let colons = node.children().filter_map(|one| one.token(SyntaxKind::COLON));
            colons.map(|colon| colon.start()).collect()
        }
        SyntaxKind::ARM_LIST => node.children().map(|arm| arm.start()).collect(),
        SyntaxKind::PROJ_EXPR => token(SyntaxKind::DOT).into_iter().collect(),
        SyntaxKind::REF_READ_EXPR => token(SyntaxKind::CARET).into_iter().collect(),
        SyntaxKind::REF_WRITE_EXPR => token(SyntaxKind::COLON_EQ).into_iter().collect(),
        SyntaxKind::INFIX_EXPR => {
            let operator = ast::InfixExpr::cast(node).and_then(ast::InfixExpr::operator);
            operator.map(|operator| operator.start()).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

/// Returns true if the token at `place` is on one line and is the last one there, so that it can
/// become a comment. A metadata section is one token up to the end of the file.
fn ends_its_line(root: Node<'_>, place: TextSize) -> bool {
    let Some(token) = root.token_at(place) else { return false };
    let end = token.range().end();
    let is_one_line = !token.text().contains('\n');
    let is_last = end == root.range().end()
        || root.token_at(end).filter(|next| next.kind().is_trivia()).is_some_and(|next| {
            next.text().contains('\n') || next.range().end() == root.range().end()
        });
    is_one_line && is_last
}

/// Returns the insertion of the missing `,` after `element` of `list`.
fn missing_comma(list: Node<'_>, element: Node<'_>) -> Option<Edit> {
    let after = list.elements_near(element.range().end()).find(|other| match other {
        NodeOrToken::Node(node) => node.start() >= element.range().end(),
        NodeOrToken::Token(token) => {
            token.start() >= element.range().end() && !token.kind().is_trivia()
        }
    })?;
    matches!(after, NodeOrToken::Node(_)).then(|| insert(element.range().end(), ","))
}

/// `S : (Nat) -> Nat` to `S(Nat),`
fn constructor(list: Node<'_>, colon: TextSize) -> Option<Vec<Edit>> {
    let mut near = list.elements_near(colon).filter_map(NodeOrToken::into_node);
    let node = near.find(|node| node.range().contains(colon))?;
    let constructor = ast::Constructor::cast(node)?;
    let name = constructor.name()?.range();
    let fields = constructor.fields()?;
    let mut edits = Vec::new();
    if fields.fields().next().is_none() {
        edits.push((TextRange::new(name.end(), node.range().end()), String::new()));
    } else {
        edits.push((TextRange::new(name.end(), fields.range().start()), String::new()));
        let after = TextRange::new(fields.range().end(), node.range().end());
        if !after.is_empty() {
            edits.push((after, String::new()));
        }
    }
    edits.extend(missing_comma(list, node));
    Some(edits)
}

/// `case C(%x) { e }` to `C(%x) => { e },`
fn case_arm(list: Node<'_>, at: TextSize) -> Option<Vec<Edit>> {
    let mut near = list.elements_near(at).filter_map(NodeOrToken::into_node);
    let node = near.find(|arm| arm.start() == at)?;
    let arm = ast::Arm::cast(node)?;
    let pattern = arm.pattern()?.range();
    let mut edits = vec![(TextRange::new(node.start(), pattern.start()), String::new())];
    if node.token(SyntaxKind::FAT_ARROW).is_none() {
        edits.push(insert(pattern.end(), " =>"));
    }
    edits.extend(missing_comma(list, node));
    Some(edits)
}

/// `a && b` to `logical_and(a, b)`
fn logical(node: Node<'_>) -> Option<Vec<Edit>> {
    let infix = ast::InfixExpr::cast(node)?;
    let (left, right) = (infix.left()?.range(), infix.right()?.range());
    let sign = infix.operator()?;
    let name = match sign.kind() {
        SyntaxKind::AMP2 => "logical_and(",
        _ => "logical_or(",
    };
    // The white space before the sign is removed, unless it contains a comment.
    let blank = |token: &syntax::Token<'_>| token.kind() == SyntaxKind::WHITESPACE;
    let mut before = node.tokens().filter(|t| t.start() >= left.end() && t.start() < sign.start());
    let from = if before.all(|token| blank(&token)) { left.end() } else { sign.start() };
    let comma = if sign.range().end() == right.start() { ", " } else { "," };
    Some(vec![
        insert(node.start(), name),
        (TextRange::new(from, sign.range().end()), comma.to_owned()),
        insert(node.range().end(), ")"),
    ])
}

/// Returns true if a file contains several modules. Log lines around a single module become
/// comments.
fn holds_modules(root: Node<'_>) -> bool {
    let kinds: Vec<SyntaxKind> = root.children().map(Node::kind).collect();
    let is_module = |part: &&[SyntaxKind]| !part.is_empty();
    let mut modules = kinds.split(|kind| *kind == SyntaxKind::BANNER_ITEM).filter(is_module);
    modules.nth(1).is_some()
}
