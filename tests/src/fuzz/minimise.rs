//! Makes failing inputs smaller: without lines, then without tokens, then without bytes.

use std::time::{Duration, Instant};

use super::{mutate::Tokens, seeds::Kind};

/// Longer than this nothing is made smaller.
const PATIENCE: Duration = Duration::from_secs(20);

/// Cuts an input: the ends of its pieces.
type Cut = fn(&[u8]) -> Vec<usize>;

/// The smallest input that still fails, as far as taking pieces away leads in a while. `fails` says
/// whether an input fails in the same way.
pub fn minimise(input: &[u8], kind: Kind, mut fails: impl FnMut(&[u8]) -> bool) -> Vec<u8> {
    let begin = Instant::now();
    let mut smallest = input.to_vec();
    let is_text = matches!(kind, Kind::Text | Kind::Edits | Kind::Session);
    let cuts: &[Cut] = if is_text { &[lines, scripts, tokens, letters] } else { &[bytes] };
    // Each round makes the input smaller, or is the last.
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

/// Takes away as many pieces as can be, long runs of them first. `cut` gives the ends of pieces.
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

/// The ends of pieces that follow each of these bytes, and of the rest.
fn after(input: &[u8], is_end: impl Fn(u8) -> bool) -> Vec<usize> {
    let mut ends: Vec<usize> =
        (1..=input.len()).filter(|&end| is_end(input[end - 1]) || end == input.len()).collect();
    ends.dedup();
    ends
}

fn lines(input: &[u8]) -> Vec<usize> {
    after(input, |byte| byte == b'\n')
}

/// Edits and messages, each of which begins with a separator.
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
