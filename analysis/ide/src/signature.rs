//! Signature help.

use operators::Operator;
use semantics::{Db, SourceFile, View, global_type, module_types};
use syntax::{TextRange, TextSize};

use crate::{
    completion,
    cursor::{CallSite, CalleeSyntax, MarkedTree, def_around},
    hover::{self, type_text},
    locals::locals,
    lookups::{header_names, value_names},
    markdown::code_span,
    words,
};

/// The maximal number of parameters in a label. Real headers have up to 662.
const MAX_PARAMS: usize = 100;

/// The signature of a call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Signature {
    /// The label: `nn.dense(%data, %weight, units, out_dtype="")`.
    pub label: String,
    /// The range of each parameter in the label, in bytes, and its documentation.
    pub params: Vec<(TextRange, Option<String>)>,
    /// The index of the parameter at the cursor.
    pub active: Option<usize>,
    /// The documentation of the callee as Markdown.
    pub documentation: Option<String>,
}

/// A builder of a label.
struct Label {
    text: String,
    params: Vec<(TextRange, Option<String>)>,
}

impl Label {
    fn new(name: &str) -> Label {
        Label { text: format!("{name}("), params: Vec::new() }
    }

    fn param(&mut self, text: &str, doc: Option<String>) {
        if !self.params.is_empty() {
            self.text += ", ";
        }
        let start = TextSize::of(self.text.as_str());
        self.text += text;
        self.params.push((TextRange::new(start, TextSize::of(self.text.as_str())), doc));
    }

    fn finish(
        mut self,
        tail: &str,
        active: Option<usize>,
        documentation: Option<String>,
    ) -> Signature {
        self.text += ")";
        self.text += tail;
        let active = active.filter(|&active| active < self.params.len());
        Signature { label: self.text, params: self.params, active, documentation }
    }
}

/// Returns the signature of the innermost call around `offset` whose callee is known.
pub fn signature_help(db: &dyn Db, file: SourceFile, offset: TextSize) -> Option<Signature> {
    let parse = file.parse(db);
    let marked = MarkedTree::new(&parse, offset)?;
    let cursor = marked.cursor();
    let (module, def) = def_around(db, file, offset)?;
    let view = || View::new(db, def);
    cursor.calls.iter().find_map(|call| match &call.callee {
        CalleeSyntax::Name(name) => {
            let types = module_types(db, module);
            if let Some((adt, constructor)) = types.constructor(name) {
                let ty = constructor.ty.signature()?;
                let doc = format!("constructor of {}", code_span(&adt.name));
                return Some(of_function(name, &ty, &[], call, Some(doc)));
            }
            let operator = completion::operator_of(call)?;
            Some(of_operator(operator, call, &cursor.prefix))
        }
        CalleeSyntax::Global(token) => {
            let (def, from_prelude) = semantics::global(db, module, token.text())?;
            let ty = global_type(db, def)?;
            let func = ty.signature()?;
            let names = header_names(&semantics::body(db, def));
            // The label contains the header.
            let doc = hover::described(db, def, from_prelude).trim_start().to_owned();
            let doc = Some(doc).filter(|doc| !doc.is_empty());
            Some(of_function(token.text(), &func, &names, call, doc))
        }
        CalleeSyntax::Variable(token) => {
            let view = view()?;
            let known = locals(&view, token.start(), None);
            let local = known.iter().find(|local| local.name == token.text())?;
            let func = local.ty.signature()?;
            let value = view.value(local.binding);
            let names = value.map_or_else(Vec::new, |value| value_names(&view, value));
            Some(of_function(token.text(), &func, &names, call, None))
        }
        CalleeSyntax::Expr(end) => {
            let view = view()?;
            let ty = completion::type_ending_at(&view, *end)?;
            let func = ty.signature()?;
            Some(of_function("fn ", &func, &[], call, None))
        }
    })
}

fn of_function(
    name: &str,
    signature: &types::Signature,
    names: &[String],
    call: &CallSite<'_>,
    documentation: Option<String>,
) -> Signature {
    let mut label = Label::new(name);
    let params = signature.func.params();
    for (i, ty) in params.iter().enumerate().take(MAX_PARAMS) {
        match names.get(i) {
            Some(name) => label.param(&format!("{name}: {}", type_text(ty)), None),
            None => label.param(&type_text(ty), None),
        }
    }
    if params.len() > MAX_PARAMS {
        label.param("…", None);
    }
    label.finish(
        &format!(" -> {}", type_text(signature.func.ret())),
        Some(call.argument),
        documentation,
    )
}

fn of_operator(operator: &'static Operator, call: &CallSite<'_>, typed: &str) -> Signature {
    let mut label = Label::new(operator.name);
    for arg in operator.args {
        // A line of the documentation starts with the name of its argument.
        let doc =
            operator.doc.args.iter().find(|line| line.trim_start_matches('`').starts_with(arg));
        label.param(&format!("%{arg}"), doc.map(|line| (*line).to_owned()));
    }
    if operator.variadic {
        label.param("…", None);
    }
    let positional = label.params.len();
    let fields = operator.schema.map(|schema| schema.fields).unwrap_or_default();
    for field in fields {
        let text = match words::default(&field.default) {
            Some(default) => format!("{}={default}", field.name),
            None => field.name.to_owned(),
        };
        label.param(&text, Some(completion::describe(field)));
    }
    let by_name =
        |name: &str| fields.iter().position(|field| field.name == name).map(|at| at + positional);
    let by_prefix = || {
        let matching = fields.iter().position(|field| {
            !typed.is_empty()
                && field.name.starts_with(typed)
                && !call.before.attributes.contains(&field.name)
        });
        matching.map(|at| at + positional)
    };
    let active = match call.attribute {
        Some(name) => by_name(name),
        None => by_prefix().or({
            if call.argument < operator.args.len() {
                Some(call.argument)
            } else if operator.variadic {
                Some(operator.args.len())
            } else {
                // After the arguments, the first attribute that is not written yet is active.
                let next =
                    fields.iter().position(|field| !call.before.attributes.contains(&field.name));
                next.map(|at| at + positional)
            }
        }),
    };
    let doc = operator.doc.summary;
    label.finish("", active, (!doc.is_empty()).then(|| doc.to_owned()))
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use crate::fixture::Fixture;

    fn check(text: &str, expected: Expect) {
        let fixture = Fixture::new(text);
        let found = super::signature_help(&fixture.db, fixture.file, fixture.cursor());
        let found = found.map_or("nothing".to_owned(), |signature| {
            let active = signature.active.map(|at| {
                let range = std::ops::Range::<usize>::from(signature.params[at].0);
                signature.label[range].to_owned()
            });
            format!("{}\nactive: {}", signature.label, active.unwrap_or("-".into()))
        });
        expected.assert_eq(&found);
    }

    #[test]
    fn signature_of_operator_marks_active_parameter() {
        check(
            "def @main(%x: int32) { add(%x, $0 }",
            expect![[r#"
            add(%lhs, %rhs)
            active: %rhs"#]],
        );
        check(
            "def @main(%x: int32) { nn.dense(%x, %x, out_dtype=$0) }",
            expect![[r#"
            nn.dense(%data, %weight, units, out_dtype="")
            active: out_dtype="""#]],
        );
        check(
            "def @main(%x: int32) { nn.dense(%x, %x, $0) }",
            expect![[r#"
            nn.dense(%data, %weight, units, out_dtype="")
            active: units"#]],
        );
        check(
            "def @main(%x: int32) { nn.dense(%x, %x, out$0) }",
            expect![[r#"
            nn.dense(%data, %weight, units, out_dtype="")
            active: out_dtype="""#]],
        );
        check(
            "def @main(%x: int32) { nn.dense(%x, add(%x, (%x, $0",
            expect![[r#"
            add(%lhs, %rhs)
            active: %rhs"#]],
        );
        check(
            "def @main(%x: int32) {\n  let %b add(%x, $0\n  %b\n}",
            expect![[r#"
            add(%lhs, %rhs)
            active: %rhs"#]],
        );
    }

    #[test]
    fn signature_of_functions_constructors_and_closures() {
        check(
            "def @f(%a: int32, %b: float32) -> int32 { %a }\ndef @main(%x: int32) { @f(%x, $0) }",
            expect![[r#"
                @f(%a: int32, %b: float32) -> int32
                active: %b: float32"#]],
        );
        check(
            "def @main(%x: int32) { Cons(%x, $0) }",
            expect![[r#"
            Cons(A, List[A]) -> List[A]
            active: List[A]"#]],
        );
        check(
            "def @main(%x: int32) {\n  let %g = fn (%p: int32, %q: int32) { add(%p, %q) };\n  %g($0)\n}",
            expect![[r#"
                %g(%p: int32, %q: int32) -> int32
                active: %p: int32"#]],
        );
    }
}
