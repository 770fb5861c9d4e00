//! Hovers of operators and their attributes.

use operators::Operator;
use semantics::{ExprRef, View, body::CallData};
use types::AttrField;

use super::{code, type_text};
use crate::{lookups::args_of, markdown::code_span, words};

/// Describes an operator: the types of the call, then its signature and documentation.
pub(super) fn of_operator(
    operator: &'static Operator,
    call: Option<(&View<'_>, ExprRef)>,
) -> String {
    let mut out = String::new();
    if let Some((view, expr_ref)) = call
        && let Some(call) = view.call(expr_ref)
    {
        out += &code(&this_call(view, expr_ref, operator, call));
        match operator.relation_name() {
            "" => {}
            name => out += &format!("\n\nby `{name}`"),
        }
        if view.is_assumed(expr_ref) {
            out += super::ASSUMED;
        }
        out += "\n\n---\n\n";
    }
    out + &code(&signature(operator)) + &documentation(operator)
}

/// Returns the types of a call, with `_` for unknown ones:
/// `nn.dense(data: Tensor[(1, 8), float32], weight: _) -> Tensor[(1, 4), float32]`.
fn this_call(view: &View<'_>, expr_ref: ExprRef, operator: &Operator, call: &CallData) -> String {
    let types = args_of(expr_ref.unit, call).map(|arg| type_text(view.ty(arg)));
    // Missing arguments are listed, too.
    let missing = operator.args.len().saturating_sub(call.args.len());
    let types = types.chain(std::iter::repeat_n("_".to_owned(), missing));
    let parts: Vec<String> = types
        .enumerate()
        .map(|(position, ty)| match operator.args.get(position) {
            Some(name) => format!("{name}: {ty}"),
            None => ty,
        })
        .collect();
    let result = type_text(view.ty(expr_ref));
    let one_line = format!("{}({}) -> {result}", operator.name, parts.join(", "));
    if one_line.len() > 80 {
        format!("{}(\n  {}\n) -> {result}", operator.name, parts.join(",\n  "))
    } else {
        one_line
    }
}

/// Returns the signature of an operator: `nn.dense(%data, %weight, units, out_dtype="")`.
pub(crate) fn signature(operator: &Operator) -> String {
    let mut parts: Vec<String> = operator.args.iter().map(|arg| format!("%{arg}")).collect();
    if operator.variadic {
        parts.push("…".into());
    }
    for field in operator.schema.into_iter().flat_map(|schema| schema.fields) {
        parts.push(match words::default(&field.default) {
            Some(default) => format!("{}={default}", field.name),
            None => field.name.to_string(),
        });
    }
    let one_line = parts.join(", ");
    if one_line.len() > 80 {
        format!("{}(\n  {}\n)", operator.name, parts.join(",\n  "))
    } else {
        format!("{}({one_line})", operator.name)
    }
}

/// Returns the documentation of an operator as Markdown.
pub(crate) fn documentation(operator: &Operator) -> String {
    let doc = &operator.doc;
    let mut out = String::new();
    if !doc.summary.is_empty() {
        out += &format!("\n\n{}", doc.summary);
    }
    if !doc.args.is_empty() {
        out.push('\n');
    }
    for (number, line) in doc.args.iter().enumerate() {
        match operator.args.get(number) {
            Some(name) => out += &format!("\n- `{name}`: {line}"),
            None => out += &format!("\n- {line}"),
        }
    }
    if !doc.shape.is_empty() {
        out += &format!("\n\n**Shape**: {}", doc.shape);
    }
    if !doc.example.is_empty() {
        out += &format!("\n\n{}", code(doc.example));
    }
    out
}

/// Returns the line that describes the application of a relation:
/// `` `nn.relu` by the type relation `Identity`: `(A)` → `A` ``. A relation that is named like the operator is left out.
pub(super) fn relation_line(
    view: &View<'_>,
    expr_ref: ExprRef,
    operator: &Operator,
    call: &CallData,
) -> String {
    let args: Vec<String> =
        args_of(expr_ref.unit, call).map(|arg| type_text(view.ty(arg))).collect();
    let by = match operator.relation_name() {
        "" => String::new(),
        name if is_named_like(operator, name) => String::new(),
        name => format!(" by the type relation `{name}`"),
    };
    let args = code_span(&format!("({})", args.join(", ")));
    let result = code_span(&type_text(view.ty(expr_ref)));
    format!("\n\n`{}`{by}: {args} → {result}", operator.name)
}

/// Returns true for `Dense` of `nn.dense` and `BatchMatmul` of `nn.batch_matmul`.
fn is_named_like(operator: &Operator, relation: &str) -> bool {
    let own = operator.name.rsplit('.').next().unwrap_or_default();
    let letters = own.chars().filter(|c| *c != '_');
    letters.eq(relation.chars().map(|c| c.to_ascii_lowercase()))
}

/// Describes an attribute: its type, its default and its value in the call.
pub(crate) fn of_attribute(
    operator: &Operator,
    field: &AttrField,
    call: Option<(&View<'_>, ExprRef)>,
) -> String {
    let ty = operators::attrs::AttrProblem::describe(field.ty);
    let (default, required) = match words::default(&field.default) {
        Some(default) => (format!(" = {default}"), ""),
        None => (String::new(), ", required"),
    };
    let mut meanings = Vec::new();
    let mut out = code(&format!("{}: {ty}{default}", field.name));
    out += &format!("\n\nattribute of `{}`{required}", operator.name);
    let call = call.and_then(|(view, expr_ref)| view.call(expr_ref));
    let mut written = call.into_iter().flat_map(|call| &call.written);
    if let Some(written) = written.find(|attr| attr.name == field.name) {
        out += &format!(", here {}", code_span(&written.value.to_string()));
        meanings = operators::value_meaning(operator, &written.name, &written.value);
    }
    if let Some(meaning) = operators::attribute_meaning(operator, field) {
        out += &format!("\n\n{meaning}");
    }
    for meaning in meanings {
        out += &format!("\n- {meaning}");
    }
    out
}

#[cfg(test)]
mod tests {
    use crate::fixture::Fixture;

    /// Returns the part of a hover that describes the call, before the page of the operator.
    fn call(text: &str) -> String {
        let fixture = Fixture::new(text);
        let hover = crate::hover::hover(&fixture.db, fixture.file, fixture.cursor());
        let markdown = hover.expect("a hover").markdown;
        let (call, page) = markdown.split_once("\n\n---\n\n").expect("the call, then the page");
        assert!(page.starts_with("```relay\nnn.dense(%data, %weight, units, out_dtype=\"\")\n```"));
        call.to_owned()
    }

    /// Returns the hover of a call after its first paragraph: the meaning of an attribute and of its value.
    fn meaning(call: &str) -> String {
        let text = format!(
            "def @main(%x: Tensor[(1, 3, 8, 8), float32], %w: Tensor[(4, 3, 3, 3), float32]) {{\n  {call}\n}}\n"
        );
        let fixture = Fixture::new(&text);
        let hover = crate::hover::hover(&fixture.db, fixture.file, fixture.cursor());
        let markdown = hover.expect("a hover").markdown;
        let (_, meaning) = markdown.split_once(", here ").expect("a value");
        meaning.split_once("\n\n").map_or("", |(_, meaning)| meaning).to_owned()
    }

    #[test]
    fn only_a_relation_with_another_name_is_shown() {
        let fixture = Fixture::new(
            "def @f(%x: Tensor[(2, 3), float32]) { let %a = nn.relu(%x); let %b = transpose(%a); %b }",
        );
        let hovered = |name: &str| {
            let at = fixture.text.find(name).expect("the name") as u32 + 1;
            let found = super::super::hover(&fixture.db, fixture.file, at.into());
            found.expect("a hover").markdown
        };
        let text = hovered("%a");
        assert!(text.contains("`nn.relu` by the type relation `Identity`: `(Tensor"), "{text}");
        let text = hovered("%b");
        assert!(text.contains("`transpose`: `(Tensor"), "{text}");
    }

    #[test]
    fn attributes_and_their_values_are_explained() {
        assert_eq!(
            meaning("reshape(%x, newshape=[0, $0-1])"),
            "the shape of the result, with special entries that stand for sizes of `data`\n\
             - `0`: the size of `data` on this axis\n\
             - `-1`: the size that keeps the number of elements"
        );
        let padding = |value: &str| {
            let meaning = meaning(&format!("nn.conv2d(%x, %w, pad$0ding={value})"));
            meaning.split_once("\n- ").expect("a list").1.to_owned()
        };
        assert_eq!(padding("[1, 2]"), "1 at the top and bottom, 2 at the left and right");
        assert_eq!(
            padding("[1, 2, 3, 4]"),
            "1 at the top, 2 at the left, 3 at the bottom, 4 at the right"
        );
        assert_eq!(
            meaning("nn.softmax(%x, axis=$0-1)"),
            "the axis whose elements sum to 1\n- `-1`: the last axis"
        );
    }

    #[test]
    fn hover_on_operator_starts_with_types_of_the_call() {
        let whole = "
def @main(%x: Tensor[(8, 512), float32], %w: Tensor[(10, 512), float32]) {
  nn.de$0nse(%x, %w, units=10)
}
";
        assert_eq!(
            call(whole),
            "```relay\nnn.dense(\n  data: Tensor[(8, 512), float32],\n  \
             weight: Tensor[(10, 512), float32]\n) -> Tensor[(8, 10), float32]\n```\n\nby `Dense`"
        );
        // A call with an error, and an incomplete call.
        let known = "```relay\nnn.dense(data: Tensor[(8, 512), float32], weight: _) -> _\n```\n\n\
                     by `Dense`";
        assert_eq!(call(&whole.replace("%w,", "%nothing,")), known);
        assert_eq!(call(&whole.replace(", %w, units=10)", "")), known);
    }
}
