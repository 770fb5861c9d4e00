//! The tree-sitter grammar: it accepts the same texts as the parser, its queries match those of the editors,
//! and it is fast.

use std::{collections::HashMap, fs, path::Path};

use cpu_time::ThreadTime;
use relay_tests::{
    corpus::{self, here},
    figures::{WATCHDOG, at_most},
    fuzz, mdtest,
};
use semantics::{Code, Database, check_file};
use syntax::{ParseLimits, SyntaxErrorKind};
use tree_sitter::{Node, Parser, Query, QueryCursor, StreamingIterator, Tree};

/// The number of mutations of each short text.
const MUTATIONS: usize = 3;
/// The maximal length of mutated texts.
const MAX_MUTATED: usize = 3000;
/// The minimal share of texts on which both parsers agree, in percent.
const AGREEMENT: f64 = 99.5;
/// The minimal speed on a slow machine, in megabytes per second.
const SPEED: f64 = 4.0;

fn grammar() -> std::path::PathBuf {
    here().join("../editors/tree-sitter")
}

fn parser() -> Parser {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_relay::LANGUAGE.into()).expect("the version is known");
    parser
}

fn parse(parser: &mut Parser, text: &str) -> Tree {
    parser.parse(text, None).expect("there is a language and no time limit")
}

/// Returns true if the parser accepts a text; `None` if it stops at an unknown version, which the grammar
/// does not check.
fn is_well_formed(text: &str) -> Option<bool> {
    let parse = syntax::parse(text);
    let mut errors = parse.errors.iter().filter(|error| !error.kind.is_compat());
    if errors.clone().any(|error| error.kind == SyntaxErrorKind::UnknownVersion) {
        return None;
    }
    Some(errors.next().is_none())
}

/// Returns true for errors that are detected after parsing: an argument after an attribute, `cast(%x, 'int8')`.
fn is_refused_later(text: &str) -> bool {
    let db = Database::new();
    let file = db.add_file(text, ParseLimits::default());
    let is_refusal = |code| matches!(code, Code::SyntaxError | Code::PythonCall);
    check_file(&db, file).iter().any(|found| is_refusal(found.code))
}

/// Returns the modules of the repository, and of the corpus if present.
fn texts() -> Vec<(String, String)> {
    let mut texts = corpus::examples();
    for folder in ["language", "operators", "programs"] {
        for (name, page) in mdtest::pages(&here().join("mdtest").join(folder)) {
            let blocks = mdtest::blocks(&page).into_iter().enumerate();
            texts.extend(blocks.map(|(at, block)| (format!("{name} {at}"), block.text)));
        }
    }
    for file in ["typed.jsonl", "printonly.jsonl", "reject.jsonl", "eval.jsonl"] {
        texts.extend(corpus::cases(file).into_iter().flatten());
    }
    texts.extend(corpus::models().into_iter().flatten());
    texts
}

/// Asserts that both parsers agree on enough texts.
fn assert_agreement(what: &str, texts: &[(String, String)]) {
    let mut parser = parser();
    let (mut judged, mut apart) = (0, Vec::new());
    for (name, text) in texts {
        let Some(ours) = is_well_formed(text) else { continue };
        let theirs = !parse(&mut parser, text).root_node().has_error();
        judged += 1;
        if ours != theirs && (theirs || !is_refused_later(text)) {
            apart.push(format!("{name}: {}", if ours { "is rejected" } else { "is accepted" }));
        }
    }
    let share = 100.0 * (judged - apart.len()) as f64 / judged.max(1) as f64;
    apart.truncate(20);
    eprintln!("{what}: {share:.2} % of {judged}\n{}", apart.join("\n"));
    assert!(judged > 500, "{what}: only {judged} texts");
    assert!(share >= AGREEMENT, "{what}: {share:.2} %, expected at least {AGREEMENT} %");
}

#[test]
fn grammar_accepts_the_texts_of_the_parser() {
    assert_agreement("modules", &texts());
}

#[test]
fn grammar_rejects_mutations_like_the_parser() {
    let mut rng = fastrand::Rng::with_seed(18);
    let mut mutated = Vec::new();
    for (name, text) in texts().into_iter().filter(|(_, text)| text.len() <= MAX_MUTATED) {
        for _ in 0..MUTATIONS {
            let one = fuzz::one_token(&mut rng, &text);
            mutated.extend(one.map(|(text, how)| (format!("{name}, {how}"), text)));
        }
    }
    assert_agreement("mutated modules", &mutated);
}

#[test]
fn grammar_has_a_supported_abi() {
    let language: tree_sitter::Language = tree_sitter_relay::LANGUAGE.into();
    // Neovim 0.10, Helix 25.01 and Emacs 29 support no newer ABI.
    assert_eq!(language.abi_version(), 14);
}

/// Formats a tree as in tests of the tree-sitter CLI: without fields, on one line.
fn plain(tree: &str) -> String {
    let words = tree.split_whitespace().filter(|word| !word.ends_with(':'));
    words.collect::<Vec<_>>().join(" ").replace(" )", ")")
}

/// Returns the cases of a file of `test/corpus`: name, text and tree.
fn tree_cases(page: &str) -> Vec<(String, String, String)> {
    let is_rule = |line: &str, sign: char| line.len() >= 3 && line.chars().all(|c| c == sign);
    let mut cases: Vec<(String, String, String)> = Vec::new();
    let (mut lines, mut in_tree) = (page.lines(), false);
    while let Some(line) = lines.next() {
        if is_rule(line, '=') {
            let name = lines.next().expect("a name").to_owned();
            assert!(lines.next().is_some_and(|line| is_rule(line, '=')), "{name} has no rule");
            cases.push((name, String::new(), String::new()));
            in_tree = false;
        } else if is_rule(line, '-') {
            in_tree = true;
        } else if let Some((_, text, tree)) = cases.last_mut() {
            let part = if in_tree { tree } else { text };
            *part += line;
            part.push('\n');
        }
    }
    cases
}

fn files(folder: &Path) -> Vec<(String, String)> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{folder:?}: {error}"));
    let mut files: Vec<(String, String)> = entries
        .map(|entry| {
            let path = entry.expect("an entry").path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            (name, fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path:?}: {error}")))
        })
        .collect();
    files.sort();
    files
}

#[test]
fn trees_match_the_corpus() {
    let mut parser = parser();
    let mut count = 0;
    for (file, page) in files(&grammar().join("test/corpus")) {
        for (name, text, tree) in tree_cases(&page) {
            let found = parse(&mut parser, text.trim_matches('\n')).root_node().to_sexp();
            assert_eq!(plain(&found), plain(&tree), "{file}: {name}");
            count += 1;
        }
    }
    assert!(count >= 25, "only {count} trees");
}

fn query(file: &Path) -> Query {
    let text = fs::read_to_string(file).unwrap_or_else(|error| panic!("{file:?}: {error}"));
    Query::new(&tree_sitter_relay::LANGUAGE.into(), &text)
        .unwrap_or_else(|error| panic!("{file:?}: {error}"))
}

#[test]
fn queries_match_the_grammar() {
    for editor in ["tree-sitter/queries", "neovim/queries/relay", "helix/queries/relay"] {
        let folder = here().join("../editors").join(editor);
        for (name, _) in files(&folder) {
            query(&folder.join(name));
        }
    }
}

#[test]
fn neovim_queries_are_copies() {
    let copies = files(&here().join("../editors/neovim/queries/relay"));
    let queries = files(&grammar().join("queries"));
    let names = |files: &[(String, String)]| -> Vec<String> {
        files.iter().map(|(name, _)| name.clone()).collect()
    };
    assert_eq!(names(&copies), names(&queries));
    for ((name, copy), (_, original)) in copies.iter().zip(&queries) {
        assert!(
            copy == original,
            "cp editors/tree-sitter/queries/{name} editors/neovim/queries/relay"
        );
    }
}

/// Returns the captures of a text by range.
fn colours(query: &Query, root: Node<'_>, text: &str) -> HashMap<(usize, usize), Vec<String>> {
    let mut colours: HashMap<(usize, usize), Vec<String>> = HashMap::new();
    let mut cursor = QueryCursor::new();
    let mut captures = cursor.captures(query, root, text.as_bytes());
    while let Some((found, at)) = captures.next() {
        let capture = found.captures[*at];
        let name = query.capture_names()[capture.index as usize];
        let range = capture.node.byte_range();
        colours.entry((range.start, range.end)).or_default().push(name.to_owned());
    }
    colours
}

/// Returns the capture of the innermost node at an offset.
fn colour_at(colours: &HashMap<(usize, usize), Vec<String>>, at: usize) -> Option<&str> {
    let around = colours.iter().filter(|((start, end), _)| (*start..*end).contains(&at));
    let innermost = around.min_by_key(|((start, end), _)| end - start)?;
    innermost.1.first().map(String::as_str)
}

/// The assertions of `test/highlight`: `^` under a character, `<-` under the first of a line.
#[test]
fn highlights_match_the_samples() {
    let query = query(&grammar().join("queries/highlights.scm"));
    let mut parser = parser();
    let mut count = 0;
    for (file, text) in files(&grammar().join("test/highlight")) {
        let tree = parse(&mut parser, &text);
        assert!(!tree.root_node().has_error(), "{file}: {}", tree.root_node().to_sexp());
        let colours = colours(&query, tree.root_node(), &text);
        let (mut line_start, mut code_start) = (0, 0);
        for line in text.split_inclusive('\n') {
            let comment =
                line.trim_start().strip_prefix("//").or(line.trim_start().strip_prefix('#'));
            let claim = comment.and_then(|comment| {
                let comment = comment.trim();
                let first = comment.strip_prefix("<-").map(|colour| (0, colour));
                first.or(comment.strip_prefix('^').map(|c| (line.find('^').unwrap_or(0), c)))
            });
            if let Some((column, colour)) = claim {
                let found = colour_at(&colours, code_start + column);
                assert_eq!(found, Some(colour.trim()), "{file}: {line}");
                count += 1;
            } else {
                code_start = line_start;
            }
            line_start += line.len();
        }
    }
    assert!(count >= 60, "only {count} claims");
}

/// Editors disagree on the precedence of patterns.
#[test]
fn no_node_has_two_highlights() {
    let mut parser = parser();
    for file in ["tree-sitter/queries/highlights.scm", "helix/queries/relay/highlights.scm"] {
        let query = query(&here().join("../editors").join(file));
        for (name, text) in
            corpus::examples().into_iter().chain(files(&grammar().join("test/highlight")))
        {
            let tree = parse(&mut parser, &text);
            for ((start, end), colours) in colours(&query, tree.root_node(), &text) {
                assert_eq!(colours.len(), 1, "{file}, {name}: {}", &text[start..end]);
            }
        }
    }
}

/// Parses a valid text, whose time is compared with [`SPEED`].
fn parse_in_time(name: &str, text: &str) {
    let mut parser = parser();
    let started = ThreadTime::now();
    let tree = parse(&mut parser, text);
    let took = started.elapsed().as_secs_f64();
    let megabytes = text.len() as f64 / 1e6;
    assert!(!tree.root_node().has_error(), "{name} is refused");
    at_most(&format!("seconds for {megabytes:.1} MB of {name}"), took, 0.2 + megabytes / SPEED);
}

#[test]
fn large_modules_are_parsed_fast() {
    parse_in_time("a chain", &corpus::chain(30_000));
    for (name, text) in corpus::models().into_iter().flatten() {
        if text.len() > 1_000_000 {
            parse_in_time(&name, &text);
        }
    }
    let weights = format!("\"{}\",\n", "A".repeat(1_000_000)).repeat(20);
    let text =
        format!("def @main() {{ 1 }}\n#[metadata]\n{{\"b64ndarrays\": [\n{weights}\"\"]}}\n");
    parse_in_time("a metadata section", &text);
    let tree = parse(&mut parser(), &text);
    assert!(tree.root_node().descendant_count() < 20, "the section is one token");
}

/// Deep and unclosed texts take memory in proportion to their length, and no stack.
#[test]
fn hostile_texts_are_parsed_in_linear_memory() {
    let mut parser = parser();
    for opening in
        ["(", "{", "[", "f(", "let %x = ", "fn (", "/*", "\"", "match (%x) { A => ", "-", "%a<"]
    {
        let text = opening.repeat(20_000);
        let started = ThreadTime::now();
        parse(&mut parser, &text);
        assert!(started.elapsed() < WATCHDOG, "{opening} takes {:?}", started.elapsed());
    }
}
