//! Expressions of a type.

use super::{
    generate::Generator,
    terms::{Adt, DType, Scope, Ty, TypedName},
};

/// Kinds of expressions, with how often each is chosen.
#[derive(Clone, Copy)]
enum Kind {
    Leaf,
    Built,
    Call,
    If,
    Match,
    Projection,
    Operator,
    Reference,
}

/// A function that may return the wanted type.
#[derive(Clone)]
struct Callee {
    name: String,
    params: Vec<Ty>,
    /// Its type parameters.
    free: Vec<u32>,
    /// Their instances for the wanted type.
    found: Vec<(u32, Ty)>,
}

impl Generator {
    /// Generates an expression of type `want`.
    pub(super) fn expr(&mut self, scope: &mut Scope, want: &Ty, depth: u32) -> String {
        if depth == 0 || self.size == 0 {
            return self.leaf(scope, want);
        }
        let mut kinds = vec![Kind::Leaf, Kind::Leaf, Kind::Built];
        if matches!(want, Ty::Tensor(..)) {
            kinds.extend([Kind::Operator; 4]);
        }
        kinds.extend([Kind::Call, Kind::Call, Kind::Call, Kind::If, Kind::Match, Kind::Match]);
        kinds.extend([Kind::Projection, Kind::Reference]);
        let kind = self.tape.one_of(&kinds);
        if !matches!(kind, Kind::Leaf) {
            self.size -= 1;
        }
        match kind {
            Kind::Leaf => self.leaf(scope, want),
            Kind::Built => self.built(scope, want, depth - 1),
            Kind::Call => self.call(scope, want, depth - 1),
            Kind::Operator => match want {
                Ty::Tensor(shape, dtype) => self.operator(scope, shape, *dtype, depth - 1),
                _ => self.leaf(scope, want),
            },
            Kind::If => {
                let condition = self.expr(scope, &Ty::scalar(DType::Bool), depth - 1);
                let then = self.block(scope, want, depth - 1);
                let otherwise = self.block(scope, want, depth - 1);
                format!("if ({condition}) {{ {then} }} else {{ {otherwise} }}")
            }
            Kind::Match => self.matching(scope, want, depth - 1),
            Kind::Projection => {
                let count = self.tape.pick(3) + 1;
                let at = self.tape.pick(count);
                let mut fields: Vec<Ty> = (0..count).map(|_| self.tensor()).collect();
                fields[at] = want.clone();
                let tuple = Ty::Tuple(fields);
                let tuple = match self.tape.once_in(3) {
                    true => self.call(scope, &tuple, depth - 1),
                    false => self.built(scope, &tuple, depth - 1),
                };
                // A variable followed by a dot and a number is another name.
                format!("({tuple}).{at}")
            }
            Kind::Reference => {
                let value = self.expr(scope, want, depth - 1);
                format!("ref_read(ref({value}))")
            }
        }
    }

    /// Generates a variable or a value, without computation.
    pub(super) fn leaf(&mut self, scope: &Scope, want: &Ty) -> String {
        let fits = |named: &&TypedName| {
            let is_same = named.free.is_empty() && named.ty == *want;
            is_same
                || matches!(want, Ty::Fn(..)) && named.ty.matches(want, &named.free, &mut vec![])
        };
        let known: Vec<String> =
            scope.vars.iter().rev().filter(fits).map(|named| named.name.clone()).collect();
        let is_param = matches!(want, Ty::Param(_));
        if !known.is_empty() && (is_param || !self.tape.once_in(4)) {
            return self.tape.one_of(&known);
        }
        if matches!(want, Ty::Fn(..)) && self.tape.once_in(3) {
            let globals: Vec<String> =
                self.globals.iter().filter(fits).map(|named| named.name.clone()).collect();
            if !globals.is_empty() {
                return self.tape.one_of(&globals);
            }
        }
        self.value(scope, want)
    }

    /// Generates a value without variables, if possible.
    fn value(&mut self, scope: &Scope, want: &Ty) -> String {
        match want {
            Ty::Tensor(shape, dtype) if shape.is_empty() => self.literal(*dtype),
            Ty::Tensor(shape, dtype) => {
                let creator = self.tape.one_of(&["ones", "zeros"]);
                let sizes: Vec<String> = shape.iter().map(i64::to_string).collect();
                format!("{creator}(shape=[{}], dtype=\"{}\")", sizes.join(", "), dtype.name())
            }
            Ty::Tuple(fields) => {
                let fields = fields.iter().map(|field| self.leaf(scope, field)).collect();
                tuple(fields)
            }
            Ty::Data(adt, args) => {
                let (name, fields) = adt.constructors(args).swap_remove(0);
                constructed(name, fields.iter().map(|field| self.leaf(scope, field)).collect())
            }
            Ty::Fn(params, ret) => {
                let names: Vec<String> = params.iter().map(|_| self.local_name()).collect();
                let mut inner = scope.clone();
                inner.vars.extend(names.iter().zip(params).map(|(name, ty)| TypedName {
                    name: name.clone(),
                    free: Vec::new(),
                    ty: ty.clone(),
                }));
                format!("fn ({}) {{ {} }}", names.join(", "), self.leaf(&inner, ret))
            }
            Ty::Ref(inner) => format!("ref({})", self.leaf(scope, inner)),
            // A parameter with this type; every function that has the type parameter
            // has such a parameter.
            Ty::Param(_) => scope
                .vars
                .iter()
                .rev()
                .find(|named| named.free.is_empty() && named.ty == *want)
                .map_or_else(|| "()".into(), |named| named.name.clone()),
        }
    }

    fn literal(&mut self, dtype: DType) -> String {
        let number = self.tape.pick(4);
        let plain = self.tape.once_in(3);
        match dtype {
            DType::Bool => if number.is_multiple_of(2) { "True" } else { "False" }.into(),
            // The context determines the type of a number without a suffix, but not through
            // operators: in `add(0, 0) < 0f` the numbers are integers. Calls of operators therefore
            // pair such numbers with a typed operand.
            DType::Int32 if plain => number.to_string(),
            DType::Int32 => format!("{number}i32"),
            DType::Int64 => format!("{number}i64"),
            DType::Float32 if number == 3 => "0.5f".into(),
            DType::Float32 => format!("{number}f"),
            DType::Float64 => format!("{number}.5f64"),
        }
    }

    /// Generates a computation.
    fn built(&mut self, scope: &mut Scope, want: &Ty, depth: u32) -> String {
        match want {
            Ty::Tuple(fields) => {
                let fields = fields.iter().map(|field| self.expr(scope, field, depth)).collect();
                tuple(fields)
            }
            Ty::Data(adt, args) => {
                let constructors = adt.constructors(args);
                let (name, fields) = self.tape.one_of(&constructors);
                let fields = fields.iter().map(|field| self.expr(scope, field, depth)).collect();
                constructed(name, fields)
            }
            Ty::Fn(params, ret) => self.function(scope, "fn ", &[], params, ret),
            Ty::Ref(inner) => format!("ref({})", self.expr(scope, inner, depth)),
            Ty::Tensor(..) | Ty::Param(_) => self.leaf(scope, want),
        }
    }

    /// Generates a call of a function in scope, or of a function expression.
    fn call(&mut self, scope: &mut Scope, want: &Ty, depth: u32) -> String {
        let mut fitting: Vec<Callee> = Vec::new();
        for named in scope.vars.iter().rev().chain(self.globals.iter().rev()) {
            let mut found = Vec::new();
            if let Ty::Fn(params, ret) = &named.ty
                && ret.matches(want, &named.free, &mut found)
            {
                let (name, params, free) = (named.name.clone(), params.clone(), named.free.clone());
                fitting.push(Callee { name, params, free, found });
            }
        }
        if fitting.is_empty() || self.tape.once_in(6) {
            let params = vec![self.ty(1, &[], false)];
            let callee = self.function(scope, "fn ", &[], &params, want);
            let arg = self.expr(scope, &params[0], depth);
            return format!("({callee})({arg})");
        }
        let Callee { name, params, free, mut found } = self.tape.one_of(&fitting);
        for param in free {
            if !found.iter().any(|(known, _)| *known == param) {
                let ty = self.ty(1, &[], true);
                found.push((param, ty));
            }
        }
        let args: Vec<String> =
            params.iter().map(|ty| self.argument(scope, &ty.replaced(&found), depth)).collect();
        format!("{name}({})", args.join(", "))
    }

    /// Generates an argument: recursive functions count down from a small number.
    fn argument(&mut self, scope: &mut Scope, ty: &Ty, depth: u32) -> String {
        match ty {
            Ty::Tensor(shape, DType::Int32) if shape.is_empty() => self.tape.pick(3).to_string(),
            _ => self.expr(scope, ty, depth),
        }
    }

    /// Generates an exhaustive `match`.
    fn matching(&mut self, scope: &mut Scope, want: &Ty, depth: u32) -> String {
        let subject = match self.tape.pick(4) {
            3 => Ty::Tuple(vec![self.ty(1, &[], false), self.ty(1, &[], true)]),
            _ => {
                let adt = self.tape.one_of(&Adt::ALL);
                let args = (0..adt.arity()).map(|_| self.ty(1, &[], true)).collect();
                self.data(adt, args)
            }
        };
        let value = self.expr(scope, &subject, depth);
        let arms: Vec<(String, Vec<Ty>)> = match &subject {
            Ty::Data(adt, args) => {
                let constructors = adt.constructors(args).into_iter();
                constructors.map(|(name, fields)| (name.to_owned(), fields)).collect()
            }
            Ty::Tuple(fields) => vec![(String::new(), fields.clone())],
            _ => Vec::new(),
        };
        let mut text = format!("match ({value}) {{\n");
        let last = arms.len() - 1;
        for (number, (name, fields)) in arms.into_iter().enumerate() {
            let vars = scope.vars.len();
            let rest = number == last && self.tape.once_in(4);
            let pattern = match rest {
                true => "_".to_owned(),
                false => self.pattern(scope, &name, &fields),
            };
            let body = match self.tape.once_in(2) {
                true => format!("{{ {} }}", self.block(scope, want, depth)),
                false => self.expr(scope, want, depth),
            };
            scope.vars.truncate(vars);
            text += &format!("{pattern} => {body},\n");
        }
        text + "}"
    }

    /// Generates an irrefutable pattern of the fields of a constructor or tuple.
    fn pattern(&mut self, scope: &mut Scope, name: &str, fields: &[Ty]) -> String {
        let mut parts = Vec::new();
        for field in fields {
            match (self.tape.pick(4), field) {
                (3, _) => parts.push("_".to_owned()),
                // Types are a few levels deep, which bounds this.
                (2, Ty::Tuple(inner)) if !inner.is_empty() => {
                    parts.push(self.pattern(scope, "", inner));
                }
                _ => {
                    let name = self.local_name();
                    let ty = field.clone();
                    scope.vars.push(TypedName { name: name.clone(), free: Vec::new(), ty });
                    parts.push(name);
                }
            }
        }
        if name.is_empty() { tuple(parts) } else { constructed(name, parts) }
    }
}

/// `(a, b)`, `(a,)`, `()`
fn tuple(fields: Vec<String>) -> String {
    match fields.as_slice() {
        [one] => format!("({one},)"),
        _ => format!("({})", fields.join(", ")),
    }
}

/// `Cons(a, b)`, `Nil`
fn constructed(name: &str, fields: Vec<String>) -> String {
    if fields.is_empty() { name.to_owned() } else { format!("{name}({})", fields.join(", ")) }
}
