//! Modules that TVM 0.6 and 0.7 saved: the text has the attributes and the defaults of their release, and
//! names it.

use base64::{Engine, engine::general_purpose::STANDARD};
use saved::{convert, is_saved};
use serde_json::{Value, json};

/// Writes the nodes of a file of a release.
struct Writer {
    minor: u8,
    nodes: Vec<Value>,
}

impl Writer {
    fn new(minor: u8) -> Writer {
        Writer { minor, nodes: vec![json!({ "type_key": "" }), Value::Null] }
    }

    fn push(&mut self, node: Value) -> String {
        self.nodes.push(node);
        (self.nodes.len() - 1).to_string()
    }

    fn node(&mut self, kind: &str, fields: Value) -> String {
        self.push(json!({ "type_key": kind, "attrs": fields }))
    }

    fn array(&mut self, elements: &[String]) -> String {
        let data: Vec<u32> = elements.iter().map(|at| at.parse().expect("an index")).collect();
        self.push(json!({ "type_key": "Array", "data": data }))
    }

    /// The name of a variable: a value in 0.6, a node since.
    fn name(&mut self, text: &str) -> String {
        match self.minor {
            6 => text.to_owned(),
            _ => self.push(json!({ "type_key": "runtime.String", "repr_str": text })),
        }
    }

    /// A kind that had a prefix in 0.6.
    fn kind(&self, kind: &str) -> String {
        format!("{}{kind}", if self.minor == 6 { "relay." } else { "" })
    }

    fn operator(&mut self, name: &str) -> String {
        let key = if self.minor == 6 { "global_key" } else { "repr_str" };
        self.push(json!({ "type_key": self.kind("Op"), key: name }))
    }

    /// A number or null in JSON is a field of its own, in an object it is a node: `{"int": 3}`.
    fn field(&mut self, value: &Value) -> String {
        match value {
            Value::Null => "0".to_owned(),
            Value::Bool(is_true) => u8::from(*is_true).to_string(),
            Value::Array(elements) => {
                let elements: Vec<String> = elements.iter().map(|it| self.element(it)).collect();
                self.array(&elements)
            }
            Value::Object(_) => self.element(&value["int"]),
            Value::String(text) => text.clone(),
            Value::Number(number) => number.to_string(),
        }
    }

    fn element(&mut self, value: &Value) -> String {
        match value {
            Value::Number(number) => {
                let fields = json!({ "dtype": "int32", "value": number.to_string() });
                self.node("IntImm", fields)
            }
            other => self.field(other),
        }
    }

    fn tensor(&mut self) -> String {
        let size = self.element(&json!(2));
        let shape = self.array(&[size]);
        self.node("relay.TensorType", json!({ "dtype": "float32", "shape": shape, "span": "0" }))
    }

    fn variable(&mut self, name: &str) -> String {
        let name = self.name(name);
        let id = self.node("relay.Id", json!({ "name_hint": name }));
        let ty = self.tensor();
        let fields =
            json!({ "vid": id, "type_annotation": ty, "span": "0", "_checked_type_": "0" });
        self.node("relay.Var", fields)
    }

    fn call(&mut self, callee: &str, args: &[String], attrs: &str) -> String {
        let args = self.array(args);
        let fields = json!({ "op": callee, "args": args, "attrs": attrs, "type_args": "0",
            "span": "0", "_checked_type_": "0" });
        self.node("relay.Call", fields)
    }

    fn function(&mut self, params: &[String], body: &str, attrs: &str) -> String {
        let params = self.array(params);
        let fields = json!({ "params": params, "body": body, "ret_type": "0", "type_params": "0",
            "attrs": attrs, "span": "0", "_checked_type_": "0" });
        self.node("relay.Function", fields)
    }

    /// Writes a module with one function, and converts it.
    fn text(mut self, function: &str) -> String {
        let name = self.name("main");
        let global = self.kind("GlobalVar");
        let global =
            self.node(&global, json!({ "name_hint": name, "span": "0", "_checked_type_": "0" }));
        let [global, function] = [global, function.to_owned()].map(|at| at.parse::<u32>().unwrap());
        let functions = self.push(json!({ "type_key": "Map", "data": [global, function] }));
        let strings = if self.minor == 6 { "StrMap" } else { "Map" };
        let names = self.push(json!({ "type_key": strings, "keys": ["main"], "data": [global] }));
        let module = if self.minor == 6 { "relay.Module" } else { "IRModule" };
        let types = self.push(json!({ "type_key": "Map" }));
        self.nodes[1] = json!({ "type_key": module, "attrs": { "functions": functions,
            "type_definitions": types, "global_var_map_": names, "global_type_var_map_": types } });
        let version = format!("0.{}.0", self.minor);
        let json = json!({ "root": 1, "nodes": self.nodes, "b64ndarrays": [],
            "attrs": { "tvm_version": version } });
        let json = json.to_string();
        assert!(is_saved(json.as_bytes()), "{json}");
        let text = convert(&json).expect("text");
        let names_release = text.contains(&format!("\"tvm_version\": \"{version}\""));
        assert_eq!(names_release, self.minor < 8, "{text}");
        text
    }
}

/// Returns the text of a call with attributes.
fn call(minor: u8, operator: &str, args: usize, kind: &str, fields: Value) -> String {
    let mut writer = Writer::new(minor);
    let params: Vec<String> = (0..args).map(|at| writer.variable(&format!("x{at}"))).collect();
    let fields = fields.as_object().expect("fields").iter();
    let fields: serde_json::Map<String, Value> =
        fields.map(|(name, value)| (name.clone(), writer.field(value).into())).collect();
    let attrs = writer.node(&format!("relay.attrs.{kind}"), fields.into());
    let operator = writer.operator(operator);
    let body = writer.call(&operator, &params, &attrs);
    let function = writer.function(&params, &body, "0");
    let text = writer.text(&function);
    let body = text.lines().nth(2).expect("a body");
    let entry = format!("\"type_key\": \"relay.attrs.{kind}\"");
    assert_eq!(body.contains("meta["), text.contains(&entry), "{text}");
    body.trim().to_owned()
}

#[test]
fn attributes_have_the_defaults_of_their_release() {
    let conv = |layout: &str| {
        json!({ "channels": { "int": 8 }, "data_layout": "NCHW", "dilation": [1, 1], "groups": 1,
            "kernel_layout": layout, "kernel_size": [3, 3], "out_dtype": "", "out_layout": "",
            "padding": [0, 0, 0, 0], "strides": [1, 1] })
    };
    let transposed = |layout: &str| {
        let mut fields = conv(layout);
        fields["output_padding"] = json!([0, 0]);
        fields
    };
    let reduce = json!({ "axis": [1], "keepdims": false, "exclude": false });
    let scales = json!({ "input_zero_point": 3, "kernel_zero_point": 4, "input_scale": 0.5,
        "kernel_scale": 0.25, "units": { "int": 4 }, "out_dtype": "int32" });
    let resize = |field: &str, value: Value| {
        json!({ "size": [4, 4], "layout": "NCHW", "method": "bilinear", "out_dtype": "",
            field: value })
    };
    let pool = json!({ "output_size": [1, 1], "layout": "NHWC" });
    for (minor, operator, args, kind, fields, expected) in [
        // Strings are values in these releases.
        (
            6,
            "nn.conv2d",
            2,
            "Conv2DAttrs",
            conv("HWIO"),
            "nn.conv2d(%x0, %x1, padding=[0, 0, 0, 0], channels=8, kernel_size=[3, 3], kernel_layout=\"HWIO\")",
        ),
        (
            7,
            "nn.conv2d",
            2,
            "Conv2DAttrs",
            conv("OIHW"),
            "nn.conv2d(%x0, %x1, padding=[0, 0, 0, 0], channels=8, kernel_size=[3, 3])",
        ),
        (
            7,
            "nn.contrib_conv2d_NCHWc",
            2,
            "Conv2DAttrs",
            conv("OIHW8i8o"),
            "nn.contrib_conv2d_NCHWc(%x0, %x1, padding=[0, 0, 0, 0], channels=8, kernel_size=[3, 3], kernel_layout=\"OIHW8i8o\")",
        ),
        // The default is another one in 0.14.
        (
            6,
            "nn.conv2d_transpose",
            2,
            "Conv2DTransposeAttrs",
            transposed("OIHW"),
            "nn.conv2d_transpose(%x0, %x1, channels=8, kernel_size=[3, 3], padding=[0, 0, 0, 0])",
        ),
        (
            6,
            "topk",
            1,
            "TopkAttrs",
            json!({ "k": 1, "axis": -1, "ret_type": "both",
            "is_ascend": false, "dtype": "int32" }),
            "topk(%x0, dtype=\"int32\")",
        ),
        (
            7,
            "topk",
            1,
            "TopkAttrs",
            json!({ "k": { "int": 1 }, "axis": -1, "ret_type": "both",
            "is_ascend": false, "dtype": "int32" }),
            "topk(%x0, k=1, dtype=\"int32\")",
        ),
        (
            7,
            "qnn.requantize",
            5,
            "RequantizeAttrs",
            json!({ "axis": -1, "rounding": "UPWARD",
            "out_dtype": "int8" }),
            "qnn.requantize(%x0, %x1, %x2, %x3, %x4, out_dtype=\"int8\")",
        ),
        (
            6,
            "strided_slice",
            1,
            "StridedSliceAttrs",
            json!({ "begin": [0], "end": [2],
            "strides": [] }),
            "strided_slice(%x0, begin=[0], end=[2])",
        ),
        (
            7,
            "strided_slice",
            1,
            "StridedSliceAttrs",
            json!({ "begin": [0], "end": [2],
            "strides": [1], "slice_mode": "size" }),
            "strided_slice(%x0, begin=[0], end=[2], strides=[1], slice_mode=\"size\")",
        ),
        // Attributes that are arguments or do not exist in 0.14.
        (
            6,
            "nn.pad",
            1,
            "PadAttrs",
            json!({ "pad_value": 1, "pad_width": [[1, 2]],
            "pad_mode": "constant" }),
            "nn.pad(%x0, pad_value=1f, pad_width=[[1, 2]])",
        ),
        (
            7,
            "nn.pad",
            1,
            "PadAttrs",
            json!({ "pad_value": 0, "pad_width": [[1, 2]],
            "pad_mode": "edge" }),
            "nn.pad(%x0, pad_width=[[1, 2]], pad_mode=\"edge\")",
        ),
        (
            6,
            "qnn.dense",
            2,
            "QnnDenseAttrs",
            scales,
            "qnn.dense(%x0, %x1, units=4, out_dtype=\"int32\", input_zero_point=3, kernel_zero_point=4, input_scale=0.5f, kernel_scale=0.25f)",
        ),
        (
            7,
            "qnn.dequantize",
            3,
            "DequantizeAttrs",
            json!({ "axis": -1 }),
            "qnn.dequantize(%x0, %x1, %x2)",
        ),
        (
            6,
            "reshape",
            1,
            "ReshapeAttrs",
            json!({ "newshape": [-1], "reverse": false }),
            "reshape(%x0, newshape=[-1])",
        ),
        (
            6,
            "_contrib_reverse_reshape",
            1,
            "ReshapeAttrs",
            json!({ "newshape": [-1],
            "reverse": true }),
            "_contrib_reverse_reshape(%x0, newshape=[-1], reverse=True)",
        ),
        // Operators and classes by their former names.
        (
            6,
            "image.resize",
            1,
            "ResizeAttrs",
            resize("align_corners", json!(true)),
            "image.resize(%x0, size=[4, 4])",
        ),
        (
            7,
            "image.resize",
            1,
            "ResizeAttrs",
            resize("coordinate_transformation_mode", json!("asymmetric")),
            "image.resize(%x0, size=[4, 4], coordinate_transformation_mode=\"asymmetric\")",
        ),
        (
            6,
            "contrib.adaptive_avg_pool2d",
            1,
            "AdaptivePool2DAttrs",
            pool,
            "contrib.adaptive_avg_pool2d(%x0, output_size=[1, 1], layout=\"NHWC\")",
        ),
        (7, "argmax", 1, "ReduceAttrs", reduce.clone(), "argmax(%x0, axis=[1])"),
        (6, "variance", 2, "ReduceAttrs", reduce, "variance(%x0, %x1, axis=[1])"),
        // Operators that are not registered with their attributes.
        (
            7,
            "device_copy",
            1,
            "DeviceCopyAttrs",
            json!({ "src_dev_type": 1, "dst_dev_type": 2 }),
            "device_copy(%x0, meta[relay.attrs.DeviceCopyAttrs][0])",
        ),
        (
            7,
            "scatter",
            3,
            "ScatterAttrs",
            json!({ "axis": { "int": 1 } }),
            "scatter(%x0, %x1, %x2, meta[relay.attrs.ScatterAttrs][0])",
        ),
        (
            7,
            "annotation.compiler_begin",
            1,
            "CompilerAttrs",
            json!({ "compiler": "dnnl" }),
            "annotation.compiler_begin(%x0, meta[relay.attrs.CompilerAttrs][0])",
        ),
        // In 0.8 strings are values in some classes, and the text is that of 0.14.
        (
            8,
            "take",
            2,
            "TakeAttrs",
            json!({ "batch_dims": { "int": 0 }, "axis": { "int": 0 },
            "mode": "fast" }),
            "take(%x0, %x1, axis=0, mode=\"fast\")",
        ),
        (
            8,
            "qnn.dequantize",
            3,
            "DequantizeAttrs",
            json!({ "axis": 0 }),
            "qnn.dequantize(%x0, %x1, %x2, axis=0)",
        ),
    ] {
        assert_eq!(call(minor, operator, args, kind, fields), expected, "0.{minor}");
    }
}

#[test]
fn attributes_of_functions_are_printed() {
    for minor in [6, 7] {
        let mut writer = Writer::new(minor);
        let one: u32 = writer.element(&json!(1)).parse().expect("an index");
        let name = match minor {
            6 => writer.node("StringImm", json!({ "dtype": "handle", "value": "dnnl" })),
            _ => writer.name("dnnl"),
        };
        let name: u32 = name.parse().expect("an index");
        let strings = if minor == 6 { "StrMap" } else { "Map" };
        let dict = writer.push(json!({ "type_key": strings, "keys": ["Compiler", "Primitive"],
            "data": [name, one] }));
        let attrs = writer.node("DictAttrs", json!({ "__dict__": dict }));
        let operator = writer.operator("nn.relu");
        let inner = writer.variable("p0");
        let body = writer.call(&operator, std::slice::from_ref(&inner), "0");
        let inner = writer.function(&[inner], &body, &attrs);
        let outer = writer.variable("x");
        let bound = writer.variable("y");
        let value = writer.call(&inner, std::slice::from_ref(&outer), "0");
        let fields = json!({ "var": bound, "value": value, "body": bound, "span": "0",
            "_checked_type_": "0" });
        let body = writer.node("relay.Let", fields);
        let function = writer.function(&[outer], &body, "0");
        let expected = "\
#[version = \"0.0.5\"]
def @main(%x: Tensor[(2), float32]) {
  %0 = fn (%p0: Tensor[(2), float32], Compiler=\"dnnl\", Primitive=1) {
    nn.relu(%p0)
  };
  let %y: Tensor[(2), float32] = %0(%x);
  %y
}

#[metadata]
";
        let text = writer.text(&function);
        assert!(text.starts_with(expected), "{text}");
    }
}

/// TVM 0.6 names the fields of a place in the text in another way, and has unsigned numbers of a kind of
/// their own.
#[test]
fn places_and_unsigned_numbers_of_0_6_are_read() {
    let mut writer = Writer::new(6);
    let source = writer.push(json!({ "type_key": "relay.SourceName", "global_key": "net.py" }));
    let span = json!({ "source": source, "lineno": "3", "col_offset": "5" });
    let span = writer.node("relay.Span", span);
    let param = writer.variable("x");
    let at: usize = param.parse().expect("an index");
    writer.nodes[at]["attrs"]["span"] = span.into();
    let flag: u32 =
        writer.node("UIntImm", json!({ "dtype": "bool", "value": "1" })).parse().unwrap();
    let dict = writer.push(json!({ "type_key": "StrMap", "keys": ["flag"], "data": [flag] }));
    let attrs = writer.node("DictAttrs", json!({ "__dict__": dict }));
    let function = writer.function(std::slice::from_ref(&param), &param, &attrs);
    let text = writer.text(&function);
    let head = "def @main(%x: Tensor[(2), float32] /* span=net.py:3:5 */, flag=True) {";
    assert_eq!(text.lines().nth(1), Some(head), "{text}");
}

#[test]
fn missing_fields_are_errors_with_a_place() {
    let mut writer = Writer::new(7);
    let param = writer.variable("x");
    let attrs = writer.node("relay.attrs.PadAttrs", json!({ "pad_mode": "edge" }));
    let operator = writer.operator("nn.pad");
    let body = writer.call(&operator, std::slice::from_ref(&param), &attrs);
    writer.nodes[1] = writer.nodes[body.parse::<usize>().unwrap()].clone();
    let json = json!({ "root": 1, "nodes": writer.nodes, "attrs": { "tvm_version": "0.7.0" } });
    let error = convert(&json.to_string()).expect_err("an error");
    assert_eq!(error.code, "bad-graph");
    assert!(error.place.contains("relay.attrs.PadAttrs"), "{error}");
    assert!(error.message.contains("no field `pad_width`"), "{error}");
    assert!(!error.help.is_empty());
}

/// Entries of the metadata section have the names of 0.6, and names that are values there become nodes in
/// any order.
#[test]
fn sizes_and_type_variables_have_their_names() {
    for (minor, key) in [(6, "Variable"), (7, "tir.Var")] {
        let mut writer = Writer::new(minor);
        let param = match minor {
            6 => {
                let var = writer.node("Variable", json!({ "dtype": "int32", "name": "A" }));
                writer.node("relay.TypeVar", json!({ "kind": "0", "span": "0", "var": var }))
            }
            _ => {
                let name = writer.name("A");
                writer.node("TypeVar", json!({ "kind": "0", "span": "0", "name_hint": name }))
            }
        };
        let name = writer.name("n");
        let size = writer.node(key, json!({ "dtype": "int32", "name": name }));
        let x = writer.variable("x");
        let shape = writer.array(&[size]);
        let ty = json!({ "dtype": "float32", "shape": shape, "span": "0" });
        let ty = writer.node("relay.TensorType", ty);
        writer.nodes[x.parse::<usize>().unwrap()]["attrs"]["type_annotation"] = ty.into();
        let function = writer.function(std::slice::from_ref(&x), &x, "0");
        let params = writer.array(&[param]);
        writer.nodes[function.parse::<usize>().unwrap()]["attrs"]["type_params"] = params.into();
        let text = writer.text(&function);
        let head = format!("def @main[A](%x: Tensor[(meta[{key}][0]), float32]) {{");
        assert_eq!(text.lines().nth(1), Some(&*head), "{text}");
        assert!(text.contains("\"repr_str\": \"n\""), "{text}");
    }
}

/// A scalar of 16 bits, `7i16`, is an entry of the metadata section in 0.6 and 0.7.
#[test]
fn scalars_have_the_literals_of_their_release() {
    for (minor, body) in [(7, "meta[relay.Constant][0]"), (14, "7i16")] {
        let mut bytes = 0xDD5E_40F0_96B4_A13Fu64.to_le_bytes().to_vec();
        bytes.extend(0u64.to_le_bytes());
        // The device, no axes, and the data type.
        bytes.extend([1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 16, 1, 0]);
        bytes.extend(2u64.to_le_bytes());
        bytes.extend(7i16.to_le_bytes());
        let nodes = json!([{ "type_key": "" }, { "type_key": "relay.Constant", "attrs":
            { "data": "0", "span": "0", "_checked_type_": "0", "virtual_device_": "0" } }]);
        let json = json!({ "root": 1, "nodes": nodes, "b64ndarrays": [STANDARD.encode(bytes)],
            "attrs": { "tvm_version": format!("0.{minor}.0") } });
        let text = convert(&json.to_string()).expect("text");
        assert_eq!(text.lines().nth(1), Some(body), "{text}");
    }
}
