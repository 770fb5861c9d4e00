//! Laws of type relations, on the calls of the markdown tests and variations of them.

use std::collections::HashMap;

use relay_tests::calls::{Call, map_sizes, of_pages, variations};
use types::{DataType, Dim, State, Type, probe};

/// Returns the calls of the pages and their variations.
fn calls(seed: u64) -> Vec<Call> {
    let mut rng = fastrand::Rng::with_seed(seed);
    let pages = of_pages();
    let more = pages.iter().flat_map(|call| variations(call, &mut rng, 12)).collect::<Vec<_>>();
    [pages, more].concat()
}

/// Solves a call with other arguments, and returns the state and the type of the result.
fn solve(call: &Call, args: &[Type]) -> Option<(State, Type)> {
    let relation = call.relation()?;
    let (state, types) = probe(&relation, call.operator.args, args);
    let result = types.last().cloned()?;
    Some((state, result))
}

/// Returns true if two types agree as far as both are known.
fn agree(a: &Type, b: &Type) -> bool {
    match (a, b) {
        (Type::Tensor(a), Type::Tensor(b)) => {
            a.dtype == b.dtype
                && a.shape.len() == b.shape.len()
                && a.shape.iter().zip(&b.shape).all(|(a, b)| match (a.as_known(), b.as_known()) {
                    (Some(a), Some(b)) => a == b,
                    _ => true,
                })
        }
        (Type::Tuple(a), Type::Tuple(b)) => {
            a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| agree(a, b))
        }
        (Type::Var(_) | Type::Error | Type::OpenTensor(_), _)
        | (_, Type::Var(_) | Type::Error | Type::OpenTensor(_)) => true,
        (a, b) => a == b,
    }
}

/// Returns the number of known sizes.
fn known(ty: &Type) -> usize {
    match ty {
        Type::Tensor(tensor) => tensor.shape.iter().filter(|dim| dim.as_known().is_some()).count(),
        Type::Tuple(fields) => fields.iter().map(known).sum(),
        _ => 0,
    }
}

#[test]
fn solved_calls_can_be_solved_again() {
    let calls = calls(10);
    for call in &calls {
        let Some((state, result)) = solve(call, &call.args) else { continue };
        // Both solvers agree with inference.
        if matches!(state, State::Solved) {
            assert!(agree(&result, &call.result), "{call:?} gives {result}");
        }
        let again = solve(call, &call.args).map(|(_, result)| result);
        assert_eq!(again.as_ref(), Some(&result), "{call:?}");
    }
}

/// Ensures that the other tests have more cases than the pages.
#[test]
fn variations_cover_most_operators() {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for call in calls(13) {
        *counts.entry(call.operator.name).or_default() += 1;
    }
    let varied = counts.values().filter(|count| **count >= 5).count();
    assert!(varied > 250, "{varied} operators of {}: {counts:?}", counts.len());
}

/// With erased sizes, a relation yields the same result or a less specific one.
#[test]
fn erasing_sizes_does_not_contradict() {
    let mut rng = fastrand::Rng::with_seed(1);
    let mut wrong: Vec<String> = Vec::new();
    // TVM itself subtracts the kernel from a size only if another size is known.
    let odd = [
        "nn.contrib_conv2d_gemm_without_weight_transform",
        "nn.contrib_conv3d_winograd_without_weight_transform",
    ];
    for call in calls(161).iter().filter(|call| !odd.contains(&call.operator.name)) {
        let Some((State::Solved, full)) = solve(call, &call.args) else { continue };
        for round in 0..6 {
            let args: Vec<Type> = call
                .args
                .iter()
                .map(|ty| {
                    map_sizes(ty, &mut |dim| match round == 0 || rng.bool() {
                        true => Dim::Any,
                        false => dim.clone(),
                    })
                })
                .collect();
            let Some((State::Solved, less)) = solve(call, &args) else { continue };
            if !agree(&less, &full) {
                let args: Vec<String> = args.iter().map(Type::to_string).collect();
                wrong.push(format!(
                    "{}({}): {less}, and {full}",
                    call.operator.name,
                    args.join(", ")
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// More known sizes never make a size of the result unknown.
#[test]
fn relations_are_monotone() {
    let mut rng = fastrand::Rng::with_seed(2);
    for call in &calls(162) {
        let Some((State::Solved, full)) = solve(call, &call.args) else { continue };
        for _ in 0..4 {
            let args: Vec<Type> = call
                .args
                .iter()
                .map(|ty| map_sizes(ty, &mut |dim| if rng.bool() { Dim::Any } else { dim.clone() }))
                .collect();
            if let Some((State::Solved, less)) = solve(call, &args) {
                assert!(known(&less) <= known(&full), "{}: {less}, and {full}", call.operator.name);
            }
        }
    }
}

/// Unusual sizes and ranks do not cause a panic.
#[test]
fn unusual_arguments_do_not_panic() {
    let mut rng = fastrand::Rng::with_seed(3);
    let sizes = [0, 1, 2, 7, (1 << 31) - 1, 1 << 31, i64::MAX - 1, i64::MAX];
    let size = |rng: &mut fastrand::Rng| match rng.u8(0..10) {
        0 => Dim::Any,
        1 => Dim::wide(sizes[rng.usize(0..sizes.len())]),
        _ => Dim::known(sizes[rng.usize(0..sizes.len())]),
    };
    let dtypes = [DataType::FLOAT32, DataType::INT8, DataType::INT64, DataType::BOOL];
    for call in &of_pages() {
        for _ in 0..6 {
            let odd: Vec<Type> = call
                .args
                .iter()
                .map(|ty| {
                    map_sizes(ty, &mut |dim| if rng.bool() { size(&mut rng) } else { dim.clone() })
                })
                .collect();
            solve(call, &odd);
        }
        for rank in [0, 1, 2, 5, 12] {
            let other: Vec<Type> = call
                .args
                .iter()
                .map(|ty| match ty {
                    Type::Tuple(fields) if rank == 0 => Type::tuple(fields.iter().take(1).cloned()),
                    _ => {
                        let shape: Vec<Dim> = (0..rank).map(|_| size(&mut rng)).collect();
                        Type::tensor(shape, dtypes[rng.usize(0..dtypes.len())])
                    }
                })
                .collect();
            solve(call, &other);
        }
        // Too few or too many arguments, all unknown.
        solve(call, &[]);
        solve(call, &[call.args.clone(), call.args.clone()].concat());
        solve(call, &vec![Type::unit(); call.args.len()]);
        solve(call, &vec![Type::Error; call.args.len()]);
    }
}

/// Every row of the table has all columns, or a reason.
#[test]
fn operator_table_is_complete() {
    let mut gaps = Vec::new();
    for operator in operators::all() {
        let name = operator.name;
        if operator.rule.is_none() {
            gaps.push(format!("{name}: no relation"));
        }
        if operator.doc.summary.is_empty() {
            gaps.push(format!("{name}: no documentation"));
        }
        if operator.doc.args.len() != operator.args.len() && !operator.variadic {
            gaps.push(format!(
                "{name}: {} arguments, {} documented",
                operator.args.len(),
                operator.doc.args.len()
            ));
        }
        if matches!(operator.cost, operators::Cost::Unknown) {
            gaps.push(format!("{name}: no cost"));
        }
    }
    assert!(gaps.is_empty(), "{} gaps:\n{}", gaps.len(), gaps.join("\n"));
}
