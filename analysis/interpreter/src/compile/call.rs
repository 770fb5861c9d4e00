//! Calls: callee, arguments and attributes.

use std::sync::Arc;

use semantics::{
    body::{CallData, CallId, Callee, ExprId, Name},
    infer::MetaEntry,
    metadata::Metadata,
};
use smallvec::SmallVec;
use syntax::TextRange;
use types::{AttrValue, Attrs};

use super::{Compiler, Location, Reg};
use crate::{
    code::{CallSite, Callable, Op},
    families,
    fault::FaultKind,
    kernel::is_concrete,
};

impl Compiler<'_, '_> {
    /// Compiles the name of an operator or a constructor.
    pub(super) fn named(&mut self, name: &Name, place: TextRange) -> Location {
        if let Some((_, constructor)) = self.view.types.constructor(name) {
            let fields = constructor.fields.len();
            if fields == 0 {
                return self.value(Op::Construct(name.clone()), &[], place);
            }
            let function = Callable::Constructor(name.clone());
            return self.value(Op::Closure(function), &[], place);
        }
        match operators::named(name) {
            Some(operator) => self.value(Op::Closure(Callable::Operator(operator)), &[], place),
            None => Location::None,
        }
    }

    pub(super) fn call(&mut self, id: ExprId, call: CallId, place: TextRange) -> Location {
        let body = self.view.body.clone();
        let data = body.unit(self.unit).call(call);
        let constructor = |name: &str| self.view.types.constructor(name).is_some();
        match &data.callee {
            Callee::Operator(operator) if constructor(operator.name) => {
                let args = self.args(data);
                self.value(Op::Construct(operator.name.into()), &args, place)
            }
            Callee::Operator(operator) => {
                let attrs = match self.attrs(data) {
                    Ok(attrs) => attrs,
                    Err(location) => return location,
                };
                let args = self.args(data);
                let types = self.view.unit_types(self.unit);
                let result = types.expr(id).clone();
                let is_open = data.args.iter().any(|&arg| !is_concrete(types.expr(arg)));
                let fusion = families::of(operator).map(|kernel| kernel.fusion).unwrap_or_default();
                let site = CallSite { operator, fusion, attrs, result, is_open };
                self.value(Op::Operator(Arc::new(site)), &args, place)
            }
            Callee::Name(name) if constructor(name) => {
                let args = self.args(data);
                self.value(Op::Construct(name.clone()), &args, place)
            }
            Callee::Name(_) => Location::None,
            Callee::Expr(callee) => match self.locations.get(callee.index()).cloned() {
                Some(Location::Global(global)) => {
                    let args = self.args(data);
                    self.value(Op::CallGlobal { global, tail: false }, &args, place)
                }
                _ => {
                    let mut args: SmallVec<[Reg; 4]> = SmallVec::new();
                    args.push(self.use_of(*callee));
                    args.extend(self.args(data));
                    self.value(Op::Call { tail: false }, &args, place)
                }
            },
        }
    }

    fn args(&mut self, data: &CallData) -> SmallVec<[Reg; 4]> {
        data.args.iter().map(|&arg| self.use_of(arg)).collect()
    }

    /// Returns the attributes of a call, with references to the metadata section resolved.
    fn attrs(&self, data: &CallData) -> Result<Attrs, Location> {
        let metadata = self.linker.metadata();
        if !data.trusted {
            return Err(Location::None);
        }
        if let Some((key, index)) = data.meta_attrs.as_deref() {
            let found = metadata.map_or(MetaEntry::NoSection, |data| data.attrs(key, *index));
            return match found {
                MetaEntry::Found(attrs) => Ok(attrs),
                _ => Err(missing_entry(key, *index)),
            };
        }
        if let Callee::Operator(operator) = &data.callee
            && operator.detached
            && data.written.is_empty()
        {
            return Ok(Attrs::none());
        }
        let attrs = &data.attrs;
        let Some(schema) = attrs.schema().filter(|_| attrs.values().iter().any(has_meta)) else {
            return Ok(attrs.clone());
        };
        let values: Result<Vec<AttrValue>, Location> =
            attrs.values().iter().map(|value| resolve_meta(metadata, value)).collect();
        Ok(Attrs::new(schema, values?))
    }
}

fn has_meta(value: &AttrValue) -> bool {
    match value {
        AttrValue::Meta { .. } => true,
        AttrValue::List(values) => values.iter().any(has_meta),
        _ => false,
    }
}

fn resolve_meta(metadata: Option<&Metadata>, value: &AttrValue) -> Result<AttrValue, Location> {
    match value {
        AttrValue::Meta { key, index } => match metadata.map(|data| data.value(key, *index)) {
            Some(MetaEntry::Found(value)) => Ok(value),
            _ => Err(missing_entry(key, *index)),
        },
        AttrValue::List(values) => {
            let values: Result<Vec<AttrValue>, Location> =
                values.iter().map(|value| resolve_meta(metadata, value)).collect();
            Ok(AttrValue::List(values?.into()))
        }
        other => Ok(other.clone()),
    }
}

fn missing_entry(key: &str, index: u32) -> Location {
    let message = format!("`meta[{key}][{index}]` is not in the module's metadata section");
    Location::Missing(FaultKind::Missing, message.into())
}

pub(super) fn unsupported_type(ty: &types::Type) -> Location {
    let message = format!("values of the type {ty} are not supported");
    Location::Missing(FaultKind::Missing, message.into())
}
