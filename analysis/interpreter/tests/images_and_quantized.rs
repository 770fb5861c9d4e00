//! Edge cases of images, quantized integers, unusual convolutions and detection, with results
//! computed by hand.

use interpreter::{Fault, FaultKind, Machine, Tensor, Value};
use semantics::Database;
use types::DataType;

fn run_with(text: &str, args: Vec<Tensor>) -> Result<Value, Fault> {
    let db = Database::new();
    let file = db.add_file(text, syntax::ParseLimits::default());
    let def = semantics::all_defs(&db, file).find(|def| def.name(&db) == "@main");
    let args = args.into_iter().map(Value::from).collect();
    Machine::new(&db).run(def.expect("@main"), args, None)
}

/// The value of an expression of `%x` and `%y`.
fn numbers(expression: &str, args: &[&Tensor]) -> Vec<f64> {
    match run_with(&program(expression, args), args.iter().map(|&arg| arg.clone()).collect()) {
        Ok(value) => value.leaves().iter().flat_map(|tensor| tensor.to_f64s()).collect(),
        Err(fault) => panic!("{expression}: {}", fault.message),
    }
}

fn fault(expression: &str, args: &[&Tensor]) -> Fault {
    let args_owned = args.iter().map(|&arg| arg.clone()).collect();
    run_with(&program(expression, args), args_owned).expect_err("it should fail")
}

fn program(expression: &str, args: &[&Tensor]) -> String {
    let names = ["x", "y", "z"];
    let parameters = args.iter().zip(names).map(|(arg, name)| format!("%{name}: {}", arg.ty()));
    format!("def @main({}) {{ {expression} }}", parameters.collect::<Vec<_>>().join(", "))
}

fn tensor(dtype: DataType, shape: &[usize], values: &[f64]) -> Tensor {
    Tensor::from_f64s(dtype, shape, values.to_vec()).expect("as many values as the shape has")
}

fn floats(shape: &[usize], values: &[f64]) -> Tensor {
    tensor(DataType::FLOAT32, shape, values)
}

/// Arbitrary numbers.
fn some(shape: &[usize]) -> Tensor {
    let count: usize = shape.iter().product();
    let values: Vec<f64> = (0..count).map(|k| ((k * 37 + 11) % 29) as f64 / 7.0 - 2.0).collect();
    floats(shape, &values)
}

fn close(found: &[f64], wanted: &[f64]) {
    assert_eq!(found.len(), wanted.len());
    for (x, y) in found.iter().zip(wanted) {
        assert!((x - y).abs() < 1e-4, "{found:?} instead of {wanted:?}");
    }
}

fn resize1d(x: &Tensor, size: usize, more: &str) -> Vec<f64> {
    numbers(&format!("image.resize1d(%x, size=[{size}], roi=[0.25f, 1.25f], {more})"), &[x])
}

#[test]
fn transformation_modes() {
    let x = floats(&[1, 1, 4], &[0.0, 10.0, 20.0, 30.0]);
    let mode = |mode: &str, size| {
        resize1d(&x, size, &format!("coordinate_transformation_mode=\"{mode}\""))
    };
    // The first of two pixels at half the resolution is at 0.5.
    close(&mode("half_pixel", 2), &[5.0, 25.0]);
    close(&mode("align_corners", 2), &[0.0, 30.0]);
    close(&mode("align_corners", 7), &[0.0, 5.0, 10.0, 15.0, 20.0, 25.0, 30.0]);
    close(&mode("asymmetric", 2), &[0.0, 20.0]);
    close(&mode("tf_half_pixel_for_nn", 2), &[10.0, 30.0]);
    close(&mode("half_pixel", 1), &[15.0]);
    close(&mode("pytorch_half_pixel", 1), &[0.0]);
    // From 0.25 · 3 to 1.25 · 3, the end of which is outside.
    close(&mode("tf_crop_and_resize", 3), &[7.5, 22.5, 0.0]);
}

#[test]
fn nearest_element() {
    let x = floats(&[1, 1, 2], &[1.0, 2.0]);
    let rounding = |method: &str| {
        let more = "method=\"nearest_neighbor\", coordinate_transformation_mode=\"asymmetric\"";
        resize1d(&x, 4, &format!("{more}, rounding_method=\"{method}\""))
    };
    // The positions are 0, 0.5, 1 and 1.5.
    assert_eq!(rounding("floor"), [1.0, 1.0, 2.0, 2.0]);
    assert_eq!(rounding("ceil"), [1.0, 2.0, 2.0, 2.0]);
    assert_eq!(rounding("round"), [1.0, 2.0, 2.0, 2.0]);
    assert_eq!(rounding("round_prefer_floor"), [1.0, 1.0, 2.0, 2.0]);
    // Images are divided by integral ratios regardless of the rounding.
    let x = floats(&[1, 1, 1, 2], &[1.0, 2.0]);
    let call = "image.resize2d(%x, size=[1, 4], roi=[0f, 0f, 0f, 0f], rounding_method=\"ceil\", \
                method=\"nearest_neighbor\", coordinate_transformation_mode=\"asymmetric\")";
    assert_eq!(numbers(call, &[&x]), [1.0, 1.0, 2.0, 2.0]);
}

#[test]
fn cubic_weights_add_up() {
    let x = floats(&[1, 5, 1], &[3.0; 5]);
    for more in ["cubic_exclude=1", "cubic_alpha=-0.75f"] {
        let more = format!("layout=\"NWC\", method=\"cubic\", {more}");
        close(&resize1d(&x, 7, &more), &[3.0; 7]);
    }
    // In the middle of the inner two: -1/16, 9/16, 9/16, -1/16.
    let x = floats(&[1, 1, 4], &[16.0, 0.0, 32.0, 0.0]);
    let more = "method=\"cubic\", coordinate_transformation_mode=\"align_corners\"";
    close(&resize1d(&x, 3, more)[1..2], &[17.0]);
}

#[test]
fn images_with_blocked_channels() {
    let x = some(&[1, 4, 3, 3]);
    let size = "size=[5, 4], roi=[0f, 0f, 0f, 0f]";
    let plain = numbers(&format!("image.resize2d(%x, {size})"), &[&x]);
    let blocks = tensor(DataType::FLOAT32, &[1, 2, 3, 3, 2], &{
        let of = x.to_f64s();
        let at = |k: usize| {
            let (pair, place, c) = (k / 18, k % 18 / 2, k % 2);
            of[(pair * 2 + c) * 9 + place]
        };
        (0..36).map(at).collect::<Vec<f64>>()
    });
    let packed = numbers(&format!("image.resize2d(%x, {size}, layout=\"NCHW2c\")"), &[&blocks]);
    let back: Vec<f64> = (0..80).map(|k| packed[(k / 40 * 20 + k % 20) * 2 + k / 20 % 2]).collect();
    close(&back, &plain);
}

#[test]
fn empty_images_are_rejected() {
    let none = floats(&[0, 3, 4], &[]);
    assert_eq!(resize1d(&none, 7, "method=\"cubic\""), [0.0f64; 0]);
    let flat = floats(&[1, 3, 0], &[]);
    let call = "image.resize1d(%x, size=[2], roi=[0f, 0f])";
    assert_eq!(fault(call, &[&flat]).kind, FaultKind::Operator);
}

#[test]
fn cropping_boxes() {
    let x = floats(&[1, 1, 2, 2], &[0.0, 1.0, 2.0, 3.0]);
    let boxes = floats(&[2, 4], &[0.0, 0.0, 1.0, 1.0, 1.0, 0.0, 0.0, 2.0]);
    let of = tensor(DataType::INT32, &[2], &[0.0, 0.0]);
    let call = "image.crop_and_resize(%x, %y, %z, crop_size=[2, 2], extrapolation_value=-1f)";
    // The second is upside down and half outside.
    let wanted = [0.0, 1.0, 2.0, 3.0, 2.0, -1.0, 0.0, -1.0];
    assert_eq!(numbers(call, &[&x, &boxes, &of]), wanted);
    let of = tensor(DataType::INT32, &[2], &[0.0, 1.0]);
    assert_eq!(fault(call, &[&x, &boxes, &of]).kind, FaultKind::Operator);
}

#[test]
fn sampling_outside_of_an_image() {
    let x = floats(&[1, 1, 1, 3], &[1.0, 2.0, 4.0]);
    // x is -1, 0, 1.5 and 2.5 of -1 … 1; y is in the middle.
    let grid = floats(&[1, 2, 1, 4], &[-1.0, 0.0, 1.5, 2.5, 0.0, 0.0, 0.0, 0.0]);
    let sample = |more: &str| numbers(&format!("image.grid_sample(%x, %y, {more})"), &[&x, &grid]);
    assert_eq!(sample("padding_mode=\"zeros\""), [1.0, 2.0, 2.0, 0.0]);
    assert_eq!(sample("padding_mode=\"border\""), [1.0, 2.0, 4.0, 4.0]);
    assert_eq!(sample("padding_mode=\"reflection\""), [1.0, 2.0, 3.0, 1.5]);
    // Halves are rounded to even: 2.5 is 2.
    assert_eq!(sample("method=\"nearest\""), [1.0, 2.0, 4.0, 0.0]);
    // Now -1 is half an element before the first, and 1.5 is at 3.25.
    assert_eq!(sample("align_corners=False"), [0.5, 2.0, 0.0, 0.0]);
}

#[test]
fn dilation_includes_padding() {
    let x = floats(&[1, 1, 1, 2], &[-5.0, -1.0]);
    let w = floats(&[1, 1, 2], &[0.5, 1.0]);
    let call = "image.dilation2d(%x, %y, padding=[0, 1])";
    assert_eq!(numbers(call, &[&x, &w]), [0.5, 0.0, 1.0]);
    // Sums of bytes wrap.
    let (x, w) = (
        tensor(DataType::UINT8, &[1, 1, 1, 2], &[250.0, 3.0]),
        tensor(DataType::UINT8, &[1, 1, 1], &[10.0]),
    );
    assert_eq!(numbers("image.dilation2d(%x, %y)", &[&x, &w]), [4.0, 13.0]);
}

#[test]
fn requantizing_rounds_halves() {
    let x = tensor(DataType::INT32, &[6], &[3.0, -3.0, 1.0, -1.0, 300.0, -300.0]);
    let call = |rounding: &str, compute: &str| {
        let call = format!(
            "qnn.requantize(%x, 0.5f, 0, 1f, 0, rounding=\"{rounding}\", \
             compute_dtype=\"{compute}\", out_dtype=\"int8\")"
        );
        numbers(&call, &[&x])
    };
    for compute in ["int64", "float32", "float64"] {
        assert_eq!(call("UPWARD", compute), [2.0, -1.0, 1.0, 0.0, 127.0, -128.0]);
        assert_eq!(call("TONEAREST", compute), [2.0, -2.0, 1.0, -1.0, 127.0, -128.0]);
    }
}

#[test]
fn requantizing_channel_by_channel() {
    let x = tensor(DataType::INT32, &[2, 2], &[10.0, 10.0, -10.0, -10.0]);
    let scales = floats(&[2], &[1.0, 0.5]);
    let zeros = tensor(DataType::INT32, &[2], &[0.0, 2.0]);
    let call = "qnn.requantize(%x, %y, %z, 2f, -1, axis=0, out_dtype=\"uint8\")";
    // (10 - 0) / 2 - 1, and (-10 - 2) / 4 - 1, which is negative.
    assert_eq!(numbers(call, &[&x, &scales, &zeros]), [4.0, 4.0, 0.0, 0.0]);
    let call = call.replace("axis=0", "axis=1").replace("uint8", "int32");
    assert_eq!(numbers(&call, &[&x, &scales, &zeros]), [4.0, 1.0, -6.0, -4.0]);
}

#[test]
fn quantizing_and_back() {
    let x = floats(&[6], &[0.5, 1.5, -0.5, 2.5, 300.0, -300.0]);
    let call = "qnn.quantize(%x, 1f, 1, out_dtype=\"uint8\")";
    assert_eq!(numbers(call, &[&x]), [2.0, 3.0, 0.0, 4.0, 255.0, 0.0]);
    let q = tensor(DataType::INT8, &[1, 2], &[-128.0, 127.0]);
    let scales = floats(&[2], &[0.5, 2.0]);
    let call = "qnn.dequantize(%x, %y, -1, axis=-1, out_dtype=\"float32\")";
    assert_eq!(numbers(call, &[&q, &scales]), [-63.5, 256.0]);
    // Half precision saturates.
    let q = tensor(DataType::INT32, &[1], &[1e6]);
    let call = "qnn.dequantize(%x, 1f, 0, out_dtype=\"float16\")";
    assert_eq!(numbers(call, &[&q]), [65504.0]);
}

#[test]
fn quantized_arithmetic_saturates() {
    let x = tensor(DataType::INT8, &[3], &[100.0, -100.0, 7.0]);
    let y = tensor(DataType::INT8, &[1], &[60.0]);
    let sum = "qnn.add(%x, %y, 1f, 0, 1f, 0, 1f, 0)";
    assert_eq!(numbers(sum, &[&x, &y]), [127.0, -40.0, 67.0]);
    // 2 · (x - 1) - (y - 10) = z + 5 in the scale and zero point of the result.
    let difference = "qnn.subtract(%x, %y, 2f, 1, 1f, 10, 1f, -5)";
    assert_eq!(numbers(difference, &[&x, &y]), [127.0, -128.0, -43.0]);
    let product = "qnn.mul(%x, %y, 0.5f, 0, 0.5f, 50, 1f, 0)";
    assert_eq!(numbers(product, &[&x, &y]), [127.0, -128.0, 18.0]);
    let square = "qnn.sqrt(%x, 0.25f, 3, 0.5f, 0)";
    assert_eq!(numbers(square, &[&x])[2], 2.0);
    // Below the zero point: 0.5 · (-100) + 0.5 · 0.
    let leaky = "qnn.leaky_relu(%x, 1f, 0, 1f, 0, alpha=0.5f)";
    assert_eq!(numbers(leaky, &[&x]), [100.0, -50.0, 7.0]);
}

#[test]
fn padding_with_the_zero_point_contributes_nothing() {
    let x = tensor(DataType::UINT8, &[1, 1, 2, 2], &[130.0; 4]);
    let w = tensor(DataType::INT8, &[1, 1, 3, 3], &[5.0; 9]);
    let call = "qnn.conv2d(%x, %y, 128, 2, 0.1f, 0.1f, padding=[1, 1, 1, 1], channels=1, \
                kernel_size=[3, 3], out_dtype=\"int32\")";
    // (130 - 128) · (5 - 2) for each of the four positions.
    assert_eq!(numbers(call, &[&x, &w]), [24.0; 4]);
    let zeros = tensor(DataType::INT32, &[2], &[2.0, 5.0]);
    let x = tensor(DataType::INT8, &[1, 3], &[1.0, 2.0, 3.0]);
    let w = tensor(DataType::INT8, &[2, 3], &[3.0; 6]);
    let call = "qnn.dense(%x, %y, 1, %z, 1f, 1f, units=2, out_dtype=\"int32\")";
    assert_eq!(numbers(call, &[&x, &w, &zeros]), [3.0, -6.0]);
}

#[test]
fn transposed_convolutions() {
    let x = floats(&[1, 1, 2], &[1.0, 2.0]);
    let w = floats(&[1, 1, 3], &[1.0, 10.0, 100.0]);
    let conv = |more: &str| {
        numbers(
            &format!("nn.conv1d_transpose(%x, %y, channels=1, kernel_size=[3]{more})"),
            &[&x, &w],
        )
    };
    assert_eq!(conv(""), [1.0, 12.0, 120.0, 200.0]);
    assert_eq!(conv(", strides=[2]"), [1.0, 10.0, 102.0, 20.0, 200.0]);
    assert_eq!(conv(", strides=[2], padding=[1, 1]"), [10.0, 102.0, 20.0]);
    let more = ", strides=[2], padding=[1, 1], output_padding=[1]";
    assert_eq!(conv(more), [10.0, 102.0, 20.0, 200.0]);
    // Padding beyond the window crops.
    assert_eq!(conv(", strides=[2], padding=[2, 2]"), [102.0]);
    // Each group has its own weight.
    let x = floats(&[1, 2, 1, 1], &[1.0, 2.0]);
    let w = floats(&[2, 2, 1, 1], &[1.0, 10.0, 100.0, 1000.0]);
    let call = "nn.conv2d_transpose(%x, %y, channels=4, kernel_size=[1, 1], groups=2)";
    assert_eq!(numbers(call, &[&x, &w]), [1.0, 10.0, 200.0, 2000.0]);
}

#[test]
fn winograd_is_a_convolution() {
    let (x, w) = (some(&[2, 3, 7, 6]), some(&[4, 3, 3, 3]));
    let shape = "padding=[1, 0, 2, 1], channels=4, kernel_size=[3, 3]";
    let plain = numbers(&format!("nn.conv2d(%x, %y, {shape})"), &[&x, &w]);
    for tile in [2, 4, 6] {
        let call = format!(
            "let %w = nn.contrib_conv2d_winograd_weight_transform(%y, tile_size={tile}); \
             nn.contrib_conv2d_winograd_without_weight_transform(%x, %w, tile_size={tile}, {shape})"
        );
        close(&numbers(&call, &[&x, &w]), &plain);
    }
}

#[test]
fn offsets_of_a_deformable_convolution() {
    let (x, w) = (floats(&[1, 1, 1, 3], &[1.0, 2.0, 4.0]), floats(&[1, 1, 1, 1], &[1.0]));
    // The vertical and horizontal offset of each position.
    let offset = floats(&[1, 2, 1, 3], &[0.0, 0.0, 0.0, 0.5, -1.5, 0.5]);
    let call = "nn.deformable_conv2d(%x, %y, %z, channels=1, kernel_size=[1, 1])";
    // The second is outside; beyond the last one it is 0.
    assert_eq!(numbers(call, &[&x, &offset, &w]), [1.5, 0.0, 2.0]);
}

#[test]
fn packed_bits() {
    let x = tensor(DataType::INT32, &[1, 8], &[1.0, 0.0, 2.0, 0.0, 0.0, 0.0, 0.0, 3.0]);
    let call = "nn.bitpack(%x, bits=2, pack_axis=1, bit_axis=2, pack_type=\"uint8\", name=\"b\")";
    assert_eq!(numbers(call, &[&x]), [129.0, 33.0]);
    let w = tensor(DataType::INT32, &[1, 8], &[1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    let dense = |unipolar: &str| {
        let call = format!(
            "nn.bitserial_dense(%x, %y, units=1, data_bits=2, weight_bits=1, \
             pack_dtype=\"uint8\", out_dtype=\"int16\", unipolar={unipolar})"
        );
        numbers(&call, &[&x, &w])
    };
    assert_eq!((dense("False"), dense("True")), (vec![3.0], vec![0.0]));
}

#[test]
fn non_maximum_suppression() {
    // Class, score, and two corners. The second overlaps the first by 2/3.
    let x = floats(
        &[1, 3, 6],
        &[
            0.0, 0.8, 0.0, 0.0, 2.0, 2.0, //
            0.0, 0.9, 0.0, 0.0, 2.0, 3.0, //
            0.0, 0.7, 5.0, 5.0, 6.0, 6.0,
        ],
    );
    let count = tensor(DataType::INT32, &[1], &[3.0]);
    let indices = tensor(DataType::INT32, &[1, 3], &[0.0, 1.0, 2.0]);
    let call = |most: i32| {
        format!(
            "vision.non_max_suppression(%x, %y, %z, {most}, 0.5f, force_suppress=False, top_k=-1, \
             coord_start=2, score_index=1, id_index=0, return_indices=True, \
             invalid_to_bottom=False)"
        )
    };
    assert_eq!(numbers(&call(-1), &[&x, &count, &indices]), [1.0, 2.0, -1.0, 2.0]);
    assert_eq!(numbers(&call(1), &[&x, &count, &indices]), [1.0, -1.0, -1.0, 1.0]);
}

#[test]
fn regions_of_interest() {
    let values: Vec<f64> = (0..16).map(f64::from).collect();
    let x = floats(&[1, 1, 4, 4], &values);
    let whole = floats(&[1, 5], &[0.0, 0.0, 0.0, 3.0, 3.0]);
    let pool = "vision.roi_pool(%x, %y, pooled_size=[2, 2], spatial_scale=1f, layout=\"NCHW\")";
    assert_eq!(numbers(pool, &[&x, &whole]), [5.0, 7.0, 13.0, 15.0]);
    let align = "vision.roi_align(%x, %y, pooled_size=[1, 1], spatial_scale=1f, sample_ratio=1, \
                 layout=\"NCHW\", mode=\"avg\")";
    assert_eq!(numbers(align, &[&x, &whole]), [7.5]);
    let nowhere = floats(&[1, 5], &[3.0, 0.0, 0.0, 3.0, 3.0]);
    assert_eq!(fault(align, &[&x, &nowhere]).kind, FaultKind::Operator);
}

#[test]
fn accelerator_operators_have_no_kernel() {
    let x = some(&[4, 3, 3, 3]);
    let call = "nn.contrib_conv2d_winograd_nnpack_weight_transform(%x, convolution_algorithm=3)";
    let found = fault(call, &[&x]);
    assert_eq!(found.kind, FaultKind::NoKernel);
    assert!(found.message.contains("NNPACK"));
    assert!(interpreter::missing().all(|operator| !operator.name.starts_with("contrib.ethosu.")));
    assert!(interpreter::refusal("contrib.ethosu.conv2d").is_some_and(|why| why.contains("Arm")));
    assert_eq!(interpreter::refusal("nn.conv2d"), None);
}

/// The shape of the weight implies that it is blocked.
#[test]
fn blocked_weights_without_a_layout() {
    let (x, w) = (some(&[1, 4, 5, 5]), some(&[8, 4, 3, 3]));
    let plain = numbers("nn.conv2d(%x, %y, channels=8, kernel_size=[3, 3])", &[&x, &w]);
    let blocked = "layout_transform(nn.contrib_conv2d_NCHWc(\
         layout_transform(%x, src_layout=\"NCHW\", dst_layout=\"NCHW4c\"), \
         layout_transform(%y, src_layout=\"OIHW\", dst_layout=\"OIHW4i4o\"), \
         channels=8, kernel_size=[3, 3], data_layout=\"NCHW4c\"), \
         src_layout=\"NCHW4c\", dst_layout=\"NCHW\")";
    let blocked = numbers(blocked, &[&x, &w]);
    assert!(plain.iter().zip(&blocked).all(|(a, b)| (a - b).abs() < 1e-4));
    assert_eq!(plain.len(), blocked.len());
}
