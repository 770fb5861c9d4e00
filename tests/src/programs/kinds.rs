//! Modules with parameters of every kind, and what they stand for: the same functions written for the
//! types of each call.
//!
//! ```text
//! def @f<n : ShapeVar, b : BaseType>(%x: Tensor[(n, 2), b]) { … }     def @f_0(%x: Tensor[(3, 2), int8]) { … }
//! def @main(%a: Tensor[(3, 2), int8]) { @f(%a) }                      def @main(%a: Tensor[(3, 2), int8]) { @f_0(%a) }
//! ```

use super::tape::Tape;

/// A module with generic functions, and the module that it stands for.
pub struct Pair {
    /// The module with parameters.
    pub generic: String,
    /// The module with a function for each call.
    pub written: String,
}

/// The parameter of a function: the type parameters, the types with them, and the shapes that the
/// calls may have.
struct Form {
    params: &'static str,
    shape: &'static str,
    calls: &'static [&'static str],
}

const FORMS: &[Form] = &[
    Form {
        params: "n : ShapeVar",
        shape: "(n,)",
        calls: &["(1,)", "(2,)", "(3,)", "(4,)", "(6,)"],
    },
    Form {
        params: "n : ShapeVar",
        shape: "(n, 2)",
        calls: &["(1, 2)", "(2, 2)", "(3, 2)", "(4, 2)"],
    },
    Form {
        params: "n : ShapeVar, m : ShapeVar",
        shape: "(n, m)",
        calls: &["(1, 1)", "(2, 2)", "(1, 4)", "(3, 2)", "(4, 1)"],
    },
    Form {
        params: "s : Shape",
        shape: "s",
        calls: &["(2,)", "(4,)", "(1, 4)", "(2, 2)", "(1, 2, 2)", "()"],
    },
];

/// Steps of a body: `%v` is the value before.
const STEPS: &[&str] = &[
    "nn.relu(%v)",
    "%v + 1",
    "%v * %v",
    "2 * %v",
    "%v + 0.5",
    "where(%v < 1, %v, 0 * %v)",
    "reshape(%v, newshape=[-1])",
    "reshape(%v, newshape=[2, 2])",
    "reshape(%v, newshape=[2, -1])",
    "squeeze(%v, axis=[0])",
    "expand_dims(%v, axis=0)",
    "concatenate((%v, %v), axis=0)",
    "strided_slice(%v, begin=[0], end=[2], strides=[1])",
    "transpose(%v, axes=[1, 0])",
    "sum(%v, axis=[0])",
    "cast(%v, dtype=\"float32\")",
    "cast(%v < 2, dtype=\"int8\")",
    "take(%v, 1, axis=0)",
    "split(%v, indices_or_sections=1, axis=0).0",
    "repeat(%v, repeats=2, axis=0)",
    "reverse(%v, axis=0)",
];

/// The data types of calls.
const DTYPES: &[&str] = &["float32", "int32", "int8", "bool"];

/// A function without its name.
struct Body {
    statements: String,
    result: String,
    ret: String,
}

/// Draws a module with one generic function and a few calls.
pub fn pair(tape: &mut Tape) -> Pair {
    let form = &FORMS[tape.pick(FORMS.len())];
    let has_dtype = tape.once_in(2);
    let is_boxed = tape.once_in(3);
    let is_passed_on = tape.once_in(3);
    let has_type_args = tape.once_in(4);
    let body = body(tape, form);
    let dtype = if has_dtype { "b" } else { "float32" };
    let params =
        if has_dtype { format!("{}, b : BaseType", form.params) } else { form.params.into() };
    let names: Vec<&str> = params.split(", ").map(|param| &param[..1]).collect();
    let calls = 1 + tape.pick(3);
    let mut generic = String::new();
    let mut written = String::new();
    if is_boxed {
        generic += "type Box<s : Shape, b : BaseType> { Make(Tensor[s, b]) }\n";
    }
    let value = if is_boxed {
        let shape = form.shape.replace("(n,)", "(n)");
        generic += &format!(
            "def @f<{params}>(%p: Box[{shape}, {dtype}]){} {{\n  match (%p) {{ Make(%x) => {{\n{}  {} }} }}\n}}\n",
            body.ret, body.statements, body.result
        );
        "Make"
    } else {
        generic += &format!(
            "def @f<{params}>(%x: Tensor[{}, {dtype}]){} {{\n{}  {}\n}}\n",
            form.shape, body.ret, body.statements, body.result
        );
        ""
    };
    let mut callee = "@f".to_owned();
    if is_passed_on && !is_boxed {
        let args = if has_type_args { format!("<{}>", names.join(", ")) } else { String::new() };
        generic +=
            &format!("def @g<{params}>(%y: Tensor[{}, {dtype}]) {{ @f{args}(%y) }}\n", form.shape);
        callee = "@g".to_owned();
    }
    let (mut inputs, mut uses, mut own) = (Vec::new(), Vec::new(), Vec::new());
    for call in 0..calls {
        let shape = tape.one_of(form.calls);
        let dtype = if has_dtype { tape.one_of(DTYPES) } else { "float32" };
        inputs.push(format!("%a{call}: Tensor[{shape}, {dtype}]"));
        uses.push(match value {
            "" => format!("{callee}(%a{call})"),
            make => format!("{callee}({make}(%a{call}))"),
        });
        own.push(format!("@f_{call}(%a{call})"));
        written += &format!(
            "def @f_{call}(%x: Tensor[{shape}, {dtype}]){} {{\n{}  {}\n}}\n",
            body.ret, body.statements, body.result
        );
    }
    let main = |uses: &[String]| {
        format!("def @main({}) {{ ({},) }}\n", inputs.join(", "), uses.join(", "))
    };
    generic += &main(&uses);
    written += &main(&own);
    Pair { generic, written }
}

fn body(tape: &mut Tape, form: &Form) -> Body {
    let (mut statements, mut value) = (String::new(), "%x".to_owned());
    for step in 0..1 + tape.pick(3) {
        let text = tape.one_of(STEPS).replace("%v", &value);
        let declared = match (tape.once_in(8), text.contains("strided_slice")) {
            (true, true) => ": Tensor[(2,), float32]",
            _ => "",
        };
        value = format!("%v{step}");
        statements += &format!("  let {value}{declared} = {text};\n");
    }
    // A result `(n + n, 2)` is none of `(2, 2)`, whatever `n` is in the calls.
    let is_declared = form.shape == "s" && tape.once_in(10);
    let ret = if is_declared { " -> Tensor[(2, 2), float32]" } else { "" };
    Body { statements, result: value, ret: ret.to_owned() }
}
