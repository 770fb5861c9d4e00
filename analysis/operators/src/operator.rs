//! What is known of an operator: one row, one column a member.

use types::{AttrSchema, Attrs, Relation, RelationFn, Type};

/// An operator.
#[derive(Clone, Copy)]
pub struct Operator {
    /// `nn.conv2d`
    pub name: &'static str,
    /// Names of the arguments.
    pub args: &'static [&'static str],
    /// The operator takes any number of arguments.
    pub variadic: bool,
    /// The attributes.
    pub schema: Option<&'static AttrSchema>,
    /// The attributes that TVM itself makes calls with, where it declares others. Such calls reach
    /// a text through the metadata section.
    pub made_with: Option<&'static AttrSchema>,
    /// TVM registers the operator without its attributes, so that its text format can give them
    /// only through the metadata section.
    pub detached: bool,
    /// The type relation: its name in TVM, and the rule. An operator without rule has no type
    /// here, which is said and not guessed.
    pub rule: Option<(&'static str, RelationFn)>,
    /// What the operator costs.
    pub cost: Cost,
    /// What the operator does.
    pub doc: Doc,
}

/// The documentation column.
#[derive(Clone, Copy, Debug)]
pub struct Doc {
    /// What it computes, in one sentence.
    pub summary: &'static str,
    /// One line for each argument: its shape and meaning.
    pub args: &'static [&'static str],
    /// How the shape of the result follows from the arguments and attributes.
    pub shape: &'static str,
    /// A call, with the types that hold: Relay text.
    pub example: &'static str,
}

impl Doc {
    /// Nothing written yet.
    pub const NONE: Doc = Doc { summary: "", args: &[], shape: "", example: "" };
}

/// The cost column.
#[derive(Clone, Copy)]
pub enum Cost {
    /// Not filled in.
    Unknown,
    /// No arithmetic: the operator moves, views or makes data.
    Free,
    /// One operation for each element of the result.
    Elementwise,
    /// One operation for each element of the first argument.
    Reduction,
    /// As many multiply-accumulates as the function says; `None` where a size is not known.
    Macs(fn(&CostCall<'_>) -> Option<u64>),
    /// Not defined, for the reason given.
    Undefined(&'static str),
}

/// One typed call, for the cost column.
pub struct CostCall<'a> {
    /// Types of the arguments.
    pub args: &'a [Type],
    /// Type of the result.
    pub result: &'a Type,
    /// Attributes.
    pub attrs: &'a Attrs,
}

/// An operator with its arguments; the other columns are added to it.
pub(crate) const fn op(name: &'static str, args: &'static [&'static str]) -> Operator {
    Operator {
        name,
        args,
        variadic: false,
        schema: None,
        made_with: None,
        detached: false,
        rule: None,
        cost: Cost::Unknown,
        doc: Doc::NONE,
    }
}

impl Operator {
    pub(crate) const fn variadic(mut self) -> Operator {
        self.variadic = true;
        self
    }

    pub(crate) const fn attrs(mut self, schema: &'static AttrSchema) -> Operator {
        self.schema = Some(schema);
        self
    }

    /// Attributes of another kind than declared.
    pub(crate) const fn made_with(mut self, schema: &'static AttrSchema) -> Operator {
        self.made_with = Some(schema);
        self
    }

    /// Attributes that TVM's text format cannot write.
    pub(crate) const fn detached_attrs(mut self, schema: &'static AttrSchema) -> Operator {
        self.schema = Some(schema);
        self.detached = true;
        self
    }

    pub(crate) const fn rule(mut self, name: &'static str, solve: RelationFn) -> Operator {
        self.rule = Some((name, solve));
        self
    }

    pub(crate) const fn cost(mut self, cost: Cost) -> Operator {
        self.cost = cost;
        self
    }

    pub(crate) const fn doc(mut self, doc: Doc) -> Operator {
        self.doc = doc;
        self
    }

    /// The relation with default attributes, as a `where` clause means it.
    pub fn plain_relation(&self) -> Option<Relation> {
        let (name, solve) = self.rule?;
        let attrs = self.schema.map_or_else(Attrs::none, Attrs::defaults);
        Some(Relation { name, operator: self.name, solve, attrs })
    }

    /// The relation's name, for `where` clauses and hovers.
    pub fn relation_name(&self) -> &'static str {
        self.rule.map_or("", |(name, _)| name)
    }
}

impl std::fmt::Debug for Operator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Operator").field("name", &self.name).finish_non_exhaustive()
    }
}

impl PartialEq for Operator {
    fn eq(&self, other: &Operator) -> bool {
        self.name == other.name
    }
}

impl Eq for Operator {}
