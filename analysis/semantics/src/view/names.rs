//! The names that a type written at a place may use.

use smol_str::SmolStr;
use syntax::{SyntaxKind, TextRange};
use types::{Dim, Flags, Param, Symbol, Type};

use super::View;
use crate::body::*;

/// A type parameter in scope at a place.
pub(crate) struct TypeParamInScope {
    name: SmolStr,
    /// The parameter in inferred types, if it is known.
    param: Option<Param>,
}

impl View<'_> {
    /// Returns the function expression at a range of the definition, which begins at 0.
    pub(crate) fn function_at(&self, range: TextRange) -> Option<ExprRef> {
        self.source.expr_of(&self.body, range).filter(|found| self.function(*found).is_some())
    }

    /// Returns the type parameters that the functions around a place declare, the innermost first. A
    /// function with exactly this range is not around it.
    pub(crate) fn type_params_around(&self, place: TextRange) -> Vec<TypeParamInScope> {
        let path = self.root().path_to(place);
        let mut found = Vec::new();
        let functions = path.iter().rev();
        for node in functions.filter(|node| node.kind() == SyntaxKind::FN_EXPR) {
            let function = self.function_at(node.range() - self.start());
            let Some(at) = function.filter(|_| node.range() != place) else { continue };
            let Some(function) = self.function(at) else { continue };
            found.extend(function.type_params.iter().map(|param| TypeParamInScope {
                name: param.name().clone(),
                param: self.inferred_param(at.unit, function, param),
            }));
        }
        if path.first().is_some_and(|root| root.range() != place) {
            let header = self.body.header().into_iter().flat_map(|header| &header.type_params);
            found.extend(header.map(|param| TypeParamInScope {
                name: param.name().clone(),
                param: Some(param.clone()),
            }));
        }
        found
    }

    /// Returns the parameter that inference has put in place of a written one: the type of a variable
    /// that is declared to be of it, or the only one of its name.
    fn inferred_param(&self, unit: UnitId, function: &Function, written: &Param) -> Option<Param> {
        let declared = function.params.iter().find(|&&binder| {
            let annotation = &self.unit(unit).binder(binder).annotation;
            matches!(annotation, Some(Type::Param(param)) if param == written)
        });
        match declared.map(|&binder| self.binding_type(LocalRef { unit, binder })) {
            Some(Type::Param(param)) => Some(param.clone()),
            _ => None,
        }
    }

    /// Returns true if no two functions of the definition declare a type parameter of this name.
    fn is_unique(&self, name: &str) -> bool {
        let header = self.body.header();
        let functions = self.body.units.iter().flat_map(|unit| &unit.fns).chain(header);
        functions.flat_map(|function| &function.type_params).filter(|p| p.name() == name).count()
            < 2
    }

    /// Returns true if the name of a type parameter means that parameter where others are in scope.
    pub(crate) fn can_name_param(&self, param: &Param, around: &[TypeParamInScope]) -> bool {
        let found = around.iter().find(|known| known.name == *param.name());
        found.is_some_and(|known| match &known.param {
            Some(known) => known == param,
            None => self.is_unique(&known.name),
        })
    }

    /// Returns true if the names in the text of a type mean at a place what they mean in the type. The
    /// type parameter of an inner function is unbound outside of it, and hidden by another one of its
    /// name; a size of the metadata section has a name only for people.
    pub fn can_name(&self, ty: &Type, place: TextRange) -> bool {
        let mut can = true;
        if ty.flags().has(Flags::PARAM) {
            let around = self.type_params_around(place);
            let _same = ty.rename_params(&mut |param| {
                can &= self.can_name_param(param, &around);
                None
            });
        }
        types::for_each_part(ty, Flags::SYMBOL, &mut |part| {
            if let Type::Tensor(tensor) = part {
                can &= !tensor.shape.iter().any(is_only_shown);
            }
        });
        can
    }
}

/// Returns true for a size whose name is not the reference in the text: `n` for `meta[tir.Var][0]`.
fn is_only_shown(dim: &Dim) -> bool {
    let Dim::Symbol(symbol) = dim else { return false };
    matches!(&**symbol, Symbol::Variable { name, .. } if !name.starts_with("meta["))
}
