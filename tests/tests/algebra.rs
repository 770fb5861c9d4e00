//! Algebraic laws of evaluation on random numbers.

use interpreter::{Machine, Tensor, Value};
use relay_tests::corpus;
use semantics::{Database, all_defs};
use syntax::ParseLimits;
use types::DataType;

fn run(text: &str, args: &[Tensor]) -> Vec<Tensor> {
    let db = Database::new();
    let file = db.add_file(text, ParseLimits::default());
    let def = all_defs(&db, file).find(|def| def.name(&db) == "@main").expect("@main");
    let args = args.iter().cloned().map(Value::from).collect();
    match Machine::new(&db).run(def, args, None) {
        Ok(value) => value.leaves().into_iter().cloned().collect(),
        Err(fault) => panic!("{}\n{text}", fault.message),
    }
}

/// Evaluates an expression over `%a`, `%b`, `%c`.
fn eval(expr: &str, args: &[&Tensor]) -> Vec<f64> {
    let params: Vec<String> =
        args.iter().zip('a'..).map(|(arg, name)| format!("%{name}: {}", arg.ty())).collect();
    let args: Vec<Tensor> = args.iter().map(|&arg| arg.clone()).collect();
    let found = run(&format!("def @main({}) {{ {expr} }}", params.join(", ")), &args);
    found.iter().flat_map(Tensor::to_f64s).collect()
}

fn random(rng: &mut fastrand::Rng, shape: &[usize]) -> Tensor {
    let numbers = (0..shape.iter().product()).map(|_| rng.f64() * 4.0 - 2.0).collect();
    Tensor::from_f64s(DataType::FLOAT32, shape, numbers).expect("as many as the shape has")
}

fn close(found: &[f64], wanted: &[f64], tolerance: f64) -> bool {
    found.len() == wanted.len()
        && found.iter().zip(wanted).all(|(x, y)| (x - y).abs() <= tolerance * (1.0 + y.abs()))
}

/// A reference implementation of a two-dimensional convolution.
struct Conv {
    strides: [usize; 2],
    padding: [usize; 2],
    dilation: [usize; 2],
    groups: usize,
}

impl Conv {
    fn naive(&self, x: &Tensor, w: &Tensor) -> Vec<f64> {
        let (&[n, c, h, v], &[o, i, kh, kw]) = (x.shape(), w.shape()) else { return Vec::new() };
        let (x, w) = (x.to_f64s(), w.to_f64s());
        let size = |size: usize, k: usize, axis: usize| {
            (size + 2 * self.padding[axis] - (k - 1) * self.dilation[axis] - 1) / self.strides[axis]
                + 1
        };
        let (oh, ow) = (size(h, kh, 0), size(v, kw, 1));
        let mut out = Vec::new();
        for batch in 0..n {
            for channel in 0..o {
                for (y0, x0) in (0..oh).flat_map(|y| (0..ow).map(move |x| (y, x))) {
                    let mut sum = 0.0;
                    for (from, dy, dx) in (0..i)
                        .flat_map(|from| (0..kh).map(move |dy| (from, dy)))
                        .flat_map(|(from, dy)| (0..kw).map(move |dx| (from, dy, dx)))
                    {
                        let row = y0 * self.strides[0] + dy * self.dilation[0];
                        let column = x0 * self.strides[1] + dx * self.dilation[1];
                        let (Some(row), Some(column)) =
                            (row.checked_sub(self.padding[0]), column.checked_sub(self.padding[1]))
                        else {
                            continue;
                        };
                        if row >= h || column >= v {
                            continue;
                        }
                        let source = channel / (o / self.groups) * i + from;
                        sum += x[((batch * c + source) * h + row) * v + column]
                            * w[((channel * i + from) * kh + dy) * kw + dx];
                    }
                    out.push(sum);
                }
            }
        }
        out
    }
}

#[test]
fn convolutions_match_their_definition() {
    let mut rng = fastrand::Rng::with_seed(1);
    for _ in 0..60 {
        let mut some = |from: usize, to: usize| rng.usize(from..to);
        let groups = some(1, 4);
        let (inner, each) = (some(1, 4), some(1, 4));
        let kernel = [some(1, 4), some(1, 4)];
        let conv = Conv {
            strides: [some(1, 3), some(1, 3)],
            padding: [some(0, 3), some(0, 3)],
            dilation: [some(1, 3), some(1, 3)],
            groups,
        };
        let least = |axis: usize| (kernel[axis] - 1) * conv.dilation[axis] + 1;
        let size = [least(0) + some(0, 7), least(1) + some(0, 7)];
        let batch = some(1, 3);
        let x = random(&mut rng, &[batch, groups * inner, size[0], size[1]]);
        let w = random(&mut rng, &[groups * each, inner, kernel[0], kernel[1]]);
        let attrs = format!(
            "strides={:?}, padding={:?}, dilation={:?}, groups={groups}, channels={}, \
             kernel_size={kernel:?}",
            conv.strides,
            conv.padding,
            conv.dilation,
            groups * each
        );
        let wanted = conv.naive(&x, &w);
        let plain = eval(&format!("nn.conv2d(%a, %b, {attrs})"), &[&x, &w]);
        assert!(close(&plain, &wanted, 1e-4), "{attrs}");
        // Other layouts compute the same convolution.
        let last = format!(
            "transpose(nn.conv2d(transpose(%a, axes=[0, 2, 3, 1]), transpose(%b, axes=[2, 3, 1, 0]), \
             {attrs}, data_layout=\"NHWC\", kernel_layout=\"HWIO\"), axes=[0, 3, 1, 2])"
        );
        assert!(close(&eval(&last, &[&x, &w]), &wanted, 1e-4), "{attrs}");
    }
}

#[test]
fn rearrangements_are_inverted() {
    let mut rng = fastrand::Rng::with_seed(2);
    for _ in 0..60 {
        let rank = rng.usize(1..5);
        let shape: Vec<usize> = (0..rank).map(|_| rng.usize(1..6)).collect();
        let x = random(&mut rng, &shape);
        let same = x.to_f64s();
        let mut order: Vec<usize> = (0..rank).collect();
        rng.shuffle(&mut order);
        let mut back = vec![0; rank];
        order.iter().enumerate().for_each(|(k, &axis)| back[axis] = k);
        let there = format!("transpose(transpose(%a, axes={order:?}), axes={back:?})");
        assert_eq!(eval(&there, &[&x]), same, "{there}");
        let flat = format!("reshape(reshape(%a, newshape=[-1]), newshape={shape:?})");
        assert_eq!(eval(&flat, &[&x]), same, "{flat}");
        let axis = rng.usize(0..rank);
        let twice = format!("reverse(reverse(%a, axis={axis}), axis={axis})");
        assert_eq!(eval(&twice, &[&x]), same, "{twice}");
        let parts = shape[axis];
        let joined = format!(
            "concatenate(split(%a, indices_or_sections={parts}, axis={axis}), axis={axis})"
        );
        assert_eq!(eval(&joined, &[&x]), same, "{joined}");
    }
}

#[test]
fn dequantised_numbers_are_within_half_a_step() {
    let mut rng = fastrand::Rng::with_seed(3);
    for _ in 0..40 {
        let x = random(&mut rng, &[7]);
        let scale = rng.f64() * 0.1 + 0.02;
        let scale = Tensor::from_f64s(DataType::FLOAT32, &[], vec![scale]).expect("one");
        let zero = Tensor::from_f64s(DataType::INT32, &[], vec![f64::from(rng.i32(-5..6))]);
        let zero = zero.expect("one");
        let there = "qnn.dequantize(qnn.quantize(%a, %b, %c, out_dtype=\"int8\", axis=-1), %b, %c, \
                     out_dtype=\"float32\", axis=-1)";
        let back = eval(there, &[&x, &scale, &zero]);
        let (step, zero) = (scale.to_f64s()[0], zero.to_f64s()[0]);
        let (least, most) = ((-128.0 - zero) * step, (127.0 - zero) * step);
        for (x, y) in x.to_f64s().into_iter().zip(back) {
            let wanted = x.clamp(least, most);
            assert!((wanted - y).abs() <= step * 0.5001, "{x} came back as {y} by steps of {step}");
        }
    }
}

/// Both styles of formatting preserve values.
#[test]
fn formatting_preserves_values() {
    let mut computed = 0;
    for (name, text) in corpus::examples() {
        computed += values(&text).iter().filter(|(_, numbers)| numbers.is_some()).count();
        for style in [syntax::format::Style::Tvm, syntax::format::Style::Reading] {
            let laid_out = syntax::format::formatted(&text, style);
            assert_eq!(values(&laid_out), values(&text), "{name}");
        }
    }
    assert!(computed > 2, "{computed} definitions of the examples give a value");
}

/// Evaluates each definition of a text whose parameters are tensors of known sizes.
fn values(text: &str) -> Vec<(String, Option<Vec<f64>>)> {
    let db = Database::new();
    let file = db.add_file(text, ParseLimits::default());
    let mut found = Vec::new();
    for def in all_defs(&db, file) {
        let Some(view) = semantics::View::new(&db, def) else { continue };
        let Some(types::Type::Func(function)) = &view.inference.signature else { continue };
        let mut rng = fastrand::Rng::with_seed(4);
        let args = function.params().iter().map(|ty| {
            let shape: Vec<usize> = ty.as_tensor()?.lengths()?;
            Some(Value::from(random(&mut rng, &shape)))
        });
        let Some(args) = args.collect::<Option<Vec<Value>>>() else { continue };
        let value = Machine::new(&db).run(def, args, None).ok();
        let numbers = value.map(|v| v.leaves().iter().flat_map(|t| t.to_f64s()).collect());
        found.push((def.name(&db).to_string(), numbers));
    }
    found
}
