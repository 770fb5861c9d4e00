//! Modules that are well-typed by construction, and modules with one type error.

use super::{
    tape::{Tape, Tapes},
    terms::{Adt, DType, Scope, Ty, TypedName},
};

/// The nesting depth of expressions. With [`SIZE`] it bounds every recursion of the generator.
pub(super) const DEPTH: u32 = 4;
/// The maximum number of expressions of a definition that are not leaves.
const SIZE: u32 = 40;

/// Bindings with a type error that no context can fix.
const ERRORS: &[&str] = &[
    "let %bad: bool = 1f;",
    "let %bad = if (2f) { 1 } else { 2 };",
    "let %bad = add(ones(shape=[2, 3], dtype=\"float32\"), ones(shape=[4], dtype=\"float32\"));",
    "let %bad = (1, 2).2;",
    "let %bad = if (True) { 1f } else { True };",
    "let %f_bad = fn (%q: int32) { %q };\nlet %bad = %f_bad(True);",
    "let %bad = Cons(1f, Cons(True, Nil));",
    "let %bad = match (1f) { Nil => 1, _ => 2 };",
    "let %f_bad = fn (%q) { %q };\nlet %bad = %f_bad(1, 2);",
    "let %bad = fn (%f) { (%f(1f), %f(True)) };",
    "let %bad = fn (%f) { %f(%f) };",
    "let %f_bad = fn (%q) { let %g = fn (%w) { %q }; let %b: bool = %g(1f); %b };\n\
     let %bad = %f_bad(2i64);",
    "let %bad = fn [Z](%q: Z) -> int32 { %q };",
    "let %bad = if (True) { 1 } else { True };",
    "let %r_bad = ref(Nil);\nref_write(%r_bad, Cons(1f, Nil));\nlet %bad = ref_write(%r_bad, Cons(True, Nil));",
];

/// The state of the generator.
pub(super) struct Generator {
    pub(super) tape: Tape,
    /// The previous definitions.
    pub(super) globals: Vec<TypedName>,
    /// The remaining number of expressions.
    pub(super) size: u32,
    names: u32,
    params: u32,
    graph: u32,
    /// The data types that are used.
    adts: Vec<Adt>,
    /// The number of blocks before that with the error, and the index of the error.
    error: Option<(usize, usize)>,
}

/// Returns the module of some tapes.
pub fn module(tapes: &Tapes) -> String {
    Generator::new(None).module(tapes)
}

/// Returns the module of some tapes with one type error. `error` selects it, `block` its block.
pub fn broken_module(tapes: &Tapes, error: usize, block: usize) -> String {
    let mut generator = Generator::new(Some((block, error % ERRORS.len())));
    let text = generator.module(tapes);
    match generator.error {
        None => text,
        // There are fewer blocks.
        Some(_) => Generator::new(Some((0, error % ERRORS.len()))).module(tapes),
    }
}

impl Generator {
    fn new(error: Option<(usize, usize)>) -> Generator {
        Generator {
            tape: Tape::default(),
            globals: Vec::new(),
            size: SIZE,
            names: 0,
            params: 0,
            graph: 0,
            adts: Vec::new(),
            error,
        }
    }

    fn module(&mut self, tapes: &Tapes) -> String {
        let mut defs: Vec<String> = Vec::new();
        let (main, others) = tapes.split_last().expect("there is one for `@main`");
        for tape in others {
            self.begin(tape);
            let text = self.definition();
            defs.push(text);
        }
        self.begin(main);
        let count = self.tape.pick(3) + 1;
        let fields: Vec<Ty> = (0..count).map(|_| self.ty(2, &[], true)).collect();
        let want = if count == 1 { fields[0].clone() } else { Ty::Tuple(fields) };
        let body = self.block(&mut Scope::default(), &want, DEPTH);
        let at = self.tape.pick(defs.len() + 1);
        defs.insert(defs.len() - at, format!("def @main() {{\n{body}\n}}\n"));
        let types = Adt::ALL.iter().filter(|adt| self.adts.contains(adt));
        types.filter_map(|adt| adt.definition()).collect::<String>() + &defs.concat()
    }

    fn begin(&mut self, tape: &[u16]) {
        self.tape = Tape::new(tape);
        self.size = SIZE;
    }

    /// Generates a definition, possibly with a mutually recursive one.
    fn definition(&mut self) -> String {
        match self.tape.pick(8) {
            4 => self.countdown(),
            5 => self.list_recursion(),
            6 => self.mutual(),
            _ => self.plain(),
        }
    }

    fn plain(&mut self) -> String {
        let name = self.global_name();
        let (free, params, ret) = self.signature();
        let text =
            self.function(&mut Scope::default(), &format!("def {name}"), &free, &params, &ret);
        self.globals.push(TypedName { name, free, ty: Ty::Fn(params, Box::new(ret)) });
        text + "\n"
    }

    /// Generates a function that calls itself with a smaller number.
    fn countdown(&mut self) -> String {
        let name = self.global_name();
        let text = self.countdown_named(&mut Scope::default(), &format!("def {name}"), &name);
        let (text, named) = text;
        self.globals.push(named);
        text + "\n"
    }

    /// Generates a recursive function with `head` before its parameters, called `name` in its body.
    pub(super) fn countdown_named(
        &mut self,
        scope: &mut Scope,
        head: &str,
        name: &str,
    ) -> (String, TypedName) {
        let is_generic = self.tape.once_in(2);
        let (free, ty) = match is_generic {
            true => {
                let param = self.param();
                (vec![param], Ty::Param(param))
            }
            false => (Vec::new(), self.ty(1, &[], false)),
        };
        let (n, acc) = (self.local_name(), self.local_name());
        let count = Ty::scalar(DType::Int32);
        let annotated = self.tape.once_in(2) && ty.is_writable(&free);
        let declared = scope.declared.len();
        let before = scope.vars.len();
        let (header, result) = if annotated {
            scope.declared.extend(&free);
            (format!("{}({n}: int32, {acc}: {ty})", declaration(&free)), format!(" -> {ty}"))
        } else {
            (format!("({n}, {acc})"), String::new())
        };
        scope.vars.push(TypedName { name: acc.clone(), free: Vec::new(), ty: ty.clone() });
        let step = self.block(scope, &ty, 2);
        scope.vars.truncate(before);
        scope.declared.truncate(declared);
        let next = self.local_name();
        let text = format!(
            "{head}{header}{result} {{\nif ({n} <= 0) {{ {acc} }} else {{\nlet {next} = {};\n{name}({n} - 1, {next})\n}}\n}}",
            if step.contains('\n') { format!("{{\n{step}\n}}") } else { step },
        );
        (
            text,
            TypedName {
                name: name.to_owned(),
                free,
                ty: Ty::Fn(vec![count, ty.clone()], Box::new(ty)),
            },
        )
    }

    /// Generates a function over the cells of a list.
    fn list_recursion(&mut self) -> String {
        let name = self.global_name();
        let (param, ret) = (self.param(), self.ty(1, &[], false));
        let element = if self.tape.once_in(2) { self.ty(1, &[], false) } else { Ty::Param(param) };
        let mut free = Vec::new();
        element.params(&mut free);
        let list = self.data(Adt::List, vec![element.clone()]);
        let (l, head, tail, rest) =
            (self.local_name(), self.local_name(), self.local_name(), self.local_name());
        let annotated = self.tape.once_in(2) && list.is_writable(&free) && ret.is_writable(&free);
        let mut scope = Scope::default();
        let header = if annotated {
            scope.declared.extend(&free);
            format!("{}({l}: {list}) -> {ret}", declaration(&free))
        } else {
            format!("({l})")
        };
        let base = self.expr(&mut scope, &ret, 1);
        let own =
            |name: &str, ty: &Ty| TypedName { name: name.into(), free: vec![], ty: ty.clone() };
        scope.vars.extend([own(&head, &element), own(&rest, &ret)]);
        let step = self.block(&mut scope, &ret, 2);
        let named = TypedName { name: name.clone(), free, ty: Ty::Fn(vec![list], Box::new(ret)) };
        self.globals.push(named);
        format!(
            "def {name}{header} {{\nmatch ({l}) {{\nNil => {base},\nCons({head}, {tail}) => {{\nlet {rest} = {name}({tail});\n{step}\n}}\n}}\n}}\n"
        )
    }

    /// Generates two functions that call each other with a smaller number.
    fn mutual(&mut self) -> String {
        let (even, odd, param) = (self.global_name(), self.global_name(), self.param());
        let ty = Ty::Param(param);
        let annotated = self.tape.pick(3);
        let mut text = String::new();
        for (number, (own, other)) in [(&even, &odd), (&odd, &even)].into_iter().enumerate() {
            let header = match annotated > number {
                true => format!("{}(%n: int32, %v: {ty}) -> {ty}", declaration(&[param])),
                false => "(%n, %v)".into(),
            };
            text += &format!(
                "def {own}{header} {{\nif (%n <= 0) {{ %v }} else {{ {other}(%n - 1, %v) }}\n}}\n"
            );
        }
        for name in [even, odd] {
            let ty = Ty::Fn(vec![Ty::scalar(DType::Int32), ty.clone()], Box::new(ty.clone()));
            self.globals.push(TypedName { name, free: vec![param], ty });
        }
        text
    }

    /// Generates the signature of a function: type parameters, each of which is the type of a
    /// parameter, then the types of parameters and result.
    pub(super) fn signature(&mut self) -> (Vec<u32>, Vec<Ty>, Ty) {
        let free: Vec<u32> = (0..self.tape.pick(3)).map(|_| self.param()).collect();
        let mut params: Vec<Ty> = free.iter().map(|param| Ty::Param(*param)).collect();
        for _ in 0..self.tape.pick(3) {
            let ty = self.ty(2, &free, true);
            params.push(ty);
        }
        let ret = self.ty(2, &free, true);
        (free, params, ret)
    }

    /// Generates a function with `head` before its parameters.
    pub(super) fn function(
        &mut self,
        scope: &mut Scope,
        head: &str,
        free: &[u32],
        params: &[Ty],
        ret: &Ty,
    ) -> String {
        let (vars, declared) = (scope.vars.len(), scope.declared.len());
        // Annotate nothing, some parameters, or everything.
        let mode = self.tape.pick(3);
        let known: Vec<u32> = scope.declared.iter().chain(free).copied().collect();
        let everything = mode == 2 && params.iter().chain([ret]).all(|ty| ty.is_writable(&known));
        let mut text = head.to_owned();
        if everything {
            scope.declared.extend(free);
            text += &declaration(free);
        }
        let mut written = Vec::new();
        for ty in params {
            let name = self.local_name();
            let shown = ty.is_writable(&scope.declared)
                && (everything || mode == 1 && self.tape.once_in(2));
            written.push(if shown { format!("{name}: {ty}") } else { name.clone() });
            scope.vars.push(TypedName { name, free: Vec::new(), ty: ty.clone() });
        }
        text += &format!("({})", written.join(", "));
        if everything {
            text += &format!(" -> {ret}");
        }
        let body = self.block(scope, ret, DEPTH - 1);
        scope.vars.truncate(vars);
        scope.declared.truncate(declared);
        format!("{text} {{\n{body}\n}}")
    }

    /// Generates a type, possibly with functions if `functions`.
    pub(super) fn ty(&mut self, depth: u32, params: &[u32], functions: bool) -> Ty {
        let kinds = if depth == 0 { 2 } else { 7 };
        match self.tape.pick(kinds) {
            1 if !params.is_empty() => Ty::Param(self.tape.one_of(params)),
            3 => {
                let fields = self.tape.pick(4);
                Ty::Tuple((0..fields).map(|_| self.ty(depth - 1, params, functions)).collect())
            }
            4 | 5 => {
                let adt = self.tape.one_of(&Adt::ALL);
                let args = (0..adt.arity()).map(|_| self.ty(depth - 1, params, functions));
                let args = args.collect();
                self.data(adt, args)
            }
            6 if functions => {
                let count = self.tape.pick(3);
                let args = (0..count).map(|_| self.ty(depth - 1, params, false)).collect();
                Ty::Fn(args, Box::new(self.ty(depth - 1, params, false)))
            }
            _ => self.tensor(),
        }
    }

    /// Generates the type of a small tensor.
    pub(super) fn tensor(&mut self) -> Ty {
        let shapes: [&[i64]; 8] = [&[], &[2], &[3], &[2, 3], &[1, 3], &[2, 1], &[4], &[2, 2, 2]];
        let shape = self.tape.one_of(&shapes).to_vec();
        Ty::Tensor(shape, self.tape.one_of(&DType::ALL))
    }

    pub(super) fn data(&mut self, adt: Adt, args: Vec<Ty>) -> Ty {
        self.adts.push(adt);
        Ty::Data(adt, args)
    }

    fn global_name(&mut self) -> String {
        self.names += 1;
        format!("@f{}", self.names)
    }

    pub(super) fn local_name(&mut self) -> String {
        self.names += 1;
        format!("%v{}", self.names)
    }

    pub(super) fn graph_name(&mut self) -> String {
        self.graph += 1;
        format!("%{}", self.graph - 1)
    }

    fn param(&mut self) -> u32 {
        self.params += 1;
        self.params
    }

    /// Returns the error of the block that starts here, if any.
    pub(super) fn error_here(&mut self) -> Option<&'static str> {
        let (blocks, which) = self.error?;
        match blocks {
            0 => {
                self.error = None;
                Some(ERRORS[which])
            }
            _ => {
                self.error = Some((blocks - 1, which));
                None
            }
        }
    }
}

/// `[A, B]`
pub(super) fn declaration(params: &[u32]) -> String {
    let names: Vec<String> = params.iter().map(|param| Ty::Param(*param).to_string()).collect();
    if names.is_empty() { String::new() } else { format!("[{}]", names.join(", ")) }
}
