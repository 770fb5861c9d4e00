//! Programs whose functions, called directly or through parameters, fields and references, read and
//! write references.

use super::tape::Tape;

/// The types of the generated variables.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    /// `int32`
    Int,
    /// A reference to an integer.
    Cell,
    /// `fn () -> int32`
    Thunk,
    /// `fn (int32) -> int32`
    Step,
    /// `fn (fn () -> int32) -> int32`
    Caller,
    /// `(int32, fn () -> int32)`
    Pair,
    /// `Job`
    Job,
    /// A reference to a function.
    Slot,
}

const KINDS: [Kind; 8] = [
    Kind::Int,
    Kind::Cell,
    Kind::Thunk,
    Kind::Step,
    Kind::Caller,
    Kind::Pair,
    Kind::Job,
    Kind::Slot,
];

/// What all programs begin with: definitions that have effects, or those of their arguments, or none.
const HEAD: &str = "\
type Job { Now(int32), Later(fn () -> int32) }
def @bump(%r: ref(int32), %by: int32) -> int32 {
  let %w = ref_write(%r, add(ref_read(%r), %by));
  ref_read(%r)
}
def @twice(%f: fn () -> int32) -> int32 { add(%f(), %f()) }
def @ignore(%f: fn () -> int32) -> int32 { 3 }
def @double(%x: int32) -> int32 { multiply(%x, 2) }
def @counter(%r: ref(int32)) { fn () -> int32 { @bump(%r, 1) } }
def @even(%n: int32, %r: ref(int32)) -> int32 {
  if (less(%n, 1)) { ref_read(%r) } else { @odd(subtract(%n, 1), %r) }
}
def @odd(%n: int32, %r: ref(int32)) -> int32 {
  if (less(%n, 1)) { @bump(%r, 7) } else { @even(subtract(%n, 1), %r) }
}
def @do(%j: Job) -> int32 { match (%j) { Now(%n) => %n, Later(%f) => %f() } }
";

/// The number of expressions of a program that are not leaves, which bounds the recursion.
const SIZE: u32 = 60;

struct Generator<'t> {
    tape: &'t mut Tape,
    scope: Vec<(String, Kind)>,
    size: u32,
    names: usize,
    graphs: usize,
}

/// Returns a module with a `@main` without parameters.
pub fn module(tape: &mut Tape) -> String {
    let mut generator = Generator { tape, scope: Vec::new(), size: SIZE, names: 0, graphs: 0 };
    let mut text = format!("{HEAD}def @main() {{\n");
    for name in ["%one", "%two"] {
        text += &format!("let {name} = ref(1);\n");
        generator.scope.push((name.to_owned(), Kind::Cell));
    }
    for _ in 0..3 + generator.tape.pick(6) {
        text += &generator.statement();
    }
    let result = generator.int();
    text += &format!("({result}, ref_read(%one), ref_read(%two))\n}}\n");
    text
}

impl Generator<'_> {
    /// Returns a name without digits at its end: names with the same stem are reported together.
    fn name(&mut self) -> String {
        self.names += 1;
        let letter = |place: u32| {
            let digit = self.names / 26_usize.pow(place) % 26;
            char::from(b'a' + digit as u8)
        };
        format!("%v{}{}", letter(1), letter(0))
    }

    fn statement(&mut self) -> String {
        let kind = KINDS[self.tape.pick(KINDS.len())];
        if kind == Kind::Int && self.tape.once_in(4) {
            let (cell, value) = (self.cell(), self.int());
            return match self.tape.pick(3) {
                0 => format!("ref_write({cell}, {value});\n"),
                1 => format!("let {} = ref_write({cell}, {value});\n", self.name()),
                _ => {
                    self.graphs += 1;
                    let name = format!("%{}", self.graphs);
                    let text = format!("{name} = (ref_write({cell}, {value}), {});\n", self.int());
                    self.scope.push((format!("{name}.1"), Kind::Int));
                    text
                }
            };
        }
        if kind == Kind::Step && self.tape.once_in(2) {
            return self.recursive();
        }
        let value = self.of(kind);
        if self.tape.once_in(3) && !value.starts_with('{') {
            self.graphs += 1;
            let name = format!("%{}", self.graphs);
            self.scope.push((name.clone(), kind));
            return format!("{name} = {value};\n");
        }
        let name = self.name();
        self.scope.push((name.clone(), kind));
        format!("let {name} = {value};\n")
    }

    /// Returns a function that calls itself a few times.
    fn recursive(&mut self) -> String {
        let (name, param) = (self.name(), self.name());
        let known = self.scope.len();
        let body = self.block();
        self.scope.truncate(known);
        self.scope.push((name.clone(), Kind::Step));
        format!(
            "let {name} = fn ({param}: int32) -> int32 {{ if (less({param}, 1)) {{ {body} }} else {{ \
             {name}(subtract(minimum({param}, 3), 1)) }} }};\n"
        )
    }

    /// Returns statements and an integer.
    fn block(&mut self) -> String {
        let known = self.scope.len();
        let mut text = String::new();
        let count = if self.size < 3 { 0 } else { self.tape.pick(3) };
        for _ in 0..count {
            text += &self.statement();
        }
        text += &self.int();
        self.scope.truncate(known);
        text
    }

    fn variable(&mut self, kind: Kind) -> Option<String> {
        let all: Vec<String> =
            self.scope.iter().filter(|(_, k)| *k == kind).map(|(name, _)| name.clone()).collect();
        (!all.is_empty()).then(|| self.tape.one_of(&all))
    }

    fn cell(&mut self) -> String {
        self.variable(Kind::Cell).unwrap_or_else(|| "%one".to_owned())
    }

    /// Returns a function without parameters.
    fn thunk(&mut self) -> String {
        if self.size < 2 || self.tape.once_in(2) {
            return self.variable(Kind::Thunk).unwrap_or_else(|| "fn () -> int32 { 2 }".to_owned());
        }
        self.of(Kind::Thunk)
    }

    fn int(&mut self) -> String {
        self.of(Kind::Int)
    }

    /// Returns an expression.
    fn of(&mut self, kind: Kind) -> String {
        self.size = self.size.saturating_sub(1);
        if self.size == 0 || self.tape.once_in(5) {
            if let Some(name) = self.variable(kind) {
                return name;
            }
            if kind == Kind::Int {
                return self.tape.pick(9).to_string();
            }
        }
        let is_small = self.size < 2;
        match kind {
            Kind::Int if is_small => self.tape.pick(9).to_string(),
            Kind::Int => self.big_int(),
            Kind::Cell => format!("ref({})", self.int()),
            Kind::Thunk if is_small => "fn () -> int32 { 4 }".to_owned(),
            Kind::Thunk => match self.tape.pick(5) {
                0 => self.variable(Kind::Pair).map_or("fn () -> int32 { 5 }".into(), |p| p + ".1"),
                1 => format!("@counter({})", self.cell()),
                2 => match self.variable(Kind::Slot) {
                    Some(slot) => format!("ref_read({slot})"),
                    None => "fn () -> int32 { 6 }".to_owned(),
                },
                _ => format!("fn () -> int32 {{ {} }}", self.block()),
            },
            Kind::Step => {
                let param = self.name();
                let known = self.scope.len();
                self.scope.push((param.clone(), Kind::Int));
                let body = self.block();
                self.scope.truncate(known);
                format!("fn ({param}: int32) -> int32 {{ {body} }}")
            }
            Kind::Caller => {
                let param = self.name();
                let known = self.scope.len();
                self.scope.push((param.clone(), Kind::Thunk));
                let body = self.block();
                self.scope.truncate(known);
                format!("fn ({param}: fn () -> int32) -> int32 {{ {body} }}")
            }
            Kind::Pair => format!("({}, {})", self.int(), self.thunk()),
            Kind::Job if self.tape.once_in(3) => format!("Now({})", self.int()),
            Kind::Job => format!("Later({})", self.thunk()),
            Kind::Slot => format!("ref({})", self.thunk()),
        }
    }

    fn big_int(&mut self) -> String {
        let called =
            |callee: Option<String>, args: &str| callee.map(|name| format!("{name}({args})"));
        match self.tape.pick(16) {
            0 => format!("add({}, {})", self.int(), self.int()),
            1 | 2 => format!("ref_read({})", self.cell()),
            3 | 4 => {
                let callee = self.variable(Kind::Thunk);
                called(callee, "").unwrap_or_else(|| format!("@bump({}, 1)", self.cell()))
            }
            5 => {
                let arg = self.int();
                let callee = self.variable(Kind::Step);
                called(callee, &arg).unwrap_or_else(|| format!("@double({arg})"))
            }
            6 => {
                let arg = self.thunk();
                let callee = self.variable(Kind::Caller);
                called(callee, &arg).unwrap_or_else(|| format!("@twice({arg})"))
            }
            7 => format!("@ignore({})", self.thunk()),
            8 => self.variable(Kind::Pair).map_or("8".to_owned(), |pair| pair + ".0"),
            9 => format!(
                "if (less({}, {})) {{ {} }} else {{ {} }}",
                self.int(),
                self.int(),
                self.block(),
                self.block()
            ),
            10 => {
                let (job, name) = (self.of(Kind::Job), self.name());
                let known = self.scope.len();
                self.scope.push((name.clone(), Kind::Thunk));
                let arm = self.block();
                self.scope.truncate(known);
                format!("match ({job}) {{ Now(_) => 1, Later({name}) => {{ {arm} }} }}")
            }
            11 => format!("@do({})", self.of(Kind::Job)),
            12 => format!("(ref_write({}, {}), {}).1", self.cell(), self.int(), self.int()),
            13 => format!(
                "@{}({}, {})",
                ["even", "odd"][self.tape.pick(2)],
                self.tape.pick(4),
                self.cell()
            ),
            14 => {
                let (slot, thunk) = (self.variable(Kind::Slot), self.thunk());
                slot.map_or("9".to_owned(), |slot| format!("(ref_write({slot}, {thunk}), 3).1"))
            }
            _ => format!("@bump({}, {})", self.cell(), self.int()),
        }
    }
}
