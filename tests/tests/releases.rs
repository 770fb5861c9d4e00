//! The history of operators against the sources of each release of TVM, if the corpus is present.

use std::collections::{BTreeMap, BTreeSet};

use relay_tests::corpus;
use serde_json::Value;
use types::{AttrDefault, Release};

/// Names that TVM's registry has without a type relation: no call of them types.
const WITHOUT_RULE: &[(&str, &str)] = &[
    ("hardswish", "Python hangs a hook on the name, and defines no operator"),
    ("log1p", "as `hardswish`"),
    ("relu", "as `hardswish`"),
    ("scatter", "since 0.12 as `hardswish`; before, it is a row of its own"),
    ("vision.multibox_detection", "as `hardswish`"),
];

/// Operators of other releases that are not read, with the reason.
const UNREAD: &[(&str, &str)] = &[
    ("nn.contrib_conv2d_winograd_nnpack_without_weight_transform", "of 0.6 alone, never printed"),
    ("vision.nms", "of 0.5 alone, whose printer and reader do not agree"),
];

/// Names in the table that no release registers, with the reason.
const OURS: &[(&str, &str)] = &[("torch_op", "only in builds with PyTorch")];

/// The operators of each release, by name.
fn registered() -> Option<BTreeMap<Release, BTreeMap<String, Value>>> {
    let text = std::fs::read_to_string(corpus::versions()?.join("operators.json"));
    let all: BTreeMap<String, BTreeMap<String, Value>> =
        serde_json::from_str(&text.expect("a file of the corpus")).expect("JSON");
    let release = |name: &str| Release::parse(name).expect("a release");
    Some(all.into_iter().map(|(name, operators)| (release(&name), operators)).collect())
}

fn is_listed(list: &[(&str, &str)], name: &str) -> bool {
    list.iter().any(|(listed, _)| *listed == name)
}

/// A release registers a name exactly if the table says that it has an operator of that name.
#[test]
fn operators_exist_in_the_releases_that_register_them() {
    let Some(registered) = registered() else { return };
    let mut differences = Vec::new();
    let rows = || {
        let others = operators::other_versions().map(|other| &other.operator);
        operators::all().chain(others)
    };
    for (&release, names) in &registered {
        let has = |name: &str| {
            rows().any(|row| {
                let former = |(former, releases): &(&str, types::Releases)| {
                    *former == name && releases.has(release)
                };
                row.name == name && row.releases.has(release) || row.formerly.iter().any(former)
            })
        };
        for name in names.keys() {
            if !has(name) && !is_listed(WITHOUT_RULE, name) && !is_listed(UNREAD, name) {
                differences.push(format!("TVM {release} has `{name}`"));
            }
        }
        for row in rows().filter(|row| row.releases.has(release)) {
            if !names.contains_key(row.name)
                && !is_listed(OURS, row.name)
                && !is_listed(WITHOUT_RULE, row.name)
            {
                differences.push(format!("TVM {release} has no `{}`", row.name));
            }
        }
    }
    assert!(differences.is_empty(), "{differences:#?}");
}

/// Differences between the attributes of the table and those of the releases, with the reason: an operator, an
/// attribute, and why.
const EXPLAINED: &[(&str, &str, &str)] = &[
    ("call_lowered", "metadata", "0.8 requires it, and is read without it"),
    ("dyn.nn.pad", "pad_value", "of 0.7, where its third argument is the value, too"),
    ("dyn.reshape", "reverse", "of 0.7, where the value must be false"),
    ("image.resize", "align_corners", "false in 0.5, whose text has no attributes"),
    ("image.resize", "method", "in capitals in 0.5, whose text has no attributes"),
    ("image.resize3d", "method", "`trilinear` in 0.7, which is `linear`"),
    (
        "memory.alloc_storage",
        "assert_shape",
        "0.6 makes the call with the set of `memory.alloc_tensor`",
    ),
    ("memory.alloc_storage", "const_shape", "as `assert_shape`"),
    ("memory.alloc_storage", "device_id", "one form for 0.6 to 0.13"),
    ("memory.alloc_storage", "device_type", "as `device_id`"),
    (
        "memory.alloc_storage",
        "virtual_device",
        "required by 0.9 to 0.13, which have one form with 0.6",
    ),
    (
        "nn.contrib_conv2d_gemm_weight_transform",
        "tile_K",
        "of 0.15: the result is that of a pass for Arm",
    ),
    ("nn.contrib_conv2d_gemm_weight_transform", "tile_N", "as `tile_K`"),
    ("nn.conv1d_transpose", "kernel_layout", "`OIW` up to 0.11 is what 0.12 names `IOW`"),
    ("nn.conv2d_transpose", "kernel_layout", "`OIHW` up to 0.11 is what 0.12 names `IOHW`"),
    ("nn.conv3d_transpose", "kernel_layout", "`OIDHW` up to 0.11 is what 0.12 names `IODHW`"),
    ("nn.upsampling", "method", "in capitals in 0.5, whose text has no attributes"),
    ("nn.upsampling", "scale", "of 0.5, whose text has no attributes"),
    ("on_device", "is_fixed", "one form for 0.5 to 0.8"),
    ("qnn.conv2d_transpose", "kernel_layout", "as `nn.conv2d_transpose`"),
    ("qnn.dense", "out_dtype", "required by 0.6, and read without it"),
    ("relay.op.annotation.simulated_quantize", "kind", "TVM reads a call without it"),
    ("scatter_nd", "mode", "required up to 0.11, and read without it"),
    ("torch_op", "len", "only in builds with PyTorch"),
    ("torch_op", "serialized_function", "only in builds with PyTorch"),
    ("vision.non_max_suppression", "max_output_size", "required by 0.7, and read without it"),
];

/// Returns a default as the sources write it in one of several ways: `NullValue<DataType>()`, `String("NCHW")`.
fn default_in_source(attr: &Value) -> String {
    let Some(text) = attr["default"].as_str() else { return "required".to_owned() };
    let is_null = ["NullValue", "nullptr", "NullOpt", "Map<"].iter().any(|it| text.starts_with(it));
    if is_null || text.ends_with("FullyUnconstrained()") {
        return "null".to_owned();
    }
    if let Some((_, string)) = text.split_once('"') {
        return format!("\"{}\"", string.split('"').next().unwrap_or_default());
    }
    let numbers: Vec<String> = text
        .split_once('{')
        .map_or(text, |(_, list)| list)
        .split([',', '{', '}', '(', ')'])
        .filter_map(|part| part.trim().trim_end_matches('f').parse::<f64>().ok())
        .map(|number| number.to_string())
        .collect();
    match attr["type"].as_str().unwrap_or_default() {
        "bool" | "Bool" => {
            (text.contains("true") || numbers.first().is_some_and(|it| it == "1")).to_string()
        }
        "DataType" => {
            let kind = text.trim_start_matches("DataType::").split('(').next().unwrap_or_default();
            format!("{}{}", kind.to_lowercase(), numbers.first().cloned().unwrap_or_default())
        }
        _ => numbers.join(","),
    }
}

/// Returns a default of the table in the same notation.
fn default_in_table(default: &AttrDefault) -> String {
    fn list<T: ToString>(values: &[T]) -> String {
        values.iter().map(T::to_string).collect::<Vec<_>>().join(",")
    }
    match default {
        AttrDefault::Required => "required".to_owned(),
        AttrDefault::None => "null".to_owned(),
        AttrDefault::DType(dtype) if *dtype == types::DataType::VOID => "null".to_owned(),
        AttrDefault::DType(dtype) => dtype.to_string(),
        AttrDefault::Int(value) => (*value as f64).to_string(),
        AttrDefault::Bool(value) => value.to_string(),
        AttrDefault::Float(value) => value.to_string(),
        AttrDefault::Str(text) => format!("\"{text}\""),
        AttrDefault::Ints(values) => list(values),
        AttrDefault::Floats(values) => list(values),
    }
}

/// The attributes of the operators of each release, and their defaults, are those of the table, both ways.
#[test]
fn attributes_are_those_of_each_release() {
    let Some(registered) = registered() else { return };
    let others = operators::other_versions().map(|other| &other.operator);
    let rows: Vec<&operators::Operator> = operators::all().chain(others).collect();
    let mut differences: BTreeMap<(&str, String, String), Vec<Release>> = BTreeMap::new();
    let (mut checked, mut used) = (0, BTreeSet::new());
    for (&release, names) in &registered {
        let rows =
            rows.iter().filter(|row| !is_listed(WITHOUT_RULE, row.name) || row.schema.is_some());
        for row in rows.filter(|row| row.releases.has(release)) {
            let Some(known) = names.get(row.name) else { continue };
            // Those that a text can specify, and those that passes create calls with.
            let sources = [&known["attrs"], &known["made_attrs"]];
            let source = |name: &str| sources.iter().find_map(|attrs| attrs.get(name));
            let ours: BTreeMap<&str, AttrDefault> =
                operators::attributes_in(row, release).into_iter().collect();
            let mut differ = |attribute: &str, what: String| {
                let is_explained = |(operator, name, _): &&(&str, &str, &str)| {
                    *operator == row.name && *name == attribute
                };
                match EXPLAINED.iter().find(is_explained) {
                    Some(explained) => _ = used.insert(*explained),
                    None => {
                        let key = (row.name, attribute.to_owned(), what);
                        differences.entry(key).or_default().push(release);
                    }
                }
            };
            for (name, default) in &ours {
                match source(name) {
                    None => differ(name, "only in the table".to_owned()),
                    Some(theirs) => {
                        let (a, b) = (default_in_table(default), default_in_source(theirs));
                        if a != b {
                            differ(name, format!("{a} in the table, {b} in the release"));
                        }
                    }
                }
                checked += 1;
            }
            for attrs in sources.iter().filter_map(|attrs| attrs.as_object()) {
                for name in attrs.keys().filter(|name| !ours.contains_key(name.as_str())) {
                    differ(name, "only in the release".to_owned());
                }
            }
        }
    }
    let show =
        |((operator, attribute, what), releases): (&(&str, String, String), &Vec<Release>)| {
            let releases: Vec<String> = releases.iter().map(Release::to_string).collect();
            format!("`{attribute}` of `{operator}` is {what}: {}", releases.join(" "))
        };
    let differences: Vec<String> = differences.iter().map(show).collect();
    assert!(differences.is_empty(), "{differences:#?}");
    assert!(checked > 4_000, "{checked}");
    let unused: Vec<_> = EXPLAINED.iter().filter(|explained| !used.contains(*explained)).collect();
    assert!(unused.is_empty(), "{unused:#?}");
}
