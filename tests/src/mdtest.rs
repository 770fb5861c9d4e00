//! Markdown tests: documentation whose Relay blocks are checked against their claims.
//!
//! In a fenced block that begins with `` ```relay ``:
//!
//! - `// revealed: T` claims the type of the outermost expression or name that ends last on that line;
//! - `// scheme: T` claims the polymorphic type, with its relations, of the definition on that line, or
//!   else of the first variable that is bound there;
//! - `// error: [code] "part of the message"` claims an error that starts on that line;
//!   `warning`, `info` and `hint` likewise. The quoted part is optional.
//! - `// gives: V` claims the value of the definition or bare expression that ends on that line: `4`, `True`, `(1, 2)`, the elements of a tensor in brackets, `Cons(1, Nil)`; or, after
//!   `fails: `, a part of the message of its failure;
//! - `// beside: part of the message` claims a related place of a diagnostic that starts there;
//! - `//^ error: …` claims it for the line above, if that cannot have a comment.
//!
//! Several errors with one cause are one diagnostic, with the others as related places; each may be
//! claimed by its message.
//!
//! Every error and warning of a block must be claimed, except that a binding is unused if its line has a
//! claim, which counts as a use; infos and hints may go unclaimed. Words after `relay` change the
//! interpretation of a block: `tvm` checks it as with `--tvm`, and `tvm=0.8` as with `--tvm=0.8`, with a version header prepended; `fixed`
//! claims the result of applying the first fix of each diagnostic to the previous block; `accepted` claims
//! that each error of the block is the warning `cannot-compute` with `--tvm`, with the same text; `quiet`
//! ignores unclaimed warnings; `run` claims failures at run time, which other tests check.

use std::{fmt::Write, path::Path, sync::Arc};

use interpreter::{Machine, Value};
use semantics::{
    Code, Database, Diagnostic, Level, Levels, Lint, Rules, Severity, SourceFile, TypeAt, View,
    check_file, types_in,
};

use crate::corpus;

/// A fenced block of a page.
#[derive(Clone, Debug)]
pub struct Block {
    /// The words after the language.
    pub words: Vec<String>,
    /// The 1-based line of the page on which the text begins.
    pub line: usize,
    /// The text.
    pub text: String,
}

impl Block {
    /// Returns the rules that the block is checked by: `tvm` are those of 0.14, `tvm=0.8` those of 0.8.
    fn rules(&self) -> Rules {
        let word = self.words.iter().find_map(|word| word.strip_prefix("tvm"));
        match word.map(|rest| rest.strip_prefix('=').unwrap_or("true")) {
            None => Rules::General,
            Some(text) => Rules::parse(text).expect("a release"),
        }
    }
}

/// Returns the Relay blocks of a page.
pub fn blocks(page: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<(Block, bool)> = None;
    for (number, line) in page.lines().enumerate() {
        match &mut open {
            None => {
                let Some(info) = line.trim_start().strip_prefix("```") else { continue };
                let mut words = info.split_whitespace().map(str::to_owned);
                let is_relay = words.next().as_deref() == Some("relay");
                let block = Block { words: words.collect(), line: number + 2, text: String::new() };
                open = Some((block, is_relay));
            }
            Some((block, is_relay)) => {
                if line.trim_start().starts_with("```") {
                    if *is_relay {
                        blocks.push(block.clone());
                    }
                    open = None;
                } else {
                    block.text += line;
                    block.text.push('\n');
                }
            }
        }
    }
    blocks
}

/// The result of checking a text.
pub struct CheckResult {
    /// The failure.
    pub diagnostics: Arc<Vec<Diagnostic>>,
    /// The types.
    pub types: Vec<TypeAt>,
}

/// Checks a text.
pub fn look(text: &str, rules: Rules) -> CheckResult {
    let (db, file) = loaded(text, rules);
    CheckResult { diagnostics: check_file(&db, file), types: types_in(&db, file) }
}

/// Returns a database with a text.
fn loaded(text: &str, rules: Rules) -> (Database, SourceFile) {
    let mut db = Database::new();
    db.set_rules(rules);
    let file = db.add_file(text, syntax::ParseLimits::default());
    // A code that is off is reported where it is claimed.
    let is_claimed = |code: &&Code| code.is_on_request() && text.contains(&format!("[{code}]"));
    let mut levels = Levels::default();
    for lint in Code::ALL.iter().filter(is_claimed).filter_map(|&code| Lint::new(code).ok()) {
        levels.set(lint, Level::Report(Severity::Hint));
    }
    db.set_levels(file, &levels);
    (db, file)
}

/// The claim of a line.
#[derive(Debug)]
enum Claim<'a> {
    Revealed(&'a str),
    Scheme(&'a str),
    Gives(&'a str),
    Fails(&'a str),
    Beside(&'a str),
    Found { severity: Severity, code: &'a str, part: Option<&'a str> },
}

/// Returns the claims of a `run` block: the 0-based line, the code, and a part of the message.
pub fn failures(block: &Block) -> Vec<(usize, String, String)> {
    let mut found = Vec::new();
    for (number, line) in block.text.lines().enumerate() {
        for (_, claim) in claims(line) {
            if let Claim::Found { code, part, .. } = claim {
                found.push((number, code.to_owned(), part.unwrap_or_default().to_owned()));
            }
        }
    }
    found
}

fn claims(line: &str) -> Vec<(bool, Claim<'_>)> {
    let mut found = Vec::new();
    for piece in line.split("//").skip(1) {
        let (above, piece) = match piece.strip_prefix('^') {
            Some(rest) => (true, rest.trim_start_matches('^')),
            None => (false, piece),
        };
        let piece = piece.trim();
        if let Some(ty) = piece.strip_prefix("revealed: ") {
            found.push((above, Claim::Revealed(ty.trim())));
            continue;
        }
        if let Some(ty) = piece.strip_prefix("scheme: ") {
            found.push((above, Claim::Scheme(ty.trim())));
            continue;
        }
        if let Some(value) = piece.strip_prefix("gives: ") {
            found.push((above, Claim::Gives(value.trim())));
            continue;
        }
        if let Some(part) = piece.strip_prefix("fails: ") {
            found.push((above, Claim::Fails(part.trim())));
            continue;
        }
        if let Some(part) = piece.strip_prefix("beside: ") {
            found.push((above, Claim::Beside(part.trim())));
            continue;
        }
        let Some((severity, rest)) = piece.split_once(": [") else { continue };
        let severity = match severity {
            "error" => Severity::Error,
            "warning" => Severity::Warning,
            "info" => Severity::Info,
            "hint" => Severity::Hint,
            _ => continue,
        };
        let Some((code, part)) = rest.split_once(']') else { continue };
        let part = part.trim().strip_prefix('"').and_then(|part| part.strip_suffix('"'));
        found.push((above, Claim::Found { severity, code, part }));
    }
    found
}

/// Checks the claims of every block of a page; returns a report of those that do not hold.
pub fn check_page(name: &str, page: &str) -> String {
    let mut report = String::new();
    let blocks = blocks(page);
    for (index, block) in blocks.iter().enumerate() {
        let is = |word: &str| block.words.iter().any(|w| w == word);
        if is("run") {
            // Its failures occur at run time.
            continue;
        }
        if is("fixed") {
            let Some(before) = index.checked_sub(1).map(|i| &blocks[i]) else { continue };
            check_fixed(name, before, block, &mut report);
            continue;
        }
        check_block(name, block, block.rules(), is("quiet"), &mut report);
        if is("accepted") {
            check_accepted(name, block, &mut report);
        }
    }
    report
}

/// Returns the checked text of a block, and the number of prepended lines.
fn text_of(block: &Block, rules: Rules) -> (String, usize) {
    if rules != Rules::General
        && !block.text.starts_with("#[version")
        && !block.words.iter().any(|w| w == "raw")
    {
        (format!("#[version = \"0.0.5\"]\n{}", block.text), 1)
    } else {
        (block.text.clone(), 0)
    }
}

fn check_block(name: &str, block: &Block, rules: Rules, quiet: bool, report: &mut String) {
    let (text, added) = text_of(block, rules);
    let looked = look(&text, rules);
    let lines = syntax::LineIndex::new(&text);
    let line_of = |offset| lines.line_at(offset) as usize;
    let mut claimed = vec![false; looked.diagnostics.len()];
    let mut complain = |line: usize, message: String| {
        let _ = writeln!(report, "{name}:{}: {message}", block.line + line - added);
    };
    let mut subject = 0;
    for (number, line) in text.lines().enumerate() {
        let on_line = claims(line);
        if !line.trim_start().starts_with("//^") {
            subject = number;
        }
        for (above, claim) in on_line {
            let number = if above { subject } else { number };
            match claim {
                Claim::Revealed(wanted) => {
                    let ends = looked.types.iter().filter(|at| line_of(at.range.end()) == number);
                    let last =
                        ends.max_by_key(|at| (at.range.end(), std::cmp::Reverse(at.range.start())));
                    match last.map(|at| at.ty.to_string()) {
                        Some(ty) if ty == wanted => {}
                        Some(ty) => complain(number, format!("revealed {ty}, claimed {wanted}")),
                        None => complain(number, format!("no type ends here, claimed {wanted}")),
                    }
                }
                Claim::Scheme(wanted) => match scheme(&text, rules, number) {
                    Some(ty) if ty == wanted => {}
                    Some(ty) => complain(number, format!("the scheme is {ty}, claimed {wanted}")),
                    None => complain(number, format!("nothing is defined here: {wanted}")),
                },
                Claim::Gives(wanted) => match evaluated(&text, rules, number) {
                    Ok(value) if value == wanted => {}
                    Ok(value) => complain(number, format!("gives {value}, claimed {wanted}")),
                    Err(message) => complain(number, format!("fails: {message}")),
                },
                Claim::Fails(wanted) => match evaluated(&text, rules, number) {
                    Ok(value) => complain(number, format!("gives {value}, but should fail")),
                    Err(message) if message.contains(wanted) => {}
                    Err(message) => complain(number, format!("fails otherwise: {message}")),
                },
                Claim::Beside(part) => {
                    let related = looked.diagnostics.iter().flat_map(|d| &d.related);
                    let mut here = related.filter(|r| line_of(r.range.start()) == number);
                    if !here.any(|r| r.message.contains(part)) {
                        complain(number, format!("no such related place: {part}"));
                    }
                }
                Claim::Found { severity, code, part } => {
                    let hit = looked.diagnostics.iter().enumerate().position(|(i, d)| {
                        !claimed[i]
                            && d.code.name() == code
                            && d.severity == severity
                            && line_of(d.range.start()) == number
                            && part.is_none_or(|part| d.message.contains(part))
                    });
                    // Findings with the same cause are related places of one diagnostic.
                    let beside = || {
                        let related = looked.diagnostics.iter().flat_map(|d| &d.related);
                        related.into_iter().any(|r| {
                            r.message.strip_prefix("for the same reason: ").is_some_and(|message| {
                                line_of(r.range.start()) == number
                                    && part.is_some_and(|part| message.contains(part))
                            })
                        })
                    };
                    match hit {
                        Some(hit) => claimed[hit] = true,
                        None if severity == Severity::Error && beside() => {}
                        None => complain(number, format!("no such finding: {claim:?}")),
                    }
                }
            }
        }
    }
    let claiming: Vec<usize> = (0..)
        .zip(text.lines())
        .filter(|(_, line)| !claims(line).is_empty())
        .map(|(number, _)| number)
        .collect();
    for (diagnostic, claimed) in looked.diagnostics.iter().zip(claimed) {
        let line = line_of(diagnostic.range.start());
        if diagnostic.code == Code::UnusedBinding && claiming.contains(&line) {
            continue;
        }
        let least = if quiet { Severity::Error } else { Severity::Warning };
        if !claimed && diagnostic.severity >= least {
            complain(
                line,
                format!(
                    "unclaimed {}: [{}] {:?}",
                    diagnostic.severity.name(),
                    diagnostic.code,
                    diagnostic.message
                ),
            );
        }
    }
}

/// Checks that the claimed errors of a block are warnings about calls that TVM accepts, and that there
/// are no errors, with `--tvm`.
fn check_accepted(name: &str, block: &Block, report: &mut String) {
    let (text, added) = text_of(block, Rules::of(true));
    let looked = look(&text, Rules::of(true));
    let lines = syntax::LineIndex::new(&text);
    let mut complain = |line: usize, message: String| {
        let _ = writeln!(report, "{name}:{}: with --tvm: {message}", block.line + line - added);
    };
    for diagnostic in looked.diagnostics.iter().filter(|d| d.severity == Severity::Error) {
        let line = lines.line_at(diagnostic.range.start()) as usize;
        complain(line, format!("error: [{}] {:?}", diagnostic.code, diagnostic.message));
    }
    for (number, line) in text.lines().enumerate() {
        for (_, claim) in claims(line) {
            let Claim::Found { severity: Severity::Error, part, .. } = claim else { continue };
            let mut here = looked.diagnostics.iter().filter(|d| {
                d.code == Code::CannotCompute && lines.line_at(d.range.start()) as usize == number
            });
            if !here.any(|d| part.is_none_or(|part| d.message.contains(part))) {
                complain(number, format!("no such warning: {claim:?}"));
            }
        }
    }
}

/// Returns the type of the definition that starts on a line, or else of the first variable bound there.
fn scheme(text: &str, rules: Rules, line: usize) -> Option<String> {
    let mut db = Database::new();
    db.set_rules(rules);
    let file = db.add_file(text, syntax::ParseLimits::default());
    let lines = syntax::LineIndex::new(text);
    let mut views = semantics::all_defs(&db, file).filter_map(|def| View::new(&db, def));
    let begins = |view: &View<'_>| {
        let first = view.first_token().filter(|_| view.body.header().is_some());
        first.is_some_and(|first| lines.line_at(first.start()) as usize == line)
    };
    if let Some(view) = views.find(begins) {
        return view.inference.signature.as_ref().map(ToString::to_string);
    }
    // The first name on a line with a binding is the bound one.
    let start = text.lines().take(line).map(|line| line.len() + 1).sum::<usize>();
    let name = start + text.lines().nth(line)?.find('%')?;
    let types = types_in(&db, file).into_iter();
    let mut here = types.filter(|at| usize::from(at.range.start()) == name);
    here.next().map(|at| at.ty.to_string())
}

/// Evaluates the definition or bare expression that ends on a line, without arguments.
fn evaluated(text: &str, rules: Rules, line: usize) -> Result<String, String> {
    let mut db = Database::new();
    db.set_rules(rules);
    let file = db.add_file(text, syntax::ParseLimits::default());
    let lines = syntax::LineIndex::new(text);
    let mut defs = semantics::all_defs(&db, file);
    let def = defs.find(|def| lines.line_at(def.range(&db).end()) as usize == line);
    let def = def.ok_or("no definition or expression ends here")?;
    let value = Machine::new(&db).run(def, Vec::new(), None);
    value.map(|value| written(&value)).map_err(|fault| fault.message)
}

fn written(value: &Value) -> String {
    let list = |values: &[Value]| values.iter().map(written).collect::<Vec<_>>().join(", ");
    match value {
        Value::Tensor(tensor) => {
            let is_bool = tensor.dtype().is_bool();
            let number = |x: &f64| match is_bool {
                true => if *x == 0.0 { "False" } else { "True" }.to_owned(),
                false => x.to_string(),
            };
            let numbers: Vec<String> = tensor.to_f64s().iter().map(number).collect();
            match tensor.shape() {
                [] => numbers.concat(),
                _ => format!("[{}]", numbers.join(", ")),
            }
        }
        Value::Tuple(_) => match value.as_tuple().unwrap_or_default() {
            [one] => format!("({},)", written(one)),
            fields => format!("({})", list(fields)),
        },
        Value::Data(data) if data.fields().is_empty() => data.constructor.to_string(),
        Value::Data(data) => format!("{}({})", data.constructor, list(data.fields())),
        other => other.describe(),
    }
}

/// Applies the first fix of each diagnostic; overlapping fixes are applied in the next round.
pub fn fix_all(text: &str, rules: Rules) -> String {
    let (db, file) = loaded(text, rules);
    let mut found = check_file(&db, file).to_vec();
    semantics::retain_helpful_fixes(&db, file, &mut found);
    semantics::apply(text, found.iter().filter_map(|d| d.fixes.first()))
}

fn check_fixed(name: &str, before: &Block, after: &Block, report: &mut String) {
    let rules = before.rules();
    let (text, added) = text_of(before, rules);
    let fixed = fix_all(&text, rules);
    // Blocks need no header, so a fix that adds one is not applied.
    let header = fixed.starts_with("#[version") && !before.text.starts_with("#[version");
    let added = added.max(usize::from(header && !after.text.starts_with("#[version")));
    let fixed: String = fixed.split_inclusive('\n').skip(added).collect();
    // The claims of the fixed text are removed.
    let bare = |text: &str| -> String {
        let lines = text.lines().map(|line| {
            let has_claim = !claims(line).is_empty();
            let code = if has_claim { line.split("//").next().unwrap_or(line) } else { line };
            code.trim_end().to_owned()
        });
        lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
    };
    if bare(&fixed) != bare(&after.text) {
        let _ = writeln!(report, "{name}:{}: the fixes give\n{}", after.line, bare(&fixed));
    }
}

/// Returns the pages of a folder by name.
pub fn pages(folder: &Path) -> Vec<(String, String)> {
    corpus::files(folder, &["md"])
}

/// Returns the texts of the project, and, if the corpus is present, some that TVM printed.
pub fn texts() -> Vec<(String, String)> {
    let mut found = corpus::examples();
    for folder in ["mdtest/language", "mdtest/operators"] {
        for (name, page) in pages(&corpus::here().join(folder)) {
            let blocks = blocks(&page).into_iter();
            found.extend(blocks.map(|block| (format!("{name}:{}", block.line), block.text)));
        }
    }
    for file in ["eval.jsonl", "typed.jsonl", "printonly.jsonl", "reject.jsonl"] {
        found.extend(corpus::cases(file).into_iter().flatten());
    }
    found
}

/// Checks the claims of all pages of a folder.
pub fn check_folder(folder: &Path) -> String {
    pages(folder).iter().map(|(name, page)| check_page(name, page)).collect()
}
