//! Writes the types of the clients from those of the protocol, and tests that they are current.
//!
//! `RELAY_WRITE=1 cargo test --workspace --lib generated_types` writes them. The schema is that of `schemars`: it
//! describes what serde writes, for any language.

mod python;
mod typescript;

use std::{collections::BTreeMap, fs, path::Path};

use schemars::{JsonSchema, SchemaGenerator, generate::SchemaSettings};
use serde_json::{Map, Value};

use super::{
    BatchAnswer, BoundNames, CodeView, Comparison, ConvertedText, FailedRun, HealthCounts, History,
    ModuleText, PassErrors, PassLog, ReadingView, ReducedModule, RunResponse, SavedCode,
    ShapeExplanation, ShapeReport, ShapesDocument, TensorView, TypeAt, ValueComparison,
};

/// A position of the protocol: a line and a character, from 0.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(super) struct Position {
    line: u32,
    character: u32,
}

/// A range of the protocol.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(super) struct Range {
    start: Position,
    end: Position,
}

/// A range in a document.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(super) struct Location {
    uri: String,
    range: Range,
}

/// The severity of a diagnostic.
#[derive(JsonSchema)]
#[schemars(rename_all = "lowercase")]
#[expect(dead_code, reason = "only its schema is used")]
pub(super) enum Severity {
    Error,
    Warning,
    Info,
    Hint,
}

/// The category of an operator, or that of a function.
#[derive(JsonSchema)]
#[schemars(rename_all = "lowercase")]
#[expect(dead_code, reason = "only its schema is used")]
pub(super) enum Category {
    Product,
    Normalization,
    Activation,
    Reduction,
    Arithmetic,
    Movement,
    Function,
}

/// A value, as `relay-analyzer run --format json` writes it.
// `run::json` writes it in a stream.
#[derive(JsonSchema)]
#[schemars(untagged)]
#[expect(dead_code, reason = "only its schema is used")]
pub(super) enum ValueDocument {
    Tensor(TensorDocument),
    Tuple(TupleDocument),
    Data(DataDocument),
    Function(FunctionDocument),
    Ref(ReferenceDocument),
    /// A part that is nested too deep.
    Omitted,
}

/// A tensor. `data` are the elements in row-major order, unless they are in a file or too many.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(super) struct TensorDocument {
    #[schemars(default, skip_serializing_if = "Option::is_none")]
    data: Option<Vec<Element>>,
    dtype: String,
    shape: Vec<usize>,
    #[schemars(rename = "type")]
    ty: String,
    #[schemars(default, skip_serializing_if = "Option::is_none")]
    summary: Option<SummaryDocument>,
}

/// A summary of the elements of a tensor.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(super) struct SummaryDocument {
    #[schemars(rename = "type")]
    ty: String,
    shape: Vec<usize>,
    /// The minimum, mean and maximum of the finite elements, if there are any.
    finite: Option<(f64, f64, f64)>,
    nan: usize,
    infinite: usize,
}

/// An element of a tensor: NaN and infinities are strings.
#[derive(JsonSchema)]
#[schemars(untagged)]
#[expect(dead_code, reason = "only its schema is used")]
pub(super) enum Element {
    Number(f64),
    Bool(bool),
    NotFinite(String),
}

/// A tuple.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(super) struct TupleDocument {
    tuple: Vec<ValueDocument>,
}

/// A value of an algebraic data type.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(super) struct DataDocument {
    constructor: String,
    fields: Vec<ValueDocument>,
}

/// A function.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(super) struct FunctionDocument {
    function: bool,
}

/// A reference.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(super) struct ReferenceDocument {
    #[schemars(rename = "ref")]
    content: Box<ValueDocument>,
}

/// The definitions of some types and of those that they contain, by name.
type Definitions = BTreeMap<String, Definition>;

/// The definition of a type.
struct Definition {
    doc: Option<String>,
    shape: Shape,
}

/// A type.
#[derive(Clone, PartialEq)]
enum Shape {
    Object(Vec<Field>),
    Named(String),
    List(Box<Shape>),
    Tuple(Vec<Shape>),
    Map(Box<Shape>),
    Union(Vec<Shape>),
    Literal(String),
    String,
    Integer,
    Number,
    Bool,
    Null,
    Any,
}

/// A field of an object.
#[derive(Clone, PartialEq)]
struct Field {
    name: String,
    doc: Option<String>,
    shape: Shape,
    is_optional: bool,
}

impl Shape {
    fn of(schema: &Value) -> Shape {
        let Some(schema) = schema.as_object() else { return Shape::Any };
        let all = |list: &Value| -> Vec<Shape> {
            list.as_array().into_iter().flatten().map(Shape::of).collect()
        };
        if let Some(name) = schema.get("$ref").and_then(Value::as_str) {
            return Shape::Named(name.rsplit('/').next().unwrap_or_default().to_owned());
        }
        if let Some(one) = schema.get("const").and_then(Value::as_str) {
            return Shape::Literal(one.to_owned());
        }
        if let Some(options) = schema.get("enum").and_then(Value::as_array) {
            let literals = options.iter().filter_map(Value::as_str);
            return Shape::union(literals.map(|one| Shape::Literal(one.to_owned())).collect());
        }
        if let Some(options) = schema.get("anyOf").or_else(|| schema.get("oneOf")) {
            return Shape::union(all(options));
        }
        match schema.get("type") {
            Some(Value::Array(types)) => {
                let one = |ty: &Value| {
                    let mut schema = schema.clone();
                    schema.insert("type".to_owned(), ty.clone());
                    Shape::of(&schema.into())
                };
                Shape::union(types.iter().map(one).collect())
            }
            Some(Value::String(ty)) => Shape::of_type(ty, schema),
            _ => Shape::Any,
        }
    }

    fn of_type(ty: &str, schema: &Map<String, Value>) -> Shape {
        match ty {
            "string" => Shape::String,
            "integer" => Shape::Integer,
            "number" => Shape::Number,
            "boolean" => Shape::Bool,
            "null" => Shape::Null,
            "array" => {
                if let Some(items) = schema.get("prefixItems").and_then(Value::as_array) {
                    return Shape::Tuple(items.iter().map(Shape::of).collect());
                }
                let item = schema.get("items").map_or(Shape::Any, Shape::of);
                let bound = |key: &str| schema.get(key).and_then(Value::as_u64);
                match (bound("minItems"), bound("maxItems")) {
                    (Some(least), Some(most)) if least == most => {
                        Shape::Tuple(vec![item; least as usize])
                    }
                    _ => Shape::List(Box::new(item)),
                }
            }
            "object" => match schema.get("properties").and_then(Value::as_object) {
                Some(properties) => Shape::Object(fields(properties, schema)),
                None => {
                    let value = schema.get("additionalProperties").map_or(Shape::Any, Shape::of);
                    Shape::Map(Box::new(value))
                }
            },
            other => panic!("the schema has the unknown type `{other}`"),
        }
    }

    fn union(options: Vec<Shape>) -> Shape {
        let mut flat: Vec<Shape> = Vec::new();
        for option in options {
            match option {
                Shape::Union(inner) => flat.extend(inner),
                other => flat.push(other),
            }
        }
        flat.dedup();
        match flat.as_slice() {
            [one] => one.clone(),
            _ => Shape::Union(flat),
        }
    }

    /// Returns the type without `null`: fields that may be missing are never null.
    fn without_null(self) -> Shape {
        match self {
            Shape::Union(options) => {
                Shape::union(options.into_iter().filter(|one| *one != Shape::Null).collect())
            }
            other => other,
        }
    }
}

fn fields(properties: &Map<String, Value>, schema: &Map<String, Value>) -> Vec<Field> {
    let required = schema.get("required").and_then(Value::as_array);
    let is_required =
        |name: &str| required.is_some_and(|list| list.iter().any(|one| one.as_str() == Some(name)));
    let field = |(name, schema): (&String, &Value)| {
        let is_optional = !is_required(name);
        let shape = Shape::of(schema);
        Field {
            name: name.clone(),
            doc: doc(schema),
            shape: if is_optional { shape.without_null() } else { shape },
            is_optional,
        }
    };
    properties.iter().map(field).collect()
}

fn doc(schema: &Value) -> Option<String> {
    let text = schema.get("description")?.as_str()?;
    Some(text.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// Returns the definitions that `add` adds.
fn definitions(add: impl FnOnce(&mut SchemaGenerator)) -> Definitions {
    let mut generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    add(&mut generator);
    let found = generator.take_definitions(true);
    let definition = |(name, schema): (String, Value)| {
        (name, Definition { doc: doc(&schema), shape: Shape::of(&schema) })
    };
    found.into_iter().map(definition).collect()
}

/// The responses of the server.
fn responses() -> Definitions {
    definitions(|schema| {
        schema.subschema_for::<BoundNames>();
        schema.subschema_for::<CodeView>();
        schema.subschema_for::<Comparison>();
        schema.subschema_for::<ConvertedText>();
        schema.subschema_for::<HealthCounts>();
        schema.subschema_for::<History>();
        schema.subschema_for::<ModuleText>();
        schema.subschema_for::<PassErrors>();
        schema.subschema_for::<PassLog>();
        schema.subschema_for::<ReadingView>();
        schema.subschema_for::<ReducedModule>();
        schema.subschema_for::<RunResponse>();
        schema.subschema_for::<SavedCode>();
        schema.subschema_for::<ShapeReport>();
        schema.subschema_for::<TensorView>();
        schema.subschema_for::<TypeAt>();
        schema.subschema_for::<ValueComparison>();
        schema.subschema_for::<ShapeExplanation>();
    })
}

/// The documents of the command line.
fn documents() -> Definitions {
    definitions(|schema| {
        schema.subschema_for::<BatchAnswer<'static>>();
        schema.subschema_for::<FailedRun>();
        schema.subschema_for::<PassLog>();
        schema.subschema_for::<ShapesDocument<'static>>();
        schema.subschema_for::<ValueDocument>();
    })
}

#[test]
fn generated_types_are_current() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let files = [
        ("editors/vscode/src/protocol.ts", typescript::types(&responses())),
        ("python/relay_analyzer/_protocol.pyi", python::types(&documents())),
    ];
    for (name, wanted) in files {
        let path = root.join(name);
        if std::env::var_os("RELAY_WRITE").is_some() {
            fs::write(&path, &wanted).expect("the file can be written");
        }
        let found = fs::read_to_string(&path).unwrap_or_default();
        assert!(found == wanted, "`{name}` is stale: run this test with RELAY_WRITE=1");
    }
}
