//! Requests for reading, after random edits: nothing panics, ranges are inside the text and properly nested,
//! and incremental highlighting equals highlighting from scratch.

use fastrand::Rng;
use ide::{
    calls, folding,
    highlight::{Highlight, highlight, highlight_range},
    inlay,
    layers::Grouping,
    lens, links, references, selection, shapes, symbols, why,
};
use relay_tests::{corpus, edits};
use semantics::Database;
use syntax::{LineIndex, ParseLimits, TextRange, TextSize};

const ALL: inlay::HintOptions =
    inlay::HintOptions { types: true, parameters: true, block_ends: true };

fn place(rng: &mut Rng, text: &str) -> TextSize {
    let mut at = rng.usize(0..=text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    TextSize::new(at as u32)
}

/// A session of edits on one text.
fn session(seed: u64, start: &str, rounds: usize) {
    let mut rng = Rng::with_seed(seed);
    let mut text = start.to_owned();
    let mut db = Database::new();
    let limits = ParseLimits::default();
    let file = db.add_file(&text, limits);
    let mut before = highlight(&db, file, None);
    for round in 0..rounds {
        let edit = edits::random(&mut rng, &text);
        edit.apply(&mut text);
        db.apply(file, &edit);
        let after = highlight(&db, file, Some(&before));
        let anew: Vec<Highlight> = highlight(&db, file, None).iter().collect();
        if let Some((old, new)) = after.iter().zip(&anew).find(|(old, new)| old != *new) {
            let shown = &text[std::ops::Range::<usize>::from(new.range)];
            panic!("seed {seed}, round {round}: {old:?} is {new:?} anew: {shown} in\n{text}");
        }
        assert_eq!(after.iter().count(), anew.len(), "seed {seed}, round {round}");
        before = after;
        let mut end = TextSize::new(0);
        for word in &anew {
            let shown = &text[std::ops::Range::<usize>::from(word.range)];
            assert!(!shown.is_empty() && !shown.contains(['\n', '\r']), "{shown:?} in seed {seed}");
            assert!(word.range.start() >= end, "seed {seed}, round {round}: {word:?}");
            end = word.range.end();
        }
        let lines = LineIndex::new(&text);
        let whole = TextRange::up_to(TextSize::of(text.as_str()));
        let (a, b) = (place(&mut rng, &text), place(&mut rng, &text));
        let part = TextRange::new(a.min(b), a.max(b));
        let hints = inlay::hints(&db, file, &lines, whole, ALL);
        assert!(hints.iter().all(|hint| text.is_char_boundary(hint.at.into())));
        let some = inlay::hints(&db, file, &lines, part, ALL);
        let wanted = hints.iter().filter(|hint| part.contains_inclusive(hint.at));
        assert!(wanted.eq(&some), "seed {seed}, round {round}: {part:?}");
        let words = highlight_range(&db, file, part);
        let inside =
            |word: &Highlight| word.range.start() < part.end() && part.start() < word.range.end();
        assert!(
            anew.iter().filter(|word| inside(word)).eq(words
                .iter()
                .filter(inside)
                .collect::<Vec<_>>()
                .iter())
        );
        for fold in folding::folds(&db, file, &lines) {
            assert!(lines.line_at(fold.range.start()) < lines.line_at(fold.range.end()));
        }
        let ranges = selection::ranges(&db, file, a);
        assert!(ranges.windows(2).all(|pair| pair[1].contains_range(pair[0])), "{ranges:?}");
        assert!(ranges.iter().all(|range| range.contains_inclusive(a)), "{ranges:?} around {a:?}");
        references::references(&db, file, a);
        calls::incoming(&db, file, a);
        calls::outgoing(&db, file, a);
        why::why_shape(&db, file, a);
        links::links(&db, file);
        symbols::outline(&db, file, Grouping::Names);
        symbols::listed(&file.parse(&db));
        lens::lenses(&db, file);
        for function in shapes::shapes(&db, file, None) {
            // The range up to a row has no more results than the whole text.
            let mut made = shapes::Amount::ZERO;
            for row in &function.rows {
                made.add(&row.bytes);
                assert!(row.bytes.at_one() <= row.live.at_one(), "{row:?}");
                assert!(row.live.at_one() <= made.at_one(), "{row:?}");
            }
        }
    }
}

#[test]
fn results_after_random_edits_are_valid() {
    let mut texts: Vec<String> = corpus::examples().into_iter().map(|(_, text)| text).collect();
    texts.push(corpus::chain(12));
    texts.push("/* é🚀 */ def @f<s : Shape>(%é: Tensor[s, int8]) { /* a\nb */ %é }\n".to_owned());
    for (number, text) in texts.iter().enumerate() {
        for seed in 0..6 {
            session(number as u64 * 100 + seed, text, 40);
        }
    }
}
