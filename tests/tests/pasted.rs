//! Pasted text: a valid module that was damaged in one way is read as before, one finding says so, and
//! cleaning it gives the module again.

use relay_tests::{
    corpus::{self, here},
    fuzz, mdtest,
};
use semantics::{Code, Rules, Severity};
use syntax::{ParseLimits, TextRange, cleaning, parse, parse_with};

fn applied(text: &str, edits: &[(TextRange, String)]) -> String {
    let mut out = text.to_owned();
    for (range, with) in edits.iter().rev() {
        out.replace_range(std::ops::Range::<usize>::from(*range), with);
    }
    out
}

fn by_line(text: &str, form: impl Fn(usize, &str) -> String) -> String {
    let lines = text.split_inclusive('\n').enumerate();
    lines.map(|(at, line)| form(at + 1, line)).collect()
}

/// Changes the part of each line before a line comment, in which such signs may be meant.
fn code(text: &str, form: impl Fn(&str) -> String) -> String {
    by_line(text, |_, line| {
        let end = line.find("//").unwrap_or(line.len());
        form(&line[..end]) + &line[end..]
    })
}

/// Takes the asterisks of the comments with types.
fn without_asterisks(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(start) = rest.find("/* ty=") {
        let Some(length) = rest[start..].find(" */") else { break };
        let comment = &rest[start..start + length];
        let lost = !comment.contains(['\n', '“']) && comment.len() < 2000;
        out += &rest[..start];
        if lost {
            out += "/";
            out += &comment[2..];
            out += " /";
        } else {
            out += comment;
            out += " */";
        }
        rest = &rest[start + length + 3..];
    }
    out + rest
}

fn entities(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    text.replace('"', "&quot;")
}

/// Writes a text as a string of Python, in one line. A comment at its beginning would be all of it.
fn escaped(text: &str) -> String {
    match text.contains('\\') || text.starts_with(['#', '/']) && !text.starts_with("#[") {
        true => text.to_owned(),
        false => text.replace('"', "\\\"").replace('\n', "\\n"),
    }
}

/// Returns the damaged forms of a text.
fn damaged(text: &str) -> Vec<(&'static str, String)> {
    vec![
        ("quoted", by_line(text, |_, line| format!("> {line}"))),
        ("quoted twice", by_line(text, |_, line| format!(">> {line}"))),
        ("numbered", by_line(text, |at, line| format!("{at:>4}  {line}"))),
        ("numbered with tabs", by_line(text, |at, line| format!("{at:>6}\t{line}"))),
        ("numbered with colons", by_line(text, |at, line| format!("{at}: {line}"))),
        ("numbered with bars", by_line(text, |at, line| format!("{at:>3} | {line}"))),
        ("fenced", format!("```\n{text}```\n")),
        ("fenced with a language", format!("```relay\n{text}```\n")),
        ("no-break spaces", text.replace(' ', "\u{A0}")),
        ("narrow no-break spaces", text.replace(' ', "\u{202F}")),
        ("curly quotes", code(text, |line| line.replace('"', "”"))),
        ("arrows", code(text, |line| line.replace("->", "→").replace("=>", "⇒"))),
        ("full width", code(text, |line| line.replace(',', "，").replace('(', "（"))),
        ("entities", entities(text)),
        ("escapes", escaped(text)),
        ("continued lines", text.replace('\n', " \\\n")),
        ("no asterisks", without_asterisks(text)),
        ("a byte order mark inside", text.replacen('(', "\u{FEFF}(", 1)),
        ("zero-width spaces", code(text, |line| line.replace(", ", ",\u{200B} "))),
        (
            "quoted with no-break spaces",
            by_line(text, |_, line| format!("> {line}")).replace(' ', "\u{A0}"),
        ),
    ]
}

fn counts(text: &str) -> (usize, usize) {
    let found = mdtest::look(text, Rules::General).diagnostics;
    let errors = found.iter().filter(|found| found.severity == Severity::Error).count();
    (errors, found.iter().filter(|found| found.code == Code::PastedText).count())
}

#[test]
fn damaged_examples_are_read_and_cleaned() {
    let mut judged = 0;
    for (name, text) in corpus::examples() {
        // The damage of a text that has some itself is not undone.
        let (errors, pasted) = counts(&text);
        assert_eq!(pasted, 0, "{name}");
        if errors > 0 || !text.ends_with('\n') {
            continue;
        }
        for (how, damaged) in damaged(&text) {
            if damaged == text {
                continue;
            }
            let parse = parse(&damaged);
            assert_eq!(parse.green.to_string(), damaged, "{name}, {how}");
            let cleaned = applied(&damaged, &cleaning(&parse));
            if cleaned != text {
                let apart = cleaned.lines().zip(text.lines()).find(|(a, b)| a != b);
                panic!("{name}, {how}: {apart:?}");
            }
            let found = mdtest::look(&damaged, Rules::General).diagnostics;
            let found: Vec<_> =
                found.iter().filter(|found| found.severity == Severity::Error).collect();
            assert!(found.is_empty(), "{name}, {how}: {found:#?}\n{damaged}");
            assert_eq!(counts(&damaged).1, 1, "{name}, {how}");
            judged += 1;
        }
    }
    assert!(judged > 60, "only {judged} texts");
}

/// A mailer breaks long lines: that is no damage, because Relay has no lines.
#[test]
fn wrapped_examples_are_valid() {
    for (name, text) in corpus::examples() {
        if counts(&text).0 > 0 || text.contains("#[metadata]") {
            continue;
        }
        let wrapped = code(&text, |line| {
            let mut out = String::new();
            let mut column = 0;
            for word in line.split_inclusive(' ') {
                let is_whole = line.contains(['"', '#']) || line.contains("/*");
                if column + word.len() > 72 && !is_whole {
                    out.truncate(out.trim_end().len());
                    out.push('\n');
                    column = 0;
                }
                column += word.len();
                out += word;
            }
            out
        });
        let (errors, pasted) = counts(&wrapped);
        assert_eq!((errors, pasted), (0, 0), "{name}\n{wrapped}");
    }
}

#[test]
fn texts_without_damage_have_no_finding() {
    let mut texts = corpus::examples();
    for file in ["typed.jsonl", "printonly.jsonl", "reject.jsonl", "eval.jsonl"] {
        texts.extend(corpus::cases(file).into_iter().flatten());
    }
    texts.extend(corpus::models().into_iter().flatten());
    for (name, text) in texts {
        let parse = parse(&text);
        let is_pasted = |error: &syntax::SyntaxError| error.kind.damage().is_some();
        assert!(!parse.errors.iter().any(is_pasted), "{name}");
    }
}

#[test]
fn any_mixture_of_signs_is_cleaned_once_without_overlaps() {
    const PARTS: &[&str] = &[
        "> ",
        ">",
        "1 ",
        "2: ",
        "\n",
        "```\n",
        "\u{A0}",
        "\u{200B}",
        "“",
        "\"",
        "”",
        "→",
        "，",
        "&lt;",
        "&amp;",
        "&",
        "amp;",
        "lt;",
        "/ ty=int32 /",
        "/ ty=",
        "...",
        "…",
        "//",
        "/*",
        "*/",
        "def @main() {",
        "%x",
        "}",
        "let ",
        "3 def @f",
        "−",
        "&hellip;",
        "\\",
        "\\n",
        "\\\"",
        " \\\n",
        "\"def @f() {\\n\"\n",
        "\"}\" \\\n",
        "\u{2028}",
        "'",
        "‘",
        ";",
    ];
    let mut random = fastrand::Rng::with_seed(4);
    for _ in 0..20_000 {
        let count = random.usize(..14);
        let text: String = (0..count).map(|_| PARTS[random.usize(..PARTS.len())]).collect();
        let parse = parse(&text);
        assert_eq!(parse.green.to_string(), text);
        let edits = cleaning(&parse);
        let is_apart = |pair: &[(TextRange, String)]| pair[0].0.end() <= pair[1].0.start();
        assert!(edits.windows(2).all(is_apart), "{text:?}: {edits:?}");
        let after = applied(&text, &edits);
        let again = cleaning(&parse_with(&after, ParseLimits::default()));
        assert!(again.is_empty(), "{text:?}\n{after:?}\n{again:?}");
    }
}

/// Damage that comes and goes while a text is edited.
#[test]
fn edits_of_damage_give_what_a_full_parse_gives() {
    const SIGNS: &[&str] = &[
        "\u{A0}",
        "\u{200B}",
        "“",
        "...",
        "\n> ",
        "> ",
        "\n2 ",
        "1 ",
        "&gt;",
        "/ ty=int32 /",
        "```\n",
        "\\\n",
        "\\n",
        "\\\"",
        "\n",
        " ",
    ];
    let texts: Vec<(String, String)> =
        corpus::examples().into_iter().filter(|(_, text)| text.len() < 3_000).collect();
    let mut random = fastrand::Rng::with_seed(8);
    let (mut partial, mut edited) = (0, 0);
    for (name, original) in &texts {
        let mut text = original.clone();
        let mut known = parse(&text);
        for step in 0..200 {
            let mut at = random.usize(..=text.len());
            while !text.is_char_boundary(at) {
                at -= 1;
            }
            let until = text[at..].chars().next().map_or(at, |c| at + c.len_utf8());
            let end = if random.bool() { at } else { until };
            let insert = SIGNS[random.usize(..SIGNS.len())];
            let insert = if random.bool() { insert } else { "" };
            let range = TextRange::new((at as u32).into(), (end as u32).into());
            let edit = syntax::Edit { range, insert: insert.to_owned() };
            edit.apply(&mut text);
            let full = parse(&text);
            partial += usize::from(known.reparse_part(&text, &edit).is_some());
            let next = known.reparse(&text, &edit);
            let sorted = |parse: &syntax::Parse| {
                let errors = parse.errors.iter().map(|e| format!("{:?} {:?}", e.range, e.kind));
                let mut errors: Vec<String> = errors.collect();
                errors.sort();
                errors
            };
            assert_eq!(next.green, full.green, "{name}, step {step}: {edit:?} to\n{text}");
            assert_eq!(sorted(&next), sorted(&full), "{name}, step {step}: {edit:?} to\n{text}");
            known = next;
            edited += 1;
            if random.u8(..6) == 0 {
                text.clone_from(original);
                known = parse(&text);
            }
        }
    }
    eprintln!("{partial} of {edited} edits were partial");
    assert!(partial * 10 > edited, "only {partial} of {edited} edits");
}

/// Relay is never taken for another language, whatever is wrong with it.
#[test]
fn relay_is_nothing_else() {
    let mut texts = mdtest::texts();
    for folder in ["mdtest/pasted", "mdtest/programs", "mdtest/releases"] {
        let pages = mdtest::pages(&here().join(folder));
        for (name, page) in pages.into_iter().filter(|(name, _)| !name.ends_with("other_texts.md"))
        {
            let blocks = mdtest::blocks(&page).into_iter();
            texts.extend(blocks.map(|block| (format!("{name}:{}", block.line), block.text)));
        }
    }
    let mut random = fastrand::Rng::with_seed(9);
    for (name, text) in &texts {
        let what = syntax::other_text(&parse(text));
        assert_eq!(what, None, "{name}:\n{text}");
        // Where the only Relay is broken, the rest may be what the text is.
        let has_other = ["prim_func", "primfn", "Traceback", "import "];
        if text.len() > 3_000 || has_other.iter().any(|word| text.contains(word)) {
            continue;
        }
        for _ in 0..8 {
            let Some((other, how)) = fuzz::one_token(&mut random, text) else { break };
            let what = syntax::other_text(&parse(&other));
            assert_eq!(what, None, "{name}, {how}:\n{other}");
        }
    }
}
