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

fn words(text: &str, mistake: &Mistake) -> Words {
    use MistakeKind::*;
    let (message, help, title): (String, &str, &str) = match mistake.kind {
        Operator("assignment") => (
            format!("Relay has no `{text}`: variables do not change"),
            "bind a new variable: `let %next = …;`",
            "",
        ),
        Operator("f") => (
            format!("Relay has no `{text}`: an operator is called with its operands"),
            "write the operator before its operands: `tanh(%x)`",
            "Write a call",
        ),
        Operator(name) => {
            return Words {
                message: format!("Relay has no operator `{text}`"),
                help: match name {
                    "ref_read" | "ref" | "negative" | "logical_not" | "bitwise_not" => {
                        format!("write a call: `{name}(…)`")
                    }
                    name => format!("write a call: `{name}(…, …)`"),
                },
                title: format!("Call `{name}`"),
            };
        }
        Spelling(to) => {
            return Words {
                message: match to {
                    "Nil" => "the empty list is written `Nil`".to_owned(),
                    "_" => format!("the pattern that matches everything is `_`, not `{text}`"),
                    to => format!("`{to}` is written here, not `{text}`"),
                },
                help: match to {
                    "=>" => "an arm is written `Cons(%x, _) => %x,`".to_owned(),
                    "==" | "!=" => format!("`{to}` compares; `=` binds"),
                    "else if" => "a further condition is written `} else if (…) {`".to_owned(),
                    "{" => "the arms are in braces: `match (%l) { Nil => …, … }`".to_owned(),
                    "match" => {
                        "a choice is written `match (%l) { Nil => …, Cons(%x, _) => … }`".to_owned()
                    }
                    _ => String::new(),
                },
                title: format!("Change to `{to}`"),
            };
        }
        Missing(token) => {
            return Words {
                message: format!("a `{token}` is missing before `{text}`"),
                help: String::new(),
                title: format!("Insert `{token}`"),
            };
        }
        Superfluous => {
            return Words {
                message: format!("Relay has no `{text}` here"),
                help: String::new(),
                title: format!("Remove `{text}`"),
            };
        }
        PlusSign => {
            ("Relay has no sign `+`".to_owned(), "a number without sign is positive", "Remove `+`")
        }
        Index(_) => (
            "Relay has no index in brackets".to_owned(),
            "a field of a tuple is `%t.0`, an element of a tensor `take(%x, 0, axis=0)`, a part of it \
             `strided_slice(%x, begin=[0], end=[1])`",
            "",
        ),
        Condition => (
            "a condition is written in parentheses".to_owned(),
            "write `if (…) { … } else { … }`",
            "Put parentheses around the condition",
        ),
        Branch => (
            "a branch is written in braces".to_owned(),
            "write `if (…) { … } else { … }`",
            "Put braces around the branches",
        ),
        Lambda => (
            "a function is written with `fn` and a body in braces".to_owned(),
            "write `fn (%x) { … }`",
            "Write a function",
        ),
        Parameters => (
            "parameters are written in parentheses".to_owned(),
            "write `fn (%x) { … }` or `def @f(%x) { … }`",
            "Put parentheses around the parameters",
        ),
        Body => (
            "the body of a function is written in braces".to_owned(),
            "write `def @f(%x) { … }`; its value is the last expression",
            "Put braces around the body",
        ),
        ResultType => (
            "the type of the result follows `->`".to_owned(),
            "write `def @f(%x: int32) -> int32 { … }`",
            "Write `->`",
        ),
        TypeFirst => (
            "the type of a variable follows its name".to_owned(),
            "write `let %x: int32 = …;`, and parameters as `%x: int32`",
            "Write the type after the name",
        ),
        Destructuring => (
            "`let` binds one variable".to_owned(),
            "bind the tuple, and take its fields: `%t.0`, `%t.1`",
            "Bind the tuple and its fields",
        ),
        Application => (
            format!("the arguments of `{text}` are written in parentheses"),
            "write a call as `tanh(%x)`",
            "Put parentheses around the arguments",
        ),
        AscribedValue => (
            "the type of a variable follows its name, not its value".to_owned(),
            "write `let %y: Tensor[(2, 3), float32] = …;`",
            "Write the type after the name",
        ),
        Number => (
            format!("`{text}` is not a valid number in Relay"),
            "numbers are decimal: `16`, `0.5f`, `1i64`, `1.5f16`",
            "Write the number in Relay",
        ),
        Cast => (
            "a conversion is a call of `cast`".to_owned(),
            "write `cast(%x, dtype=\"float32\")`",
            "Call `cast`",
        ),
        Conditional => (
            format!("Relay has no `{text}` between values"),
            "`if` is an expression: `if (%c) { %x } else { %y }`",
            "Write `if (…) { … } else { … }`",
        ),
        Loop => (
            format!("Relay has no loops: `{text}` is unknown"),
            "write a function that calls itself, or `@map` and `@foldl` over a list",
            "",
        ),
        ListValue => (
            "a list in brackets is not a value".to_owned(),
            "several tensors are a tuple: `(%a, %b)`; a tensor of numbers is a parameter or a constant of the \
             metadata section",
            "Write a tuple",
        ),
        TensorType => (
            "a tensor type is a shape in parentheses and a data type: `Tensor[(2, 3), float32]`"
                .to_owned(),
            "an unknown size is `?`, and a scalar has the shape `()`",
            "Write the type in Relay",
        ),
        TypeArguments => (
            "type arguments are written in square brackets".to_owned(),
            "write `List[int32]`",
            "Change to square brackets",
        ),
        ListType => (
            "a list type is written `List[…]`".to_owned(),
            "a tensor is `Tensor[(2, 3), float32]`",
            "Change to `List[…]`",
        ),
        FunctionType => (
            "a function type begins with `fn`".to_owned(),
            "write `fn (int32) -> int32`",
            "Write a function type",
        ),
        TypeSign => (
            format!("Relay has no `{text}` before types"),
            "values are passed as they are; a mutable reference is `ref(int32)`",
            "Remove it",
        ),
        ProductType => (
            "a tuple type is written in parentheses".to_owned(),
            "write `(int32, float32)`",
            "Write a tuple type",
        ),
        TypeBody => (
            "the constructors of a data type are written in braces".to_owned(),
            "write `type Shade { Light, Dark(int32) }`",
            "Put braces around the constructors",
        ),
        ConstructorFields => (
            "the fields of a constructor are types in parentheses".to_owned(),
            "write `Dark(int32)`; fields have no names",
            "Write the types in parentheses",
        ),
        TypeParameters if text.contains('<') => (
            "type parameters follow the name, in square brackets".to_owned(),
            "write `def @first[a, b](%x: a, %y: b) -> a { %x }`",
            "Write the parameters after the name",
        ),
        TypeParameters => (
            "type parameters are written in square brackets".to_owned(),
            "write `type Box[a] { Full(a) }`",
            "Put square brackets around the parameters",
        ),
        Alias => (
            "Relay has no names for other types".to_owned(),
            "write the type itself, or a data type with one constructor: `type Vec { Vec(…) }`",
            "",
        ),
        Pattern => (
            "the fields of a pattern are written in parentheses".to_owned(),
            "write `Cons(%x, %rest)`",
            "Write the pattern in Relay",
        ),
        ArmBar => (
            "the arms of a `match` have no `|` before them".to_owned(),
            "a comma is between two arms: `Nil => 0, Cons(%h, _) => %h`",
            "Write the arms with commas",
        ),
        ConstructorBar => (
            "the constructors of a type have no `|` before them".to_owned(),
            "a comma is between two constructors: `Light, Dark(int32)`",
            "Write the constructors with commas",
        ),
        Guard => {
            ("an arm has no condition".to_owned(), "write `if (…) { … } else { … }` in the arm", "")
        }
        Definition => (
            format!("a definition begins with `def`, not `{text}`"),
            "write `def @main(%x: float32) -> float32 { … }`",
            "Change to `def`",
        ),
        Sigil(sigil) => {
            let bare = text.trim_start_matches(['%', '@', '$', ' ']);
            let what = if sigil == '@' { "function of the module" } else { "variable" };
            return Words {
                message: format!("the name of a {what} begins with `{sigil}`: `{sigil}{bare}`"),
                help: String::new(),
                title: format!("Change to `{sigil}{bare}`"),
            };
        }
        Record => (
            "Relay has no records with named fields".to_owned(),
            "write a data type with one constructor: `type Pair { Pair(int32, int32) }`, or a tuple",
            "",
        ),
        OtherLanguage(language) => {
            return Words {
                message: format!("this is {language}, and not Relay"),
                help: match text.starts_with('"') {
                    true => "write a call as `tanh(%x)`".to_owned(),
                    false => {
                        "a module has definitions: `def @main(%x: Tensor[(1, 64), float32]) { … }`"
                            .to_owned()
                    }
                },
                title: String::new(),
            };
        }
        DefaultValue => (
            "a parameter has no default value".to_owned(),
            "every call passes all arguments",
            "Remove the default value",
        ),
        Comment => (
            "a comment begins with `//`, or is between `/*` and `*/`".to_owned(),
            "",
            "Change to `//`",
        ),
        Size => (
            format!("`{text}` is no size of a tensor"),
            "a size is a number, or `?` if it is unknown; sizes are separated by commas",
            "Write the size in Relay",
        ),
        AttributeSign => {
            ("an attribute is written with `=`".to_owned(), "write `axis=1`", "Change to `=`")
        }
    };
    Words { message, help: help.to_owned(), title: title.to_owned() }
}
