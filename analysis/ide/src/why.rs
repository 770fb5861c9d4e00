//! Explanation of a shape: the chain of steps from the origin of each size.

use semantics::{Db, SourceFile, Step, chain_of};
use syntax::{TextRange, TextSize};
use types::Type;

use crate::{
    hover::type_text,
    markdown::{code_span, escaped, message},
    place::{Symbol, place_at},
};

/// The maximal number of steps of a chain.
const MAX_STEPS: usize = 40;
/// The maximal number of axes.
const MAX_AXES: usize = 64;

/// The explanation of the shape of an expression.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ShapeExplanation {
    /// The range of the expression.
    pub range: TextRange,
    /// The text or description of the expression.
    pub expression: String,
    /// The type.
    pub ty: String,
    /// The sizes by axis; for a tuple, by field and axis.
    pub dimensions: Vec<Dimension>,
}

/// The explanation of a size.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Dimension {
    /// The field if the expression is a tuple.
    pub field: Option<usize>,
    /// The axis.
    pub axis: usize,
    /// The size.
    pub size: String,
    /// The origin, then each relation that changed the size or passed it on.
    pub steps: Vec<Step>,
}

/// Returns the explanation of the shape of the expression at `offset`, or `None` if it is neither a
/// tensor nor a tuple.
pub fn why_shape(db: &dyn Db, file: SourceFile, offset: TextSize) -> Option<ShapeExplanation> {
    let place = place_at(db, file, offset)?;
    let view = place.view.as_ref()?;
    let expr_ref = match place.symbol(db) {
        // A binder is explained by its value.
        Some((Symbol::Local(binding), range)) => match place.expr_of(range) {
            Some(expr_ref) => expr_ref,
            None => view.value(binding)?,
        },
        _ => place.expr()?,
    };
    let ty = view.ty(expr_ref);
    let parts: Vec<(Option<usize>, &Type)> = match ty {
        Type::Tensor(_) => vec![(None, ty)],
        Type::Tuple(fields) => (0..).map(Some).zip(fields.iter()).collect(),
        _ => return None,
    };
    let axes = parts.into_iter().flat_map(|(field, ty)| {
        let shape = ty.as_tensor().map(|tensor| &tensor.shape[..]).unwrap_or_default();
        shape.iter().enumerate().map(move |(axis, size)| (field, axis, size))
    });
    let dimensions = axes.take(MAX_AXES).map(|(field, axis, size)| Dimension {
        field,
        axis,
        size: size.to_string(),
        steps: chain_of(view, expr_ref, field, axis, MAX_STEPS),
    });
    Some(ShapeExplanation {
        range: view.range(expr_ref),
        expression: view.describe(expr_ref),
        ty: type_text(ty),
        dimensions: dimensions.collect(),
    })
}

impl ShapeExplanation {
    /// Formats the explanation as Markdown.
    pub fn markdown(&self) -> String {
        let mut out = format!("{} : {}\n", message(&self.expression), code_span(&self.ty));
        for dimension in &self.dimensions {
            let field = match dimension.field {
                Some(field) => format!("field {field}, "),
                None => String::new(),
            };
            let size = escaped(&dimension.size);
            out += &format!("\n**{field}axis {} = {size}**\n", dimension.axis);
            for (at, step) in dimension.steps.iter().enumerate() {
                out += &format!("{}. {}\n", at + 1, message(&step.message()));
            }
            if dimension.steps.is_empty() {
                out += "1. the origin is unknown\n";
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use crate::fixture::Fixture;

    fn check(text: &str, expected: Expect) {
        let fixture = Fixture::new(text);
        let why = super::why_shape(&fixture.db, fixture.file, fixture.cursor());
        let Some(why) = why else {
            expected.assert_eq("nothing");
            return;
        };
        let mut out = why.markdown();
        for dimension in &why.dimensions {
            let texts = dimension
                .steps
                .iter()
                .map(|step| &fixture.text[std::ops::Range::<usize>::from(step.range)]);
            out += &format!("{:?}\n", texts.collect::<Vec<_>>());
        }
        expected.assert_eq(&out);
    }

    #[test]
    fn sizes_are_traced_to_parameters_and_attributes() {
        check(
            "
def @main(%x: Tensor[(2, 3, 8, 8), float32], %w: Tensor[(16, 3, 3, 3), float32]) {
  %0 = nn.conv2d(%x, %w, strides=[2, 2], padding=[1, 1, 1, 1], channels=16, kernel_size=[3, 3]);
  %1 = nn.relu(%0);
  let %y$0 = transpose(%1, axes=[0, 2, 3, 1]);
  %y
}
",
            expect![[r#"
                `transpose(%1, axes=[0, 2, 3, 1])` : `Tensor[(2, 4, 4, 16), float32]`

                **axis 0 = 2**
                1. axis 0 of `%x` is 2
                2. `nn.conv2d` keeps axis 0, by `Conv2D`
                3. `nn.relu` keeps axis 0, by `Identity`
                4. `transpose` keeps axis 0, by `Transpose`

                **axis 1 = 4**
                1. axis 2 of `%x` is 8
                2. `nn.conv2d` computes 4 from 8 on axis 2
                3. `nn.relu` keeps axis 2, by `Identity`
                4. `transpose` takes axis 1 from axis 2, by `Transpose`

                **axis 2 = 4**
                1. axis 3 of `%x` is 8
                2. `nn.conv2d` computes 4 from 8 on axis 3
                3. `nn.relu` keeps axis 3, by `Identity`
                4. `transpose` takes axis 2 from axis 3, by `Transpose`

                **axis 3 = 16**
                1. `channels` sets axis 1 to 16
                2. `nn.relu` keeps axis 1, by `Identity`
                3. `transpose` takes axis 3 from axis 1, by `Transpose`
                ["2", "nn.conv2d", "nn.relu", "transpose"]
                ["8", "nn.conv2d", "nn.relu", "transpose"]
                ["8", "nn.conv2d", "nn.relu", "transpose"]
                ["16", "nn.relu", "transpose"]
            "#]],
        );
    }

    #[test]
    fn axes_of_equal_size_are_distinguished() {
        check(
            "
def @main(%x: Tensor[(1, 3, 4, 4), float32], %y: Tensor[(4, 4), float32]) {
  nn.relu(ad$0d(%x, %y))
}
",
            expect![[r#"
                `add(%x, %y)` : `Tensor[(1, 3, 4, 4), float32]`

                **axis 0 = 1**
                1. axis 0 of `%x` is 1
                2. `add` keeps axis 0, by `Broadcast`

                **axis 1 = 3**
                1. axis 1 of `%x` is 3
                2. `add` keeps axis 1, by `Broadcast`

                **axis 2 = 4**
                1. axis 2 of `%x` is 4
                2. `add` keeps axis 2, by `Broadcast`

                **axis 3 = 4**
                1. axis 3 of `%x` is 4
                2. `add` keeps axis 3, by `Broadcast`
                ["1", "add"]
                ["3", "add"]
                ["4", "add"]
                ["4", "add"]
            "#]],
        );
    }

    #[test]
    fn fields_constants_and_unknown_sizes_are_traced() {
        check(
            "
def @main(%x: Tensor[(?, 8), float32]) {
  %0 = nn.relu(%x);
  sp$0lit(%0, indices_or_sections=2, axis=1)
}
",
            expect![[r#"
                `split(%0, indices_or_sections=2, axis=1)` : `(Tensor[(?, 4), float32], Tensor[(?, 4), float32])`

                **field 0, axis 0 = ?**
                1. axis 0 of `%x` is ?
                2. `nn.relu` keeps axis 0, by `Identity`
                3. `split` keeps axis 0, by `Split`

                **field 0, axis 1 = 4**
                1. axis 1 of `%x` is 8
                2. `nn.relu` keeps axis 1, by `Identity`
                3. `split` computes 4 from 8 on axis 1

                **field 1, axis 0 = ?**
                1. axis 0 of `%x` is ?
                2. `nn.relu` keeps axis 0, by `Identity`
                3. `split` keeps axis 0, by `Split`

                **field 1, axis 1 = 4**
                1. axis 1 of `%x` is 8
                2. `nn.relu` keeps axis 1, by `Identity`
                3. `split` computes 4 from 8 on axis 1
                ["?", "nn.relu", "split"]
                ["8", "nn.relu", "split"]
                ["?", "nn.relu", "split"]
                ["8", "nn.relu", "split"]
            "#]],
        );
        check(
            "
def @main(%n: int32) { full(1f, shape=[2, 5], dtype=\"float32\")$0 }
",
            expect![[r#"
                `full(1f, shape=[2, 5], dtype="float32")` : `Tensor[(2, 5), float32]`

                **axis 0 = 2**
                1. `shape` sets axis 0 to 2

                **axis 1 = 5**
                1. `shape` sets axis 1 to 5
                ["[2, 5]"]
                ["[2, 5]"]
            "#]],
        );
        check("def @main(%f: fn () -> int32) { %f$0 }", expect!["nothing"]);
    }
}
