//! Modules made of parts of a function: what the parts need from elsewhere becomes a parameter of its type.
//!
//! Every module that is built is well-formed, apart from what is wrong in the parts themselves.

use rustc_hash::{FxHashMap, FxHashSet};
use syntax::{
    SyntaxKind, TextRange,
    ast::{self, AstNode},
};

use super::facts::{Facts, Form, text_range, tokens, without_comments};

/// How parts are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Style {
    /// Leave out comments, and give parameters names that TVM reads.
    pub(super) is_plain: bool,
    /// Replace constants of the metadata section by parameters.
    pub(super) lifts_constants: bool,
    /// Keep the result type of the function.
    pub(super) keeps_result: bool,
    /// Keep the other definitions, and the name of the function.
    pub(super) keeps_items: bool,
}

impl Style {
    /// The style that leaves out nothing.
    pub(super) const VERBATIM: Style =
        Style { is_plain: false, keeps_result: true, ..Style::PLAIN };
    /// Without comments.
    const PLAIN: Style =
        Style { is_plain: true, lifts_constants: false, keeps_result: false, keeps_items: false };

    /// The styles, the one that leaves out most first.
    pub(super) const ALL: [Style; 6] = [
        Style { lifts_constants: true, ..Style::PLAIN },
        Style::PLAIN,
        Style { lifts_constants: true, keeps_result: true, ..Style::PLAIN },
        Style::VERBATIM,
        Style { keeps_items: true, ..Style::PLAIN },
        Style { keeps_items: true, ..Style::VERBATIM },
    ];
}

/// The parts of a module.
#[derive(Clone, Default, Debug)]
pub(super) struct Parts {
    /// Statements in text order, and last an expression unless `result` is given.
    pub(super) ranges: Vec<TextRange>,
    /// The variable that is the result, by the range of the name where it is bound.
    pub(super) result: Option<TextRange>,
    /// Expressions in the parts that become parameters. None contains another one.
    pub(super) replaced: Vec<TextRange>,
}

/// Returns a module whose main function has the parts as its body; `None` if the type of a value that they need is
/// not known.
pub(super) fn build(facts: &Facts, parts: &Parts, style: Style) -> Option<String> {
    if !facts.is_explained(&parts.ranges, &parts.replaced) {
        return None;
    }
    let mut params = Params::new(facts, parts, style);
    // Their names take precedence over those of what is replaced.
    parts.ranges.iter().try_for_each(|range| params.declare(*range))?;
    let mut body = String::new();
    for &range in &parts.ranges {
        body += &edited(facts, range, params.edits(range)?, style.is_plain);
        body.push('\n');
    }
    if let Some(binder) = parts.result {
        body += facts.slice(binder);
        body.push('\n');
    }
    let list = params.list();
    let path = facts.root().path_to(*parts.ranges.first()?);
    let def = path.iter().find_map(|node| ast::FnDef::cast(*node));
    let result = def.and_then(ast::FnDef::ret).filter(|_| style.keeps_result);
    if let (Some(ret), Some(def)) = (result, def)
        && breaks_result(facts, def, ret, parts)
    {
        return None;
    }
    let result = result.map(|ret| facts.slice(ret.range()));
    let result = result.unwrap_or_default();
    let names = words([list.as_str(), body.as_str(), result]);
    let generics = path.iter().find_map(|node| {
        let list = node.child(SyntaxKind::TYPE_PARAM_LIST)?;
        let mut params = list.descendants().filter_map(ast::TypeParam::cast);
        let is_used = params.any(|param| param.name().is_some_and(|it| names.contains(it.text())));
        is_used.then(|| facts.slice(list.range()))
    });
    let generics = generics.unwrap_or_default();
    if style.keeps_items
        && let Some(def) = path.iter().find_map(|node| ast::FnDef::cast(*node))
    {
        let name = def.name().map(|name| name.text()).unwrap_or_default();
        let new = format!("def {name}{generics}({list}) {result} {{\n{body}}}");
        return Some(replaced(facts, &[(def.range(), new)]));
    }
    Some(module(facts, names, style.is_plain, |has_main| {
        let name = if has_main { "@reduced" } else { "@main" };
        format!("def {name}{generics}({list}) {result} {{\n{body}}}\n")
    }))
}

/// Returns true if a function returns what it declares, and the parts have a value of another type.
fn breaks_result(facts: &Facts, def: ast::FnDef<'_>, ret: ast::RetType<'_>, parts: &Parts) -> bool {
    let value = parts.result.or(parts.ranges.last().copied());
    let tail = def.body().and_then(ast::Block::tail).map(AstNode::range);
    let form = |range: Option<TextRange>| range.and_then(|range| facts.form_of(range));
    let differs =
        |of: Option<Form>, from: Option<Form>| of.is_some() && from.is_some() && of != from;
    let written = ret.ty().and_then(Form::written);
    if differs(form(value), written) && !differs(form(tail), written) {
        return true;
    }
    let own = tail.and_then(|tail| facts.type_of(tail));
    let declared = ret.ty().map(|ty| without_comments(facts.slice(ty.range())));
    if own.is_none() || own != declared {
        return false;
    }
    let value = match parts.result {
        Some(binder) => facts.declaration(binder).flatten(),
        None => parts.ranges.last().and_then(|range| facts.type_of(*range)),
    };
    value.is_some() && value != declared
}

/// Returns the names of the parameters that stand for variables in the module that is built of parts, by the ranges where
/// these are bound; `None` if the type of one is not known.
pub(super) fn parameters(
    facts: &Facts,
    parts: &Parts,
    style: Style,
) -> Option<FxHashMap<TextRange, String>> {
    let mut params = Params::new(facts, parts, style);
    parts.ranges.iter().try_for_each(|range| params.declare(*range))?;
    Some(params.by_binder)
}

/// Returns the definitions of a module without those that `keep` refuses; what the others mention stays.
pub(super) fn with_items(
    facts: &Facts,
    keep: impl Fn(TextRange) -> bool,
    is_plain: bool,
) -> String {
    let kept = facts.items().map(AstNode::range).filter(|it| keep(*it));
    let kept: Vec<&str> = kept.map(|range| facts.slice(range)).collect();
    let names = words(kept).into_iter().chain(own_names(facts, keep)).collect();
    module(facts, names, is_plain, |_| String::new())
}

/// Returns a module of one item with edits, and of the items that it mentions.
pub(super) fn item(
    facts: &Facts,
    item: TextRange,
    edits: Vec<(TextRange, String)>,
    is_plain: bool,
) -> String {
    let text = edited(facts, item, edits, is_plain);
    let own = own_names(facts, |range| range == item);
    let mut names = words([text.as_str()]);
    // It is written here, with the edits.
    names.retain(|name| !own.contains(name));
    module(facts, names, is_plain, |_| text + "\n")
}

/// Returns the names of the items that are kept.
fn own_names(facts: &Facts, keep: impl Fn(TextRange) -> bool) -> Vec<String> {
    facts.items().filter(|item| keep(item.range())).flat_map(names_of).collect()
}

/// Returns the names that an item declares.
fn names_of(item: ast::Item<'_>) -> Vec<String> {
    match item {
        ast::Item::FnDef(def) => {
            def.name().map(|name| name.text().into_owned()).into_iter().collect()
        }
        ast::Item::TypeDef(def) => {
            let constructors = def.constructors().into_iter().flat_map(|list| list.constructors());
            let names = constructors.filter_map(|constructor| constructor.name()).chain(def.name());
            names.map(|name| name.text().into_owned()).collect()
        }
        _ => Vec::new(),
    }
}

/// Returns a module of the items that `names` and these items mention, and of `main`, which is told whether
/// `@main` is one of them.
fn module(
    facts: &Facts,
    mut names: FxHashSet<String>,
    is_plain: bool,
    main: impl FnOnce(bool) -> String,
) -> String {
    let items: Vec<ast::Item<'_>> = facts.items().collect();
    let mut kept = vec![false; items.len()];
    // Each round adds an item or is the last one.
    loop {
        let mut grows = false;
        for (item, kept) in items.iter().zip(&mut kept) {
            if !*kept && names_of(*item).iter().any(|name| names.contains(name)) {
                (*kept, grows) = (true, true);
                names.extend(words([facts.slice(item.range())]));
            }
        }
        if !grows {
            break;
        }
    }
    let text = |range| edited(facts, range, Vec::new(), is_plain);
    let mut out = String::new();
    let version = items.iter().find(|item| matches!(item, ast::Item::Version(_)));
    version.iter().for_each(|item| out = text(item.range()) + "\n");
    for (item, _) in items.iter().zip(&kept).filter(|(_, kept)| **kept) {
        out += &text(item.range());
        out.push('\n');
    }
    out += &main(names.contains("@main"));
    // The section is one token, which is not read for its references.
    if tokens(&out).any(|(kind, _)| kind == SyntaxKind::META_REF)
        && let Some(section) = items.iter().find(|item| matches!(item, ast::Item::MetadataItem(_)))
    {
        out.push('\n');
        out += facts.slice(section.range());
    }
    out
}

/// Returns the names that texts mention.
fn words<'t>(texts: impl IntoIterator<Item = &'t str>) -> FxHashSet<String> {
    let mut names = FxHashSet::default();
    for text in texts {
        for (kind, range) in tokens(text) {
            if matches!(kind, SyntaxKind::GLOBAL | SyntaxKind::IDENT) {
                names.insert(text[range].to_owned());
            } else if kind == SyntaxKind::TENSOR_TEXT {
                let parts = text[range].split(|c: char| !c.is_alphanumeric() && c != '_');
                names.extend(parts.map(str::to_owned));
            }
        }
    }
    names
}

/// Returns a range of the text with edits, which are in it and do not overlap.
fn edited(
    facts: &Facts,
    range: TextRange,
    mut edits: Vec<(TextRange, String)>,
    is_plain: bool,
) -> String {
    let text = facts.slice(range);
    edits.sort_by_key(|(range, _)| range.start());
    let offset = usize::from(range.start());
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    let plain = |text: &str| if is_plain { without_comments(text) } else { text.to_owned() };
    for (range, new) in edits {
        let (start, end) = (usize::from(range.start()) - offset, usize::from(range.end()) - offset);
        out += &plain(text.get(done..start).unwrap_or_default());
        out += &new;
        done = end;
    }
    out += &plain(text.get(done..).unwrap_or_default());
    out
}

/// Returns the text with edits, which do not overlap.
pub(super) fn replaced(facts: &Facts, edits: &[(TextRange, String)]) -> String {
    edited(facts, facts.root().range(), edits.to_vec(), false)
}

/// A parameter of the module that is built.
struct Param {
    /// The place that determines its position.
    at: (bool, TextRange),
    name: String,
    ty: Option<String>,
}

/// The parameters of the module that is built.
struct Params<'f> {
    facts: &'f Facts,
    parts: &'f Parts,
    style: Style,
    params: Vec<Param>,
    by_binder: FxHashMap<TextRange, String>,
    /// Those of replaced expressions, by text and type: equal constants are one parameter.
    by_text: FxHashMap<(String, String), String>,
    taken: FxHashSet<String>,
}

impl<'f> Params<'f> {
    fn new(facts: &'f Facts, parts: &'f Parts, style: Style) -> Params<'f> {
        let local = |range: &TextRange| {
            let text = facts.slice(*range);
            let names = tokens(text).filter(|(kind, _)| *kind == SyntaxKind::LOCAL);
            names.map(|(_, range)| text[range].to_owned()).collect::<Vec<_>>()
        };
        // What is used is renamed; all other names in the parts are bound in them.
        let mut taken: FxHashSet<String> = parts.ranges.iter().flat_map(local).collect();
        let outer = parts.ranges.iter().flat_map(|range| facts.uses_in(*range));
        for of in outer.filter(|of| !parts.contains(of.binder)) {
            taken.remove(facts.slice(of.range));
        }
        for of in parts.ranges.iter().flat_map(|range| facts.uses_in(*range)) {
            if parts.contains(of.binder) {
                taken.insert(facts.slice(of.binder).to_owned());
            }
        }
        Params {
            facts,
            parts,
            style,
            params: Vec::new(),
            by_binder: FxHashMap::default(),
            by_text: FxHashMap::default(),
            taken,
        }
    }

    /// Returns the expressions of a part that become parameters.
    fn replaced(&self, part: TextRange) -> Vec<TextRange> {
        let given = &self.parts.replaced;
        let mut all: Vec<TextRange> =
            given.iter().copied().filter(|it| part.contains_range(*it)).collect();
        if self.style.lifts_constants {
            let is_free = |it: &TextRange| !given.iter().any(|other| other.contains_range(*it));
            all.extend(self.constants(part).into_iter().filter(is_free));
        }
        all
    }

    /// Adds the parameters for the variables that a part uses; `None` if the type of one is not known.
    fn declare(&mut self, part: TextRange) -> Option<()> {
        let given = &self.parts.replaced;
        for of in self.facts.uses_in(part) {
            let is_replaced = given.iter().any(|range| range.contains_range(of.range));
            let is_known =
                self.parts.contains(of.binder) || self.by_binder.contains_key(&of.binder);
            if !is_replaced && !is_known {
                self.add(of.binder)?;
            }
        }
        Some(())
    }

    /// Returns the edits of a part; `None` if the type of a replaced expression is not known.
    fn edits(&mut self, part: TextRange) -> Option<Vec<(TextRange, String)>> {
        let mut edits = Vec::new();
        let replaced = self.replaced(part);
        for range in &replaced {
            let is_given = self.parts.replaced.contains(range);
            let Some(ty) = self.facts.type_of(*range) else {
                if is_given {
                    return None;
                }
                continue;
            };
            let key = (self.facts.slice(*range).to_owned(), ty.clone());
            let name = match self.by_text.get(&key) {
                Some(name) => name.clone(),
                None => {
                    let name = self.fresh(if is_given { "%x" } else { "%c" }, true);
                    let param = Param { at: (true, *range), name: name.clone(), ty: Some(ty) };
                    self.params.push(param);
                    self.by_text.insert(key, name.clone());
                    name
                }
            };
            edits.push((*range, name));
        }
        for of in self.facts.uses_in(part) {
            let is_replaced = replaced.iter().any(|range| range.contains_range(of.range));
            let name = self.by_binder.get(&of.binder).filter(|_| !is_replaced);
            if let Some(name) = name.filter(|name| *name != self.facts.slice(of.range)) {
                edits.push((of.range, name.clone()));
            }
        }
        Some(edits)
    }

    /// Adds a parameter for a variable that is bound elsewhere.
    fn add(&mut self, binder: TextRange) -> Option<()> {
        let ty = self.facts.declaration(binder)?;
        let wished = self.facts.variable(binder).map_or("%x", |variable| &variable.name);
        let bare = wished.trim_start_matches('%');
        let wished = match bare.starts_with(|c: char| c.is_ascii_digit()) {
            true => format!("%v{bare}"),
            false => wished.to_owned(),
        };
        let name = self.fresh(&wished, false);
        self.params.push(Param { at: (false, binder), name: name.clone(), ty });
        self.by_binder.insert(binder, name);
        Some(())
    }

    /// Returns a name that is not taken, which begins with the one that is wished for.
    fn fresh(&mut self, wished: &str, is_numbered: bool) -> String {
        let mut base = wished.to_owned();
        if self.style.is_plain {
            let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
            base = format!("%{}", wished.trim_start_matches('%').replace(|c| plain(c) != c, "_"));
        }
        let numbered = |number: usize| match is_numbered {
            true => format!("{base}{number}"),
            false => format!("{base}_{number}"),
        };
        let first = if is_numbered { numbered(0) } else { base.clone() };
        let mut others = (1..).map(numbered);
        let mut name = first;
        // There are fewer names than numbers.
        while self.taken.contains(&name) {
            name = others.next().unwrap_or_default();
        }
        self.taken.insert(name.clone());
        name
    }

    /// Returns the constants of the metadata section in a part, without those in attributes.
    fn constants(&self, part: TextRange) -> Vec<TextRange> {
        let text = self.facts.slice(part);
        let offset = part.start();
        let refs = tokens(text).filter(|(kind, _)| *kind == SyntaxKind::META_REF);
        let ranges = refs.filter_map(|(_, range)| Some(text_range(range)? + offset));
        let root = self.facts.root();
        let is_value = |range: &TextRange| {
            let path = root.path_to(*range);
            let is_expr = path.iter().any(|node| node.kind() == SyntaxKind::META_EXPR);
            is_expr && !path.iter().any(|node| node.kind() == SyntaxKind::ATTR)
        };
        ranges.filter(is_value).collect()
    }

    /// Returns the list of parameters: in the order of the text, then those of expressions.
    fn list(&mut self) -> String {
        self.params.sort_by_key(|param| (param.at.0, param.at.1.start()));
        let texts = self.params.iter().map(|param| match &param.ty {
            Some(ty) => format!("{}: {ty}", param.name),
            None => param.name.clone(),
        });
        texts.collect::<Vec<_>>().join(", ")
    }
}

impl Parts {
    /// Returns parts of which the last one is the value.
    pub(super) fn of(ranges: Vec<TextRange>) -> Parts {
        Parts { ranges, ..Parts::default() }
    }

    /// Returns true if a range lies in a part.
    pub(super) fn contains(&self, range: TextRange) -> bool {
        let after = self.ranges.partition_point(|part| part.start() <= range.start());
        let part = after.checked_sub(1).and_then(|at| self.ranges.get(at));
        part.is_some_and(|part| part.contains_range(range))
    }
}
