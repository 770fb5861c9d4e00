//! What an editor shows about the thing under the cursor.

pub(crate) mod operator;

use semantics::{
    Db, Def, DefKind, SourceFile, Spot, View,
    body::{BinderKind, Callee, Expr, Subject},
    global, module_types,
    scope::Binding,
};
use syntax::{Node, NodeOrToken, SyntaxKind, TextRange, TextSize};
use types::{Signature, Type};

use crate::{
    goto::type_def_named,
    markdown::{code_block as code, code_span, escaped},
    place::{Place, Symbol, place_at},
    words,
};

/// The longest type that is shown whole. Real headers have up to 662 parameters.
const LONGEST_TYPE: usize = 4_000;
/// How many parameters of a function are shown.
const MAX_PARAMS: usize = 24;

/// What there is to say about a place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Hover {
    /// What it is about.
    pub range: TextRange,
    /// Markdown.
    pub markdown: String,
    /// It is about a value that has a shape.
    pub has_shape: bool,
}

/// What there is to say about what stands at `offset`.
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
                let (view, spot) = (place.view.as_ref(), place.expr());
                view.zip(spot).is_some_and(|(view, spot)| has_shape(view.ty(spot)))
            }
            _ => false,
        };
        return Some(Hover { range: range + place.start(db), markdown, has_shape });
    }
    if place.token.kind().is_trivia() {
        return comment(db, &place, offset);
    }
    let view = place.view.as_ref()?;
    let spot = place.expr()?;
    let range = view.range(spot);
    let has_shape = has_shape(view.ty(spot));
    Some(Hover { range, markdown: of_expr(view, spot, None), has_shape })
}

/// Whether a type has sizes to ask about.
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
            let text = def.node(db).to_string();
            Some(code(&cut(&text)) + &described(db, def, from_prelude))
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
            let view = place.view.as_ref();
            let call = place.expr().zip(view).filter(|(spot, view)| {
                matches!(view.unit(spot.unit).expr(spot.expr), Expr::Call(_))
            });
            Some(operator::of_operator(operator, call.map(|(spot, view)| (view, spot))))
        }
        Symbol::Attribute(operator, field) => {
            let view = place.view.as_ref()?;
            Some(operator::of_attribute(operator, field, place.expr().map(|spot| (view, spot))))
        }
        Symbol::Meta(spot) => Some(of_expr(place.view.as_ref()?, *spot, None)),
    }
}

/// The kind that a type parameter is declared with.
fn kind_of(scope: Node<'_>, name: &str) -> String {
    use syntax::ast::{AstNode, TypeParamList};
    let list = scope.child(SyntaxKind::TYPE_PARAM_LIST).and_then(TypeParamList::cast);
    let mut params = list.into_iter().flat_map(|list| list.params());
    let param = params.find(|p| p.name().is_some_and(|token| token.text() == name));
    let kind = param.and_then(|param| param.kind());
    kind.map_or("Type".to_owned(), |kind| kind.text().to_owned())
}

/// A variable: its type, what it is, and the value behind it.
fn of_variable(view: &View<'_>, binding: Binding) -> String {
    let binder = view.binder(binding);
    let ty = view.binding_type(binding);
    let mut out = code(&format!("{}: {}", binder.name, type_text(ty)));
    let kind = match binder.kind {
        BinderKind::Param => "parameter",
        BinderKind::Let => "`let` variable",
        BinderKind::Graph => "graph variable",
        BinderKind::Pattern => "pattern variable",
        BinderKind::Free => "free variable",
    };
    out += &format!("\n\n{kind}{}", size(ty));
    if view.is_assumed_binding(binding) {
        out += ASSUMED;
    }
    if let Some(value) = view.value(binding) {
        out += &facts(view, value);
    }
    if let Some(span) = span_of(view, Subject::Binder(binding.binder), binding.unit as usize) {
        out += &format!("\n\nfrom {}", code_span(&span));
    }
    out
}

/// What is said of a type that an error leaves open.
const ASSUMED: &str = "\n\n*assumed*: an error here or before it leaves the type open";

/// An expression: its type and where that comes from.
fn of_expr(view: &View<'_>, spot: Spot, name: Option<&str>) -> String {
    let ty = view.ty(spot);
    let text = match name {
        Some(name) => format!("{name}: {}", type_text(ty)),
        None => type_text(ty),
    };
    let mut out = code(&text);
    if let Some(size) = size(ty).strip_prefix(", ") {
        out += &format!("\n\n{size}");
    }
    if view.is_assumed(spot) {
        out += ASSUMED;
    }
    out + &facts(view, spot)
}

/// What gave an expression its type, and the operator of the framework that it came from.
fn facts(view: &View<'_>, spot: Spot) -> String {
    let mut out = String::new();
    let unit = view.unit(spot.unit);
    match unit.expr(spot.expr) {
        Expr::Call(id) => {
            let call = unit.call(*id);
            if let Callee::Operator(operator) = &call.callee {
                out += &operator::relation_line(view, spot, operator, call);
            }
        }
        Expr::Meta(meta) => {
            let key = code_span(&meta.key);
            out += &format!("\n\nentry {} of {key} in the metadata section", meta.index);
        }
        _ => {}
    }
    if let Some(span) = span_of(view, Subject::Expr(spot.expr), spot.unit) {
        out += &format!("\n\nfrom {}", code_span(&span));
    }
    out
}

/// `, 802,816 elements, 3.1 MiB`
fn size(ty: &Type) -> String {
    let tensors = match ty {
        Type::Tensor(tensor) if tensor.rank() > 0 => vec![tensor],
        Type::Tuple(fields) => fields
            .iter()
            .filter_map(|field| match field {
                Type::Tensor(tensor) => Some(tensor),
                _ => None,
            })
            .collect(),
        _ => return String::new(),
    };
    let sums = tensors.iter().try_fold((0u64, 0u64), |(elements, bytes), tensor| {
        Some((elements.checked_add(tensor.elements()?)?, bytes.checked_add(tensor.bytes()?)?))
    });
    match (sums, ty) {
        (Some((elements, bytes)), Type::Tensor(_)) => {
            format!(", {}, {}", words::counted(elements, "element"), words::bytes(bytes))
        }
        (Some((_, bytes)), _) if bytes > 0 => format!(", {} in all", words::bytes(bytes)),
        _ => String::new(),
    }
}

/// The place in the framework's program that a `/* … span=… */` comment names.
pub(crate) fn span_of(view: &View<'_>, about: Subject, unit: usize) -> Option<String> {
    let evidence = view.unit(unit).evidence.iter().find(|e| e.about == about)?;
    let at = evidence.range.start() + view.body.starts[unit];
    let token = view.def.node(view.db).token_at(at)?;
    let (_, span) = token.text().rsplit_once("span=")?;
    Some(span.trim_end_matches("*/").trim().to_owned())
}

/// A comment that belongs to an expression says what that expression is.
fn comment(db: &dyn Db, place: &Place<'_>, offset: TextSize) -> Option<Hover> {
    let view = place.view.as_ref()?;
    if place.token.kind() != SyntaxKind::BLOCK_COMMENT {
        return None;
    }
    let unit = view.unit_at(offset)?;
    let start = view.body.starts[unit];
    let range = place.token.range();
    let evidence = view.unit(unit).evidence.iter();
    let evidence = evidence.into_iter().find(|e| range.contains_range(e.range + start))?;
    let markdown = match evidence.about {
        Subject::Expr(expr) => of_expr(view, Spot { unit, expr }, None),
        Subject::Binder(binder) => of_variable(view, Binding { unit: unit as u32, binder }),
    };
    Some(Hover { range: range + place.start(db), markdown, has_shape: false })
}

/// Everything about an operator as markdown: its signature, what it computes, the shapes.
pub fn operator_page(operator: &operators::Operator) -> String {
    code(&operator::signature(operator)) + &operator::documentation(operator)
}

/// A definition: its header, and the comment above it.
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

/// `def @f[A](%x: A, %y: int32) -> A`, the types as inferred.
fn header_text(view: &View<'_>) -> String {
    let name = view.def.name(view.db);
    let Some(signature) = view.inference.signature.as_ref().and_then(Type::signature) else {
        return format!("def {name}");
    };
    let header = view.body.header();
    let unit = view.unit(0);
    let names = header.map(|header| header.params.as_slice()).unwrap_or_default();
    let types = signature.func.params();
    let shown = types.len().min(MAX_PARAMS);
    let mut params: Vec<String> = types[..shown]
        .iter()
        .enumerate()
        .map(|(at, ty)| match names.get(at) {
            Some(&binder) => format!("{}: {}", unit.binder(binder).name, type_text(ty)),
            None => type_text(ty),
        })
        .collect();
    if types.len() > shown {
        params.push(format!("… {} more", types.len() - shown));
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

/// The comment above a definition, and where it comes from, as Markdown after a header.
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

/// The comments directly above a definition, without their marks.
fn doc_comment(db: &dyn Db, def: Def<'_>) -> Option<String> {
    let parse = def.file(db).parse(db);
    let root = Node::root(&parse.green);
    let start = def.start(db);
    let before: Vec<_> = root
        .elements()
        .take_while(|element| match element {
            NodeOrToken::Node(node) => node.start() < start,
            NodeOrToken::Token(token) => token.start() < start,
        })
        .collect();
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

/// A type, cut where it is too long to read.
pub(crate) fn type_text(ty: &Type) -> String {
    match ty {
        Type::Error => "_".to_owned(),
        ty => {
            let mut text = Bounded(String::new());
            // It ends early where there is no more room: a type that has itself twice, forty times
            // over, is longer than any memory.
            let _ = std::fmt::Write::write_fmt(&mut text, format_args!("{ty}"));
            cut(&text.0)
        }
    }
}

/// A text that takes no more than is shown, and a little to tell that there was more.
struct Bounded(String);

impl std::fmt::Write for Bounded {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        self.0.push_str(text);
        if self.0.len() > 4 * LONGEST_TYPE { Err(std::fmt::Error) } else { Ok(()) }
    }
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(LONGEST_TYPE) {
        Some((at, _)) => format!("{} …", &text[..at]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use crate::fixture::Fixture;

    fn check(text: &str, expected: Expect) {
        let fixture = Fixture::new(text);
        let hover = super::hover(&fixture.db, fixture.file, fixture.cursor());
        let shown = hover.map_or("nothing".into(), |hover| {
            let range = std::ops::Range::<usize>::from(hover.range);
            format!("{}\n---\n{}\n", &fixture.text[range], hover.markdown)
        });
        expected.assert_eq(&shown);
    }

    #[test]
    fn an_assumed_type() {
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

                *assumed*: an error here or before it leaves the type open

                `reshape` by `Reshape`: `(Tensor[(2, 3), float32])` → `Tensor[(2, 4), float32]`
            "#]],
        );
    }

    #[test]
    fn a_variable() {
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

                `nn.conv2d` by `Conv2D`: `(Tensor[(1, 3, 224, 224), float32], Tensor[(64, 3, 7, 7), float32])` → `Tensor[(1, 64, 112, 112), float32]`

                from `aten::_convolution_0:0:0`
            "#]],
        );
    }

    #[test]
    fn a_definition_with_its_comment() {
        check(
            "
// Twice what it is given.
// Nothing more.
def @twice(%x: float32) -> float32 { add(%x, %x) }
def @main(%x: float32) { @twi$0ce(%x) }
",
            expect![[r#"
                @twice
                ---
                ```relay
                def @twice(%x: float32) -> float32
                ```

                Twice what it is given.
                Nothing more.
            "#]],
        );
    }

    #[test]
    fn a_constructor_and_a_type() {
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
    fn an_expression_and_nothing() {
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
    fn an_attribute() {
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

                attribute of `nn.dense`, must be written, here `4`
            "#]],
        );
    }
}
