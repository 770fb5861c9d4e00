//! Seeded faults in networks.

use std::collections::BTreeMap;

use relay_tests::{
    corpus,
    faults::{FaultKind, faulty},
};

use super::rate;

const NETWORKS: [&str; 4] = ["resnet50", "bert-base", "tv-swin_t", "mobilenet"];

/// What was found of the modules of one kind of fault.
#[derive(Default)]
struct Rates {
    modules: usize,
    /// Those whose fault is the first culprit.
    named: usize,
    /// Those without other culprits.
    exact: usize,
}

/// Compares networks with `count` single faults, and a third as many with two, with the networks themselves.
pub(crate) fn measure(count: usize, names: &[&str]) -> bool {
    let names = if names.is_empty() { &NETWORKS } else { names };
    let mut by_kind: BTreeMap<FaultKind, Rates> = BTreeMap::new();
    for seed in 0..count {
        let Some((faults, found)) = compared(names, 1, seed as u64) else { continue };
        let rates = by_kind.entry(faults[0].1).or_default();
        rates.modules += 1;
        rates.named += usize::from(found.first() == Some(&faults[0].0));
        rates.exact += usize::from(found.iter().all(|at| *at == faults[0].0));
    }
    let mut two = (0, 0);
    for seed in 0..count / 3 {
        let Some((faults, found)) = compared(names, 2, (1 << 32) + seed as u64) else { continue };
        two = (two.0 + usize::from(faults.iter().all(|fault| found.contains(&fault.0))), two.1 + 1);
    }
    println!("\nfaults in {}", names.join(", "));
    for (kind, rates) in &by_kind {
        println!("  {kind:?}: {} of {} named, {} exact", rates.named, rates.modules, rates.exact);
    }
    let sum = |of: fn(&Rates) -> usize| by_kind.values().map(of).sum::<usize>();
    let modules = sum(|rates| rates.modules);
    let all = [
        rate("named as the first local divergence", (sum(|rates| rates.named), modules), 98),
        rate("no other binding blamed", (sum(|rates| rates.exact), modules), 95),
        rate("two faults, both named in one run", two, 95),
    ];
    all.iter().all(|fine| *fine)
}

/// The offsets of the faulty calls with their kinds, and those of the culprits, the first one first.
type Outcome = (Vec<(usize, FaultKind)>, Vec<usize>);

fn compared(names: &[&str], count: usize, seed: u64) -> Option<Outcome> {
    let mut random = fastrand::Rng::with_seed(seed);
    let name = names[random.usize(..names.len())];
    let text = corpus::model(name)?;
    let wrong = faulty(&text, count, &mut random)?;
    let found = wrong.culprits(&text)?;
    let is_right = wrong.faults.iter().all(|fault| found.contains(&fault.0))
        && found.len() == wrong.faults.len();
    if !is_right {
        let line = |at: usize| wrong.text[at..].lines().next().unwrap_or_default().to_owned();
        println!("{name}, seed {seed}");
        wrong.faults.iter().for_each(|(at, kind)| println!("  fault    {kind:?} {}", line(*at)));
        found.iter().take(4).for_each(|at| println!("  culprit  {}", line(*at)));
    }
    Some((wrong.faults, found))
}
