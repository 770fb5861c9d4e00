//! Go to definition and go to type definition.

use semantics::{
    Db, Def, DefKind, Module, SourceFile, View, all_defs, body::Expr, data_type, global, metadata,
    type_def,
};
use syntax::{SyntaxKind, TextRange, TextSize};
use types::Type;

use crate::{
    FileRange,
    lookups::node_around,
    place::{Place, Symbol, place_at},
};

/// The place of a definition.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Target {
    /// The file.
    pub file: SourceFile,
    /// The range of the definition.
    pub full: TextRange,
    /// The range of its name.
    pub name: TextRange,
}

/// A jump from a name to its definitions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Jump {
    /// The range of the name at the cursor.
    pub from: TextRange,
    /// The definitions.
    pub targets: Vec<Target>,
}

/// Returns the definition of the name at `offset`.
pub fn definition(db: &dyn Db, file: SourceFile, offset: TextSize) -> Option<Jump> {
    let place = place_at(db, file, offset)?;
    let (symbol, range) = place.symbol(db)?;
    let target = target_of(db, &place, &symbol)?;
    Some(Jump { from: range + place.start(db), targets: vec![target] })
}

/// Returns the definitions of the data types in the type of the expression at `offset`.
pub fn type_definition(db: &dyn Db, file: SourceFile, offset: TextSize) -> Option<Jump> {
    let place = place_at(db, file, offset)?;
    let view = place.view.as_ref()?;
    let (ty, from) = match place.symbol(db) {
        Some((Symbol::Local(binding), range)) => (view.binding_type(binding).clone(), range),
        _ => {
            let expr_ref = place.expr()?;
            (view.ty(expr_ref).clone(), place.token.range())
        }
    };
    let mut names = Vec::new();
    adts(&ty, &mut names);
    let targets = names.iter().filter_map(|name| type_target(db, place.module, name));
    Some(Jump { from: from + place.start(db), targets: targets.collect() })
}

/// Collects the names of the data types in a type, the outermost first.
fn adts(ty: &Type, names: &mut Vec<semantics::body::Name>) {
    types::for_each_part(ty, types::Flags::ADT, &mut |part| {
        if let Type::Adt(adt) = part
            && !names.contains(adt.name())
        {
            names.push(adt.name().clone());
        }
    });
}

pub(crate) fn target_of(db: &dyn Db, place: &Place<'_>, symbol: &Symbol<'_>) -> Option<Target> {
    let file = place.def.file(db);
    let start = place.start(db);
    match symbol {
        Symbol::Global(name) => {
            let (def, _) = global(db, place.module, name)?;
            Some(def_target(db, def))
        }
        Symbol::Local(binding) => {
            let view = place.view.as_ref()?;
            let name = view.binding_range(*binding);
            let full = statement_around(view, name).unwrap_or(name);
            Some(Target { file, full, name })
        }
        Symbol::Constructor(name) => {
            let types = semantics::module_types(db, place.module);
            let (adt, _) = types.constructor(name)?;
            let def = type_def_named(db, place.module, &adt.name)?;
            let data = type_def(db, def)?;
            let (_, range) = data.constructors().find(|(other, _)| other.name == *name)?;
            let name = range + def.start(db);
            Some(Target { file: def.file(db), full: name, name })
        }
        Symbol::Type(name) => type_target(db, place.module, name),
        Symbol::TypeParam { declared, .. } => {
            let name = *declared + start;
            Some(Target { file, full: name, name })
        }
        Symbol::Meta(expr_ref) => {
            let items = place.module.items(db);
            let def = items.iter().find(|def| def.kind(db) == DefKind::Metadata)?;
            let section = metadata(db, place.module)?;
            let full = def.range(db);
            let view = place.view.as_ref()?;
            let entry = || {
                let Expr::Meta(meta) = view.unit(expr_ref.unit).expr(expr_ref.expr) else {
                    return None;
                };
                let node = def.node(db);
                let text = node.token(SyntaxKind::METADATA)?.text();
                let section = section.weights().section();
                let entry = weights::entry_range(text, section, &meta.key, meta.index)?;
                let [start, end] = [entry.start, entry.end].map(|at| TextSize::new(at as u32));
                Some(TextRange::new(start, end) + full.start())
            };
            // Without an entry, as in a code view, the header: the section can be megabytes long.
            let header =
                || TextRange::at(full.start(), TextSize::of("#[metadata]").min(full.len()));
            let name = entry().unwrap_or_else(header);
            Some(Target { file, full: name, name })
        }
        Symbol::Operator(_) | Symbol::Declared(_) | Symbol::Attribute(..) => None,
    }
}

/// Returns the range of the statement, parameter or pattern that binds the name at `name`.
fn statement_around(view: &View<'_>, name: TextRange) -> Option<TextRange> {
    use SyntaxKind::*;
    let is_holder = |kind| matches!(kind, PARAM | LET_STMT | GRAPH_STMT | FREE_VAR_STMT | VAR_PAT);
    Some(node_around(view, name, is_holder)?.range() + view.def.start(view.db))
}

/// Returns the place of a definition.
pub(crate) fn def_target(db: &dyn Db, def: Def<'_>) -> Target {
    Target { file: def.file(db), full: def.range(db), name: def.name_range(db) + def.start(db) }
}

/// Returns the definition of a data type in the module or the prelude.
pub(crate) fn type_def_named<'db>(
    db: &'db dyn Db,
    module: Module<'db>,
    name: &str,
) -> Option<Def<'db>> {
    data_type(db, module, name).map(|(def, _)| def).filter(|&def| type_def(db, def).is_some())
}

fn type_target(db: &dyn Db, module: Module<'_>, name: &str) -> Option<Target> {
    type_def_named(db, module, name).map(|def| def_target(db, def))
}

/// Returns the names and ranges of the definitions in a file, for workspace symbols.
pub fn definitions(db: &dyn Db, file: SourceFile) -> Vec<(String, FileRange)> {
    all_defs(db, file)
        .filter(|def| matches!(def.kind(db), DefKind::Fn | DefKind::Type | DefKind::Tir))
        .map(|def| {
            let range = def.name_range(db) + def.start(db);
            (def.name(db).to_string(), FileRange { file, range })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use crate::fixture::{Fixture, marked};

    /// Checks the definition of the name at the cursor `$0`, which `^^^` marks.
    fn check(text: &str) {
        let fixture = Fixture::new(text);
        let jump = super::definition(&fixture.db, fixture.file, fixture.cursor());
        let targets = jump.map_or(Vec::new(), |jump| jump.targets);
        let found: Vec<_> = targets.iter().map(|target| target.name).collect();
        assert_eq!(found, marked(&fixture), "{text}");
    }

    #[test]
    fn goto_global_that_is_defined_later() {
        check(
            "
def @main(%x: int32) { @la$0ter(%x) }
def @later(%x: int32) -> int32 { %x }
  //^^^^^^
",
        );
    }

    #[test]
    fn goto_local_finds_visible_binding() {
        check(
            "
def @main(%x: int32) {
  let %y = %x;
  let %y = add(%y, %y);
    //^^
  add(%y$0, %x)
}
",
        );
        check(
            "
def @main(%x: int32) {
  %0 = add(%x, %x);
//^^
  %1 = fn (%x: int32) { add(%x, %$00) };
  %1(%x)
}
",
        );
    }

    #[test]
    fn goto_local_with_dots_and_colons() {
        check(
            "
def @main(%input.1: int32, %aten::linear_3.bias: int32) {
        //^^^^^^^^
  add(%inp$0ut.1, %aten::linear_3.bias)
}
",
        );
        check(
            "
def @main(%input.1: int32, %aten::linear_3.bias: int32) {
                         //^^^^^^^^^^^^^^^^^^^^
  add(%input.1, %aten::linear$0_3.bias)
}
",
        );
    }

    #[test]
    fn goto_types_constructors_and_type_parameters() {
        let text = "
type Tree[A] {
   //^^^^
  Leaf(A),
  Node(Tree[A], Tree[A]),
}
def @f(%t: Tr$0ee[int32]) -> int32 { match? (%t) { Leaf(%x) => %x } }
";
        check(text);
        check(
            "
type Tree[A] {
  Leaf(A),
//^^^^
  Node(Tree[A], Tree[A]),
}
def @f(%t: Tree[int32]) -> int32 { match? (%t) { Le$0af(%x) => %x } }
",
        );
        check(
            "
def @f[A, B](%x: A, %y: B$0) -> A { %x }
        //^
",
        );
    }

    #[test]
    fn goto_pattern_variable() {
        check(
            "
type Pair { P(int32, int32) }
def @f(%p: Pair) { match (%p) { P(%a, %b) => add(%a, %b$0) } }
                                    //^^
",
        );
    }
}
