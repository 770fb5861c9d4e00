//! Refused modules of the corpus in networks, which become small again.

use std::time::{Duration, Instant};

use relay_tests::refused::{errors, in_networks};

use super::rate;

/// The longest time of a reduction.
const TIME: Duration = Duration::from_secs(5);

/// Reduces `count` modules.
pub(crate) fn measure(count: usize) -> bool {
    let Some(modules) = in_networks(count) else { return false };
    let mut sizes = Vec::new();
    let mut times = Vec::new();
    let (mut tried, mut formed, mut kept) = (0, 0, 0);
    for module in modules {
        let start = Instant::now();
        let reduced = module.reduce();
        let time = start.elapsed();
        let (before, after) = (errors(&module.text), errors(&reduced.text));
        let is_kept = after.contains(&module.code) && after.iter().all(|it| before.contains(it));
        kept += usize::from(is_kept);
        if !is_kept || reduced.bindings > 20 || time > TIME || reduced.formed < reduced.tried {
            println!(
                "  {}, {}: {} bindings, {} of {} candidates well-formed, {time:.1?}: {after:?}",
                module.id, module.code, reduced.bindings, reduced.formed, reduced.tried,
            );
        }
        sizes.push(reduced.bindings);
        times.push(time);
        (tried, formed) = (tried + reduced.tried as usize, formed + reduced.formed as usize);
    }
    sizes.sort_unstable();
    times.sort_unstable();
    let all = sizes.len();
    if all == 0 {
        return false;
    }
    let quantile = |percent: usize| (all * percent / 100).min(all - 1);
    println!(
        "\n{all} refused modules in networks: {} bindings in the median, {} at 95 %; {:.2?} in the median, {:.2?} at 95 %, {:.2?} at most; {tried} candidates",
        sizes[quantile(50)],
        sizes[quantile(95)],
        times[quantile(50)],
        times[quantile(95)],
        times[all - 1],
    );
    let within = |most: u64| sizes.iter().filter(|size| **size <= most).count();
    let all = [
        rate("keep their error and have no other", (kept, all), 100),
        rate("at most 8 bindings", (within(8), all), 50),
        rate("at most 20 bindings", (within(20), all), 95),
        rate("candidates are well-formed", (formed, tried), 99),
        rate("within 5 s", (times.iter().filter(|time| **time <= TIME).count(), all), 100),
    ];
    all.iter().all(|fine| *fine)
}
