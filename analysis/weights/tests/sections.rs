//! Tests of scanning, splitting, joining and editing sections, including damaged ones.

use std::collections::BTreeSet;

use types::DataType;
use weights::{
    BARS, BINS, CONSTANT, EMPTY, Header, Outline, Part, Section, Stats, Weights, append, bars, cut,
    drop_entries, encode, entry_range, parts, split,
};

fn array(elements: &[f32]) -> String {
    let header = Header::write(DataType::FLOAT32, &[elements.len()]).expect("a header");
    let bytes: Vec<u8> = elements.iter().flat_map(|x| x.to_le_bytes()).collect();
    let mut out = Vec::new();
    encode(&mut out, &header, |to| to.write_all(&bytes)).expect("memory is written");
    String::from_utf8(out).expect("base64")
}

/// Adds constants to a section without any.
fn section(tensors: &[&[f32]]) -> String {
    let scanned = Section::scan(EMPTY.as_bytes());
    let place = append(EMPTY, &scanned, tensors.len()).expect("it takes constants");
    let mut out = EMPTY.to_owned();
    let arrays: Vec<String> = tensors.iter().map(|x| format!("\"{}\"", array(x))).collect();
    out.insert_str(place.arrays, &arrays.join(", "));
    for (at, text) in place.inserted.iter().rev() {
        out.insert_str(*at, text);
    }
    out
}

fn values(weights: &Weights, entry: u32) -> Vec<f32> {
    let section = weights.section();
    let array = section.array_of(CONSTANT, entry).expect("a tensor");
    let header = section.header(array).expect("a header");
    let bytes = weights.payload(array).expect("a text").decode(header).expect("elements");
    bytes.chunks(4).map(|x| f32::from_le_bytes(x.try_into().expect("four bytes"))).collect()
}

#[test]
fn tensors_are_decoded_by_entry() {
    let weights = Weights::of_text(&section(&[&[1.0, 2.0], &[3.0], &[], &[1.0, 2.0]]));
    assert_eq!(weights.section().error(), None);
    let all: Vec<Vec<f32>> = (0..4).map(|entry| values(&weights, entry)).collect();
    assert_eq!(all, [vec![1.0, 2.0], vec![3.0], vec![], vec![1.0, 2.0]]);
    assert_eq!(weights.repeated(), [(3, 0)]);
}

#[test]
fn statistics_count_nan_and_infinities() {
    let long: Vec<f32> = (0..100_000).map(|x| x as f32).collect();
    let odd = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 0.0, -0.0, 4.0];
    let weights = Weights::of_text(&section(&[&long, &odd, &[], &[f32::MIN, f32::MAX]]));
    let stats = |entry: usize| {
        let header = weights.section().header(entry).expect("a header");
        let payload = weights.payload(entry).expect("a text");
        Stats::of(&payload, header).expect("elements").expect("numbers")
    };
    let found = stats(0);
    assert_eq!((found.min, found.max, found.mean), (0.0, 99_999.0, 49_999.5));
    assert_eq!((found.count, found.zeros, found.first.len()), (100_000, 1, 6));
    let even = 100_000 / BINS as u64;
    assert!(found.histogram.iter().all(|count| (even..=even + 1).contains(count)), "{found:?}");
    assert_eq!((found.histogram.iter().sum::<u64>(), found.bars()), (100_000, "█".repeat(BARS)));
    let found = stats(1);
    assert_eq!((found.nans, found.infinities, found.zeros), (1, 2, 2));
    assert_eq!((found.min, found.max), (0.0, 4.0));
    assert!(stats(2).mean.is_nan());
    let found = stats(3);
    assert_eq!((found.histogram[0], found.histogram[BINS - 1]), (1, 1));
    assert_eq!(bars(&[0, 1, 8, 4]), " ▁█▄");
}

#[test]
fn cut_and_parts_are_a_round_trip() {
    let text = section(&[&[1.0, 2.0], &[3.0], &[1.0]]);
    let name = |array: usize| (array != 1).then(|| format!("a{array}"));
    let rest = cut(&Weights::of_text(&text), name).expect("memory");
    let mut again = Vec::new();
    for part in parts(&rest).expect("parts") {
        match part {
            Part::Text(text) => again.extend_from_slice(text.as_bytes()),
            Part::Array { name, bytes, .. } => {
                let elements: &[f32] = if name == "a0" { &[1.0, 2.0] } else { &[1.0] };
                let data: Vec<u8> = elements.iter().flat_map(|x| x.to_le_bytes()).collect();
                encode(&mut again, &bytes, |to| to.write_all(&data)).expect("memory is written");
            }
        }
    }
    assert_eq!(String::from_utf8(again).expect("text"), text);
}

#[test]
fn dropping_entries_removes_their_tensors() {
    let text = section(&[&[0.0], &[1.0], &[2.0], &[3.0]]);
    let scanned = Section::scan(text.as_bytes());
    for mask in 0u32..16 {
        let drop: BTreeSet<u32> = (0..4).filter(|entry| mask >> entry & 1 == 1).collect();
        let dropped = drop_entries(&Outline::whole(&text), &scanned, &drop).expect("edits");
        let mut out = text.clone();
        for (range, with) in dropped.edits.iter().rev() {
            out.replace_range(range.clone(), with);
        }
        let weights = Weights::of_text(&out);
        assert_eq!(weights.section().error(), None, "{out}");
        assert_eq!(weights.section().arrays(), 4 - drop.len());
        let mut left = 0;
        for old in 0..4 {
            let expected = (!drop.contains(&old)).then_some(left);
            assert_eq!(dropped.numbers[old as usize], expected);
            if let Some(new) = expected {
                assert_eq!(values(&weights, new), [old as f32]);
                left += 1;
            }
        }
    }
}

/// Damage at any position causes an error, another tensor or no change, but no panic.
#[test]
fn damaged_sections_do_not_panic() {
    let text = section(&[&[1.0, 2.0], &[3.0], &[1.0, 2.0]]);
    let mut random = fastrand::Rng::with_seed(5);
    let inserts = ["", "\"", "[", "]", "{", "}", ",", "9", "-1", "=", "\\", "é", "A", "4294967296"];
    for _ in 0..3_000 {
        let mut bytes = text.clone().into_bytes();
        for _ in 0..random.usize(1..4) {
            let from = random.usize(..bytes.len());
            let to = (from + random.usize(..3)).min(bytes.len());
            let insert = inserts[random.usize(..inserts.len())];
            bytes.splice(from..to, insert.bytes());
        }
        let Ok(parts_of) = split(&bytes) else { continue };
        let damaged = parts_of.section;
        let weights = Weights::of_text(damaged);
        let section = weights.section();
        for array in 0..section.arrays() {
            if let Some((header, payload)) = section.header(array).zip(weights.payload(array)) {
                let _ = Stats::of(&payload, header);
                let _ = payload.decode(header);
            }
        }
        let _ = weights.repeated();
        let _ = parts(&cut(&weights, |array| Some(array.to_string())).expect("memory"));
        let _ = append(damaged, section, 2);
        for drop in 0..3 {
            let _ = entry_range(damaged, section, CONSTANT, drop);
            if let Some(dropped) =
                drop_entries(&Outline::whole(damaged), section, &BTreeSet::from([drop]))
            {
                assert!(
                    dropped.edits.iter().all(|(range, _)| damaged.get(range.clone()).is_some())
                );
            }
        }
    }
}
