//! The row of an operator in the table.

use types::{
    AttrDefault, AttrField, AttrSchema, Attrs, Code, DataType, Dim, Place, Relation, RelationFn,
    Releases, Shape, State, Type, probe,
};

use crate::{
    attrs::{AttrProblem, bind},
    domain::{Domain, Fill},
    is_equal,
};

/// The form of an operator's calls in releases in which it differs from that of 0.14.
#[derive(Clone, Copy)]
pub struct CallForm {
    /// The releases.
    pub releases: Releases,
    /// The number of arguments.
    pub args: usize,
    /// The attributes that 0.14 has not.
    pub attrs: &'static [FormerAttr],
    /// The attributes that 0.14 always prints: a call without them is of these releases.
    pub absent: &'static [&'static str],
    /// The defaults that differ.
    pub defaults: &'static [(&'static str, AttrDefault)],
    /// The operator with the relation of these releases, if it differs from that of 0.14.
    pub operator: Option<&'static Operator>,
}

/// An attribute that 0.14 does not have.
#[derive(Clone, Copy)]
pub struct FormerAttr {
    /// Its name, type and default.
    pub field: AttrField,
    /// Its replacement in 0.14.
    pub becomes: Becomes,
}

/// The replacement of an attribute that 0.14 does not have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Becomes {
    /// It has no influence on a type or a value, or does not exist any more.
    Nothing,
    /// A scalar argument, of a data type or of that of the first argument.
    Argument(usize, Option<DataType>),
}

/// Starts the form of some releases, with the same arguments and attributes as in 0.14.
pub(crate) const fn form(releases: Releases, args: usize) -> CallForm {
    CallForm { releases, args, attrs: &[], absent: &[], defaults: &[], operator: None }
}

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
    /// The forms of calls in releases that differ from 0.14, the newest first.
    pub forms: &'static [CallForm],
    /// The names that the operator had in other releases.
    pub formerly: &'static [(&'static str, Releases)],
    /// The releases that have the operator under its name.
    pub releases: Releases,
    /// True for the relation of other releases if 0.14 has no equal operator. Such calls have a type but no
    /// kernel.
    pub is_another: bool,
    /// The cost of a call.
    pub cost: Cost,
    /// The category, if [`Operator::category`] cannot derive it from the cost.
    category: Option<Category>,
    /// The roles of the arguments.
    roles: [Role; MAX_ARGS],
    /// True if the result has the elements of the first argument, possibly converted to another layout or data
    /// type: `transpose(%w)` is a weight if `%w` is.
    pub keeps_data: bool,
    /// The effect of a call.
    pub effect: Effect,
    /// True if the operator changes the order of axes.
    pub reorders_axes: bool,
    /// True if the result does not have the layout that the attributes name: `vision.roi_align` returns regions of
    /// images.
    pub has_other_axes: bool,
    /// The arguments for some values of which the operator is not defined, with the values for which it is.
    pub domains: &'static [(&'static str, Domain)],
    /// The value of all elements of the result, if they are equal.
    pub fill: Option<Fill>,
    /// The parameters of the Python function that creates a call, if they are not the arguments and then the
    /// attributes, see [`Operator::python_parameters`](crate::python).
    pub(crate) python: &'static str,
    /// The documentation.
    pub doc: Doc,
}

/// The maximal number of arguments of an operator: those of `qnn.add`.
const MAX_ARGS: usize = 8;

/// The category of an operator. Clients colour the calls in a graph by it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Category {
    /// Convolutions and products of matrices.
    Product,
    /// Normalization and quantization.
    Normalization,
    /// Activation functions.
    Activation,
    /// Reductions, pooling, and orders of elements.
    Reduction,
    /// Arithmetic and comparisons.
    Arithmetic,
    /// Operators that move, select, create or convert data.
    Movement,
}

impl Category {
    /// Returns the name for clients: `product`.
    pub fn name(self) -> &'static str {
        match self {
            Category::Product => "product",
            Category::Normalization => "normalization",
            Category::Activation => "activation",
            Category::Reduction => "reduction",
            Category::Arithmetic => "arithmetic",
            Category::Movement => "movement",
        }
    }
}

/// The effect of a call, besides its result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    /// None. So it is for `nn.dropout`, which TVM's `TOpIsStateful` includes: its state exists in training only.
    None,
    /// That of the function that is an argument.
    Calls,
    /// The call writes to tensors that it is given, or frees their memory: TVM's `TOpIsStateful`.
    Memory,
}

/// The role of an argument. The roles of all uses of a parameter decide whether it is a weight.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// Data: the `%x` of `nn.dense(%x, %w)`.
    Data,
    /// A weight, bias, table or scale: the `%w`.
    Weight,
    /// One of several equal operands, each of them data or, if it is broadcast to another one that is computed, a
    /// weight: the `%b` of `add(nn.dense(%x, %w), %b)`.
    Operand,
    /// Indices, sizes, shapes and other configuration, which is never a weight.
    Control,
    /// A tuple of data: that of `concatenate((%x, %y))`.
    Tuple,
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
        forms: &[],
        formerly: &[],
        releases: Releases::ALL,
        is_another: false,
        cost: Cost::Unknown,
        category: None,
        roles: {
            let mut roles = [Role::Weight; MAX_ARGS];
            roles[0] = Role::Data;
            roles
        },
        keeps_data: false,
        effect: Effect::None,
        reorders_axes: false,
        has_other_axes: false,
        domains: &[],
        fill: None,
        python: "",
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

    /// Sets [`Operator::forms`].
    pub(crate) const fn forms(mut self, forms: &'static [CallForm]) -> Operator {
        self.forms = forms;
        self
    }

    /// Sets [`Operator::formerly`].
    pub(crate) const fn formerly(mut self, names: &'static [(&'static str, Releases)]) -> Operator {
        self.formerly = names;
        self
    }

    /// Sets [`Operator::is_another`].
    pub(crate) const fn another(mut self) -> Operator {
        self.is_another = true;
        self
    }

    /// Sets the first release that has the operator: `0.first`.
    pub(crate) const fn since(mut self, first: u8) -> Operator {
        self.releases = self.releases.and(Releases::since(first));
        self
    }

    /// Sets the last release that has the operator: `0.last`.
    pub(crate) const fn until(mut self, last: u8) -> Operator {
        self.releases = self.releases.and(Releases::until(last));
        self
    }

    pub(crate) const fn cost(mut self, cost: Cost) -> Operator {
        self.cost = cost;
        self
    }

    /// Sets the category, which [`Operator::category`] derives from the cost otherwise.
    pub(crate) const fn in_category(mut self, category: Category) -> Operator {
        self.category = Some(category);
        self
    }

    /// Sets the role of data. Without a role, the first argument is data and the others are weights.
    pub(crate) const fn data(self, args: &[&str]) -> Operator {
        self.role_of(args, Role::Data)
    }

    /// Sets the role of equal operands.
    pub(crate) const fn operands(self, args: &[&str]) -> Operator {
        self.role_of(args, Role::Operand)
    }

    /// Sets the role of arguments that select and configure.
    pub(crate) const fn controls(self, args: &[&str]) -> Operator {
        self.role_of(args, Role::Control)
    }

    /// Sets the role of tuples of data.
    pub(crate) const fn tuples(self, args: &[&str]) -> Operator {
        self.role_of(args, Role::Tuple)
    }

    /// Sets the role of weights.
    pub(crate) const fn weights(self, args: &[&str]) -> Operator {
        self.role_of(args, Role::Weight)
    }

    const fn role_of(mut self, args: &[&str], role: Role) -> Operator {
        let mut number = 0;
        while number < args.len() {
            let mut at = 0;
            while !is_equal(self.args[at].as_bytes(), args[number].as_bytes()) {
                at += 1;
                assert!(at < self.args.len(), "no argument has this name");
            }
            self.roles[at] = role;
            number += 1;
        }
        self
    }

    /// Sets [`Operator::keeps_data`]; equal elements stay equal.
    pub(crate) const fn keeps_data(mut self) -> Operator {
        self.keeps_data = true;
        self.fill(Fill::Argument(0))
    }

    /// Sets [`Operator::domains`].
    pub(crate) const fn domains(mut self, domains: &'static [(&'static str, Domain)]) -> Operator {
        self.domains = domains;
        self
    }

    /// Sets [`Operator::fill`].
    pub(crate) const fn fill(mut self, fill: Fill) -> Operator {
        self.fill = Some(fill);
        self
    }

    /// Sets [`Operator::python`].
    pub(crate) const fn python(mut self, parameters: &'static str) -> Operator {
        self.python = parameters;
        self
    }

    /// Sets [`Operator::effect`].
    pub(crate) const fn effect(mut self, effect: Effect) -> Operator {
        self.effect = effect;
        self
    }

    /// Sets [`Operator::reorders_axes`].
    pub(crate) const fn reorders_axes(mut self) -> Operator {
        self.reorders_axes = true;
        self
    }

    /// Sets [`Operator::has_other_axes`].
    pub(crate) const fn other_axes(mut self) -> Operator {
        self.has_other_axes = true;
        self
    }

    pub(crate) const fn doc(mut self, doc: Doc) -> Operator {
        self.doc = doc;
        self
    }

    /// Returns the category.
    pub fn category(&self) -> Category {
        self.category.unwrap_or(match self.cost {
            Cost::Macs(_) => Category::Product,
            Cost::Elementwise => Category::Arithmetic,
            Cost::Reduction => Category::Reduction,
            Cost::Unknown | Cost::Free | Cost::Undefined(_) => Category::Movement,
        })
    }

    /// Returns the role of an argument; those of a variadic operator are data.
    pub fn role(&self, argument: usize) -> Role {
        if self.variadic {
            return Role::Data;
        }
        self.roles.get(argument).copied().unwrap_or(Role::Data)
    }

    /// Returns the form of its calls in 0.14.
    pub fn default_form(&self) -> CallForm {
        form(self.releases, self.args.len())
    }

    /// Returns the attributes that a text can specify by name.
    pub fn declared_attrs(&self) -> Option<&'static AttrSchema> {
        self.schema.filter(|_| !self.detached)
    }

    /// Returns the attributes that TVM registers the operator with.
    pub fn registered_attrs(&self) -> Option<&'static AttrSchema> {
        self.registered.or_else(|| self.declared_attrs())
    }

    /// Returns the attributes that TVM reads if it prints others: it reads `axis` for
    /// `relay.op.annotation.simulated_quantize(…, kind=1)`.
    pub fn unreadable_attrs(&self) -> Option<&'static AttrSchema> {
        self.registered.filter(|_| !self.detached)
    }

    /// Returns the relation of a call with these attributes.
    pub fn relation(&self, attrs: &Attrs) -> Option<Relation> {
        let (name, solve) = self.rule?;
        Some(Relation { name, operator: self.name, solve, attrs: attrs.clone() })
    }

    /// Returns the relation with default attributes, the meaning of its name in a `where` clause.
    pub fn plain_relation(&self) -> Option<Relation> {
        self.relation(&self.schema.map_or_else(Attrs::none, Attrs::defaults))
    }

    /// Returns the relation of the operator as a value, with the attributes of a call without any:
    /// `let %r = nn.relu;`.
    ///
    /// # Errors
    /// The attributes that a call has to specify: those without a default, and the data type of a
    /// result that depends on nothing else.
    pub fn relation_of_value(&self) -> Result<Option<Relation>, Vec<&'static str>> {
        let Some((name, solve)) = self.rule else { return Ok(None) };
        let attrs = self.attrs_of_value()?;
        let relation = Relation { name, operator: self.name, solve, attrs };
        match self.missing_dtype(&relation) {
            Some(name) => Err(vec![name]),
            None => Ok(Some(relation)),
        }
    }

    /// Returns the attributes of the operator as a value.
    ///
    /// # Errors
    /// The attributes without a default.
    pub fn attrs_of_value(&self) -> Result<Attrs, Vec<&'static str>> {
        let Some(schema) = self.declared_attrs() else { return Ok(Attrs::none()) };
        // Without attributes it may be a call of another release.
        let fits = |form: &&CallForm| form.fits(self, self.args.len(), std::iter::empty(), false);
        let former = self.forms.iter().find(fits).filter(|_| !fits(&&self.default_form()));
        let bound = bind(schema, &[], former.map_or(&[], |form| form.defaults));
        let missing = bound.problems.iter().filter_map(|problem| match problem {
            AttrProblem::Missing { name } => Some(*name),
            _ => None,
        });
        let missing: Vec<&'static str> = missing.collect();
        if missing.is_empty() { Ok(bound.attrs) } else { Err(missing) }
    }

    /// Returns the attribute that a relation needs for the data type of the result: it has none for
    /// arguments of any shape.
    fn missing_dtype(&self, relation: &Relation) -> Option<&'static str> {
        let shapes: [&[i64]; 3] = [&[2, 2], &[2], &[]];
        shapes.into_iter().find_map(|shape| {
            let sizes = shape.iter().map(|&size| Dim::known(size));
            let input = Type::tensor(sizes.collect::<Shape>(), DataType::INT32);
            let inputs = vec![input; self.args.len()];
            let (State::Failed(reason), _) = probe(relation, self.args, &inputs) else {
                return None;
            };
            match reason.marks.first()?.place {
                Place::Attribute(name) if reason.code == Code::MissingAttribute => Some(name),
                _ => None,
            }
        })
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
        // A row of other releases has other arguments, or another relation.
        self.name == other.name
            && self.is_another == other.is_another
            && self.args.len() == other.args.len()
    }
}

impl Eq for Operator {}
