//! Casts between all data types against numpy: `tests/kernels/casts.py` writes the numbers.

use interpreter::{Machine, Tensor, Value};
use relay_tests::corpus::here;
use semantics::{Database, all_defs};
use serde::Deserialize;
use syntax::ParseLimits;
use types::DataType;

/// Numbers of a data type, and the results of casting them to another one, as bits.
#[derive(Deserialize)]
struct Row {
    from: String,
    to: String,
    before: Vec<u64>,
    after: Vec<u64>,
}

fn rows() -> Vec<Row> {
    let text = std::fs::read_to_string(here().join("kernels/casts.jsonl")).expect("the casts");
    text.lines().map(|line| serde_json::from_str(line).expect("a row")).collect()
}

fn dtype(name: &str) -> DataType {
    DataType::parse(name).expect("a data type")
}

fn tensor(dtype: DataType, bits: &[u64]) -> Tensor {
    let width = dtype.bytes() as usize;
    let bytes: Vec<u8> =
        bits.iter().flat_map(|bits| bits.to_le_bytes()[..width].to_vec()).collect();
    Tensor::from_le_bytes(dtype, &[bits.len()], &bytes).expect("a tensor")
}

fn bits(tensor: &Tensor) -> Vec<u64> {
    let width = tensor.dtype().bytes() as usize;
    let mut all = Vec::new();
    let put = |bytes: &[u8]| -> Result<(), std::convert::Infallible> {
        all.extend(bytes.chunks(width).map(|bytes| {
            let mut bits = [0; 8];
            bits[..width].copy_from_slice(bytes);
            u64::from_le_bytes(bits)
        }));
        Ok(())
    };
    tensor.write_le(put).unwrap_or_else(|never| match never {});
    all
}

/// Returns the first number whose cast differs from numpy. All NaN are equal.
fn wrong(row: &Row, found: &Tensor) -> Option<String> {
    let wanted = tensor(dtype(&row.to), &row.after);
    assert_eq!(found.ty(), wanted.ty());
    let is_nan = |tensor: &Tensor, at: usize| tensor.get_f64(at).is_some_and(f64::is_nan);
    let (found_bits, before) = (bits(found), tensor(dtype(&row.from), &row.before));
    let at = (0..row.after.len()).find(|&at| {
        found_bits[at] != row.after[at] && !(is_nan(found, at) && is_nan(&wanted, at))
    })?;
    let number = |tensor: &Tensor| tensor.get_f64(at).unwrap_or_default();
    let (x, is, should) = (number(&before), number(found), number(&wanted));
    Some(format!(
        "{} {x:e} to {}: {is:e} ({:#x}), not {should:e}",
        row.from, row.to, found_bits[at]
    ))
}

fn run(text: &str, args: Vec<Tensor>) -> Tensor {
    let db = Database::new();
    let file = db.add_file(text, ParseLimits::default());
    let def = all_defs(&db, file).find(|def| def.name(&db) == "@main").expect("@main");
    let args = args.into_iter().map(Value::from).collect();
    let value = Machine::new(&db).run(def, args, None).expect("a value");
    value.as_tensor().expect("a tensor").clone()
}

#[test]
fn casts_equal_those_of_numpy() {
    let rows = rows();
    assert_eq!(rows.len(), 13 * 12);
    let mut found = Vec::new();
    for row in &rows {
        let from = tensor(dtype(&row.from), &row.before);
        let (count, to) = (row.before.len(), &row.to);
        let param = format!("%x: Tensor[({count}), {}]", row.from);
        let cast =
            run(&format!("def @main({param}) {{ cast(%x, dtype=\"{to}\") }}"), vec![from.clone()]);
        found.extend(wrong(row, &cast));
        let like = Tensor::zeros(dtype(to), &[1]).expect("a tensor");
        let text = format!("def @main({param}, %y: Tensor[(1), {to}]) {{ cast_like(%x, %y) }}");
        found.extend(wrong(row, &run(&text, vec![from, like])));
    }
    assert!(found.is_empty(), "{} are wrong:\n{}", found.len(), found.join("\n"));
}

/// Numbers from texts, attributes and random generators are converted like casts.
#[test]
fn tensors_from_numbers_use_the_same_casts() {
    let mut found = Vec::new();
    for row in &rows() {
        let (from, to) = (tensor(dtype(&row.from), &row.before), dtype(&row.to));
        let count = row.before.len();
        let made = if from.dtype().is_float() || from.dtype().is_bfloat() {
            Tensor::from_f64s(to, &[count], from.to_f64s())
        } else if from.dtype() == DataType::UINT64 && (to.is_float() || to.is_bfloat()) {
            // This function supports only signed integers.
            continue;
        } else {
            Tensor::from_i64s(to, &[count], from.to_i64s())
        };
        found.extend(wrong(row, &made.expect("a tensor")));
    }
    assert!(found.is_empty(), "{} are wrong:\n{}", found.len(), found.join("\n"));
}

/// The cases include numbers that no integer represents, for every width.
#[test]
fn cases_include_numbers_out_of_range_for_every_width() {
    let is_float = |name: &str| name.contains("float");
    for row in rows().iter().filter(|row| is_float(&row.from)) {
        let numbers = tensor(dtype(&row.from), &row.before).to_f64s();
        for wanted in [f64::INFINITY, f64::NEG_INFINITY] {
            assert!(numbers.contains(&wanted), "{} to {}", row.from, row.to);
        }
        assert!(numbers.iter().any(|x| x.is_nan()), "{} to {}", row.from, row.to);
    }
}
