//! The facts by which diagnostics with the same cause are recognised.

use syntax::TextRange;
use types::{DataType, Fact};

use super::Code;

/// The facts that a finding depends on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cause<P = TextRange> {
    /// The declarations, or sizes in them, that the finding depends on.
    pub(crate) places: Vec<P>,
    /// The conflicting sizes, data types or types.
    pub(crate) values: Vec<Fact>,
    /// The declaration of a parameter that an argument contradicts.
    pub(crate) parameter: Option<P>,
    /// The declaration of a result or of a variable that its value contradicts.
    pub(crate) declared: Option<P>,
    /// The declarations that the operands were computed from.
    pub(crate) flows: Vec<Flow<P>>,
    /// Set if the ranks differ: consequences then differ in other sizes.
    pub(crate) rank_differs: bool,
}

/// A declaration that a value was computed from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Flow<P = TextRange> {
    /// Its range in the file.
    pub(crate) range: P,
    /// The data type of the parameter, if that is a tensor.
    pub(crate) dtype: Option<DataType>,
}

impl<P> Cause<P> {
    /// Converts all places.
    pub(super) fn map_places<Q>(self, place: impl Fn(P) -> Q) -> Cause<Q> {
        let flow = |Flow { range, dtype }| Flow { range: place(range), dtype };
        Cause {
            places: self.places.into_iter().map(&place).collect(),
            values: self.values,
            parameter: self.parameter.map(&place),
            declared: self.declared.map(&place),
            flows: self.flows.into_iter().map(flow).collect(),
            rank_differs: self.rank_differs,
        }
    }
}

impl Cause {
    /// Returns true if the declarations show that two findings have the same cause.
    pub(crate) fn has_same_cause(&self, code: Code, other: &Cause, other_code: Code) -> bool {
        let share = |places: &[TextRange], of: TextRange| {
            places.iter().any(|place| place.intersect(of).is_some())
        };
        // A parameter conflicts inside of its function as well as at its calls.
        let contradicts = |a: &Cause, b: &Cause| {
            b.parameter.is_none() && a.parameter.is_some_and(|at| share(&b.places, at))
        };
        // The declaration of a function conflicts in its body and at its calls.
        let alike = !self.values.is_empty() && are_same(&self.values, &other.values);
        let is_dtype = |code: Code| matches!(code, Code::DtypeMismatch | Code::ConditionType);
        let reaches = |a: &Cause, b: &Cause| {
            let declared = [a.parameter, a.declared];
            let mut declared = declared.into_iter().flatten();
            is_dtype(code) == is_dtype(other_code)
                && (alike || a.rank_differs && !is_dtype(code))
                && declared.any(|at| b.flows.iter().any(|f| f.range.intersect(at).is_some()))
        };
        contradicts(self, other)
            || contradicts(other, self)
            || reaches(self, other)
            || reaches(other, self)
            || is_dtype(code) == is_dtype(other_code)
                && alike
                && (self.places.iter().any(|&place| share(&other.places, place))
                    || self.shares_flow(other))
    }

    /// Returns true if both depend on one parameter with a data type that conflicts in both.
    fn shares_flow(&self, other: &Cause) -> bool {
        self.flows
            .iter()
            .filter(|flow| other.flows.contains(flow))
            .any(|flow| flow.dtype.is_some_and(|dtype| self.values.contains(&Fact::DType(dtype))))
    }
}

/// Returns true if two lists hold the same quantities in any order.
pub(crate) fn are_same(a: &[Fact], b: &[Fact]) -> bool {
    let count = |of: &Fact, list: &[Fact]| list.iter().filter(|f| f.is_same_quantity(of)).count();
    a.len() == b.len() && a.iter().all(|fact| count(fact, a) == count(fact, b))
}
