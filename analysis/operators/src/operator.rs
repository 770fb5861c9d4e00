//! The row of an operator in the table.

use types::{AttrSchema, Attrs, Relation, RelationFn, Type};

/// An operator.
#[derive(Clone, Copy)]
pub struct Operator {
    /// The name: `nn.conv2d`.
    pub name: &'static str,
    /// The names of the arguments.
    pub args: &'static [&'static str],
    /// True if the operator takes any number of arguments.
    pub variadic: bool,
    /// The declared attributes.
    pub schema: Option<&'static AttrSchema>,
    /// The attributes with which TVM's passes create calls, if they differ from the declared ones.
    /// Such attributes occur in a text as entries of the metadata section.
    pub made_with: Option<&'static AttrSchema>,
    /// True if TVM registers the operator without its attributes, so that a text can specify them
    /// in the metadata section only.
    pub detached: bool,
    /// The attributes that TVM registers, if its relation takes others.
    pub registered: Option<&'static AttrSchema>,
    /// The type relation: its name in TVM, and the rule. Calls of an operator without a rule are
    /// reported instead of typed by a guess.
    pub rule: Option<(&'static str, RelationFn)>,
    /// The cost of a call.
    pub cost: Cost,
    /// The documentation.
    pub doc: Doc,
}

/// The documentation of an operator.
#[derive(Clone, Copy, Debug)]
pub struct Doc {
    /// One sentence about the result.
    pub summary: &'static str,
    /// The shape and meaning of each argument.
    pub args: &'static [&'static str],
    /// The shape and data type of the result, in terms of the arguments and attributes.
    pub shape: &'static str,
    /// A call in Relay.
    pub example: &'static str,
}

impl Doc {
    /// Empty documentation.
    pub const NONE: Doc = Doc { summary: "", args: &[], shape: "", example: "" };
}

/// The cost model of an operator.
#[derive(Clone, Copy)]
pub enum Cost {
    /// No cost model.
    Unknown,
    /// No arithmetic: the operator moves, views or creates data.
    Free,
    /// One operation per element of the result.
    Elementwise,
    /// One operation per element of the first argument.
    Reduction,
    /// The number of multiply-accumulates, or `None` if a size is unknown.
    Macs(fn(&CostCall<'_>) -> Option<u64>),
    /// Not defined, for the given reason.
    Undefined(&'static str),
}

/// A typed call, the argument of [`Cost::Macs`].
pub struct CostCall<'a> {
    /// The types of the arguments.
    pub args: &'a [Type],
    /// The type of the result.
    pub result: &'a Type,
    /// The attributes.
    pub attrs: &'a Attrs,
}

/// Creates the row of an operator; the methods of [`Operator`] add the other columns.
pub(crate) const fn op(name: &'static str, args: &'static [&'static str]) -> Operator {
    Operator {
        name,
        args,
        variadic: false,
        schema: None,
        made_with: None,
        detached: false,
        registered: None,
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

    /// Sets [`Operator::made_with`].
    pub(crate) const fn made_with(mut self, schema: &'static AttrSchema) -> Operator {
        self.made_with = Some(schema);
        self
    }

    /// Sets the attributes, and [`Operator::detached`].
    pub(crate) const fn detached_attrs(mut self, schema: &'static AttrSchema) -> Operator {
        self.schema = Some(schema);
        self.detached = true;
        self
    }

    /// Sets [`Operator::registered`].
    pub(crate) const fn registered_with(mut self, schema: &'static AttrSchema) -> Operator {
        self.registered = Some(schema);
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

    /// Returns the attributes that a text can specify by name.
    pub fn declared_attrs(&self) -> Option<&'static AttrSchema> {
        self.schema.filter(|_| !self.detached)
    }

    /// Returns the attributes that TVM registers the operator with.
    pub fn registered_attrs(&self) -> Option<&'static AttrSchema> {
        self.registered.or_else(|| self.declared_attrs())
    }

    /// Returns the relation with default attributes, the meaning of its name in a `where` clause.
    pub fn plain_relation(&self) -> Option<Relation> {
        let (name, solve) = self.rule?;
        let attrs = self.schema.map_or_else(Attrs::none, Attrs::defaults);
        Some(Relation { name, operator: self.name, solve, attrs })
    }

    /// Returns the name of the relation, or an empty string.
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
