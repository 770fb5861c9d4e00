//! Programs and their results.

use std::{
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use interpreter::{CallMeasurement, Fault, FaultKind, Limits, Machine, Observer, Value};
use semantics::{Database, DefKind, SourceFile};
use syntax::TextRange;

/// Runs `@main` of a text, or its bare expression, without arguments.
fn run_with(text: &str, limits: Limits) -> Result<Value, Fault> {
    let db = Database::new();
    let file = db.add_file(text, syntax::ParseLimits::default());
    let mut defs = semantics::all_defs(&db, file);
    let def = defs
        .find(|def| def.kind(&db) == DefKind::Expr || def.name(&db) == "@main")
        .expect("a definition");
    Machine::new(&db).limited(limits).run(def, Vec::new(), None)
}

fn run(text: &str) -> Value {
    match run_with(text, Limits::default()) {
        Ok(value) => value,
        Err(fault) => panic!("{} {:?}", fault.message, fault.trace.first()),
    }
}

fn numbers(text: &str) -> Vec<f64> {
    run(text).leaves().iter().flat_map(|tensor| tensor.to_f64s()).collect()
}

fn fault(text: &str, limits: Limits) -> Fault {
    run_with(text, limits).expect_err("it should fail")
}

#[test]
fn examples_of_the_manual() {
    assert_eq!(numbers("let %x = 1; let %x = %x + 3; %x"), [4.0]);
    let ackermann = "
        def @ackermann(%m: int32, %n: int32) -> int32 {
          if (%m == 0) { %n + 1 } else {
            if (%n == 0) { @ackermann(%m - 1, 1) }
            else { @ackermann(%m - 1, @ackermann(%m, %n - 1)) }
          }
        }
        def @main() -> int32 { @ackermann(2, 3) }";
    assert_eq!(numbers(ackermann), [9.0]);
    let closure = "
        let %f = fn () { let %x = Constant(0, (10, 10), float32); fn () { %x } };
        let %g = %f();
        %g()";
    assert_eq!(numbers(closure), [0.0; 100]);
}

#[test]
fn tail_calls_use_constant_space() {
    // Two million iterations of a tail call.
    let text = "
        def @loop(%n: int32, %sum: int64) -> int64 {
          if (%n == 0) { %sum } else { @loop(%n - 1, %sum + 1i64) }
        }
        def @main() -> int64 { @loop(2000000, 0i64) }";
    assert_eq!(numbers(text), [2_000_000.0]);
    let tight = Limits { memory: Some(1 << 20), ..Limits::default() };
    assert!(run_with(text, tight).is_ok());
}

#[test]
fn deep_recursion_does_not_overflow() {
    let text = "
        def @deep(%n: int32) -> int32 {
          if (%n == 0) { 0 } else { @deep(%n - 1) + 1 }
        }
        def @main() -> int32 { @deep(100000) }";
    let on_small_stack = std::thread::Builder::new().stack_size(256 << 10);
    let thread = on_small_stack.spawn(move || numbers(text)).expect("a thread");
    assert_eq!(thread.join().expect("no overflow"), [100_000.0]);
}

#[test]
fn long_prelude_lists() {
    let text = "
        def @count(%n: int32, %list: List[int32]) -> List[int32] {
          if (%n == 0) { %list } else { @count(%n - 1, Cons(%n, %list)) }
        }
        def @main() {
          @foldl(fn (%a: int32, %b: int32) -> int32 { %a + %b - %b + 1 }, 0, @count(200000, Nil))
        }";
    assert_eq!(numbers(text), [200_000.0]);
}

#[test]
fn graph_bindings_are_evaluated_on_demand() {
    // `%0` would not terminate if it were evaluated in place.
    let text = "
        def @count(%n: int32) -> int32 {
          %0 = @count(%n - 1);
          if (%n == 0) { 0 } else { %0 + %0 }
        }
        def @main() { @count(20) }";
    assert_eq!(numbers(text), [0.0]);
    // It is evaluated once despite two uses: doubling the calls twenty times would use up the fuel.
    let limits = Limits { fuel: Some(1000), ..Limits::default() };
    assert!(run_with(text, limits).is_ok());
}

#[test]
fn graph_bindings_across_branches() {
    let text = "
        def @f(%c: bool) -> int32 {
          if (%c) { %0 = 1 + 2; %0 * 2 } else { %0 }
        }
        def @main() { (@f(True), @f(False)) }";
    assert_eq!(numbers(text), [6.0, 3.0]);
}

#[test]
fn graph_bindings_are_evaluated_once() {
    let text = "
        def @main() {
          let %r = ref(0);
          let %f = fn () -> int32 { let %u = ref_write(%r, ref_read(%r) + 1); ref_read(%r) };
          %0 = %f();
          (%0 + %0, ref_read(%r))
        }";
    assert_eq!(numbers(text), [2.0, 1.0]);
}

#[test]
fn closures_constructors_and_operators_are_values() {
    let text = "
        def @main() {
          let %n = 10;
          let %add = fn (%x: int32) -> int32 { %x + %n };
          let %fact = fn (%k: int32) -> int32 {
            if (%k <= 1) { 1 } else { %k * %fact(%k - 1) }
          };
          (@map(%add, Cons(1, Cons(2, Nil))), %fact(5), @map(negative, Cons(3, Nil)))
        }";
    assert_eq!(numbers(text), [11.0, 12.0, 120.0, -3.0]);
}

#[test]
fn patterns() {
    let text = "
        type T { A(int32, (int32, int32)), B }
        def @f(%t: T) -> int32 {
          match (%t) { A(%x, (%y, _)) => %x * 10 + %y, B => 0 }
        }
        def @main() { (@f(A(1, (2, 3))), @f(B)) }";
    assert_eq!(numbers(text), [12.0, 0.0]);
    let partial = "
        def @main() { match? (Nil) { Cons(%x, _) => %x } }";
    let fault = fault(partial, Limits::default());
    assert_eq!(fault.kind, FaultKind::NoArm);
}

const FOREVER: &str = "
    def @forever(%n: int32) -> int32 { @forever(%n + 1) }
    def @main() -> int32 { @forever(0) }";

#[test]
fn limits() {
    let fuel = Limits { fuel: Some(10_000), ..Limits::default() };
    assert_eq!(fault(FOREVER, fuel).kind, FaultKind::Fuel);
    let time = Limits { time: Some(Duration::from_millis(20)), ..Limits::default() };
    assert_eq!(fault(FOREVER, time).kind, FaultKind::Time);
    let growing = "
        def @grow(%l: List[int32]) -> List[int32] { @grow(Cons(1, %l)) }
        def @main() { @grow(Nil) }";
    let memory = Limits { memory: Some(16 << 20), ..Limits::default() };
    assert_eq!(fault(growing, memory.clone()).kind, FaultKind::Memory);
    let deep = "
        def @deep(%n: int32) -> int32 { @deep(%n + 1) + 1 }
        def @main() -> int32 { @deep(0) }";
    let found = fault(deep, memory);
    assert_eq!(found.kind, FaultKind::Memory);
    assert!(found.omitted > 1000 && found.trace.len() <= 64);
}

#[test]
fn cancellation() {
    let flag = Arc::new(AtomicBool::new(false));
    let seen = flag.clone();
    let thread = std::thread::spawn(move || {
        let db = Database::new();
        let file = db.add_file(FOREVER, syntax::ParseLimits::default());
        let def = semantics::all_defs(&db, file).find(|def| def.name(&db) == "@main");
        Machine::new(&db).cancelled_by(seen).run(def.expect("@main"), Vec::new(), None).err()
    });
    std::thread::sleep(Duration::from_millis(50));
    flag.store(true, std::sync::atomic::Ordering::Relaxed);
    let fault = thread.join().expect("no panic");
    assert_eq!(fault.map(|fault| fault.kind), Some(FaultKind::Cancelled));
}

#[test]
fn faults_have_traces() {
    let text = "
        def @inner(%x: int32) -> int32 { let %q = %x / 0; %q }
        def @main() -> int32 { @inner(1) + 1 }";
    let fault = fault(text, Limits::default());
    assert_eq!(fault.kind, FaultKind::Operator);
    let names: Vec<&str> = fault.trace.iter().map(|step| step.function.as_str()).collect();
    assert_eq!(names, ["@inner", "@main"]);
    assert_eq!(fault.arguments, ["int32", "int32"]);
    let place = fault.trace.first().and_then(|step| step.place).expect("a place").1;
    assert_eq!(&text[std::ops::Range::<usize>::from(place)], "%x / 0");
}

#[test]
fn observers_receive_the_values_of_variables() {
    struct ObservedValues(Vec<(TextRange, f64)>, Vec<String>);
    impl Observer for ObservedValues {
        fn bound(&mut self, place: (SourceFile, TextRange), value: &Value) {
            let first = value.as_tensor().and_then(|tensor| tensor.to_f64s().first().copied());
            self.0.push((place.1, first.unwrap_or(f64::NAN)));
        }

        fn measures(&self) -> bool {
            true
        }

        fn called(&mut self, call: &CallMeasurement<'_>) {
            let args: Vec<String> = call.args.iter().map(ToString::to_string).collect();
            self.1.push(format!("{} {}({})", call.function, call.operator.name, args.join(", ")));
        }
    }
    let text = "
        def @main() { let %a = 1; let %b = %a + @same(%a); %b * 2 }
        def @same(%p: int32) { let %c = %p; %c }";
    let db = Database::new();
    let file = db.add_file(text, syntax::ParseLimits::default());
    let def = semantics::all_defs(&db, file).next().expect("@main");
    let mut seen = ObservedValues(Vec::new(), Vec::new());
    let value = Machine::new(&db).run(def, Vec::new(), Some(&mut seen)).expect("a value");
    assert_eq!(value.as_tensor().map(|tensor| tensor.to_f64s()), Some(vec![4.0]));
    let named: Vec<(&str, f64)> = seen
        .0
        .iter()
        .map(|(range, x)| (&text[std::ops::Range::<usize>::from(*range)], *x))
        .collect();
    assert_eq!(named, [("%a", 1.0), ("%p", 1.0), ("%c", 1.0), ("%b", 2.0)]);
    assert_eq!(seen.1, ["@main add(int32, int32)", "@main multiply(int32, int32)"]);
}

#[test]
fn observers_receive_the_arms() {
    #[derive(Default)]
    struct Chosen(Vec<(TextRange, usize)>);
    impl Observer for Chosen {
        fn chose(&mut self, (_, range): (SourceFile, TextRange), arm: usize) {
            self.0.push((range, arm));
        }
    }
    let text = "def @main() { let %a = if (True) { None } else { Some(1) }; match (%a) { Some(%x) => %x, None => 2 } }";
    let db = Database::new();
    let file = db.add_file(text, syntax::ParseLimits::default());
    let def = semantics::all_defs(&db, file).next().expect("@main");
    let mut chosen = Chosen::default();
    Machine::new(&db).run(def, Vec::new(), Some(&mut chosen)).expect("a value");
    let word = |range: TextRange| text[std::ops::Range::<usize>::from(range)].split(' ').next();
    let arms: Vec<_> = chosen.0.iter().map(|(range, arm)| (word(*range), *arm)).collect();
    assert_eq!(arms, [(Some("if"), 0), (Some("match"), 1)]);
}

#[test]
fn untyped_code_fails_when_it_is_reached() {
    let text = "def @main() { if (True) { 1 } else { %nowhere } }";
    assert_eq!(numbers(text), [1.0]);
}

#[test]
fn generic_functions() {
    let text = "
        def @twice[A](%f: fn(A) -> A, %x: A) -> A { %f(%f(%x)) }
        def @main() {
          (@twice(fn (%x: int32) -> int32 { %x + 1 }, 0),
           @twice(fn (%x: Tensor[(2), float32]) -> Tensor[(2), float32] { nn.relu(%x) },
                  Constant(1, (2), float32)))
        }";
    assert_eq!(numbers(text), [2.0, 1.0, 1.0]);
}

/// The value of a choice keeps its register while the operands after it are computed.
#[test]
fn branches_keep_their_registers() {
    assert_eq!(numbers("add(if (True) { 1i32 } else { 2i32 }, 3i32)"), [4.0]);
    assert_eq!(numbers("add(if (False) { 1i32 } else { 2i32 }, 3i32)"), [5.0]);
    assert_eq!(numbers("add(match (Some(5)) { Some(%a) => %a, None => 2 }, 3)"), [8.0]);
    assert_eq!(
        numbers("(if (if (True) { True } else { False }) { 1 } else { 2 }, 7, 8)"),
        [1.0, 7.0, 8.0]
    );
    // Unused values are still computed for their effects.
    let text =
        "let %r = ref(1); let %unused = if (True) { ref_write(%r, 2) } else { () }; ref_read(%r)";
    assert_eq!(numbers(text), [2.0]);
}

#[test]
fn take_rejects_different_batches() {
    let take = "take(ones(shape=[2, 3], dtype=\"float32\"), zeros(shape=[1, 2], dtype=\"int32\"), axis=1, batch_dims=1)";
    let fault = fault(take, Limits::default());
    assert_eq!(fault.kind, FaultKind::Operator, "{}", fault.message);
}
