//! The overflow of a call is the first element of its exact result that does not fit.

use fastrand::Rng;
use interpreter::{CallMeasurement, Machine, Observer, Overflow, Tensor, Value};
use semantics::{Database, all_defs};
use types::DataType;

/// Records the overflow of the last call of an operator.
#[derive(Default)]
struct OverflowRecorder(Option<Overflow>);

impl Observer for OverflowRecorder {
    fn measures(&self) -> bool {
        true
    }

    fn checks_overflow(&self) -> bool {
        true
    }

    fn called(&mut self, call: &CallMeasurement<'_>) {
        self.0 = call.overflow.cloned();
    }
}

/// Runs a call on two tensors, with its sums in a data type. Returns the result and the overflow.
fn run(call: &str, dtype: &str, args: &[Tensor; 2]) -> (Tensor, Option<Overflow>) {
    let [x, y] = args;
    let call = call.replace("OUT", &format!("out_dtype=\"{dtype}\""));
    let text = format!("def @main(%x: {}, %y: {}) {{ {call} }}", x.ty(), y.ty());
    let db = Database::new();
    let file = db.add_file(&text, syntax::ParseLimits::default());
    let def = all_defs(&db, file).next().expect("a definition");
    let mut recorder = OverflowRecorder::default();
    let args = args.iter().cloned().map(Value::from).collect();
    let result = Machine::new(&db).run(def, args, Some(&mut recorder));
    let result = result.unwrap_or_else(|fault| panic!("{text}: {fault:?}"));
    (result.as_tensor().expect("a tensor").clone(), recorder.0)
}

/// Returns the index of an element by its number.
fn index_of(mut number: usize, shape: &[usize]) -> Vec<usize> {
    let mut index: Vec<usize> = Vec::new();
    for size in shape.iter().rev() {
        index.push(number % size);
        number /= size;
    }
    index.reverse();
    index
}

/// Calls with a data type of their sums, and the shapes of their operands.
const PRODUCTS: &[(&str, &[usize], &[usize])] = &[
    ("nn.dense(%x, %y, units=4, OUT)", &[3, 5], &[4, 5]),
    ("nn.dense(%x, %y, units=4, OUT)", &[2, 3, 5], &[4, 5]),
    ("nn.matmul(%x, %y, units=None, OUT)", &[3, 5], &[5, 4]),
    ("nn.matmul(%x, %y, units=None, transpose_a=True, OUT)", &[5, 3], &[5, 4]),
    ("nn.matmul(%x, %y, units=None, transpose_a=True, transpose_b=True, OUT)", &[2, 5, 3], &[4, 5]),
    ("nn.matmul(%x, transpose(%y, axes=None), units=None, OUT)", &[3, 5], &[4, 5]),
    ("nn.batch_matmul(%x, %y, transpose_b=True, OUT)", &[2, 3, 5], &[2, 4, 5]),
    ("nn.batch_matmul(%x, %y, OUT)", &[2, 3, 5], &[1, 5, 4]),
    ("nn.batch_matmul(%x, %y, transpose_a=True, transpose_b=True, OUT)", &[1, 5, 3], &[2, 4, 5]),
    ("nn.conv1d(%x, %y, padding=[1, 1], channels=4, kernel_size=[3], OUT)", &[2, 3, 6], &[4, 3, 3]),
    (
        "nn.conv2d(%x, %y, strides=[2, 1], padding=[1, 0, 2, 1], dilation=[1, 2], kernel_size=[3, 2], OUT)",
        &[2, 3, 6, 5],
        &[4, 3, 3, 2],
    ),
    (
        "nn.conv2d(%x, %y, padding=[-1, 1, 1, 0], kernel_size=[2, 2], groups=2, OUT)",
        &[1, 4, 5, 5],
        &[6, 2, 2, 2],
    ),
    (
        "nn.conv2d(%x, %y, padding=[1, 1], kernel_size=[3, 3], groups=4, channels=4, OUT)",
        &[1, 4, 5, 5],
        &[4, 1, 3, 3],
    ),
    (
        "nn.conv2d(%x, %y, kernel_size=[2, 2], data_layout=\"NHWC\", kernel_layout=\"HWIO\", OUT)",
        &[2, 4, 4, 3],
        &[2, 2, 3, 4],
    ),
    (
        "nn.conv2d(%x, %y, kernel_size=[2, 2], out_layout=\"NHWC\", OUT)",
        &[1, 3, 4, 4],
        &[4, 3, 2, 2],
    ),
    (
        "nn.conv3d(%x, %y, padding=[1, 1, 1], kernel_size=[2, 2, 2], OUT)",
        &[1, 2, 3, 3, 3],
        &[2, 2, 2, 2, 2],
    ),
    (
        "nn.conv2d_transpose(%x, %y, strides=[2, 2], padding=[1, 1], channels=4, kernel_size=[3, 3], OUT)",
        &[1, 3, 4, 4],
        &[3, 4, 3, 3],
    ),
];

#[test]
fn sums_of_products_overflow_where_they_do_not_fit() {
    let mut random = Rng::with_seed(41);
    let mut with_overflow = 0;
    for (call, x, y) in PRODUCTS {
        for largest in [3, 8, 12, 100] {
            let args = [x, y].map(|shape| {
                let count = shape.iter().product();
                let numbers = (0..count).map(|_| random.i64(-largest..=largest)).collect();
                Tensor::from_i64s(DataType::INT8, shape, numbers).expect("a tensor")
            });
            let (exact, none) = run(call, "int64", &args);
            assert_eq!(none, None, "{call}");
            let (_, found) = run(call, "int8", &args);
            let numbers = exact.to_i64s();
            let first = numbers.iter().position(|number| i8::try_from(*number).is_err());
            let expected =
                first.map(|at| (index_of(at, exact.shape()), Some(i128::from(numbers[at]))));
            let found = found.map(|overflow| (overflow.index, overflow.exact));
            assert_eq!(found, expected, "{call}, numbers up to {largest}");
            with_overflow += usize::from(first.is_some());
        }
    }
    assert!(with_overflow > PRODUCTS.len(), "{with_overflow} calls overflow");
}
