//! Reduces a module to a small one that still shows something: a diagnostic, a failure, whatever a command tells.
//!
//! The reduction works on texts, each of which is parsed and analysed anew. A place of what is kept gives the first
//! cuts: the expression there, then the bindings that it depends on, with all else as parameters of their types.
//! Delta debugging removes further bindings, and small edits the rest. Each step makes the module smaller by
//! [`Measure`], so that there are finitely many.

mod cut;
mod differs;
mod edits;
mod facts;
mod keep;
mod sizes;

use std::{
    collections::HashSet,
    hash::{BuildHasher, RandomState},
};

use syntax::{
    Node, SyntaxKind, TextRange,
    ast::{self, AstNode},
    format::formatted,
};

use cut::{Parts, Style};
pub(crate) use differs::JoinedModule;
use edits::{Edit, edits, is_attribute, is_leaf, lifted, renumbered, whole};
use facts::{Block, Facts, tokens};
use keep::{Judge, Verdict};
pub(crate) use keep::{JudgeSettings, Keep};

/// The result of a reduction.
pub(crate) struct Reduction {
    /// The module, with a comment that says what it shows.
    pub(crate) text: String,
    /// What it shows, in one line.
    pub(crate) what: String,
    /// The number of candidates that were judged.
    pub(crate) tried: u64,
    /// Those of them that were well-formed, apart from what is kept.
    pub(crate) formed: u64,
    /// The numbers of bindings before and after.
    pub(crate) bindings: (usize, usize),
    /// True if a command gave two answers about one module.
    pub(crate) is_flaky: bool,
}

/// The size of a module.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Measure {
    /// The number of definitions, bindings and expressions that are not names or numbers.
    nodes: usize,
    tokens: usize,
    /// The sum of all integers.
    sizes: u64,
}

impl Measure {
    fn of(text: &str) -> Measure {
        let parse = syntax::parse(text);
        let is_counted = |node: &Node<'_>| {
            let kind = node.kind();
            kind.is_stmt()
                || matches!(kind, SyntaxKind::FN_DEF | SyntaxKind::TYPE_DEF)
                || ast::Expr::can_cast(kind) && !is_leaf(kind)
        };
        let root = Node::root(&parse.green);
        let nodes = root.descendants().filter(is_counted).count();
        let digits = |text: &str| {
            let numbers = text.split(|c: char| !c.is_ascii_digit());
            numbers.filter_map(|number| number.parse::<u64>().ok()).fold(0, u64::saturating_add)
        };
        let is_number = |kind| matches!(kind, SyntaxKind::INT | SyntaxKind::TENSOR_TEXT);
        let sizes = tokens(text)
            .filter(|(kind, _)| is_number(*kind))
            .map(|(_, range)| digits(&text[range]))
            .fold(0, u64::saturating_add);
        // A tensor type has several tokens.
        let tokens = root.descendants().flat_map(Node::tokens);
        let tokens = tokens.filter(|token| !token.kind().is_trivia()).count();
        Measure { nodes, tokens, sizes }
    }
}

/// Returns the number of bindings of a module.
fn bindings(text: &str) -> usize {
    let parse = syntax::parse(text);
    let kinds = Node::root(&parse.green).descendants().map(Node::kind);
    kinds.filter(|kind| matches!(kind, SyntaxKind::LET_STMT | SyntaxKind::GRAPH_STMT)).count()
}

/// Returns the first module of a reduction that keeps a difference from another one: two functions that differ.
///
/// # Errors
/// The message if the modules cannot be compared, or no call that differs can be cut out.
pub(crate) fn joined(
    text: &str,
    other: &str,
    setting: &JudgeSettings,
) -> Result<JoinedModule, String> {
    let (inputs, limits) = (&setting.inputs, &setting.limits);
    let modules = differs::modules((text, other), inputs, limits)?;
    let differs = |module: &JoinedModule| differs::difference(&module.text, inputs, limits);
    let found = modules.into_iter().find(|module| differs(module).is_ok_and(|it| it.is_some()));
    found.ok_or_else(|| {
        "the call that differs cannot be cut out of both modules: `relay-analyzer compare` names it"
            .to_owned()
    })
}

/// Reduces a module. `improved` is called with each smaller module, which is complete, and its number of bindings.
///
/// # Errors
/// The message if the module does not show what is kept, or of `improved`.
pub(crate) fn reduce(
    text: &str,
    setting: JudgeSettings,
    improved: &mut dyn FnMut(&str, usize) -> Result<(), String>,
) -> Result<Reduction, String> {
    let (judge, verdict) = Judge::new(setting, text)?;
    let mut reducer = Reducer {
        text: text.to_owned(),
        measure: Measure::of(text),
        judge,
        verdict,
        style: None,
        seen: HashSet::new(),
        hashing: RandomState::new(),
        improved,
    };
    reducer.run()?;
    reducer.finish(text)
}

struct Reducer<'a> {
    judge: Judge,
    text: String,
    verdict: Verdict,
    measure: Measure,
    /// The style in which the module can be cut; `None` if it shows in none of them what is kept.
    style: Option<Style>,
    /// The hashes of the candidates that were judged, or are too large: the module only becomes smaller.
    seen: HashSet<u64>,
    hashing: RandomState,
    improved: &'a mut dyn FnMut(&str, usize) -> Result<(), String>,
}

impl Reducer<'_> {
    fn run(&mut self) -> Result<(), String> {
        self.cut_to_place()?;
        self.grow_around_place()?;
        self.cut_to_header()?;
        self.lift()?;
        self.choose_style()?;
        // Each round makes the module smaller.
        while self.minimise()? | self.edit()? | self.lift()? {}
        Ok(())
    }

    fn facts(&mut self) -> Option<Facts> {
        let text = self.text.clone();
        self.judge.facts(&text)
    }

    /// Takes the first of the candidates that shows what is kept; returns false if none does.
    fn accept(&mut self, mut candidates: impl Iterator<Item = String>) -> Result<bool, String> {
        let is_parallel = matches!(self.judge.keep(), Keep::Command(_));
        loop {
            if self.judge.is_cancelled() {
                return Err("the reduction was cancelled".to_owned());
            }
            let group = if is_parallel { GROUP } else { 1 };
            let new: Vec<String> = candidates.by_ref().take(group).collect();
            if new.is_empty() {
                return Ok(false);
            }
            let is_new = |text: &String| {
                self.seen.insert(self.hashing.hash_one(text)) && Measure::of(text) < self.measure
            };
            let new: Vec<String> = new.into_iter().filter(is_new).collect();
            let Some((text, verdict)) = self.judge.first(new) else { continue };
            self.take(text, verdict)?;
            return Ok(true);
        }
    }

    /// Cuts the module to an expression around a place of what is kept.
    fn cut_to_place(&mut self) -> Result<(), String> {
        let Some(facts) = self.facts() else { return Ok(()) };
        for style in Style::ALL {
            for place in self.verdict.places.clone() {
                let path = facts.root().path_to(place);
                // An operator that is not called may lack attributes.
                let is_operator = |node: &Node<'_>| {
                    node.kind() == SyntaxKind::NAME_REF
                        && operators::find(facts.slice(node.range())).is_some()
                };
                let is_value = |node: &&Node<'_>| {
                    ast::Expr::can_cast(node.kind())
                        && !is_operator(node)
                        && !is_attribute(facts.root(), node.range())
                };
                let exprs = path.iter().rev().filter(is_value);
                let ranges = spread(exprs.map(|node| node.range()).collect()).into_iter();
                let build = |range| cut::build(&facts, &Parts::of(vec![range]), style);
                if self.accept(ranges.filter_map(build))? {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Cuts the module to bindings around a place, of which ever more are kept.
    fn grow_around_place(&mut self) -> Result<(), String> {
        let Some(facts) = self.facts() else { return Ok(()) };
        let place = self.verdict.places.first().copied();
        let mut blocks = match place {
            Some(place) => facts.blocks_around(place),
            None => facts.main_block(None).into_iter().collect(),
        };
        // Of nested blocks only some are tried.
        blocks.truncate(16);
        for style in Style::ALL {
            for block in &blocks {
                let grown = place.map(|place| grown(&facts, block, place)).unwrap_or_default();
                let parts = grown.into_iter().chain([whole(block, Vec::new())]);
                if self.accept(parts.filter_map(|parts| cut::build(&facts, &parts, style)))? {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Cuts the module to the definition of a place, without its body, and to single parameters.
    fn cut_to_header(&mut self) -> Result<(), String> {
        let Some(facts) = self.facts() else { return Ok(()) };
        let Some(place) = self.verdict.places.first().copied() else { return Ok(()) };
        self.accept(edits::headers(&facts, place).into_iter()).map(drop)
    }

    /// Makes a definition of a function that is the whole value of one, whose bindings can then be removed. Returns true
    /// if there was one.
    fn lift(&mut self) -> Result<bool, String> {
        let mut is_smaller = false;
        loop {
            let place = self.verdict.places.first().copied();
            let text = self.facts().and_then(|facts| {
                let block = facts.main_block(place)?;
                lifted(&facts, &block)?.apply(&facts, Style::VERBATIM)
            });
            if !self.accept(text.into_iter())? {
                return Ok(is_smaller);
            }
            is_smaller = true;
            self.choose_style()?;
        }
    }

    /// Finds the style in which the module can be cut.
    fn choose_style(&mut self) -> Result<(), String> {
        let Some(facts) = self.facts() else { return Ok(()) };
        let place = self.verdict.places.first().copied();
        let Some(block) = facts.main_block(place) else { return Ok(()) };
        for style in Style::ALL {
            let Some(text) = cut::build(&facts, &whole(&block, Vec::new()), style) else {
                continue;
            };
            let verdict = self.judge.judge(&text);
            if verdict.holds && verdict.is_formed {
                self.style = Some(style);
                if Measure::of(&text) < self.measure {
                    self.take(text, verdict)?;
                }
                break;
            }
        }
        Ok(())
    }

    /// Takes a smaller module.
    fn take(&mut self, text: String, verdict: Verdict) -> Result<(), String> {
        self.measure = Measure::of(&text);
        (self.text, self.verdict) = (text, verdict);
        let complete = self.complete(&self.text);
        (self.improved)(&complete, bindings(&self.text))
    }

    /// Removes bindings. Returns true if the module is smaller.
    fn minimise(&mut self) -> Result<bool, String> {
        let Some(style) = self.style else { return Ok(false) };
        if !style.keeps_items {
            return self.minimise_block(style, None);
        }
        let count = self.facts().map_or(0, |facts| facts.blocks().len());
        let mut is_smaller = false;
        for block in 0..count.min(MOST_BLOCKS) {
            is_smaller |= self.minimise_block(style, Some(block))?;
        }
        Ok(is_smaller)
    }

    /// Removes bindings of a block by delta debugging: halves, quarters and so on. The block is that of one of the
    /// definitions, or of the one around the place.
    fn minimise_block(&mut self, style: Style, number: Option<usize>) -> Result<bool, String> {
        let mut is_smaller = false;
        let mut chunks = 2;
        loop {
            let Some(facts) = self.facts() else { return Ok(is_smaller) };
            let place = self.verdict.places.first().copied();
            let block = match number {
                Some(number) => facts.blocks().into_iter().nth(number),
                None => facts.main_block(place),
            };
            let Some(block) = block else { return Ok(is_smaller) };
            let count = block.stmts.len() + usize::from(block.tail.is_some());
            if count < 2 {
                return Ok(is_smaller);
            }
            chunks = chunks.clamp(2, count);
            let size = count.div_ceil(chunks);
            let of = |chunk: usize| chunk * size..((chunk + 1) * size).min(count);
            let all = || (0..chunks).map(of).filter(|chunk| !chunk.is_empty());
            let alone = all().map(|chunk| chunk.collect::<Vec<usize>>());
            let others = all().map(|chunk| (0..count).filter(|at| !chunk.contains(at)).collect());
            let candidates = alone
                .chain(others)
                .filter_map(|kept| cut::build(&facts, &selection(&facts, &block, kept)?, style));
            if self.accept(candidates)? {
                is_smaller = true;
                chunks = chunks.saturating_sub(1);
            } else if chunks >= count {
                return Ok(is_smaller);
            } else {
                chunks *= 2;
            }
        }
    }

    /// Applies small edits until none makes the module smaller. Returns true if one did.
    fn edit(&mut self) -> Result<bool, String> {
        let mut is_smaller = false;
        loop {
            let Some(facts) = self.facts() else { return Ok(is_smaller) };
            let block = facts.main_block(self.verdict.places.first().copied());
            let style = self.style;
            let edits = edits(&facts, block.as_ref(), (style.is_some(), self.judge.is_of_syntax()));
            let style = style.unwrap_or(Style::VERBATIM);
            let mut is_edited = false;
            // An edit costs an analysis before it is a candidate, and those after one that is taken are for nothing.
            for group in edits.chunks(GROUP) {
                let kept: Vec<&Edit> =
                    group.iter().filter(|edit| self.judge.keeps_type(&facts, edit)).collect();
                is_edited =
                    self.accept(kept.iter().filter_map(|edit| edit.apply(&facts, style)))?;
                if is_edited {
                    break;
                }
            }
            if !is_edited {
                return Ok(is_smaller);
            }
            is_smaller = true;
        }
    }

    /// Returns a text as it is written: formatted, with a comment.
    fn complete(&self, text: &str) -> String {
        let text = formatted(&without_head(text), syntax::format::Style::Tvm);
        let text = text.trim_start();
        let what = match self.verdict.what.as_str() {
            "" => String::new(),
            what => format!("{SHOWS}{what}\n"),
        };
        let head = format!("{what}{REDUCED}{}`\n", self.judge.keep());
        let version = text.starts_with("#[version");
        match text.split_once('\n').filter(|_| version) {
            Some((version, rest)) => format!("{version}\n{head}{rest}"),
            None => head + text,
        }
    }

    fn finish(mut self, before: &str) -> Result<Reduction, String> {
        if let Some(facts) = self.facts()
            && let Some(text) = renumbered(&facts).apply(&facts, Style::VERBATIM)
            && text != self.text
        {
            let verdict = self.judge.judge(&text);
            if verdict.holds && verdict.is_formed {
                (self.text, self.verdict) = (text, verdict);
            }
        }
        let text = self.complete(&self.text);
        (self.improved)(&text, bindings(&text))?;
        Ok(Reduction {
            bindings: (bindings(before), bindings(&text)),
            text,
            what: self.verdict.what,
            tried: self.judge.tried,
            formed: self.judge.formed,
            is_flaky: self.judge.is_flaky,
        })
    }
}

/// The most candidates that commands judge at the same time.
const GROUP: usize = 16;

/// The most definitions whose bindings are removed, if all of them are kept.
const MOST_BLOCKS: usize = 64;

/// The comments at the start of a reduced module.
const SHOWS: &str = "// Shows: ";
const REDUCED: &str = "// Reduced by `relay-analyzer reduce ";

/// Returns a text without the comments of an earlier reduction.
fn without_head(text: &str) -> String {
    let is_head = |line: &&str| line.starts_with(SHOWS) || line.starts_with(REDUCED);
    text.split_inclusive('\n').filter(|line| !is_head(line)).collect()
}

/// Returns the first ranges, and of the others ever fewer.
fn spread(ranges: Vec<TextRange>) -> Vec<TextRange> {
    const ALL: usize = 16;
    let is_kept = |at: usize| at < ALL || at.is_power_of_two();
    ranges.into_iter().enumerate().filter(|(at, _)| is_kept(*at)).map(|(_, range)| range).collect()
}

/// Returns the bindings of a block that the one at a place depends on, within growing distances.
fn grown(facts: &Facts, block: &Block, place: TextRange) -> Vec<Parts> {
    let tail = block.stmts.len();
    let at = block.stmts.iter().position(|stmt| stmt.range.contains_range(place));
    let Some(at) = at.or_else(|| block.tail.filter(|it| it.contains_range(place)).map(|_| tail))
    else {
        return Vec::new();
    };
    let mut kept = vec![at];
    let mut found = Vec::new();
    let mut distance = 1;
    while let Some(parts) = selection(facts, block, kept.clone()) {
        let size = parts.ranges.len();
        found.push(parts);
        for _ in 0..distance {
            let mut more: Vec<usize> =
                kept.iter().flat_map(|at| operands(facts, block, *at)).collect();
            kept.append(&mut more);
            kept.sort_unstable();
            kept.dedup();
        }
        if kept.len() <= size {
            break;
        }
        distance *= 2;
    }
    found
}

/// Returns the statements whose variables a statement uses.
fn operands(facts: &Facts, block: &Block, at: usize) -> Vec<usize> {
    let range = block.stmts.get(at).map(|stmt| stmt.range).or(block.tail);
    let uses = range.map(|range| facts.uses_in(range)).unwrap_or_default();
    uses.iter().filter_map(|of| stmt_of(block, of.binder)).filter(|of| *of != at).collect()
}

/// Returns the statement that binds a variable.
fn stmt_of(block: &Block, binder: TextRange) -> Option<usize> {
    let after = block.stmts.partition_point(|stmt| stmt.range.start() <= binder.start());
    let at = after.checked_sub(1)?;
    (block.stmts.get(at)?.binder == Some(binder)).then_some(at)
}

/// Returns the parts of a block at some positions, of which the last one is that of its value, and those that they need
/// because their types are not known. `None` if the last of them has no value.
fn selection(facts: &Facts, block: &Block, kept: Vec<usize>) -> Option<Parts> {
    let tail = block.stmts.len();
    let mut is_kept = vec![false; tail + 1];
    let mut left = kept;
    // Each statement is visited once.
    while let Some(at) = left.pop() {
        if std::mem::replace(&mut is_kept[at], true) {
            continue;
        }
        let range = block.stmts.get(at).map(|stmt| stmt.range).or(block.tail)?;
        let unknown =
            facts.uses_in(range).iter().filter(|of| facts.declaration(of.binder).is_none());
        left.extend(unknown.filter_map(|of| stmt_of(block, of.binder)));
    }
    let stmts = block.stmts.iter().zip(&is_kept).filter(|(_, kept)| **kept).map(|(stmt, _)| stmt);
    let last = stmts.clone().next_back();
    let mut ranges: Vec<TextRange> = stmts.map(|stmt| stmt.range).collect();
    if is_kept[tail] {
        ranges.push(block.tail?);
        return Some(Parts::of(ranges));
    }
    let result = last.filter(|stmt| !stmt.is_free)?.binder?;
    Some(Parts { result: Some(result), ..Parts::of(ranges) })
}
