//! Ten kinds of edit in the middle of a module, and a chain of bindings to edit.

use std::ops::Range;

/// The kinds of edit, in the order of the table.
pub const KINDS: [&str; 10] = [
    "letter",
    "digit",
    "operand",
    "unknown name",
    "syntax error",
    "missing ;",
    "broken shape",
    "rank",
    "header size",
    "line",
];

/// A replacement of a range of bytes.
#[derive(Clone, Debug)]
pub struct Change {
    /// The range.
    pub range: Range<usize>,
    /// The new text.
    pub insert: String,
}

impl Change {
    /// Applies the change to a text, and returns the inverse change.
    pub fn apply(&self, text: &mut String) -> Change {
        let undo = Change {
            range: self.range.start..self.range.start + self.insert.len(),
            insert: text[self.range.clone()].to_owned(),
        };
        text.replace_range(self.range.clone(), &self.insert);
        undo
    }

    fn insert(at: usize, text: &str) -> Option<Change> {
        Change::replace(at..at, text)
    }

    fn replace(range: Range<usize>, text: &str) -> Option<Change> {
        Some(Change { range, insert: text.to_owned() })
    }
}

/// A chain of graph bindings without annotations. The one in the middle has an attribute, and a
/// parameter has a shape that matches no operand.
pub fn bare_chain(n: usize) -> String {
    let ty = "Tensor[(16, 64), float32]";
    let mut text = format!(
        "#[version = \"0.0.5\"]\ndef @main(%x: {ty}, %a: Tensor[(1, 64), float32], \
         %b: Tensor[(3, 5), float32]) {{\n  %0 = add(%x, %a);\n"
    );
    for i in 1..n {
        let before = i - 1;
        text += &if i == n / 2 + 3 {
            format!("  %{i} = clip(%{before}, a_min=0f, a_max=6f);\n")
        } else {
            format!("  %{i} = add(%{before}, %a);\n")
        };
    }
    text + &format!("  %{}\n}}\n", n - 1)
}

/// A binding of a call on a separate line. All ranges are byte ranges of the module.
struct Call<'t> {
    line: Range<usize>,
    indent: usize,
    is_let: bool,
    /// The name of the operator.
    operator: Range<usize>,
    /// The first argument, a variable.
    operand: Range<usize>,
    /// The printed type of the binding, or nothing.
    ty: &'t str,
}

/// The lines of a module from the middle on, then from the beginning.
fn lines_from_middle(text: &str) -> Vec<Range<usize>> {
    let mut at = 0;
    let mut lines: Vec<Range<usize>> = Vec::new();
    for line in text.split_inclusive('\n') {
        lines.push(at..at + line.trim_end_matches('\n').len());
        at += line.len();
    }
    let middle = lines.len() / 2;
    lines.rotate_left(middle);
    lines
}

/// Returns the length of a name of a variable or an operator at the start of a text.
fn name_len(text: &str) -> usize {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "%._".contains(c);
    text.find(|c| !is_part(c)).unwrap_or(text.len())
}

/// Returns the last printed type on a line, or nothing.
fn printed_type(line: &str) -> &str {
    let Some((_, ty)) = line.rsplit_once("/* ty=") else { return "" };
    ty.split_once(" span=").or_else(|| ty.split_once(" */")).map_or("", |(ty, _)| ty)
}

fn call<'t>(text: &'t str, line: &Range<usize>) -> Option<Call<'t>> {
    let content = &text[line.clone()];
    let indent = content.len() - content.trim_start().len();
    let is_binding = content.ends_with(';') && content.contains(" = ");
    let equals = is_binding.then(|| content.rfind(" = ").map(|at| at + 3))??;
    let operator = equals..equals + name_len(&content[equals..]);
    operators::find(&content[operator.clone()])?;
    let first = operator.end + 1;
    let is_variable = content[operator.end..].starts_with("(%");
    let operand = is_variable.then(|| first..first + name_len(&content[first..]))?;
    let absolute = |range: Range<usize>| line.start + range.start..line.start + range.end;
    Some(Call {
        line: line.clone(),
        indent,
        is_let: content.trim_start().starts_with("let "),
        operator: absolute(operator),
        operand: absolute(operand),
        ty: printed_type(content),
    })
}

/// Returns the variables that are bound in the block of a call before it, with their printed types.
fn bound_before<'t>(text: &'t str, call: &Call<'_>) -> Vec<(&'t str, &'t str)> {
    let mut bound = Vec::new();
    for line in text[..call.line.start].lines().rev().take(400) {
        let indent = line.len() - line.trim_start().len();
        if indent < call.indent {
            break;
        }
        let start = line.trim_start().trim_start_matches("let ");
        if indent == call.indent && start.starts_with('%') && line.ends_with(';') {
            bound.push((&start[..name_len(start)], printed_type(line)));
        }
    }
    bound
}

/// Returns the sizes of a printed tensor type, as text.
fn sizes(ty: &str) -> Option<Vec<&str>> {
    let sizes = ty.strip_prefix("Tensor[(")?.split_once(')')?.0;
    Some(sizes.split(", ").collect())
}

/// Returns the first edit of a kind from the middle of a module on.
pub fn change(kind: &str, text: &str) -> Option<Change> {
    if kind == "header size" {
        let types = text.find("def @main")?;
        let size = types + text[types..].find(": Tensor[(")? + ": Tensor[(".len();
        return Change::insert(size, "2");
    }
    let lines = lines_from_middle(text);
    lines.iter().filter_map(|line| call(text, line)).find_map(|call| change_of(kind, text, &call))
}

fn change_of(kind: &str, text: &str, call: &Call<'_>) -> Option<Change> {
    let line = &text[call.line.clone()];
    let operand = &text[call.operand.clone()];
    match kind {
        "letter" => Change::insert(call.operator.start, "q"),
        "digit" => {
            let args = call.operand.end..call.line.end;
            let value = args.start + text[args.clone()].find('=')? + 1;
            let is_attribute = !text[args.start..value].contains("/*");
            let digit = value + text[value..args.end].find(|c: char| c.is_ascii_digit())?;
            is_attribute.then(|| Change::insert(digit, "1"))?
        }
        "operand" => {
            let mut bound = bound_before(text, call).into_iter();
            let ty = bound.clone().find(|(name, _)| *name == operand)?.1;
            let other = bound.find(|(name, other)| *name != operand && *other == ty)?.0;
            Change::replace(call.operand.clone(), other)
        }
        "unknown name" => Change::replace(call.operand.clone(), "%unknown"),
        "syntax error" => {
            let closing = call.operand.end + text[call.operand.end..call.line.end].find(')')?;
            let comment = text[call.operand.end..call.line.end].find("/*");
            let is_own = comment.is_none_or(|at| call.operand.end + at > closing);
            is_own.then(|| Change::replace(closing..closing + 1, ""))?
        }
        "missing ;" => Change::replace(call.line.end - 1..call.line.end, ""),
        "broken shape" if call.ty.is_empty() => {
            let second =
                call.operand.end + line[call.operand.end - call.line.start..].find("%a)")?;
            Change::replace(second..second + 2, "%b")
        }
        "broken shape" => {
            let bound = bound_before(text, call);
            let own = sizes(bound.iter().find(|(name, _)| *name == operand)?.1)?;
            let breaks = |ty: &str| {
                sizes(ty).is_some_and(|other| {
                    other.last() != own.last() && ![other.last(), own.last()].contains(&Some(&"1"))
                })
            };
            let takes_two = line[call.operand.end - call.line.start..].starts_with(", %");
            let other = bound.iter().find(|(_, ty)| takes_two && breaks(ty))?.0;
            Change::replace(call.operand.clone(), other)
        }
        "rank" => Change::replace(call.operand.clone(), &format!("expand_dims({operand}, axis=0)")),
        "line" => {
            let binds = if call.is_let { "let " } else { "" };
            let line = format!("{:1$}{binds}%inserted = nn.relu({operand});\n", "", call.indent);
            Change::insert(call.line.start, &line)
        }
        _ => None,
    }
}

/// Returns the line and the column of a byte, in bytes.
pub fn position(text: &str, at: usize) -> (u32, u32) {
    let before = &text[..at];
    let line = before.bytes().filter(|&byte| byte == b'\n').count();
    (line as u32, (at - before.rfind('\n').map_or(0, |at| at + 1)) as u32)
}
