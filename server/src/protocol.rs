//! The responses of the server and the documents of the command line, as types.
//!
//! Clients draw them: an amount has a number, to sort by and to compare, and a text, to show. No client computes a
//! number, formats one, or takes a sentence apart. The types of the clients in TypeScript and Python are generated
//! from these (`schema`), so that they cannot differ.
//!
//! Ranges are of the type that a user of a type needs: positions of the protocol, or lines and columns.

mod amount;
mod check;
mod colouring;
mod compare;
mod document;
mod log;
#[cfg(not(target_arch = "wasm32"))]
mod reduce;
mod run;
#[cfg(test)]
mod schema;
mod shapes;
mod tensor;
mod type_at;
mod values;

pub(crate) use amount::{Amount, Count, Seconds, Term};
pub(crate) use check::{
    BatchAnswer, CheckedFile, CheckedText, Diagnostic, Edit, FailedCheck, Fix, RelatedPlace,
    TypedFile, TypedRange,
};
pub(crate) use colouring::{Colouring, ColouringKey, LegendEntry, Mark, MarkCategory};
pub(crate) use compare::{
    Change, ChangeKind, Comparison, Cost, Filler, FunctionChanges, MatchedPair, PairKind,
    ReportLink, SideName, Stop, Totals, UnpairedExpr,
};
pub(crate) use document::{
    BoundNames, CodeView, ConvertedText, HealthCounts, ReadingView, SavedCode,
};
pub(crate) use log::{
    History, HistoryDocument, HistoryPlace, HistoryStop, ModuleText, PassLog, PassModule, StepKind,
};
#[cfg(not(target_arch = "wasm32"))]
pub(crate) use reduce::ReducedModule;
pub(crate) use run::{
    BoundValue, CallSite, CallTotals, FailedRun, LayerTotals, NotFinite, OperatorTotals,
    ParameterField, Profile, ProfileTotal, RecalledArguments, RecalledStatus, RememberedArguments,
    RunError, RunResponse, RunResult, RunStatus, Score, StartedRun, TensorFacts, TensorText,
    TimePart, TracePlace, TraceStep, ValueView,
};
pub(crate) use shapes::{
    Attribute, ConstantInput, Dim, Function, GraphGroup, Group, Input, LayerTotal, LineColumn,
    LineRange, Plan, Row, RowInput, ShapeReport, ShapesDocument, Source, SourceKind, TakenField,
    Total, UnknownSize, VariableInput,
};
pub(crate) use tensor::{TensorAxis, TensorImage, TensorListing, TensorPicture, TensorView};
pub(crate) use type_at::{
    Axis, Dimension, Distribution, Elements, ExpectedType, ShapeExplanation, ShapeStep, Tensor,
    TypeAt, Variable,
};
pub(crate) use values::{
    ErrorAmount, HeatMark, PassError, PassErrorState, PassErrors, ValueCategory, ValueComparison,
    ValuePair,
};

/// Returns true for the value that a missing field has.
pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
