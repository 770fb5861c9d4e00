//! Formatting of types over several lines.

use types::Type;

use crate::hover::{type_params_text, type_text};

/// The maximal number of fields or parameters.
const MAX_PARTS: usize = 32;
/// The maximal number of lines.
const MAX_LINES: usize = 200;
/// The maximal width of a nested type on one line.
const WIDTH: usize = 72;
/// The maximal depth of types that are broken over lines.
const MAX_DEPTH: usize = 6;

/// Returns a type over several lines: one field of a tuple per line with its index, one parameter of
/// a function per line with its name if that is among the known `names`.
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
pub(super) fn lines(ty: &Type, names: &[String]) -> Vec<String> {
    let mut printer = Printer { lines: vec![String::new()] };
    printer.ty(ty, Some(names), 0);
    printer.lines.truncate(MAX_LINES);
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

    /// Prints a type. `names` is given for the outermost type, which is broken over lines whatever
    /// its width.
    fn ty(&mut self, ty: &Type, names: Option<&[String]>, depth: usize) {
        let is_outermost = names.is_some();
        let flat = type_text(ty);
        let is_breakable = match ty {
            Type::Tuple(fields) => !fields.is_empty(),
            Type::Func(_) | Type::Poly(_) => ty.arity().is_some_and(|arity| arity > 0),
            _ => false,
        };
        let fits = flat.len() + 2 * depth <= WIDTH;
        let is_full = depth >= MAX_DEPTH || self.lines.len() >= MAX_LINES;
        if !is_breakable || is_full || (fits && !is_outermost) {
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
                    let name = names.and_then(|names| names.get(at));
                    name.map(|name| format!("{name}: ")).unwrap_or_default()
                });
                self.add(") -> ");
                self.ty(signature.func.ret(), None, depth);
                for (at, constraint) in signature.constraints.iter().take(MAX_PARTS).enumerate() {
                    self.line(depth + 1);
                    let word = if at == 0 { "where" } else { "  and" };
                    self.add(&format!("{word} {constraint}"));
                }
            }
            _ => {}
        }
    }

    fn parts(&mut self, parts: &[Type], depth: usize, label: impl Fn(usize) -> String) {
        for (at, part) in parts.iter().enumerate().take(MAX_PARTS) {
            self.line(depth + 1);
            self.add(&label(at));
            self.ty(part, None, depth + 1);
            self.add(",");
        }
        if parts.len() > MAX_PARTS {
            self.line(depth + 1);
            self.add(&format!("… {} more", parts.len() - MAX_PARTS));
        }
        self.line(depth);
    }
}
