//! An incremental parse equals a full parse after any sequence of edits.

use std::collections::BTreeMap;

use relay_tests::{corpus, edits, notes::note, variables};
use syntax::{Edit, Parse, ParseLimits, TextRange, TextSize, parse, parse_with};

fn sorted(parse: &Parse) -> Vec<String> {
    let mut errors: Vec<_> =
        parse.errors.iter().map(|e| format!("{:?} {:?}", e.range, e.kind)).collect();
    errors.sort();
    errors
}

/// Returns the lines around the first node in which two trees differ.
fn first_difference(part: &Parse, full: &Parse) -> String {
    let (a, b) = (format!("{:#?}", part.syntax()), format!("{:#?}", full.syntax()));
    let (a, b): (Vec<_>, Vec<_>) = (a.lines().collect(), b.lines().collect());
    let at = a.iter().zip(&b).position(|(a, b)| a != b).unwrap_or(a.len().min(b.len()));
    let show = |lines: &[&str]| lines[at.saturating_sub(6)..(at + 12).min(lines.len())].join("\n");
    format!("in part:\n{}\nin full:\n{}", show(&a), show(&b))
}

/// Edits `text` repeatedly; returns the number of edits without a full parse.
fn follow(name: &str, text: &str, seed: u64, steps: usize) -> usize {
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut text = text.to_owned();
    let mut incremental = parse(&text);
    let mut partial = 0;
    for step in 0..steps {
        let edit = edits::random(&mut rng, &text);
        let before = text.clone();
        edit.apply(&mut text);
        let context = || format!("{name}, seed {seed}, step {step}: {edit:?} in\n{before}");
        let full = parse(&text);
        if let Some(part) = incremental.reparse_part(&text, &edit) {
            partial += 1;
            assert_eq!(part.green.to_string(), text, "lost text: {}", context());
            if part.green != full.green {
                panic!("{}\n{}", first_difference(&part, &full), context());
            }
            assert_eq!(sorted(&part), sorted(&full), "{}", context());
            assert_eq!(part.directives, full.directives, "{}", context());
            incremental = part;
        } else {
            incremental = full;
        }
        // A text that has become nonsense tests nothing more.
        if step % 12 == 11 {
            text = before;
            incremental = parse(&text);
        }
        if incremental.errors.iter().filter(|e| !e.kind.is_compat()).count() > 12 {
            break;
        }
    }
    partial
}

/// Texts whose blocks have chunks: a chain, equal statements, whose chunks have the largest length, and a long block
/// in each statement of a long block.
fn in_chunks() -> [(String, String); 3] {
    let chain = corpus::chain(200);
    let equal =
        format!("def @main(%x: int32) {{\n{}  %x\n}}\n", "  let %y = (%x, %x);\n".repeat(600));
    let inner: String = (0..60).map(|i| format!("    let %b{i} = (%y, {i});\n")).collect();
    let outer = |i: usize| format!("  let %f{i} = fn (%y) {{\n{inner}    %y\n  }};\n");
    let nested: String = (0..8).map(outer).collect();
    let nested = format!("def @main(%x: int32) {{\n{nested}{}  %x\n}}\n", chain_of_pairs());
    [("a long chain".into(), chain), ("equal statements".into(), equal), ("nested".into(), nested)]
}

fn chain_of_pairs() -> String {
    (0..100).map(|i| format!("  %{i} = (%x, {i});\n")).collect()
}

/// `dx[` is a mistake up to the closing bracket, which an edit of a later definition can make the right one.
#[test]
fn brackets_before_an_edited_definition_are_closed_anew() {
    const BINDING: &str = "let %y = %x; ";
    let mut text = format!(
        "def @f() {{ 1 }}\ndx[%a\ndef @g(%x: int32) -> int32 {{ {BINDING}%x }}\ndef @h() {{ 1 }}\n]\n"
    );
    let before = parse(&text);
    let start = text.find(BINDING).expect("a binding") as u32;
    let range = TextRange::at(start.into(), (BINDING.len() as u32).into());
    let edit = Edit { range, insert: String::new() };
    edit.apply(&mut text);
    let (after, wanted) = (before.reparse(&text, &edit), parse(&text));
    assert_eq!(format!("{:#?}", after.syntax()), format!("{:#?}", wanted.syntax()));
    assert_eq!(sorted(&after), sorted(&wanted));
}

/// The bracket that is open in one definition is taken for one that the next definition closes.
#[test]
fn errors_across_an_edited_definition_are_reported_anew() {
    let mut text = "\
# The notation of the Relay manual: comments with a hash, `data`, kinds, no semicolons.
data Nat {
  Z : () -> Nat
  S : (Nat) -> Nat
}

def @plus<s : Shape, bt : BaseType>(%a : Tenelsesor[s, bt], %b : Tensor[s, bt]) -> T(ensor[s, bt] {
  add(%a, %b)
}

def @is_zero(%n : Nat[]) -> bool {
)  match(%n) {
    case Z() { True }
    case S(%m) { False }
 -> }
}

def @main(%axis=1@plus<(10, 10), float3>(%x, %x)
  %1 = @plus<(10, 10), float32>(%0, %0)
  if (@is_zero(S(Z()))) { %0 } else { %1 }
}
"
    .to_owned();
    let before = parse(&text);
    let start = text.find("t], %b").expect("a parameter") as u32;
    let end = text.find(" add(").expect("a body") as u32;
    let range = TextRange::new(start.into(), end.into());
    assert!(
        before
            .errors
            .iter()
            .any(|e| e.range.contains(range.end()) && e.range.start() > range.start())
    );
    let edit = Edit { range, insert: ";".into() };
    edit.apply(&mut text);
    let after = before.reparse(&text, &edit);
    assert_eq!(sorted(&after), sorted(&parse(&text)));
}

#[test]
fn reparse_equals_full_parse() {
    let mut texts: BTreeMap<String, String> = corpus::examples().into_iter().collect();
    texts.insert("chain".into(), corpus::chain(12));
    let directive = ";\n  // relay: allow(unused-binding)\n  ";
    let directives = corpus::chain(6).replace(";\n  ", directive);
    assert!(parse(&directives).directives.len() > 4, "{directives}");
    texts.insert("directives".into(), directives);
    texts.extend(in_chunks());
    let models = corpus::models().into_iter().flatten();
    texts.extend(models.filter(|(_, text)| text.len() < 30_000));
    let rounds = variables::number("RELAY_ROUNDS", 20_u64);
    let start = variables::number("RELAY_SEED", 0);
    note(&format!("{rounds} sessions with each of {} texts (RELAY_ROUNDS)", texts.len()));
    let mut partial = 0;
    for (name, text) in &texts {
        for seed in start..start + rounds {
            partial += follow(name, text, seed, 60);
        }
    }
    assert!(partial > 0, "no edit was reparsed incrementally");
}

/// Typing letter by letter does not require full parses.
#[test]
fn typing_is_reparsed_incrementally() {
    let mut text = corpus::chain(40);
    let mut parsed = parse(&text);
    let (mut partial, mut total) = (0, 0);
    for line in (1..9).rev() {
        let at = text.match_indices('\n').nth(line * 4).map_or(0, |(at, _)| at + 1);
        let typed = "  let %new: Tensor[(1, 64), float32] = nn.dense(%3, %w, units=64);\n";
        for (i, c) in typed.char_indices() {
            let place = TextRange::empty(TextSize::new((at + i) as u32));
            let edit = Edit { range: place, insert: c.into() };
            edit.apply(&mut text);
            let part = parsed.reparse_part(&text, &edit);
            total += 1;
            partial += usize::from(part.is_some());
            parsed = part.unwrap_or_else(|| parse(&text));
        }
    }
    assert_eq!(parsed.green, parse(&text).green);
    assert!(
        partial * 100 >= total * 95,
        "{partial} of {total} keystrokes were reparsed incrementally"
    );
}

/// Text at the end of an unfinished call, whose closing parenthesis is missing before the next line,
/// does not require a full parse.
#[test]
fn unfinished_call_is_reparsed_incrementally() {
    let mut text = corpus::chain(40);
    let line = text.match_indices('\n').nth(20).map_or(0, |(at, _)| at + 1);
    let open = line + text[line..].find('(').expect("a call") + 1;
    let end = line + text[line..].find('\n').expect("a line");
    text.replace_range(open..end, "");
    let parsed = parse(&text);
    assert!(!parsed.errors.is_empty());
    for insert in ["%", "name", "%3, ", "%3);"] {
        let range = TextRange::empty(TextSize::new(open as u32));
        let edit = Edit { range, insert: insert.into() };
        let mut text = text.clone();
        edit.apply(&mut text);
        let part = parsed.reparse_part(&text, &edit);
        let part = part.expect("an incremental reparse");
        let full = parse(&text);
        assert_eq!(part.green, full.green, "{insert}");
        assert_eq!(sorted(&part), sorted(&full), "{insert}");
    }
}

/// Edits of one of hundreds of parameters do not reparse the body.
#[test]
fn header_edits_are_reparsed_incrementally() {
    let params: Vec<String> = (0..40)
        .map(|k| format!("%w{k}: Tensor[(1, {k}), float32] /* ty=Tensor[(1, {k}), float32] */"))
        .collect();
    let header = format!("def @main({}) ", params.join(", "));
    let body = "{\n  let %a = exp(%w1);\n  %a\n}\n\ndef @other(%x: int32) { %x }\n";
    let mut rng = fastrand::Rng::with_seed(1);
    let mut partial = 0;
    let pieces =
        ["q", "1", ",", ")", "(", " ", "\n", "]", "?", ":", "%z: ", "let ", "/*", "*/", "\"", ""];
    for round in 0..2000 {
        let mut text = format!("{header}{body}");
        let mut parsed = parse(&text);
        for _ in 0..3 {
            let at = rng.usize(10..header.len() - 2);
            let until = (at + rng.usize(0..3)).min(header.len() - 1);
            let range = TextRange::new((at as u32).into(), (until as u32).into());
            let edit = Edit { range, insert: pieces[rng.usize(0..pieces.len())].into() };
            let before = text.clone();
            edit.apply(&mut text);
            let full = parse(&text);
            let part = parsed.reparse_part(&text, &edit);
            if let Some(part) = &part {
                partial += 1;
                assert_eq!(part.green, full.green, "round {round}: {edit:?} in\n{before}");
                assert_eq!(sorted(part), sorted(&full), "round {round}: {edit:?} in\n{before}");
            }
            parsed = part.unwrap_or(full);
        }
    }
    // Other edits change several parameters, or cause errors.
    assert!(partial > 150, "{partial} edits were reparsed incrementally");
    let typed = "%w7: Tensor[(1, 7), float32]";
    let text = format!("{header}{body}");
    let at = text.find(typed).map_or(0, |at| at + typed.len() - 2) as u32;
    let edit = Edit { range: TextRange::new((at - 1).into(), at.into()), insert: "6".into() };
    assert!(
        parse(&text)
            .reparse_part(&text.replace("7), float32] /", "7), float36] /"), &edit)
            .is_some()
    );
}

/// The limits of a parse apply to its reparses.
#[test]
fn reparses_keep_limits() {
    let limits = ParseLimits { depth: 6, ..ParseLimits::default() };
    let text = "def @main(%x: int32) -> int32 {\n  let %a = %x;\n  %a\n}\n";
    let at = text.find("%x;").map_or(0, |at| at as u32);
    let nested = format!("{}%x{}", "(".repeat(10), ")".repeat(10));
    let edit = Edit { range: TextRange::new(at.into(), (at + 2).into()), insert: nested };
    let mut edited = text.to_owned();
    edit.apply(&mut edited);
    let expected = parse_with(&edited, limits);
    assert_eq!(parse_with(text, limits).reparse(&edited, &edit), expected);
    assert_ne!(sorted(&parse(text).reparse(&edited, &edit)), sorted(&expected));
}
