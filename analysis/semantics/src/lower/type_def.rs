//! Type definitions.

use smol_str::SmolStr;
use syntax::{
    Node, SyntaxKind,
    ast::{self, AstNode},
};
use types::{PolyType, Type};

use super::Lowerer;
use crate::{
    adt::{Adt, Constructor, TypeDef},
    body::*,
};

/// Lowers a type definition; `None` for other nodes.
pub fn lower_type_def(node: Node<'_>) -> Option<TypeDef> {
    let def = ast::TypeDef::cast(node)?;
    let name = def.name().map(|n| SmolStr::new(n.text())).unwrap_or_default();
    let mut unit = Lowerer::default();
    unit.begin(node, UnitKind::Header);
    let function = unit.signature(def.type_params(), None, None, None);
    let (adt_name, params) = (name.clone(), &function.type_params);
    let (mut constructors, mut ranges) = (Vec::new(), Vec::new());
    for constructor in def.constructors().into_iter().flat_map(|list| list.constructors()) {
        let Some(name) = constructor.name() else { continue };
        let fields = constructor.fields().into_iter().flat_map(ast::TupleType::fields);
        // Inference does not complete types of fields.
        let mut field = |ty: ast::Type<'_>| {
            let holes = ty.node().descendants().filter(|node| node.kind() == SyntaxKind::HOLE_TYPE);
            holes.for_each(|hole| unit.problem(hole.range(), ProblemKind::OpenField));
            unit.ty(ty.node()).without_variables()
        };
        let fields: Vec<Type> = fields.map(&mut field).collect();
        ranges.push(unit.range(name.range()));
        let own = Type::adt(adt_name.clone(), params.iter().map(|p| Type::argument(p.as_arg())));
        let ty = PolyType::close(params, Vec::new(), &Type::func(fields.iter().cloned(), own));
        constructors.push(Constructor { name: name.text().into(), fields, ty });
    }
    let adt = Adt {
        name,
        params: function.type_params,
        constructors,
        is_extern: def.extern_token().is_some(),
        from_prelude: false,
    };
    let (unit, source) = unit.finish();
    Some(TypeDef {
        adt,
        uses: unit.type_uses,
        problems: unit.problems,
        constructors: ranges,
        source,
    })
}
