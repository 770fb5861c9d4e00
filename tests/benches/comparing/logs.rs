//! Logs of passes of which one is wrong.

use relay_tests::{corpus, logs::faulty_log};

use super::rate;

const NETWORKS: [&str; 6] = ["resnet18", "mobilenet", "lstm10", "synthetic", "mlp", "bert-base"];

/// Searches `count` seeded logs of networks, of 8 to 32 modules each.
pub(crate) fn measure(count: usize, names: &[&str]) -> bool {
    let names = if names.is_empty() { &NETWORKS } else { names };
    let (mut passes, mut bindings, mut within, mut all) = (0, 0, 0, 0);
    println!("\nlogs of {}", names.join(", "));
    // A fault that changes no value is no log: other seeds follow.
    for seed in 0..4 * count {
        if all == count {
            break;
        }
        let mut random = fastrand::Rng::with_seed(seed as u64);
        let name = names[random.usize(..names.len())];
        let modules = random.usize(8..=32);
        let Some(network) = corpus::model(name) else { return false };
        let Some(log) = faulty_log(&network, modules, &mut random) else { continue };
        let found = log.search();
        all += 1;
        passes += usize::from(found.is_pass);
        bindings += usize::from(found.is_pass && found.is_binding);
        within += usize::from(found.runs <= log.most_runs());
        println!(
            "  {name}, seed {seed}: {:?} in module {} of {modules}: pass {}, binding {}, {} runs of {}",
            log.kind,
            log.wrong,
            if found.is_pass { "named" } else { "*** not named" },
            if found.is_binding { "named" } else { "*** not named" },
            found.runs,
            log.most_runs(),
        );
    }
    let all = [
        rate("the wrong pass is named", (passes, all), 100),
        rate("and the binding", (bindings, all), 100),
        rate("within log2 n + 2 runs", (within, all), 100),
    ];
    all.iter().all(|fine| *fine)
}
