//! Hover.

mod constant;
mod layer;
pub(crate) mod operator;
mod written_type;

pub use constant::described as elements;
pub use layer::layer;

use std::sync::Arc;

use semantics::{
    Db, Def, DefKind, ExprRef, Settings, SourceFile, View,
    body::{Expr, LocalRef, Subject, UnitId},
    global,
    metadata::Metadata,
    module_types,
};
use syntax::{Node, NodeOrToken, SyntaxKind, TextRange, TextSize, element_range};
use types::{Signature, Type};

use crate::{
    goto::type_def_named,
    lookups::operator_call,
    markdown::{code_block as code, code_span, escaped},
    place::{Place, Symbol, place_at},
    words,
};

/// The maximal number of characters of a type. Real headers have up to 662 parameters.
const MAX_TYPE_LEN: usize = 4_000;
/// The maximal number of parameters of a function.
const MAX_PARAMS: usize = 24;

/// The hover of a name, expression or comment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Hover {
    /// The range that the hover describes.
    pub range: TextRange,
    /// The text as Markdown.
    pub markdown: String,
    /// True if the hover describes a value with a shape.
    pub has_shape: bool,
}

/// Returns the hover at `offset`.
pub fn hover(db: &dyn Db, file: SourceFile, offset: TextSize) -> Option<Hover> {
    let place = place_at(db, file, offset)?;
    if let Some((symbol, range)) = place.symbol(db)
        && let Some(markdown) = of_symbol(db, &place, &symbol)
    {
        let has_shape = match &symbol {
            Symbol::Local(binding) => {
                place.view.as_ref().is_some_and(|view| has_shape(view.binding_type(*binding)))
            }
            Symbol::Operator(_) | Symbol::Meta(_) => {
                let (view, expr_ref) = (place.view.as_ref(), place.expr());
                view.zip(expr_ref).is_some_and(|(view, expr_ref)| has_shape(view.ty(expr_ref)))
            }
            _ => false,
        };
        return Some(Hover { range: range + place.start(db), markdown, has_shape });
    }
    if let Some((operator, field, range)) = place.attribute() {
        let call = place.view.as_ref().zip(place.call().map(|(call, _)| call));
        let markdown = operator::of_attribute(operator, field, call);
        return Some(Hover { range: range + place.start(db), markdown, has_shape: false });
    }
    if let Some((range, markdown)) = written_type::of_token(&place) {
        return Some(Hover { range: range + place.start(db), markdown, has_shape: false });
    }
    if place.token.kind().is_trivia() {
        return comment(db, &place, offset);
    }
    let view = place.view.as_ref()?;
    let expr_ref = place.expr()?;
    let range = view.range(expr_ref);
    let has_shape = has_shape(view.ty(expr_ref));
    Some(Hover { range, markdown: of_expr(view, expr_ref, None), has_shape })
}

/// Returns the metadata section of the constant at `offset` and the position of its tensor there.
pub fn constant_at(
    db: &dyn Db,
    file: SourceFile,
    offset: TextSize,
) -> Option<(Arc<Metadata>, usize)> {
    let place = place_at(db, file, offset)?;
    let (Symbol::Meta(expr_ref), _) = place.symbol(db)? else { return None };
    let view = place.view.as_ref()?;
    let Expr::Meta(meta) = view.unit(expr_ref.unit).expr(expr_ref.expr) else { return None };
    let metadata = semantics::metadata(db, place.module)?;
    let array = metadata.weights().section().array_of(&meta.key, meta.index)?;
    Some((metadata, array))
}

/// Returns true if a type has a shape: a tensor that is not a scalar, or a tuple of tensors.
fn has_shape(ty: &Type) -> bool {
    match ty {
        Type::Tensor(tensor) => tensor.rank() > 0,
        Type::Tuple(fields) => fields.iter().any(|field| matches!(field, Type::Tensor(_))),
        _ => false,
    }
}

fn of_symbol(db: &dyn Db, place: &Place<'_>, symbol: &Symbol<'_>) -> Option<String> {
    match symbol {
        Symbol::Local(binding) => Some(of_variable(place.view.as_ref()?, *binding)),
        Symbol::Global(name) => {
            let (def, from_prelude) = global(db, place.module, name)?;
            Some(of_global(db, def, from_prelude))
        }
        Symbol::Constructor(name) => {
            let types = module_types(db, place.module);
            let (adt, constructor) = types.constructor(name)?;
            let fields: Vec<String> = constructor.fields.iter().map(|f| f.to_string()).collect();
            let fields =
                if fields.is_empty() { String::new() } else { format!("({})", fields.join(", ")) };
            let mut out = code(&format!("{name}{fields} : {}", adt.own_type()));
            out += &format!("\n\nconstructor of {}", code_span(&adt.name));
            if let Some(def) = type_def_named(db, place.module, &adt.name) {
                out += &described(db, def, adt.from_prelude);
            }
            Some(out)
        }
        Symbol::Type(name) => {
            let def = type_def_named(db, place.module, name)?;
            let types = module_types(db, place.module);
            let from_prelude = types.adt(name).is_some_and(|adt| adt.from_prelude);
            Some(code(&truncated(def.node(db))) + &described(db, def, from_prelude))
        }
        Symbol::TypeParam { name, scope, .. } => {
            let owner = match scope.kind() {
                SyntaxKind::TYPE_DEF => "type",
                SyntaxKind::FN_DEF => "definition",
                _ => "function",
            };
            let kind = kind_of(*scope, name);
            Some(code(&format!("{name} : {kind}")) + &format!("\n\nparameter of the {owner}"))
        }
        Symbol::Operator(operator) => {
            Some(operator::of_operator(operator, place.view.as_ref().zip(place.expr())))
        }
        Symbol::Declared(name) => {
            let operator = Settings::get(db).operators(db).get(name)?;
            let mut out = code(&format!("{name}{}", operator.signature()));
            out += "\n\noperator that `relay.toml` declares; its calls are not run";
            Some(out)
        }
        Symbol::Attribute(operator, field) => {
            let call = place.view.as_ref().zip(place.expr());
            Some(operator::of_attribute(operator, field, call))
        }
        Symbol::Meta(expr_ref) => Some(of_expr(place.view.as_ref()?, *expr_ref, None)),
    }
}

/// Returns the kind of a type parameter.
fn kind_of(scope: Node<'_>, name: &str) -> String {
    use syntax::ast::{AstNode, TypeParamList};
    let list = scope.child(SyntaxKind::TYPE_PARAM_LIST).and_then(TypeParamList::cast);
    let mut params = list.into_iter().flat_map(|list| list.params());
    let param = params.find(|p| p.name().is_some_and(|token| token.text() == name));
    let kind = param.and_then(|param| param.kind());
    kind.map_or("Type".to_owned(), |kind| kind.text().to_owned())
}

/// Describes a variable: its type, its kind and its value.
fn of_variable(view: &View<'_>, binding: LocalRef) -> String {
    let binder = view.binder(binding);
    let ty = view.binding_type(binding);
    let mut out = code(&format!("{}: {}", binder.name, type_text(ty)));
    let kind = words::binder(binder.kind);
    out += &format!("\n\n{kind}{}", size(ty));
    if view.is_assumed_binding(binding) {
        out += ASSUMED;
    }
    if let Some(value) = view.value(binding) {
        out += &facts(view, value);
    }
    if let Some(span) = span_of(view, Subject::Binder(binding.binder), binding.unit) {
        out += &format!("\n\nfrom {}", code_span(&span));
    }
    out
}

/// The note on a type that could not be inferred because of an error.
const ASSUMED: &str = "\n\n*assumed*: an error here or earlier prevents inference of the type";

/// Describes an expression: its type and the origin of the type.
fn of_expr(view: &View<'_>, expr_ref: ExprRef, name: Option<&str>) -> String {
    let ty = view.ty(expr_ref);
    let text = match name {
        Some(name) => format!("{name}: {}", type_text(ty)),
        None => type_text(ty),
    };
    let mut out = code(&text);
    if let Some(size) = size(ty).strip_prefix(", ") {
        out += &format!("\n\n{size}");
    }
    if view.is_assumed(expr_ref) {
        out += ASSUMED;
    }
    out + &facts(view, expr_ref)
}

/// Describes the relation that determines the type of an expression, and its source in the
/// framework's program.
fn facts(view: &View<'_>, expr_ref: ExprRef) -> String {
    let mut out = String::new();
    if let Some((call, operator)) = operator_call(view, expr_ref) {
        out += &operator::relation_line(view, expr_ref, operator, call);
    } else if let Expr::Meta(meta) = view.unit(expr_ref.unit).expr(expr_ref.expr) {
        out += &constant::of_entry(view, meta);
    }
    if let Some(span) = span_of(view, Subject::Expr(expr_ref.expr), expr_ref.unit) {
        out += &format!("\n\nfrom {}", code_span(&span));
    }
    out
}

/// Returns the size of a tensor or tuple of tensors: `, 802,816 elements, 3.1 MiB`.
fn size(ty: &Type) -> String {
    let fields = match ty {
        Type::Tensor(tensor) if tensor.rank() > 0 => std::slice::from_ref(ty),
        Type::Tuple(fields) => fields,
        _ => return String::new(),
    };
    let sums = fields.iter().filter_map(Type::as_tensor).try_fold(
        (0u64, 0u64),
        |(elements, bytes), tensor| {
            Some((elements.checked_add(tensor.elements()?)?, bytes.checked_add(tensor.bytes()?)?))
        },
    );
    match (sums, ty) {
        (Some((elements, bytes)), Type::Tensor(_)) => {
            format!(", {}, {}", words::counted(elements, "element"), words::bytes(bytes))
        }
        (Some((_, bytes)), _) if bytes > 0 => format!(", {} in all", words::bytes(bytes)),
        _ => String::new(),
    }
}

/// Returns the place in the framework's program that a `/* … span=… */` comment names.
pub(crate) fn span_of(view: &View<'_>, subject: Subject, unit: UnitId) -> Option<String> {
    let comment = view.unit(unit).comment_about(subject)?;
    let at = view.source.range(unit, comment.range).start();
    let token = view.def.node(view.db).token_at(at)?;
    let (_, span) = token.text().rsplit_once("span=")?;
    Some(span.trim_end_matches("*/").trim().to_owned())
}

/// Returns the hover of a type comment, which describes the expression or variable before it.
fn comment(db: &dyn Db, place: &Place<'_>, offset: TextSize) -> Option<Hover> {
    let view = place.view.as_ref()?;
    if place.token.kind() != SyntaxKind::BLOCK_COMMENT {
        return None;
    }
    let unit = view.unit_at(offset)?;
    let range = place.token.range();
    let mut comments = view.unit(unit).type_comments.iter();
    let comment = comments.find(|e| range.contains_range(view.source.range(unit, e.range)))?;
    let markdown = match comment.subject {
        Subject::Expr(expr) => of_expr(view, ExprRef { unit, expr }, None),
        Subject::Binder(binder) => of_variable(view, LocalRef { unit, binder }),
    };
    Some(Hover { range: range + place.start(db), markdown, has_shape: false })
}

/// Returns the documentation of an operator as Markdown: signature, description and shapes.
pub fn operator_page(operator: &operators::Operator) -> String {
    code(&operator::signature(operator)) + &operator::documentation(operator)
}

/// Describes a definition: its header and the comment above it.
pub(crate) fn of_global(db: &dyn Db, def: Def<'_>, from_prelude: bool) -> String {
    let name = def.name(db);
    let header = match def.kind(db) {
        DefKind::Fn => match View::new(db, def) {
            Some(view) => header_text(&view),
            None => format!("def {name}"),
        },
        _ => format!("{name}: a TIR function"),
    };
    code(&header) + &described(db, def, from_prelude)
}

/// Returns the header of a definition with inferred types: `def @f[A](%x: A, %y: int32) -> A`.
fn header_text(view: &View<'_>) -> String {
    let name = view.def.name(view.db);
    let Some(signature) = view.inference.signature.as_ref().and_then(Type::signature) else {
        return format!("def {name}");
    };
    let header = view.body.header();
    let unit = view.unit(UnitId::HEADER);
    let names = header.map(|header| header.params.as_slice()).unwrap_or_default();
    let types = signature.func.params();
    let count = types.len().min(MAX_PARAMS);
    let mut params: Vec<String> = types[..count]
        .iter()
        .enumerate()
        .map(|(at, ty)| match names.get(at) {
            Some(&binder) => format!("{}: {}", unit.binder(binder).name, type_text(ty)),
            None => type_text(ty),
        })
        .collect();
    if types.len() > count {
        params.push(format!("… {} more", types.len() - count));
    }
    let type_params = type_params_text(&signature);
    let one_line = params.join(", ");
    let params =
        if one_line.len() > 80 { format!("\n  {},\n", params.join(",\n  ")) } else { one_line };
    let mut out =
        format!("def {name}{type_params}({params}) -> {}", type_text(signature.func.ret()));
    if !signature.constraints.is_empty() {
        let all: Vec<String> = signature.constraints.iter().map(|c| c.to_string()).collect();
        out += &format!("\n  where {}", all.join(", "));
    }
    out
}

pub(crate) fn type_params_text(signature: &Signature) -> String {
    let all: Vec<String> = signature.type_params.iter().map(|param| param.to_string()).collect();
    if all.is_empty() { String::new() } else { format!("[{}]", all.join(", ")) }
}

/// Returns the comment above a definition and its origin as Markdown that follows a header.
pub(crate) fn described(db: &dyn Db, def: Def<'_>, from_prelude: bool) -> String {
    let mut out = String::new();
    if let Some(text) = doc_comment(db, def) {
        out += &format!("\n\n{}", escaped(&text));
    }
    if from_prelude {
        out += "\n\nfrom the prelude";
    }
    out
}

/// Returns the text of the comments directly above a definition.
fn doc_comment(db: &dyn Db, def: Def<'_>) -> Option<String> {
    let parse = def.file(db).parse(db);
    let root = Node::root(&parse.green);
    let start = def.start(db);
    let before: Vec<_> =
        root.elements().take_while(|element| element_range(element).start() < start).collect();
    let mut lines: Vec<String> = Vec::new();
    for element in before.iter().rev() {
        let NodeOrToken::Token(token) = element else { break };
        let text = token.text();
        match token.kind() {
            SyntaxKind::WHITESPACE if text.matches('\n').count() <= 1 => {}
            SyntaxKind::LINE_COMMENT => {
                lines.push(text.trim_start_matches('/').trim().to_owned());
            }
            SyntaxKind::HASH_COMMENT => {
                lines.push(text.trim_start_matches('#').trim().to_owned());
            }
            SyntaxKind::BLOCK_COMMENT => {
                let inner = text.trim_start_matches("/*").trim_end_matches("*/");
                let inner: Vec<&str> =
                    inner.lines().map(|line| line.trim().trim_start_matches('*').trim()).collect();
                lines.extend(inner.iter().rev().map(|line| (*line).to_owned()));
            }
            _ => break,
        }
    }
    lines.reverse();
    let text = lines.join("\n").trim().to_owned();
    (!text.is_empty()).then_some(text)
}

/// Returns the text of a type, truncated if it is too long.
pub(crate) fn type_text(ty: &Type) -> String {
    match ty {
        Type::Error => "_".to_owned(),
        ty => truncated(ty),
    }
}

/// Formats `value` up to a limit.
fn truncated(value: impl std::fmt::Display) -> String {
    let (text, is_whole) = words::bounded(value, MAX_TYPE_LEN);
    if is_whole { text } else { text + " …" }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use crate::fixture::Fixture;

    fn check(text: &str, expected: Expect) {
        let fixture = Fixture::new(text);
        let hover = super::hover(&fixture.db, fixture.file, fixture.cursor());
        let found = hover.map_or("nothing".into(), |hover| {
            let range = std::ops::Range::<usize>::from(hover.range);
            format!("{}\n---\n{}\n", &fixture.text[range], hover.markdown)
        });
        expected.assert_eq(&found);
    }

    #[test]
    fn hover_marks_assumed_type() {
        check(
            "
def @main(%x: Tensor[(2, 3), float32]) {
  %0 = reshape(%x, newshape=[2, 4]);
  nn.relu(%$00)
}
",
            expect![[r#"
                %0
                ---
                ```relay
                %0: Tensor[(2, 4), float32]
                ```

                graph variable, 8 elements, 32 bytes

                *assumed*: an error here or earlier prevents inference of the type

                `reshape`: `(Tensor[(2, 3), float32])` → `Tensor[(2, 4), float32]`
            "#]],
        );
    }

    #[test]
    fn hover_on_variable_shows_type_size_and_source() {
        check(
            "
def @main(%data: Tensor[(1, 3, 224, 224), float32], %w: Tensor[(64, 3, 7, 7), float32]) {
  %0 = nn.conv2d(%data, %w, strides=[2, 2], padding=[3, 3, 3, 3], channels=64, kernel_size=[7, 7]) /* ty=Tensor[(1, 64, 112, 112), float32] span=aten::_convolution_0:0:0 */;
  add(%$00, %0)
}
",
            expect![[r#"
                %0
                ---
                ```relay
                %0: Tensor[(1, 64, 112, 112), float32]
                ```

                graph variable, 802,816 elements, 3.1 MiB

                `nn.conv2d`: `(Tensor[(1, 3, 224, 224), float32], Tensor[(64, 3, 7, 7), float32])` → `Tensor[(1, 64, 112, 112), float32]`

                from `aten::_convolution_0:0:0`
            "#]],
        );
    }

    #[test]
    fn hover_on_global_shows_header_and_comment() {
        check(
            "
// Doubles the argument.
// Two lines.
def @twice(%x: float32) -> float32 { add(%x, %x) }
def @main(%x: float32) { @twi$0ce(%x) }
",
            expect![[r#"
                @twice
                ---
                ```relay
                def @twice(%x: float32) -> float32
                ```

                Doubles the argument.
                Two lines.
            "#]],
        );
    }

    #[test]
    fn hover_on_constructor_and_type_shows_declaration() {
        check(
            "
// A chain of cells.
type Chain[A] { Link(A, Chain[A]), End }
def @main(%x: int32) { Li$0nk(%x, End) }
",
            expect![[r#"
                Link
                ---
                ```relay
                Link(A, Chain[A]) : Chain[A]
                ```

                constructor of `Chain`

                A chain of cells.
            "#]],
        );
        check(
            "
type Chain[A] { Link(A, Chain[A]), End }
def @main(%x: Cha$0in[int32]) { %x }
",
            expect![[r#"
                Chain
                ---
                ```relay
                type Chain[A] { Link(A, Chain[A]), End }
                ```
            "#]],
        );
    }

    #[test]
    fn hover_on_literal_shows_type() {
        check(
            "
def @main(%x: Tensor[(2, 3), float32]) { (%x, $01f) }
",
            expect![[r#"
                1f
                ---
                ```relay
                float32
                ```
            "#]],
        );
        check("def @main(%x: int32) { %x }\n\n$0\n", expect!["nothing"]);
    }

    #[test]
    fn hover_on_attribute_shows_type_and_value() {
        check(
            "
def @main(%x: Tensor[(2, 3), float32], %w: Tensor[(4, 3), float32]) { nn.dense(%x, %w, uni$0ts=4) }
",
            expect![[r#"
                units
                ---
                ```relay
                units: a dimension or `None`
                ```

                attribute of `nn.dense`, required, here `4`

                the number of outputs, which is the first size of `weight`
            "#]],
        );
    }
}
