use super::*;
use crate::parse;

const CLEAN: &str = "#[version = \"0.0.5\"]\n\
    def @main(%x: Tensor[(2), float32], %n: int32) -> Tensor[(2), float32] {\n  \
    %0 = nn.relu(%x) /* ty=Tensor[(2), float32] */;\n  \
    if (%n > 3) {\n    \
    copy(%0)\n  \
    } else {\n    \
    %0\n  \
    }\n\
    }\n";

fn damages(text: &str) -> Vec<(Damage, u32)> {
    let mut found: Vec<(Damage, u32)> = Vec::new();
    for error in parse(text).errors {
        if let Some((damage, count)) = error.kind.damage() {
            match found.iter_mut().find(|(known, _)| *known == damage) {
                Some((_, total)) => *total += count,
                None => found.push((damage, count)),
            }
        }
    }
    found.sort();
    found
}

fn cleaned(text: &str) -> String {
    apply(text, &cleaning(&parse(text)))
}

/// Asserts that a damaged form of [`CLEAN`] is read without an error, and repaired.
fn assert_read(text: &str, damage: Damage) {
    let parse = parse(text);
    assert_eq!(parse.green.to_string(), text);
    let errors: Vec<_> = parse.errors.iter().filter(|error| !error.kind.is_compat()).collect();
    assert!(errors.is_empty(), "{errors:?} in\n{text}");
    let found: Vec<Damage> = damages(text).into_iter().map(|(damage, _)| damage).collect();
    assert_eq!(found, [damage], "{text}");
    assert_eq!(cleaned(text), CLEAN);
    assert!(cleaning(&crate::parse(CLEAN)).is_empty());
}

fn lines(form: impl Fn(usize, &str) -> String) -> String {
    CLEAN.lines().enumerate().map(|(at, line)| form(at + 1, line) + "\n").collect()
}

#[test]
fn every_kind_of_damage_is_read_and_repaired() {
    assert_read(&lines(|_, line| format!("> {line}")), Damage::Quoted);
    assert_read(&lines(|_, line| format!("> > {line}")), Damage::Quoted);
    assert_read(&lines(|at, line| format!("{at:>4}\t{line}")), Damage::Numbered);
    assert_read(&lines(|at, line| format!("{at}: {line}")), Damage::Numbered);
    assert_read(&lines(|at, line| format!("{at:>2} | {line}")), Damage::Numbered);
    assert_read(&lines(|at, line| format!("{at}. {line}")), Damage::Numbered);
    assert_read(&format!("```relay\n{CLEAN}```\n"), Damage::Fence);
    assert_read(&CLEAN.replace(' ', "\u{A0}"), Damage::Space);
    assert_read(&CLEAN.replace(' ', "\u{3000}"), Damage::Space);
    assert_read(&CLEAN.replace(") ", ")\u{200B} "), Damage::Invisible);
    assert_read(&CLEAN.replace("relu", "re\u{200B}lu"), Damage::Invisible);
    assert_read(&CLEAN.replace('%', "％").replace('@', "＠"), Damage::Wide);
    assert_read(&format!("{}\u{FEFF}{}", &CLEAN[..21], &CLEAN[21..]), Damage::Invisible);
    assert_read(&CLEAN.replace("\"0.0.5\"", "“0.0.5”"), Damage::Quote);
    assert_read(&CLEAN.replace("->", "→"), Damage::Sign);
    assert_read(&CLEAN.replace(',', "，").replace(';', "；"), Damage::Wide);
    let entities = CLEAN.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    assert_read(&entities.replace('"', "&quot;"), Damage::Entity);
    assert_read(&CLEAN.replace("/*", "/").replace("*/", "/"), Damage::Asterisks);
}

#[test]
fn kinds_of_damage_combine() {
    let text = lines(|at, line| format!("> {at:>2}: {line}")).replace(' ', "\u{A0}");
    assert_eq!(cleaned(&text), CLEAN);
    let fenced = format!("> ```\n{}> ```\n", lines(|_, line| format!("> {line}")));
    assert_eq!(cleaned(&fenced), CLEAN);
    assert_eq!(cleaned("%a &amp;amp;lt; &lt;\u{200B}%b"), "%a < <%b");
    // What one repair uncovers, the next one repairs.
    assert_eq!(cleaned("%a &am\u{200B}p; %b\u{A0}"), "%a & %b ");
}

#[test]
fn entities_are_one_token() {
    let kinds = |text: &str| -> Vec<(SyntaxKind, String)> {
        let root = parse(text).syntax();
        let tokens = root.descendants_with_tokens().filter_map(rowan::NodeOrToken::into_token);
        let tokens = tokens.filter(|token| !token.kind().is_trivia());
        tokens.map(|token| (token.kind(), token.text().to_owned())).collect()
    };
    use crate::SyntaxKind::{self, *};
    assert_eq!(
        kinds("%a&lt;= −1")[1..],
        [(LE, "&lt;=".to_owned()), (MINUS, "−".to_owned()), (INT, "1".to_owned())]
    );
    let string = kinds("f(a=&quot;NCHW&quot;)");
    assert!(string.contains(&(STRING, "&quot;NCHW&quot;".to_owned())), "{string:?}");
    assert!(kinds("f(a=“NCHW”)").contains(&(STRING, "“NCHW”".to_owned())));
    let both = kinds("%a &amp;&amp; %b");
    assert_eq!(both[1], (AMP2, "&amp;&amp;".to_owned()));
}

#[test]
fn cuts_silence_errors_about_them() {
    for text in [
        "def @main(%x: int32, ...) {\n  ...\n  %5 = add(%4, ...);\n  %5\n}\n",
        "def @main(%x: Tensor[(1, ...), float32], %y: Tensor[...]) -> ... {\n  …\n}\n",
        "...\ndef @main() {\n  let %x = ...;\n  ...\n  let %y = f(..., %x);\n  %y\n}\n...\n",
        "def @main(%x: int32) {\n  %0 = add(%x, ...",
        "def @main(%x: int32) {\n  %0 = add(%x, %x);\n  ...\n",
        "def @main(%x: (int32, ...)) {\n  (%x, ... %x)\n}\n",
    ] {
        let errors = parse(text).errors;
        let is_cut = |error: &crate::SyntaxError| error.kind == SyntaxErrorKind::Cut;
        assert!(errors.iter().all(is_cut), "{text}\n{errors:?}");
        assert!(cleaning(&parse(text)).is_empty());
    }
}

/// Valid texts with the same signs.
#[test]
fn clean_texts_have_no_damage() {
    for text in [
        "def @main(%a: int32, %b: int32) {\n  %a\n> %b\n}\n",
        "def @main(%a: int32, %b: int32) {\n%a\n> %b\n> %a\n}\n",
        "def @main(%a: int32) {\n  %a / 2 / 3\n}\n",
        "// the “main” function…\n// 注意：\u{A0}x\ndef @main() {\n  1\n}\n",
        "def @main() {\n  (1,\n  2,\n  3)\n}\n",
        "def @main() {\n  f(1\n  + 2, name=\"a\u{A0}“b”\")\n}\n",
        "\u{FEFF}def @main() { 1 }\n",
        "def @größe(%名前: int32) { %名前 }\n",
    ] {
        let parse = parse(text);
        let errors: Vec<_> = parse.errors.iter().filter(|error| !error.kind.is_compat()).collect();
        assert!(errors.is_empty(), "{text}\n{errors:?}");
        assert_eq!(damages(text), [], "{text}");
        assert!(!parse.is_pasted());
    }
}

/// Errors and tokens inside of damage end at characters of the text.
#[test]
fn no_range_ends_inside_of_a_character() {
    for text in [
        "“",
        "f(“\u{2028}”",
        "“/*",
        ">\u{A0}#[metadata]\n>\u{A0}{}\n>\u{A0}#[version = “0.0.5”]\n>\u{A0}def @main() { 1 }\n",
        "＂＇＃／ ty=＊／／＊\u{3000}//\u{2029}",
    ] {
        let parse = parse(text);
        assert_eq!(parse.green.to_string(), text);
        for error in &parse.errors {
            assert!(text.get(Range::<usize>::from(error.range)).is_some(), "{text}: {error:?}");
        }
    }
}

#[test]
fn sections_are_json_without_the_marks_around() {
    let section = "#[metadata]\n{\n  \"root\": 1,\n  \"nodes\": [\n    1\n  ]\n}\n";
    let plain = |text: &str| text.split_whitespace().collect::<String>();
    let quoted = section.replace('\n', "\n> ");
    for damaged in [
        quoted.trim_end_matches("> ").to_owned(),
        section.replace(' ', "\u{A0}"),
        section.replace('"', "&quot;"),
        section.lines().enumerate().map(|(n, line)| format!("{n:>3}  {line}\n")).collect(),
    ] {
        let read = readable_section(&damaged).expect("a readable form");
        assert_eq!(plain(&read), plain(section), "{damaged}");
    }
    assert_eq!(readable_section(section), None);
}

#[test]
fn messages_of_pytest_are_read() {
    let text = lines(|_, line| format!("E{:7}{line}", ""));
    let errors = parse(&text).errors;
    assert!(errors.iter().all(|error| error.kind.is_compat()), "{errors:?}");
    assert_eq!(damages(&text), [(Damage::Quoted, CLEAN.lines().count() as u32)]);
}

#[test]
fn remarks_become_comments() {
    let text = CLEAN.replace(";\n", "; <---- this one\n");
    assert_eq!(damages(&text), [(Damage::Remark, 1)]);
    assert_eq!(cleaned(&text), CLEAN.replace(";\n", "; // <---- this one\n"));
}
