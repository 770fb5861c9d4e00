//! Types over several lines.

use std::fmt::Write;

use types::Type;

use crate::hover::{type_params_text, type_text};

/// How many fields or parameters are shown.
const MOST_PARTS: usize = 32;
/// How many lines there are at most.
const MOST_LINES: usize = 200;
/// How long a type inside of another may be on its line.
const WIDTH: usize = 72;
/// How deep types are taken apart.
const MOST_DEPTH: usize = 6;

/// The names of the parameters of a function, as far as they are known.
#[derive(Clone, Default)]
pub(super) struct Names(pub(super) Vec<String>);

/// A type on one line, cut where it is too long to read.
pub(super) fn one_line(ty: &Type) -> String {
    type_text(ty)
}

/// A type over several lines: one field of a tuple a line, with its index, and one parameter of a
/// function, with its name where that is known.
///
/// ```text
/// fn (
///   %x: Tensor[(2, 3), float32],
///   %p: (
///     0: Tensor[(1), float32],
///     1: int32,
///   ),
/// ) -> Tensor[(2, 3), float32]
/// ```
pub(super) fn lines(ty: &Type, names: &Names) -> Vec<String> {
    let mut printer = Printer { lines: vec![String::new()] };
    printer.ty(ty, Some(names), 0);
    printer.lines.truncate(MOST_LINES);
    printer.lines
}

struct Printer {
    lines: Vec<String>,
}

impl Printer {
    fn add(&mut self, text: &str) {
        if let Some(line) = self.lines.last_mut() {
            line.push_str(text);
        }
    }

    fn line(&mut self, depth: usize) {
        self.lines.push("  ".repeat(depth));
    }

    /// `names` for the outermost type, which is taken apart whatever its length.
    fn ty(&mut self, ty: &Type, names: Option<&Names>, depth: usize) {
        let is_outermost = names.is_some();
        let flat = one_line(ty);
        let takes_apart = match ty {
            Type::Tuple(fields) => !fields.is_empty(),
            Type::Func(_) | Type::Poly(_) => ty.arity().is_some_and(|arity| arity > 0),
            _ => false,
        };
        let fits = flat.len() + 2 * depth <= WIDTH;
        let is_full = depth >= MOST_DEPTH || self.lines.len() >= MOST_LINES;
        if !takes_apart || is_full || (fits && !is_outermost) {
            self.add(&flat);
            return;
        }
        match ty {
            Type::Tuple(fields) => {
                self.add("(");
                self.parts(fields, depth, |at| format!("{at}: "));
                self.add(")");
            }
            Type::Func(_) | Type::Poly(_) => {
                let Some(signature) = ty.signature() else { return };
                let params = type_params_text(&signature);
                self.add(&format!("fn {params}("));
                self.parts(signature.func.params(), depth, |at| {
                    let name = names.and_then(|names| names.0.get(at));
                    name.map(|name| format!("{name}: ")).unwrap_or_default()
                });
                self.add(") -> ");
                self.ty(signature.func.ret(), None, depth);
                for (at, constraint) in signature.constraints.iter().take(MOST_PARTS).enumerate() {
                    self.line(depth + 1);
                    let mut text = if at == 0 { "where " } else { "  and " }.to_owned();
                    // A text takes all that is written to it.
                    let _ = write!(text, "{constraint}");
                    self.add(&text);
                }
            }
            _ => {}
        }
    }

    fn parts(&mut self, parts: &[Type], depth: usize, label: impl Fn(usize) -> String) {
        for (at, part) in parts.iter().enumerate().take(MOST_PARTS) {
            self.line(depth + 1);
            self.add(&label(at));
            self.ty(part, None, depth + 1);
            self.add(",");
        }
        if parts.len() > MOST_PARTS {
            self.line(depth + 1);
            self.add(&format!("… {} more", parts.len() - MOST_PARTS));
        }
        self.line(depth);
    }
}
