//! Fused calls have the same results as separate ones.

use std::sync::Arc;

use interpreter::{
    CallMeasurement, Calls, Event, Fault, FaultKind, Flow, Limits, Machine, Observer, Pace, Tensor,
    TraceLevel, Value,
};
use semantics::{Database, View, all_defs};
use syntax::TextRange;
use types::{DataType, Type};

/// An observer that prevents fusion, and records the names of the operators.
struct Separate(Vec<&'static str>);

impl Observer for Separate {
    fn measures(&self) -> bool {
        true
    }

    fn called(&mut self, call: &CallMeasurement<'_>) {
        self.0.push(call.operator.name);
    }
}

/// An observer that counts the values of variables.
struct BindingCounter(usize);

impl Observer for BindingCounter {
    fn bound(&mut self, _: (semantics::SourceFile, TextRange), _: &Value) {
        self.0 += 1;
    }
}

/// Records the points that it receives, with the number of events up to each of them.
#[derive(Default)]
struct PointRecorder {
    pace: Option<Pace>,
    events: u64,
    points: Vec<(u64, TextRange)>,
}

impl Observer for PointRecorder {
    fn event(&mut self, event: Event<'_>, calls: &mut Calls<'_>) -> Flow {
        self.events += calls.passed() + 1;
        if let Event::Reached = event {
            self.points.push((self.events, calls.place().expect("a place").1));
        }
        Flow::Continue
    }

    fn pace(&self) -> Option<Pace> {
        self.pace.clone()
    }
}

/// Returns numbers for each parameter of `@main`. If `wild`, some of them are NaN or infinite.
fn arguments(db: &Database, file: semantics::SourceFile, wild: bool) -> Vec<Value> {
    let def = all_defs(db, file).find(|def| def.name(db) == "@main").expect("it is there");
    let view = View::new(db, def).expect("it is lowered");
    let Some(Type::Func(function)) = &view.inference.signature else { panic!("no function") };
    let mut rng = fastrand::Rng::with_seed(7);
    let mut number = || match rng.u32(0..400) {
        0 if wild => f64::NAN,
        1 if wild => f64::INFINITY,
        2 if wild => f64::NEG_INFINITY,
        _ => rng.f64() * 2.0 - 0.9,
    };
    let mut tensor = |ty: &Type| {
        let ty = ty.as_tensor().expect("a tensor");
        let size = |dim: &types::Dim| dim.as_known().and_then(|n| usize::try_from(n).ok());
        let shape: Option<Vec<usize>> = ty.shape.iter().map(size).collect();
        let shape = shape.expect("known sizes");
        let numbers = (0..shape.iter().product()).map(|_| number()).collect();
        Tensor::from_f64s(ty.dtype, &shape, numbers).map(Value::from).expect("numbers")
    };
    function.params().iter().map(&mut tensor).collect()
}

fn bits(value: &Value) -> Vec<u32> {
    let tensor = value.as_tensor().expect("a tensor");
    assert_eq!(tensor.dtype(), DataType::FLOAT32);
    // All NaN are equal.
    let bits = |x: f32| if x.is_nan() { f32::NAN.to_bits() } else { x.to_bits() };
    tensor.to_f32s().into_iter().map(bits).collect()
}

fn run<'o>(
    text: &str,
    limits: &Limits,
    wild: bool,
    observer: Option<&'o mut (dyn Observer + 'o)>,
) -> Result<Value, Fault> {
    let db = Database::new();
    let file = db.add_file(text, syntax::ParseLimits::default());
    let def = all_defs(&db, file).find(|def| def.name(&db) == "@main").expect("it is there");
    let args = arguments(&db, file, wild);
    Machine::new(&db).limited(limits.clone()).run(def, args, observer)
}

/// Runs `@main` with points, and passes over events if there is a pace.
fn run_with_points(text: &str, wild: bool, pace: Option<Pace>) -> (Value, PointRecorder) {
    let db = Database::new();
    let file = db.add_file(text, syntax::ParseLimits::default());
    let def = all_defs(&db, file).find(|def| def.name(&db) == "@main").expect("it is there");
    let args = arguments(&db, file, wild);
    let mut machine = Machine::new(&db);
    machine.trace(TraceLevel::Points);
    let mut recorder = PointRecorder { pace, ..PointRecorder::default() };
    let value = machine.run(def, args, Some(&mut recorder)).expect("it runs as well");
    (value, recorder)
}

/// Compares runs of `@main` with fused and with separate calls. Returns the names of the operators.
fn assert_same(text: &str) -> Vec<&'static str> {
    let free = Limits::default();
    let mut names = Vec::new();
    for wild in [false, true] {
        let together =
            run(text, &free, wild, None).unwrap_or_else(|fault| panic!("{}", fault.message));
        let mut each = Separate(Vec::new());
        let apart = run(text, &free, wild, Some(&mut each)).expect("it runs as well");
        assert_eq!(together.ty().to_string(), apart.ty().to_string());
        assert!(bits(&together) == bits(&apart), "wild: {wild}\n{text}");
        let mut bound = BindingCounter(0);
        let seen = run(text, &free, wild, Some(&mut bound)).expect("it runs as well");
        assert!(bits(&seen) == bits(&apart) && bound.0 > 0);
        let (seen, all) = run_with_points(text, wild, None);
        assert!(bits(&seen) == bits(&apart));
        let pace = Pace { events: 5, alert: Arc::default() };
        let (seen, some) = run_with_points(text, wild, Some(pace));
        assert!(bits(&seen) == bits(&apart), "wild: {wild}\n{text}");
        assert!(!some.points.is_empty() && some.points.len() < all.points.len());
        let is_known = |point| all.points.contains(point);
        assert!(some.points.iter().all(is_known), "{:?} of {:?}", some.points, all.points);
        names = each.0;
    }
    // Fuel counts calls, whether they are fused or not.
    let calls = names.len() as u64;
    let fuel = |fuel| Limits { fuel: Some(fuel), ..Limits::default() };
    assert!(run(text, &fuel(calls), false, None).is_ok());
    let fault = run(text, &fuel(calls - 1), false, None).expect_err("a call too many");
    assert_eq!(fault.kind, FaultKind::Fuel);
    names
}

#[test]
fn epilogues_of_convolutions() {
    for (data, weight, stride, groups) in [
        ("2, 5, 19, 30", "7, 5, 3, 3", 1, 1),
        ("1, 16, 30, 30", "32, 16, 3, 3", 1, 1),
        ("1, 16, 30, 31", "32, 16, 1, 1", 1, 1),
        ("1, 16, 61, 60", "32, 16, 3, 3", 2, 1),
        ("2, 16, 21, 20", "32, 8, 3, 3", 1, 2),
        ("1, 32, 21, 20", "32, 1, 3, 3", 1, 32),
        ("1, 3, 6, 700", "24, 3, 5, 5", 1, 1),
    ] {
        let sizes = |text: &str| -> Vec<usize> {
            text.split(", ").map(|size| size.parse().expect("a size")).collect()
        };
        let (from, by) = (sizes(data), sizes(weight));
        let out = |axis: usize| (from[axis] - by[axis]) / stride + 1;
        let (channels, shape) = (by[0], format!("{}, {}, {}, {}", from[0], by[0], out(2), out(3)));
        let text = format!(
            "def @main(%x: Tensor[({data}), float32], %w: Tensor[({weight}), float32],
                       %g: Tensor[({channels}), float32], %b: Tensor[({channels}), float32],
                       %m: Tensor[({channels}), float32], %v: Tensor[({channels}), float32],
                       %r: Tensor[({shape}), float32]) {{
               %0 = nn.conv2d(%x, %w, strides=[{stride}, {stride}], groups={groups},
                              channels={channels}, kernel_size=[{}, {}]);
               %1 = nn.batch_norm(%0, %g, %b, %m, %v, epsilon=2f);
               %2 = %1.0;
               %3 = nn.bias_add(%2, %b);
               %4 = add(%r, %3);
               %5 = nn.relu(%4);
               %6 = clip(%5, a_min=0.1f, a_max=1.5f);
               %7 = nn.batch_norm(%r, %g, %b, %m, %v, epsilon=2f, scale=False);
               %8 = %7.0;
               %9 = nn.relu(%8);
               subtract(%9, %6)
             }}",
            by[2], by[3],
        );
        let names = assert_same(&text);
        assert_eq!(names.len(), 9, "{names:?}");
    }
}

#[test]
fn epilogues_of_products() {
    for (rows, inner, units) in [(128, 96, 200), (3, 40, 3000), (600, 24, 18), (70, 3, 70)] {
        let text = format!(
            "def @main(%x: Tensor[({rows}, {inner}), float32], %w: Tensor[({units}, {inner}), float32],
                       %b: Tensor[({units}), float32], %c: Tensor[({rows}, 1), float32],
                       %y: Tensor[({rows}, {units}), float32]) {{
               %0 = nn.dense(%x, %w, units={units});
               %1 = nn.bias_add(%0, %b, axis=-1);
               %2 = multiply(%1, 0.70710678f);
               %3 = erf(%2);
               %4 = add(%3, 1f);
               %5 = multiply(%1, %4);
               %6 = multiply(%5, 0.5f);
               %7 = divide(%c, %6);
               %8 = reshape(%7, newshape=[1, {rows}, {units}]);
               %9 = maximum(%8, 0.25f);
               %10 = minimum(%y, %9);
               subtract(3f, %10)
             }}"
        );
        assert_same(&text);
    }
    for (batches, rows, inner, columns) in [(5, 30, 8, 40), (1, 128, 64, 256), (3, 100, 100, 7)] {
        let text = format!(
            "def @main(%x: Tensor[({batches}, {rows}, {inner}), float32],
                       %w: Tensor[({columns}, {inner}), float32],
                       %b: Tensor[({columns}), float32],
                       %r: Tensor[({batches}, {rows}, {columns}), float32]) {{
               %0 = transpose(%w, axes=[1, 0]);
               %1 = broadcast_to(%0, shape=[1, {inner}, {columns}]);
               %2 = nn.batch_matmul(%x, %1, transpose_b=False);
               %3 = nn.bias_add(%2, %b, axis=-1);
               %4 = add(%3, %r);
               %5 = multiply(%4, %4);
               add(%5, %4)
             }}"
        );
        assert_same(&text);
    }
}

#[test]
fn reused_results_are_kept() {
    let text = "
        def @main(%x: Tensor[(64, 40), float32], %w: Tensor[(80, 40), float32],
                  %b: Tensor[(80), float32]) {
          %0 = nn.dense(%x, %w, units=80);
          %1 = nn.bias_add(%0, %b);
          %2 = nn.relu(%1);
          %3 = add(%2, %b);
          %4 = nn.softmax(%3);
          %5 = add(%4, %1);
          %6 = add(%5, %2);
          multiply(%6, %0)
        }";
    assert_same(text);
    let tuple = "
        def @main(%x: Tensor[(1, 64, 40), float32], %g: Tensor[(64), float32]) {
          %0 = nn.batch_norm(%x, %g, %g, %g, %g, epsilon=3f);
          %1 = %0.0;
          %2 = nn.relu(%1);
          %3 = add(%2, %x);
          %4 = add(%x, %x);
          %5 = %0.1;
          %6 = reshape(%5, newshape=[1, 64, 1]);
          %7 = add(%4, %6);
          multiply(%7, %3)
        }";
    assert_same(tuple);
}

#[test]
fn unexpected_arguments_fail_in_their_own_call() {
    let text = "
        def @main(%x: Tensor[(64, 80), float32], %n: Tensor[(80), int32]) {
          %0 = nn.relu(%x);
          %1 = erf(%0);
          %2 = add(%1, %n);
          nn.relu(%2)
        }";
    let fault = run(text, &Limits::default(), false, None).expect_err("int32 and float32");
    let (_, place) = fault.trace.first().and_then(|step| step.place).expect("a place");
    assert!(text[place].contains("add(%1, %n)"), "{}: {}", fault.message, &text[place]);
}
