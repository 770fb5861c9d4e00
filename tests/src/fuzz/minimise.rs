//! Minimises failing inputs: removes lines, then tokens, then bytes.

use std::time::{Duration, Instant};

use super::{mutate::Tokens, seeds::Kind};

/// The time limit of a minimisation.
const PATIENCE: Duration = Duration::from_secs(20);

/// Splits an input into pieces, and returns their ends.
type Cut = fn(&[u8]) -> Vec<usize>;

/// Removes pieces of an input as long as it still fails. `fails` returns true if an input fails in the
/// same way.
pub fn minimise(input: &[u8], kind: Kind, mut fails: impl FnMut(&[u8]) -> bool) -> Vec<u8> {
    let begin = Instant::now();
    let mut smallest = input.to_vec();
    let is_text = matches!(kind, Kind::Text | Kind::Edits | Kind::Session);
    let cuts: &[Cut] = if is_text { &[lines, scripts, tokens, letters] } else { &[bytes] };
    // Each round except the last shrinks the input.
    loop {
        let before = smallest.len();
        for cut in cuts {
            smallest = without_pieces(&smallest, *cut, &begin, &mut fails);
        }
        if smallest.len() == before || begin.elapsed() > PATIENCE {
            return smallest;
        }
    }
}

/// Removes as many pieces as possible, long runs of them first. `cut` returns the ends of pieces.
fn without_pieces(
    input: &[u8],
    cut: Cut,
    begin: &Instant,
    fails: &mut impl FnMut(&[u8]) -> bool,
) -> Vec<u8> {
    let ends = cut(input);
    let starts = [0].into_iter().chain(ends.iter().copied());
    let mut pieces: Vec<&[u8]> =
        starts.zip(&ends).map(|(start, &end)| &input[start..end]).collect();
    let mut run = (pieces.len() / 2).max(1);
    loop {
        let mut at = 0;
        while at < pieces.len() {
            if begin.elapsed() > PATIENCE {
                return pieces.concat();
            }
            let end = (at + run).min(pieces.len());
            let shorter = [&pieces[..at], &pieces[end..]].concat();
            if fails(&shorter.concat()) {
                pieces = shorter;
            } else {
                at = end;
            }
        }
        if run == 1 {
            return pieces.concat();
        }
        run /= 2;
    }
}

/// Splits after each matching byte.
fn after(input: &[u8], is_end: impl Fn(u8) -> bool) -> Vec<usize> {
    let mut ends: Vec<usize> =
        (1..=input.len()).filter(|&end| is_end(input[end - 1]) || end == input.len()).collect();
    ends.dedup();
    ends
}

fn lines(input: &[u8]) -> Vec<usize> {
    after(input, |byte| byte == b'\n')
}

/// Splits into edits or messages, each of which starts with a separator.
fn scripts(input: &[u8]) -> Vec<usize> {
    (1..=input.len()).filter(|&end| end == input.len() || input[end] == 1).collect()
}

fn tokens(input: &[u8]) -> Vec<usize> {
    match std::str::from_utf8(input) {
        Ok(text) => Tokens::of(text).ends,
        Err(_) => bytes(input),
    }
}

fn letters(input: &[u8]) -> Vec<usize> {
    match std::str::from_utf8(input) {
        Ok(text) => text.char_indices().map(|(at, letter)| at + letter.len_utf8()).collect(),
        Err(_) => bytes(input),
    }
}

fn bytes(input: &[u8]) -> Vec<usize> {
    (1..=input.len()).collect()
}
