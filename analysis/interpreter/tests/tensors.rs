//! Edge cases of operators that create, sort, draw and rearrange elements.

use interpreter::{Fault, FaultKind, Machine, Tensor, Value};
use semantics::Database;
use types::DataType;

/// Runs `@main` of a text.
fn call(text: &str, args: Vec<Tensor>) -> Result<Value, Fault> {
    let db = Database::new();
    let file = db.add_file(text, syntax::ParseLimits::default());
    let mut defs = semantics::all_defs(&db, file);
    let def = defs.find(|def| def.name(&db) == "@main");
    let args = args.into_iter().map(Value::from).collect();
    Machine::new(&db).run(def.expect("@main"), args, None)
}

/// Evaluates an expression over `%x`, `%y`, `%z`, `%w`.
fn run(expr: &str, args: &[Tensor]) -> Result<Value, Fault> {
    let params: Vec<String> = args
        .iter()
        .zip(["%x", "%y", "%z", "%w"])
        .map(|(arg, x)| format!("{x}: {}", arg.ty()))
        .collect();
    call(&format!("def @main({}) {{ {expr} }}", params.join(", ")), args.to_vec())
}

/// The elements of all tensors in the result.
fn numbers(expr: &str, args: &[Tensor]) -> Vec<f64> {
    match run(expr, args) {
        Ok(value) => value.leaves().iter().flat_map(|tensor| tensor.to_f64s()).collect(),
        Err(fault) => panic!("{}", fault.message),
    }
}

/// The shapes of all tensors in the result.
fn shapes(expr: &str, args: &[Tensor]) -> Vec<Vec<usize>> {
    match run(expr, args) {
        Ok(value) => value.leaves().iter().map(|tensor| tensor.shape().to_vec()).collect(),
        Err(fault) => panic!("{}", fault.message),
    }
}

fn fault(expr: &str, args: &[Tensor]) -> Fault {
    run(expr, args).expect_err("it should fail")
}

fn tensor(dtype: DataType, shape: &[usize], values: &[f64]) -> Tensor {
    Tensor::from_f64s(dtype, shape, values.to_vec()).expect("as many values as the shape has")
}

fn floats(shape: &[usize], values: &[f64]) -> Tensor {
    tensor(DataType::FLOAT32, shape, values)
}

fn ints(values: &[f64]) -> Tensor {
    tensor(DataType::INT64, &[values.len()], values)
}

const NAN: f64 = f64::NAN;

#[test]
fn sorting_is_stable() {
    let x = floats(&[2, 4], &[2., 1., 2., 1., 0., 0., 3., 0.]);
    let args = std::slice::from_ref(&x);
    let order = numbers("argsort(%x, axis=-1, is_ascend=True, dtype=\"int32\")", args);
    assert_eq!(order, [1., 3., 0., 2., 0., 1., 3., 2.]);
    let order = numbers("argsort(%x, axis=1, is_ascend=False, dtype=\"int32\")", args);
    assert_eq!(order, [0., 2., 1., 3., 2., 0., 1., 3.]);
    let order = numbers("argsort(%x, axis=0, is_ascend=True, dtype=\"float32\")", args);
    assert_eq!(order, [1., 1., 0., 1., 0., 0., 1., 0.]);
    assert_eq!(numbers("sort(%x, axis=0)", args), [0., 0., 2., 0., 2., 1., 3., 1.]);
}

#[test]
fn sorting_nan() {
    // Nothing moves: 2 < NaN and NaN < 1 are both false.
    let x = floats(&[3], &[2., NAN, 1.]);
    let args = std::slice::from_ref(&x);
    assert_eq!(numbers("argsort(%x, axis=0, dtype=\"int32\")", args), [0., 1., 2.]);
    let top = "topk(%x, k=2, axis=0, ret_type=\"indices\", dtype=\"int32\")";
    assert_eq!(numbers(top, args), [1., 0.]);
}

#[test]
fn top_k() {
    let x = tensor(DataType::UINT8, &[2, 3], &[7., 255., 7., 0., 1., 1.]);
    let args = std::slice::from_ref(&x);
    let both = numbers("topk(%x, k=2, axis=1, dtype=\"int64\")", args);
    assert_eq!(both, [255., 7., 1., 1., 1., 0., 1., 2.]);
    let least = "topk(%x, k=1, axis=-1, ret_type=\"values\", is_ascend=True, dtype=\"int32\")";
    assert_eq!(numbers(least, args), [7., 0.]);
    // All of them if `k` is below 1.
    assert_eq!(shapes("topk(%x, k=-1, axis=0, dtype=\"int32\")", args), [[2, 3], [2, 3]]);
    let none = tensor(DataType::UINT8, &[2, 0], &[]);
    assert_eq!(shapes("topk(%x, k=0, axis=1, dtype=\"int32\")", &[none]), [[2, 0], [2, 0]]);
    let k = tensor(DataType::INT32, &[1], &[4.]);
    let found = fault("dyn.topk(%x, %y, k=None, axis=1, dtype=\"int32\")", &[x, k]);
    assert_eq!(found.kind, FaultKind::Operator);
    assert!(found.message.contains("axis 1 has 3 elements"), "{}", found.message);
    // Unsigned 64 bit integers.
    let great = Tensor::from_i64s(DataType::UINT64, &[2], vec![-1, 1]).expect("two");
    assert_eq!(numbers("argsort(%x, axis=0, dtype=\"int32\")", &[great]), [1., 0.]);
}

#[test]
fn sorting_large_tensors() {
    // Lanes along an inner axis, in several batches.
    let count = 70_000u32;
    let values: Vec<f64> = (0..count).map(|k| f64::from(k * 7919 % 10_007)).collect();
    let x = floats(&[7, 2, 5000], &values);
    let sorted = numbers("sort(%x, axis=0, is_ascend=False)", std::slice::from_ref(&x));
    for lane in [0, 1, 4999, 9999] {
        let lane_of =
            |all: &[f64]| -> Vec<f64> { all.iter().copied().skip(lane).step_by(10_000).collect() };
        let mut expected = lane_of(&values);
        expected.sort_by(|x, y| y.total_cmp(x));
        assert_eq!(lane_of(&sorted), expected);
    }
    let top = numbers("topk(%x, k=3, axis=2, ret_type=\"indices\", dtype=\"int32\")", &[x]);
    for (row, top) in top.chunks(3).enumerate() {
        let row = &values[row * 5000..(row + 1) * 5000];
        let mut order: Vec<usize> = (0..5000).collect();
        order.sort_by(|&x, &y| row[y].total_cmp(&row[x]));
        assert!(top.iter().zip(order).all(|(&x, y)| x == y as f64));
    }
}

#[test]
fn positions_of_true_elements() {
    let x = floats(&[2, 2], &[0., NAN, -1., 0.]);
    assert_eq!(numbers("argwhere(%x)", &[x]), [0., 1., 1., 0.]);
    assert_eq!(shapes("argwhere(%x)", &[floats(&[0, 3], &[])]), [[0, 2]]);
    let far = tensor(
        DataType::BOOL,
        &[3, 50],
        &(0..150).map(|k| f64::from(k % 49 / 48)).collect::<Vec<_>>(),
    );
    assert_eq!(numbers("argwhere(%x)", &[far]), [0., 48., 1., 47., 2., 46.]);
}

#[test]
fn searching_sorted_sequences() {
    let x = floats(&[4], &[1., 2., 2., 5.]);
    let y = floats(&[2, 2], &[2., 0., 9., NAN]);
    let args = [x, y];
    assert_eq!(numbers("searchsorted(%x, %y)", &args), [1., 0., 4., 0.]);
    assert_eq!(numbers("searchsorted(%x, %y, right=True)", &args), [3., 0., 4., 0.]);
    let rows = floats(&[2, 2], &[1., 3., 5., 7.]);
    assert_eq!(numbers("searchsorted(%x, %y)", &[rows.clone(), rows]), [0., 1., 0., 1.]);
}

#[test]
fn unique_elements() {
    let x = ints(&[4., 5., 1., 2., 3., 3., 4., 5.]);
    let unique = |sorted: &str| {
        let attrs = "return_counts=True, attrs_type_key=\"relay.attrs.UniqueAttrs\"";
        numbers(&format!("unique(%x, sorted={sorted}, {attrs})"), std::slice::from_ref(&x))
    };
    let sorted = unique("True");
    assert_eq!(sorted[..5], [1., 2., 3., 4., 5.]);
    assert_eq!(sorted[8..16], [2., 3., 4., 0., 1., 8., 8., 8.]);
    assert_eq!(sorted[16..25], [3., 4., 0., 1., 2., 2., 3., 4., 5.]);
    assert_eq!(sorted[25..30], [1., 1., 2., 2., 2.]);
    let found = unique("False");
    assert_eq!(found[..5], [4., 5., 1., 2., 3.]);
    assert_eq!(found[8..13], [0., 1., 2., 3., 4.]);
    assert_eq!(found[16..30], [0., 1., 2., 3., 4., 4., 0., 1., 5., 2., 2., 1., 1., 2.]);
}

#[test]
fn creating_tensors() {
    let on = Tensor::scalar(1f32);
    let off = Tensor::scalar(0f32);
    let x = tensor(DataType::INT32, &[3], &[1., -1., 2.]);
    let args = [x, on, off];
    let one_hot = "one_hot(%x, %y, %z, depth=2, axis=0, dtype=\"int8\")";
    assert_eq!(numbers(one_hot, &args), [0., 0., 0., 1., 0., 0.]);
    assert_eq!(numbers("full(%x, shape=[2], dtype=\"uint8\")", &[Tensor::scalar(258)]), [2., 2.]);
    let range = "arange(%x, %y, %z, start=None, stop=None, step=None, dtype=\"int32\")";
    let three = |x: i32, y: i32, z: i32| [x, y, z].map(Tensor::scalar);
    assert_eq!(numbers(range, &three(5, -2, -3)), [5., 2., -1.]);
    assert_eq!(shapes(range, &three(5, 5, 1)), [[0]]);
    assert!(fault(range, &three(0, 5, -1)).message.contains("no values from 0 to 5"));
    assert!(fault(range, &three(0, 5, 0)).message.contains("step 0"));
    let grid =
        numbers("meshgrid((%x, %y), indexing=\"xy\")", &[ints(&[1., 2., 3.]), ints(&[7., 8.])]);
    assert_eq!(grid, [1., 2., 3., 1., 2., 3., 7., 7., 7., 8., 8., 8.]);
}

#[test]
fn diagonals() {
    let x = floats(&[2, 3], &[1., 2., 3., 4., 5., 6.]);
    let attrs = "attrs_type_key=\"relay.attrs.TriluAttrs\"";
    let args = std::slice::from_ref(&x);
    let upper = numbers(&format!("trilu(%x, 1, upper=True, {attrs})"), args);
    assert_eq!(upper, [0., 2., 3., 0., 0., 6.]);
    let lower = numbers(&format!("trilu(%x, -1, upper=False, {attrs})"), args);
    assert_eq!(lower, [0., 0., 0., 4., 0., 0.]);
    let two = floats(&[2, 2], &[7., 8., 9., 10.]);
    let set = numbers("matrix_set_diag(%x, %y, k1=0, k2=1)", &[x.clone(), two]);
    assert_eq!(set, [9., 7., 3., 4., 10., 8.]);
    let long = floats(&[1], &[7.]);
    let found = fault("matrix_set_diag(%x, %y, k1=0, k2=0)", &[x, long]);
    assert!(found.message.contains("row 1, column 1"), "{}", found.message);
}

#[test]
fn padding() {
    let x = floats(&[3], &[1., 2., 3.]);
    let zero = Tensor::scalar(0f32);
    let pad = |width: &str, mode: &str| {
        let text = format!("nn.pad(%x, %y, pad_width=[{width}], pad_mode=\"{mode}\")");
        run(&text, &[x.clone(), zero.clone()]).map(|value| value.leaves()[0].to_f64s())
    };
    assert_eq!(pad("[-1, 2]", "constant").ok(), Some(vec![2., 3., 0., 0.]));
    assert_eq!(pad("[-3, 0]", "constant").ok(), Some(vec![]));
    assert_eq!(pad("[1, 2]", "edge").ok(), Some(vec![1., 1., 2., 3., 3., 3.]));
    assert_eq!(pad("[2, 1]", "reflect").ok(), Some(vec![3., 2., 1., 2., 3., 2.]));
    assert!(pad("[3, 0]", "reflect").is_err_and(|fault| fault.message.contains("too few")));
    let mirror = |mode: &str| {
        numbers(
            &format!("nn.mirror_pad(%x, pad_width=[[2, 1]], mode=\"{mode}\")"),
            std::slice::from_ref(&x),
        )
    };
    assert_eq!(mirror("SYMMETRIC"), [2., 1., 1., 2., 3., 3.]);
    assert_eq!(mirror("REFLECT"), [3., 2., 1., 2., 3., 2.]);
    let dilate = "nn.dilate(%x, strides=[2], dilation_value=9f, \
                  attrs_type_key=\"relay.attrs.DilateAttrs\")";
    assert_eq!(numbers(dilate, std::slice::from_ref(&x)), [1., 9., 2., 9., 3.]);
    let buffer = floats(&[4], &[5., 6., 7., 8.]);
    assert_eq!(numbers("nn.fifo_buffer(%x, %y, axis=0)", &[x, buffer]), [8., 1., 2., 3.]);
}

#[test]
fn space_to_depth_and_batch() {
    let x = floats(&[1, 4, 1, 2], &[0., 1., 2., 3., 4., 5., 6., 7.]);
    let args = std::slice::from_ref(&x);
    let plane = [0., 2., 1., 3., 4., 6., 5., 7.];
    assert_eq!(numbers("nn.depth_to_space(%x, block_size=2)", args), plane);
    let back = "nn.space_to_depth(nn.depth_to_space(%x, block_size=2), block_size=2)";
    assert_eq!(numbers(back, args), x.to_f64s());
    // Incomplete blocks are dropped.
    let odd = floats(&[1, 1, 3, 3], &(0..9).map(f64::from).collect::<Vec<_>>());
    assert_eq!(numbers("nn.space_to_depth(%x, block_size=2)", &[odd]), [0., 1., 3., 4.]);
    let row = floats(&[1, 3], &[1., 2., 3.]);
    let batches = "nn.space_to_batch_nd(%x, block_shape=[2], paddings=[[0, 1]], pad_value=9f)";
    assert_eq!(numbers(batches, std::slice::from_ref(&row)), [1., 3., 2., 9.]);
    let there = format!("nn.batch_to_space_nd({batches}, block_shape=[2], crops=[[1, 1]])");
    assert_eq!(numbers(&there, &[row]), [2., 3.]);
    let layout = "layout_transform(%x, src_layout=\"NC\", dst_layout=\"NC2c\")";
    assert_eq!(numbers(layout, &[floats(&[1, 3], &[1., 2., 3.])]), [1., 2., 3., 0.]);
}

#[test]
fn upsampling() {
    let x = floats(&[1, 1, 1, 3], &[0., 10., 40.]);
    let up = |attrs: &str| {
        numbers(
            &format!("nn.upsampling(%x, scale_h=1f, scale_w=2f, {attrs})"),
            std::slice::from_ref(&x),
        )
    };
    assert_eq!(up("method=\"nearest_neighbor\""), [0., 0., 10., 10., 40., 40.]);
    assert_eq!(up("method=\"bilinear\""), [0., 5., 10., 25., 40., 40.]);
    // 2 of 5 steps are 0.8 elements, which is not exact in single precision.
    let aligned = up("method=\"bilinear\", align_corners=True");
    let expected = [0., 4., 8., 16., 28., 40.];
    assert!(aligned.iter().zip(expected).all(|(x, y)| (x - y).abs() < 1e-5), "{aligned:?}");
}

#[test]
fn sparse_matrices() {
    // [[1 0 2] [0 0 0] [0 3 0]]
    let stored = floats(&[3], &[1., 2., 3.]);
    let columns = tensor(DataType::INT32, &[3], &[0., 2., 1.]);
    let starts = tensor(DataType::INT32, &[4], &[0., 2., 2., 3.]);
    let x = floats(&[1, 3], &[10., 20., 30.]);
    let args = [x, stored.clone(), columns.clone(), starts.clone()];
    assert_eq!(numbers("nn.sparse_dense(%x, %y, %z, %w)", &args), [70., 0., 60.]);
    assert_eq!(shapes("nn.sparse_dense(%x, %y, %z, %w, sparse_lhs=True)", &args), [[3, 1]]);
    let transposed = numbers("nn.sparse_transpose(%x, %y, %z)", &args[1..]);
    assert_eq!(transposed, [1., 3., 2., 0., 2., 0., 0., 1., 2., 3.]);
    let wrong = tensor(DataType::INT32, &[3], &[0., 3., 1.]);
    let found = fault("nn.sparse_transpose(%x, %y, %z)", &[stored, wrong, starts]);
    assert!(found.message.contains("column 3"), "{}", found.message);
}

#[test]
fn sparse_indices() {
    let places = tensor(DataType::INT64, &[2, 2], &[1., 1., 3., 0.]);
    let args = [places.clone(), ints(&[5., 6.]), ints(&[4., 2.]), Tensor::scalar(9i64)];
    let filled = numbers("sparse_fill_empty_rows(%x, %y, %z, %w)", &args);
    assert_eq!(filled[..8], [0., 0., 1., 1., 2., 0., 3., 0.]);
    assert_eq!(filled[8..], [9., 5., 9., 6., 1., 0., 1., 0.]);
    let reshaped =
        numbers("sparse_reshape(%x, %y, %z)", &[places.clone(), ints(&[4., 2.]), ints(&[2., -1.])]);
    assert_eq!(reshaped, [0., 3., 1., 2., 2., 4.]);
    // The last of two values for one position wins; positions out of range are ignored.
    let twice = tensor(DataType::INT64, &[3], &[1., 1., 7.]);
    let dense = "sparse_to_dense(%x, %y, %z, output_shape=[3])";
    let args = [twice, ints(&[5., 6., 7.]), Tensor::scalar(0i64)];
    assert_eq!(numbers(dense, &args), [0., 6., 0.]);
}

#[test]
fn dynamic_shapes() {
    let x = floats(&[2, 3], &[1., 2., 3., 4., 5., 6.]);
    let reshape =
        |sizes: &[f64]| run("dyn.reshape(%x, %y, newshape=[])", &[x.clone(), ints(sizes)]);
    let shape = |sizes: &[f64]| reshape(sizes).map(|value| value.leaves()[0].shape().to_vec()).ok();
    assert_eq!(shape(&[0., -1., 1.]), Some(vec![2, 3, 1]));
    assert_eq!(shape(&[-3.]), Some(vec![6]));
    assert_eq!(shape(&[-1., -1.]), None);
    assert_eq!(shape(&[4.]), None);
    assert_eq!(shape(&[1., 2., 3., 0.]), None);
    let slice = |mode: &str, begin: &[f64], end: &[f64], strides: &[f64]| {
        let text = format!(
            "dyn.strided_slice(%x, %y, %z, %w, begin=None, end=None, strides=None, \
             slice_mode=\"{mode}\", axes=None)"
        );
        numbers(&text, &[x.clone(), ints(begin), ints(end), ints(strides)])
    };
    assert_eq!(slice("end", &[1., -1.], &[-9., 0.], &[-1., -2.]), [6., 3.]);
    assert_eq!(slice("size", &[0., 1.], &[1., -1.], &[1., 1.]), [2., 3.]);
    assert!(slice("end", &[5.], &[9.], &[1.]).is_empty());
    assert_eq!(shapes("dyn.zeros(%x, shape=None, dtype=\"bool\")", &[ints(&[2., 0.])]), [[2, 0]]);
    let found = fault("dyn.zeros(%x, shape=None, dtype=\"bool\")", &[ints(&[-1.])]);
    assert!(found.message.contains("-1 is not a valid size"), "{}", found.message);
    let width = tensor(DataType::INT64, &[2, 2], &[0., -1., 1., 0.]);
    let pad = "dyn.nn.pad(%x, %y, %z, pad_width=[])";
    assert_eq!(numbers(pad, &[x, width, Tensor::scalar(7f32)]), [7., 1., 2., 3.]);
}

/// The key of seed 1.
const KEY: [u64; 10] = [1, 0, 0, 0, 0, 0, 0, 0, 1 << 63, 0];

fn key(words: [u64; 10]) -> Tensor {
    let words = words.iter().map(|&word| word.cast_signed()).collect();
    Tensor::from_i64s(DataType::UINT64, &[10], words).expect("ten words")
}

fn words(value: &Value) -> Vec<u64> {
    let leaves = value.leaves();
    leaves.iter().flat_map(|leaf| leaf.to_i64s()).map(i64::cast_unsigned).collect()
}

#[test]
fn random_bits() {
    // The numbers are those of TVM.
    let draw = |expr: &str, words_of_key: [u64; 10]| match run(expr, &[key(words_of_key)]) {
        Ok(value) => words(&value),
        Err(fault) => panic!("{}", fault.message),
    };
    let drawn = draw("random.threefry_generate(%x, out_shape=[7])", KEY);
    assert_eq!(drawn[..10], [1, 0, 0, 0, 0, 0, 0, 8, 1 << 63, 0]);
    assert_eq!(drawn[10], 17_177_944_308_465_414_780);
    assert_eq!(
        drawn[14..],
        [14_101_498_703_966_615_081, 357_814_971_985_492_536, 17_891_668_859_032_836_076,]
    );
    // An exhausted counter continues on another branch.
    let late = [5, 6, 7, 8, 1, 2, 0, u64::MAX - 2, 16, 0];
    let drawn = draw("random.threefry_generate(%x, out_shape=[2, 2])", late);
    assert_eq!(drawn[..10], [5, 6, 7, 8, 17, 2, 0, 4, 8, 0]);
    assert_eq!(drawn[10], 2_625_560_629_840_115_928);
    let halves = draw("random.threefry_split(%x)", KEY);
    assert_eq!(halves[..10], [1, 0, 0, 0, 0, 0, 0, 0, 1 << 62, 0]);
    assert_eq!(halves[10..], [1, 0, 0, 0, 1 << 63, 0, 0, 0, 1 << 62, 0]);
    let halves = draw("random.threefry_split(%x)", [5, 6, 7, 8, 1, 2, 0, 3, 0, 4]);
    assert_eq!(halves[0], 16_679_176_059_340_642_473);
    assert_eq!(halves[14], 1 << 63);
}

#[test]
fn random_numbers() {
    let close = |found: Vec<f64>, expected: &[f64]| {
        let found = &found[10..];
        assert!(
            found.len() == expected.len()
                && found.iter().zip(expected).all(|(x, y)| (x - y).abs() < 1e-5),
            "{found:?}"
        );
    };
    let attrs = |dtype: &str| format!("out_shape=[3], out_dtype=\"{dtype}\"");
    let args = [key(KEY), Tensor::scalar(-1f32), Tensor::scalar(3f32)];
    let uniform = format!("random.uniform(%x, %y, %z, {})", attrs("float32"));
    close(numbers(&uniform, &args), &[2.961_315_6, 2.405_160_4, 0.239_727_5]);
    let args = [key(KEY), Tensor::scalar(0f64), Tensor::scalar(1f64)];
    let uniform = format!("random.uniform(%x, %y, %z, {})", attrs("float64"));
    close(numbers(&uniform, &args), &[0.931_218_226_9, 0.202_369_006_1, 0.932_341_173_1]);
    let args = [key(KEY), Tensor::scalar(1f32), Tensor::scalar(2f32)];
    let normal = "random.normal(%x, %y, %z, out_shape=[5], out_dtype=\"float32\")";
    let expected = [-0.936_036_6, 3.171_252_5, -0.297_093_6, -0.345_435_1, 0.562_846_1];
    close(numbers(normal, &args), &expected);
    let weights = floats(&[2, 4], &[1., 2., 3., 4., 0.1, -1., 0., 0.2]);
    let drawn = numbers("random.multinomial(%x, %y, num_samples=6)", &[key(KEY), weights]);
    assert_eq!(drawn[10..], [3., 3., 2., 2., 2., 3., 3., 3., 0., 0., 3., 3.]);
}

#[test]
fn operators_without_a_kernel() {
    let x = tensor(DataType::INT8, &[1, 2, 2, 4], &[0.; 16]);
    let lut = tensor(DataType::INT8, &[0], &[]);
    let text = "contrib.ethosu.identity(%x, %y, ifm_scale=1f, ifm_zero_point=0, ofm_scale=1f, \
                ofm_zero_point=0, activation=\"NONE\", rounding_mode=\"TFL\")";
    let found = fault(text, &[x, lut]);
    assert_eq!(found.kind, FaultKind::NoKernel, "{}", found.message);
    assert!(found.message.contains("Ethos-U"), "{}", found.message);
    assert_eq!(numbers("vm.shape_of(%x, dtype=\"int64\")", &[floats(&[2, 0], &[])]), [2., 0.]);
}

#[test]
fn halves_are_rounded_away_from_zero() {
    let x = floats(&[5], &[0.5, 1.5, 2.5, -0.5, -1.4]);
    assert_eq!(numbers("round(%x)", &[x]), [1., 2., 3., -1., -1.]);
}

/// There may be more updates than indices.
#[test]
fn scatter_reads_updates_in_the_order_of_the_indices() {
    let x = floats(&[2, 2], &[0., 0., 0., 0.]);
    let indices = tensor(DataType::INT64, &[1, 2], &[-1., 0.]);
    let updates = floats(&[2, 2], &[1., 2., 3., 4.]);
    let all = [x, indices, updates];
    assert_eq!(numbers("scatter(%x, %y, %z, axis=0)", &all), [0., 2., 1., 0.]);
    assert_eq!(numbers("scatter_add(%x, %y, %z, axis=1)", &all), [2., 1., 0., 0.]);
    let few = [all[0].clone(), all[1].clone(), floats(&[1, 1], &[1.])];
    assert!(fault("scatter(%x, %y, %z)", &few).message.contains("as many elements as `indices`"));
}
