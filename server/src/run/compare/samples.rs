//! Comparisons on several samples of inputs.

use std::path::PathBuf;

use rustc_hash::FxHashMap;
use syntax::TextRange;

use super::{Comparison, Inputs, PairComparison, Stop};
use crate::run::files::ArgumentFile;

/// The samples of a comparison.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Samples {
    /// So many, with other random arguments.
    Seeds(u16),
    /// The archives of a folder.
    Folder(PathBuf),
}

/// The most samples.
const MOST: usize = 10_000;

impl Samples {
    /// Parses the option of the command line: a number, or a folder.
    ///
    /// # Errors
    /// The message for another text.
    pub(crate) fn parse(text: &str) -> Result<Samples, String> {
        match text.parse::<u16>() {
            Ok(count) if count > 0 && usize::from(count) <= MOST => Ok(Samples::Seeds(count)),
            Ok(_) => Err(format!("expected a number from 1 to {MOST}, or a folder")),
            Err(_) if PathBuf::from(text).is_dir() => Ok(Samples::Folder(text.into())),
            Err(_) => Err("it is neither a number nor a folder".to_owned()),
        }
    }

    /// Returns the samples of inputs, in order.
    ///
    /// # Errors
    /// The folder has no archives or too many, or cannot be read.
    pub(crate) fn inputs(&self, common: &Inputs) -> Result<Vec<Sample>, String> {
        match self {
            Samples::Seeds(count) => {
                let first = common.seed.unwrap_or_default();
                let sample = |number: u64| {
                    let seed = first.wrapping_add(number);
                    let inputs = Inputs { seed: Some(seed), ..common.clone() };
                    Sample { name: format!("seed {seed}"), inputs }
                };
                Ok((0..u64::from(*count)).map(sample).collect())
            }
            Samples::Folder(folder) => {
                let shown = folder.display();
                let fail = |error: std::io::Error| format!("cannot read `{shown}`: {error}");
                let entries = std::fs::read_dir(folder).map_err(fail)?;
                let paths: Result<Vec<PathBuf>, std::io::Error> =
                    entries.take(MOST + 1).map(|entry| Ok(entry?.path())).collect();
                let mut paths = paths.map_err(fail)?;
                if paths.len() > MOST {
                    return Err(format!("`{shown}` has more than {MOST} files"));
                }
                paths.retain(|path| path.extension().is_some_and(|it| it == "npz"));
                paths.sort();
                if paths.is_empty() {
                    return Err(format!("`{shown}` has no `.npz` file"));
                }
                Ok(paths.into_iter().map(|path| Sample::of_archive(path, common)).collect())
            }
        }
    }
}

/// The inputs of one run.
pub(crate) struct Sample {
    /// Its name: the seed or the file.
    pub(crate) name: String,
    /// The inputs.
    pub(crate) inputs: Inputs,
}

impl Sample {
    fn of_archive(path: PathBuf, common: &Inputs) -> Sample {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
        let mut inputs = common.clone();
        inputs.archives.push(ArgumentFile { path, within: None, part: None });
        Sample { name: name.unwrap_or_default(), inputs }
    }
}

impl Comparison {
    /// Adds the comparison on another sample, with its number. Of each pair the worst error is kept.
    pub(crate) fn merge(&mut self, other: Comparison, sample: usize) {
        let numbers = self.pairs.iter().map(|compared| compared.pair).zip(0..);
        let by_pair: FxHashMap<usize, usize> = numbers.collect();
        for mut compared in other.pairs {
            compared.sample = sample;
            match by_pair.get(&compared.pair) {
                Some(at) => self.pairs[*at].merge(compared),
                None => self.pairs.push(compared),
            }
        }
        // They are not known if those of one sample are not.
        let results = self.result.zip(other.result);
        if results.is_some_and(|(old, new)| new.exceeds(&old)) {
            self.result_sample = sample;
        }
        self.result = results.map(|(old, new)| old.or_worse(new));
        self.is_equal &= other.is_equal;
        self.is_visible |= other.is_visible;
        let before = merged(&mut self.stops.0, other.stops.0);
        let after = merged(&mut self.stops.1, other.stops.1);
        for (pair, mut missing) in other.missing {
            let numbers = if missing.is_before { &before } else { &after };
            if let Some(number) = numbers.get(missing.stop) {
                missing.stop = *number;
                self.missing.entry(pair).or_insert(missing);
            }
        }
    }
}

/// Adds stops to others, each place once. Returns their numbers there.
fn merged(stops: &mut Vec<Stop>, more: Vec<Stop>) -> Vec<usize> {
    let mut by_place: FxHashMap<TextRange, usize> =
        stops.iter().map(|stop| stop.range).zip(0..).collect();
    let mut add = |stop: Stop| {
        *by_place.entry(stop.range).or_insert_with(|| {
            stops.push(stop);
            stops.len() - 1
        })
    };
    more.into_iter().map(&mut add).collect()
}

impl PairComparison {
    /// Adds the comparison of the same pair on another sample.
    fn merge(&mut self, other: PairComparison) {
        let accumulated = self.accumulated.zip(other.accumulated);
        self.accumulated = accumulated.map(|(old, new)| old.or_worse(new));
        // An error that is tolerated in one sample may be larger than one that is not in another.
        let is_worse = match self.is_culprit == other.is_culprit {
            true => other.local.exceeds(&self.local),
            false => other.is_culprit,
        };
        if is_worse {
            self.local = other.local.with(self.local);
            (self.values, self.histogram) = (other.values, other.histogram);
            self.ordinary_values = other.ordinary_values;
            self.sample = other.sample;
        } else {
            self.local = self.local.with(other.local);
        }
        self.is_culprit |= other.is_culprit;
        self.is_tolerated &= other.is_tolerated;
    }
}
