//! Long operator calls of every kind are cancelled before they end. `RELAY_FIGURES=1` compares times, which depend
//! on the machine, with their bars: the run ends at once, and the cleanup of the call a moment later.

use std::{
    cell::LazyCell,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use interpreter::{FaultKind, Limits, Machine, Tensor, Value};
use semantics::{Database, all_defs};
use types::DataType;

/// The minimum duration of a call worth cancelling.
const LONG: Duration = Duration::from_millis(200);
/// The longest time for a run to end.
const LATE: Duration = Duration::from_millis(100);
/// The largest number of attempts to cancel a call.
const MAX_ATTEMPTS: usize = 8;
/// The time of cancellation.
const STOPPED: Duration = Duration::from_millis(50);

/// Expressions over `%x`, `%y`, `%z` and their types. Each is a call that takes more than half a
/// second.
const CALLS: &[(&str, &[&str])] = &[
    ("nn.dense(%x, %y, units=3000)", &["(3000, 3000)", "(3000, 3000)"]),
    ("nn.matmul(%x, %y, units=1600)", &["int32 (1600, 1600)", "int32 (1600, 1600)"]),
    ("nn.batch_matmul(%x, %y)", &["(64, 768, 768)", "(64, 768, 768)"]),
    ("nn.batch_matmul(%x, %y)", &["(1, 3000, 3000)", "(1, 3000, 3000)"]),
    (
        "nn.conv2d(%x, %y, padding=[1, 1], channels=256, kernel_size=[3, 3])",
        &["(2, 256, 112, 112)", "(256, 256, 3, 3)"],
    ),
    (
        "nn.conv2d(%x, %y, padding=[3, 3], groups=512, channels=512, kernel_size=[7, 7])",
        &["(4, 512, 112, 112)", "(512, 1, 7, 7)"],
    ),
    (
        "nn.conv2d(%x, %y, channels=1024, kernel_size=[1, 1])",
        &["(2, 1024, 96, 96)", "(1024, 1024, 1, 1)"],
    ),
    (
        "nn.conv3d(%x, %y, padding=[1, 1, 1], channels=64, kernel_size=[3, 3, 3])",
        &["(1, 64, 32, 64, 64)", "(64, 64, 3, 3, 3)"],
    ),
    (
        "nn.conv2d_transpose(%x, %y, channels=128, kernel_size=[4, 4], strides=[2, 2])",
        &["(1, 128, 112, 112)", "(128, 128, 4, 4)"],
    ),
    ("nn.max_pool2d(%x, pool_size=[7, 7], padding=[3, 3])", &["(4, 64, 112, 112)"]),
    ("nn.avg_pool2d(%x, pool_size=[7, 7], padding=[3, 3])", &["(4, 64, 112, 112)"]),
    ("nn.adaptive_avg_pool2d(%x, output_size=[1, 1])", &["(2, 1, 6000, 6000)"]),
    (
        "nn.correlation(%x, %y, kernel_size=1, max_displacement=8, stride1=1, stride2=1, padding=[8, 8], is_multiply=True, layout=\"NCHW\")",
        &["(1, 64, 64, 64)", "(1, 64, 64, 64)"],
    ),
    (
        "nn.deformable_conv2d(%x, %y, %z, padding=[1, 1], channels=64, kernel_size=[3, 3])",
        &["(2, 64, 112, 112)", "(2, 18, 112, 112)", "(64, 64, 3, 3)"],
    ),
    (
        "image.resize2d(%x, size=[6000, 6000], roi=[0f, 0f, 0f, 0f], method=\"cubic\")",
        &["(1, 4, 300, 300)"],
    ),
    ("image.grid_sample(%x, %y)", &["(1, 64, 100, 100)", "(1, 2, 400, 400)"]),
    ("image.dilation2d(%x, %y, padding=[3, 3, 3, 3])", &["(4, 32, 112, 112)", "(32, 7, 7)"]),
    ("nn.upsampling(%x, scale_h=30f, scale_w=30f, method=\"bilinear\")", &["(4, 16, 56, 56)"]),
    ("sort(%x)", &["(3000000)"]),
    ("argsort(%x, axis=0, dtype=\"int64\")", &["(600, 20000)"]),
    ("argsort(%x, dtype=\"int32\")", &["nan (2000000)"]),
    ("topk(%x, k=5, ret_type=\"values\")", &["(30000000)"]),
    ("unique(%x, sorted=True, return_counts=False)", &["int32 (2000000)"]),
    ("searchsorted(%x, %y)", &["(1000000)", "(8000000)"]),
    ("nn.softmax(%x)", &["(40000000)"]),
    ("nn.softmax(%x, axis=0)", &["(6000, 6000)"]),
    ("nn.layer_norm(%x, %y, %z)", &["(60000, 1024)", "(1024)", "(1024)"]),
    ("nn.instance_norm(%x, %y, %z)", &["(1, 4, 3000, 3000)", "(4)", "(4)"]),
    ("nn.lrn(%x, size=9)", &["(1, 64, 400, 400)"]),
    ("nn.l2_normalize(%x, eps=0.1f, axis=[1])", &["(4, 8000000)"]),
    ("nn.bias_add(%x, %y, axis=-1)", &["(80000, 1024)", "(1024)"]),
    // One axis as long as the tensor.
    ("nn.bias_add(%x, %y, axis=-1)", &["(1, 60000000)", "(60000000)"]),
    ("nn.layer_norm(%x, %y, %z)", &["(1, 30000000)", "(30000000)", "(30000000)"]),
    ("nn.log_softmax(%x)", &["(1, 40000000)"]),
    ("cumsum(%x, axis=0)", &["(60000000)"]),
    ("variance(%x, %y)", &["(1, 30000000)", "(1, 1)"]),
    ("transpose(%x, axes=[1, 0])", &["(2, 40000000)"]),
    ("transpose(%x, axes=[1, 0, 2])", &["(2, 2, 30000000)"]),
    ("nn.pad(%x, 0f, pad_width=[[1, 1]])", &["(200000000)"]),
    ("nn.pad(%x, 0f, pad_width=[[1, 1], [0, 0]], pad_mode=\"edge\")", &["(40000000, 2)"]),
    ("nn.dilate(%x, strides=[2])", &["(30000000)"]),
    ("nn.mirror_pad(%x, pad_width=[[9, 9]])", &["(30000000)"]),
    ("argwhere(%x)", &["(30000000)"]),
    ("take(%x, %y, axis=0)", &["(1000)", "index (40000000)"]),
    ("sequence_mask(%x, %y, axis=1)", &["(1, 2, 60000000)", "int32 (1)"]),
    ("repeat(%x, repeats=20, axis=0)", &["(10000000)"]),
    ("stack((%x, %x), axis=0)", &["(100000000)"]),
    ("trilu(%x, 0, upper=False)", &["(1, 200000000)"]),
    ("dft(%x, %y)", &["(1, 9000)", "(1, 9000)"]),
    ("nn.space_to_depth(%x, block_size=2)", &["(1, 4, 4000, 4000)"]),
    (
        "image.crop_and_resize(%x, %y, %z, crop_size=[200, 200], layout=\"NCHW\")",
        &["(1, 16, 200, 200)", "(100, 4)", "zero (100)"],
    ),
    (
        "vision.get_valid_counts(%x, 0f, score_threshold=0f, id_index=0, score_index=1)",
        &["(40, 200000, 6)"],
    ),
    ("sum(%x)", &["uint8 (60000000)"]),
    ("sum(%x, axis=[0])", &["(14000, 14000)"]),
    ("max(%x, axis=[0])", &["(10000, 10000)"]),
    ("argmax(%x, axis=[1])", &["(2, 100000000)"]),
    ("cumsum(%x, axis=0)", &["(6000, 6000)"]),
    ("exp(%x)", &["(200000000)"]),
    ("erf(%x)", &["(20000000)"]),
    ("power(%x, %y)", &["(60000000)", "(60000000)"]),
    ("add(%x, %y)", &["(1, 16000)", "(20000, 1)"]),
    ("where(%x, %y, %z)", &["bool (100000000)", "(100000000)", "(100000000)"]),
    ("cast(%x, dtype=\"float16\")", &["(200000000)"]),
    ("round(%x)", &["float16 (60000000)"]),
    ("take(%x, %y, axis=0)", &["(1000, 64)", "index (4000000)"]),
    ("gather(%x, %y, axis=1)", &["(4, 6000000)", "index (4, 6000000)"]),
    (
        "scatter_elements(%x, %y, %z, axis=0, reduction=\"add\")",
        &["(1000)", "index (15000000)", "(15000000)"],
    ),
    ("transpose(%x, axes=None)", &["(8000, 9000)"]),
    ("reverse(%x, axis=1)", &["(9000, 9000)"]),
    ("concatenate((%x, %x), axis=0)", &["(200000000)"]),
    ("tile(%x, reps=[400, 1])", &["(1000, 1000)"]),
    (
        "strided_slice(%x, begin=[0, 0], end=[20000, 20000], strides=[1, 2], axes=None)",
        &["(9000, 9000)"],
    ),
    ("nn.pad(%x, 0f, pad_width=[[1, 1], [1, 1]])", &["(11000, 11000)"]),
    ("one_hot(%x, 1f, 0f, depth=1000, axis=-1, dtype=\"float32\")", &["index (300000)"]),
    ("ones(shape=[500000000], dtype=\"float32\")", &[]),
    ("arange(0f, 100000000f, 1f, start=None, stop=None, step=None, dtype=\"float32\")", &[]),
    ("einsum((%x, %y), equation=\"ij,jk->ik\")", &["(400, 400)", "(400, 400)"]),
    ("dft(%x, %y)", &["(4, 4000)", "(4, 4000)"]),
    ("qnn.quantize(%x, 0.1f, 0, out_dtype=\"int8\")", &["(60000000)"]),
    ("qnn.requantize(%x, 0.1f, 0, 0.3f, 1, out_dtype=\"int8\")", &["int32 (60000000)"]),
];

/// A tensor of a type as written above.
fn tensor(written: &str) -> (String, Tensor) {
    let (name, shape) = written.split_once('(').expect("a shape");
    let sizes = shape.trim_end_matches(')').split(',');
    let shape: Vec<usize> = sizes.map(|size| size.trim().parse().expect("a size")).collect();
    let (dtype, most) = match name.trim() {
        "int32" => (DataType::INT32, 1_000_000),
        "index" => (DataType::INT32, 1_000),
        "zero" => (DataType::INT32, 1),
        "uint8" => (DataType::UINT8, 200),
        "float16" => (DataType::FLOAT16, 200),
        "bool" => (DataType::BOOL, 2),
        _ => (DataType::FLOAT32, 1_000_000),
    };
    let count: usize = shape.iter().product();
    let mut state = 1u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state >> 8
    };
    let tensor = match dtype {
        // Most are of this type, and large.
        DataType::FLOAT32 => {
            let mut numbers: Vec<f32> = (0..count).map(|_| next() as f32 / 1e7 - 0.8).collect();
            if name.trim() == "nan" {
                numbers[count / 2] = f32::NAN;
            }
            <f32 as interpreter::Element>::tensor(&shape, numbers)
        }
        DataType::UINT8 => {
            let numbers = (0..count).map(|_| (next() % most) as u8).collect();
            <u8 as interpreter::Element>::tensor(&shape, numbers)
        }
        _ => {
            let numbers = (0..count).map(|_| i64::from(next() % most)).collect();
            Tensor::from_i64s(dtype, &shape, numbers)
        }
    };
    let tensor = tensor.expect("as many as the shape has");
    (tensor.ty().to_string(), tensor)
}

/// The timing of a cancelled call: its full duration, which is measured if figures are compared, and the time
/// from cancellation to the end of the run and of the cleanup.
struct Timing {
    whole: Duration,
    ended: Duration,
    after: Duration,
}

fn timed(expr: &str, args: &[&str]) -> Timing {
    let tensors: Vec<(String, Tensor)> = args.iter().map(|arg| tensor(arg)).collect();
    let params = ["%x", "%y", "%z"].iter().zip(&tensors).map(|(x, (ty, _))| format!("{x}: {ty}"));
    let text = format!("def @main({}) {{ {expr} }}", params.collect::<Vec<_>>().join(", "));
    let values: Vec<Value> = tensors.into_iter().map(|(_, tensor)| tensor.into()).collect();
    let run = |cancelled: Arc<AtomicBool>, limits: Limits| {
        let db = Database::new();
        let file = db.add_file(&text, syntax::ParseLimits::default());
        let def = all_defs(&db, file).next().expect("@main");
        let mut machine = Machine::new(&db).limited(limits).cancelled_by(cancelled);
        let result = machine.run(def, values.clone(), None);
        let ended = Instant::now();
        machine.wait_for_cleanup();
        (result, ended)
    };
    let whole = LazyCell::new(|| {
        let begin = Instant::now();
        let (done, ended) = run(Arc::default(), Limits::default());
        assert!(done.is_ok(), "{expr}: {:?}", done.err().map(|fault| fault.message));
        ended - begin
    });
    let mut times: Vec<(Duration, Duration)> = Vec::new();
    let mut cancelled = 0;
    let wanted = if compares_figures() { 3 } else { 1 };
    for _ in 0..MAX_ATTEMPTS {
        let flag = Arc::new(AtomicBool::new(false));
        let stop = thread::spawn({
            let flag = flag.clone();
            move || {
                thread::sleep(STOPPED);
                flag.store(true, Ordering::Relaxed);
                Instant::now()
            }
        });
        let (result, ended) = run(flag, Limits::default());
        let now = Instant::now();
        let stopped = stop.join().expect("it sets a flag");
        let since = |time: Instant| time.saturating_duration_since(stopped);
        times.push((since(ended), since(now)));
        match result {
            Err(fault) => {
                assert_eq!(fault.kind, FaultKind::Cancelled, "{expr}");
                cancelled += 1;
            }
            // It takes no time on this machine.
            Ok(_) if *whole < LONG => cancelled += 1,
            // The thread that stops it may have had to wait for a processor.
            Ok(_) => {}
        }
        if cancelled == wanted {
            break;
        }
    }
    assert_eq!(cancelled, wanted, "{expr} was not stopped");
    let middle = times.len() / 2;
    times.sort_unstable_by_key(|&(_, after)| after);
    let after = times[middle].1;
    times.sort_unstable();
    let whole = if compares_figures() { *whole } else { Duration::ZERO };
    Timing { whole, ended: times[middle].0, after }
}

#[test]
fn long_calls_end_soon() {
    let mut late = Vec::new();
    for (expr, args) in CALLS {
        let Timing { whole, ended, after } = timed(expr, args);
        let name = expr.split(['(', '<']).next().unwrap_or_default();
        println!(
            "{name:32} {:>7.0} ms, stopped after {:>6.1} ms, nothing left after {:>6.1} ms",
            ms(whole),
            ms(ended),
            ms(after)
        );
        // However much memory is to be released.
        if compares_figures() && ended > LATE {
            late.push(format!("{expr}: the run ended after {:.0} ms", ms(ended)));
        }
        // A call that takes no time on this machine cannot be cancelled.
        if compares_figures() && whole >= LONG && ms(after) > 0.2 * ms(whole) {
            late.push(format!("{expr}: {:.0} of {:.0} ms", ms(after), ms(whole)));
        }
    }
    assert!(late.is_empty(), "{late:#?}");
}

fn compares_figures() -> bool {
    std::env::var_os("RELAY_FIGURES").is_some()
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// Time limits interrupt calls, too.
#[test]
fn time_limits_reach_into_calls() {
    let text = "def @main(%x: Tensor[(3000, 3000), float64]) { nn.dense(%x, %x, units=3000) }";
    let db = Database::new();
    let file = db.add_file(text, syntax::ParseLimits::default());
    let def = all_defs(&db, file).next().expect("@main");
    let x = Tensor::zeros(DataType::FLOAT64, &[3000, 3000]).expect("zeros");
    let limits = Limits { time: Some(Duration::from_millis(20)), ..Limits::default() };
    let fault = Machine::new(&db).limited(limits).run(def, vec![x.into()], None);
    let fault = fault.expect_err("it takes longer");
    assert_eq!(fault.kind, FaultKind::Time);
    // Faults of the machine also have a trace and the types of the arguments.
    assert_eq!(fault.trace.len(), 1);
    assert_eq!(fault.arguments.len(), 2);
}
