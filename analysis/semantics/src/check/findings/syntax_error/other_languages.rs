//! The words and fixes for the constructs of other languages that the parser understands.

use syntax::{Mistake, MistakeKind, TextRange};
use types::Type;

use crate::{
    db::{Db, SourceFile},
    diagnostic::{Code, Diagnostic},
    view::types_in,
};

/// Returns the diagnostic for a construct of another language at `range`.
pub(in crate::check) fn report(
    db: &dyn Db,
    file: SourceFile,
    range: TextRange,
    mistake: &Mistake,
) -> Diagnostic {
    let source = file.text(db);
    let text = source.get(std::ops::Range::<usize>::from(range)).unwrap_or_default();
    let short = if text.len() <= 40 && !text.contains('\n') { text } else { "this" };
    let Words { message, help, title } = words(short, mistake);
    let mut diagnostic = Diagnostic::new(Code::SyntaxError, range, message);
    if !help.is_empty() {
        diagnostic = diagnostic.help(help);
    }
    if let MistakeKind::Index(index) = mistake.kind {
        let to = indexed(db, file, range, text, index);
        return diagnostic.with(to, |diagnostic, to| diagnostic.change(range, to));
    }
    if mistake.edits.is_empty() {
        return diagnostic;
    }
    diagnostic.fix(title, mistake.edits.iter().cloned())
}

/// Returns the projection or the call that an index in brackets means.
fn indexed(
    db: &dyn Db,
    file: SourceFile,
    range: TextRange,
    text: &str,
    index: Option<u32>,
) -> Option<String> {
    let (name, _) = text.split_once('[')?;
    let index = index?;
    if !name.starts_with('%') {
        return None;
    }
    let source = file.text(db);
    // The last place before that has this name, which binds it or uses it.
    let known = types_in(db, file).into_iter().rev().find(|at| {
        at.range.end() <= range.start()
            && source.get(std::ops::Range::<usize>::from(at.range)) == Some(name)
    })?;
    match &known.ty {
        Type::Tuple(fields) if (index as usize) < fields.len() => Some(format!("{name}.{index}")),
        ty if ty.as_tensor().is_some_and(|tensor| tensor.rank() > 0) => {
            Some(format!("take({name}, {index}, axis=0)"))
        }
        _ => None,
    }
}

/// The words of a diagnostic.
struct Words {
    message: String,
    help: String,
    title: String,
}

impl Words {
    /// Creates the words of a construct; an empty help or title is none.
    fn new(message: impl Into<String>, help: impl Into<String>, title: impl Into<String>) -> Words {
        Words { message: message.into(), help: help.into(), title: title.into() }
    }
}

fn words(text: &str, mistake: &Mistake) -> Words {
    use MistakeKind::*;
    match mistake.kind {
        Operator("assignment") => Words::new(
            format!("Relay has no `{text}`: variables do not change"),
            "bind a new variable: `let %next = …;`",
            "",
        ),
        Operator("f") => Words::new(
            format!("Relay has no `{text}`: an operator is called with its operands"),
            "write the operator before its operands: `tanh(%x)`",
            "Write a call",
        ),
        Operator(name) => Words::new(
            format!("Relay has no operator `{text}`"),
            match name {
                "ref_read" | "ref" | "negative" | "logical_not" | "bitwise_not" => {
                    format!("write a call: `{name}(…)`")
                }
                name => format!("write a call: `{name}(…, …)`"),
            },
            format!("Call `{name}`"),
        ),
        Spelling(to) => Words::new(
            match to {
                "Nil" => "the empty list is written `Nil`".to_owned(),
                "_" => format!("the pattern that matches everything is `_`, not `{text}`"),
                to => format!("`{to}` is written here, not `{text}`"),
            },
            match to {
                "=>" => "an arm is written `Cons(%x, _) => %x,`".to_owned(),
                "==" | "!=" => format!("`{to}` compares; `=` binds"),
                "else if" => "a further condition is written `} else if (…) {`".to_owned(),
                "{" => "the arms are in braces: `match (%l) { Nil => …, … }`".to_owned(),
                "match" => {
                    "a choice is written `match (%l) { Nil => …, Cons(%x, _) => … }`".to_owned()
                }
                _ => String::new(),
            },
            format!("Change to `{to}`"),
        ),
        Missing(token) => Words::new(
            format!("a `{token}` is missing before `{text}`"),
            "",
            format!("Insert `{token}`"),
        ),
        Superfluous => {
            Words::new(format!("Relay has no `{text}` here"), "", format!("Remove `{text}`"))
        }
        PlusSign => {
            Words::new("Relay has no sign `+`", "a number without sign is positive", "Remove `+`")
        }
        Index(_) => Words::new(
            "Relay has no index in brackets",
            "a field of a tuple is `%t.0`, an element of a tensor `take(%x, 0, axis=0)`, a part of it \
             `strided_slice(%x, begin=[0], end=[1])`",
            "",
        ),
        Condition => Words::new(
            "a condition is written in parentheses",
            "write `if (…) { … } else { … }`",
            "Put parentheses around the condition",
        ),
        Branch => Words::new(
            "a branch is written in braces",
            "write `if (…) { … } else { … }`",
            "Put braces around the branches",
        ),
        Lambda => Words::new(
            "a function is written with `fn` and a body in braces",
            "write `fn (%x) { … }`",
            "Write a function",
        ),
        Parameters => Words::new(
            "parameters are written in parentheses",
            "write `fn (%x) { … }` or `def @f(%x) { … }`",
            "Put parentheses around the parameters",
        ),
        Body => Words::new(
            "the body of a function is written in braces",
            "write `def @f(%x) { … }`; its value is the last expression",
            "Put braces around the body",
        ),
        ResultType => Words::new(
            "the type of the result follows `->`",
            "write `def @f(%x: int32) -> int32 { … }`",
            "Write `->`",
        ),
        TypeFirst => Words::new(
            "the type of a variable follows its name",
            "write `let %x: int32 = …;`, and parameters as `%x: int32`",
            "Write the type after the name",
        ),
        Destructuring => Words::new(
            "`let` binds one variable",
            "bind the tuple, and take its fields: `%t.0`, `%t.1`",
            "Bind the tuple and its fields",
        ),
        Application => Words::new(
            format!("the arguments of `{text}` are written in parentheses"),
            "write a call as `tanh(%x)`",
            "Put parentheses around the arguments",
        ),
        AscribedValue => Words::new(
            "the type of a variable follows its name, not its value",
            "write `let %y: Tensor[(2, 3), float32] = …;`",
            "Write the type after the name",
        ),
        Number => Words::new(
            format!("`{text}` is not a valid number in Relay"),
            "numbers are decimal: `16`, `0.5f`, `1i64`, `1.5f16`",
            "Write the number in Relay",
        ),
        Cast => Words::new(
            "a conversion is a call of `cast`",
            "write `cast(%x, dtype=\"float32\")`",
            "Call `cast`",
        ),
        Conditional => Words::new(
            format!("Relay has no `{text}` between values"),
            "`if` is an expression: `if (%c) { %x } else { %y }`",
            "Write `if (…) { … } else { … }`",
        ),
        Loop => Words::new(
            format!("Relay has no loops: `{text}` is unknown"),
            "write a function that calls itself, or `@map` and `@foldl` over a list",
            "",
        ),
        ListValue => Words::new(
            "a list in brackets is not a value",
            "several tensors are a tuple: `(%a, %b)`; a tensor of numbers is a parameter or a constant of the \
             metadata section",
            "Write a tuple",
        ),
        TensorType => Words::new(
            "a tensor type is a shape in parentheses and a data type: `Tensor[(2, 3), float32]`",
            "an unknown size is `?`, and a scalar has the shape `()`",
            "Write the type in Relay",
        ),
        TypeArguments => Words::new(
            "type arguments are written in square brackets",
            "write `List[int32]`",
            "Change to square brackets",
        ),
        ListType => Words::new(
            "a list type is written `List[…]`",
            "a tensor is `Tensor[(2, 3), float32]`",
            "Change to `List[…]`",
        ),
        FunctionType => Words::new(
            "a function type begins with `fn`",
            "write `fn (int32) -> int32`",
            "Write a function type",
        ),
        TypeSign => Words::new(
            format!("Relay has no `{text}` before types"),
            "values are passed as they are; a mutable reference is `ref(int32)`",
            "Remove it",
        ),
        ProductType => Words::new(
            "a tuple type is written in parentheses",
            "write `(int32, float32)`",
            "Write a tuple type",
        ),
        TypeBody => Words::new(
            "the constructors of a data type are written in braces",
            "write `type Shade { Light, Dark(int32) }`",
            "Put braces around the constructors",
        ),
        ConstructorFields => Words::new(
            "the fields of a constructor are types in parentheses",
            "write `Dark(int32)`; fields have no names",
            "Write the types in parentheses",
        ),
        TypeParameters if text.contains('<') => Words::new(
            "type parameters follow the name, in square brackets",
            "write `def @first[a, b](%x: a, %y: b) -> a { %x }`",
            "Write the parameters after the name",
        ),
        TypeParameters => Words::new(
            "type parameters are written in square brackets",
            "write `type Box[a] { Full(a) }`",
            "Put square brackets around the parameters",
        ),
        Alias => Words::new(
            "Relay has no names for other types",
            "write the type itself, or a data type with one constructor: `type Vec { Vec(…) }`",
            "",
        ),
        Pattern => Words::new(
            "the fields of a pattern are written in parentheses",
            "write `Cons(%x, %rest)`",
            "Write the pattern in Relay",
        ),
        ArmBar => Words::new(
            "the arms of a `match` have no `|` before them",
            "a comma is between two arms: `Nil => 0, Cons(%h, _) => %h`",
            "Write the arms with commas",
        ),
        ConstructorBar => Words::new(
            "the constructors of a type have no `|` before them",
            "a comma is between two constructors: `Light, Dark(int32)`",
            "Write the constructors with commas",
        ),
        Guard => {
            Words::new("an arm has no condition", "write `if (…) { … } else { … }` in the arm", "")
        }
        Definition => Words::new(
            format!("a definition begins with `def`, not `{text}`"),
            "write `def @main(%x: float32) -> float32 { … }`",
            "Change to `def`",
        ),
        Sigil(sigil) => {
            let bare = text.trim_start_matches(['%', '@', '$', ' ']);
            let what = if sigil == '@' { "function of the module" } else { "variable" };
            Words {
                message: format!("the name of a {what} begins with `{sigil}`: `{sigil}{bare}`"),
                help: String::new(),
                title: format!("Change to `{sigil}{bare}`"),
            }
        }
        Record => Words::new(
            "Relay has no records with named fields",
            "write a data type with one constructor: `type Pair { Pair(int32, int32) }`, or a tuple",
            "",
        ),
        OtherLanguage(language) => Words::new(
            format!("this is {language}, and not Relay"),
            match text.starts_with('"') {
                true => "write a call as `tanh(%x)`",
                false => {
                    "a module has definitions: `def @main(%x: Tensor[(1, 64), float32]) { … }`"
                }
            },
            "",
        ),
        DefaultValue => Words::new(
            "a parameter has no default value",
            "every call passes all arguments",
            "Remove the default value",
        ),
        Comment => Words::new(
            "a comment begins with `//`, or is between `/*` and `*/`",
            "",
            "Change to `//`",
        ),
        Size => Words::new(
            format!("`{text}` is no size of a tensor"),
            "a size is a number, or `?` if it is unknown; sizes are separated by commas",
            "Write the size in Relay",
        ),
        AttributeSign => {
            Words::new("an attribute is written with `=`", "write `axis=1`", "Change to `=`")
        }
    }
}
