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

use super::{Compiler, Operand, Reg};
use crate::{
    code::{Op, Site},
    fault::FaultKind,
    machine::quick::Quick,
    value::{Callable, Value},
};

impl Compiler<'_, '_> {
    /// An operator or a constructor, by name.
    pub(super) fn named(&mut self, name: &Name, place: TextRange) -> Operand {
        if let Some((_, constructor)) = self.view.types.constructor(name) {
            let fields = constructor.fields.len();
            if fields == 0 {
                return self.value(Op::Construct(name.clone()), &[], place);
            }
            let function = Callable::Constructor(name.clone());
            return self.value(Op::Const(Value::closure(function, Vec::new())), &[], place);
        }
        match operators::named(name) {
            Some(operator) => {
                let function = Value::closure(Callable::Operator(operator), Vec::new());
                self.value(Op::Const(function), &[], place)
            }
            None => Operand::None,
        }
    }

    pub(super) fn call(&mut self, id: ExprId, call: CallId, place: TextRange) -> Operand {
        let body = self.view.body.clone();
        let data = body.units[self.unit].call(call);
        let constructor = |name: &str| self.view.types.constructor(name).is_some();
        match &data.callee {
            Callee::Operator(operator) if constructor(operator.name) => {
                let args = self.args(data);
                self.value(Op::Construct(operator.name.into()), &args, place)
            }
            Callee::Operator(operator) => {
                let attrs = match self.attrs(data) {
                    Ok(attrs) => attrs,
                    Err(operand) => return operand,
                };
                let args = self.args(data);
                let result = self.view.unit_types(self.unit).expr(id).clone();
                let site = Site { operator, quick: Quick::of(operator.name), attrs, result };
                self.value(Op::Operator(Arc::new(site)), &args, place)
            }
            Callee::Name(name) if constructor(name) => {
                let args = self.args(data);
                self.value(Op::Construct(name.clone()), &args, place)
            }
            Callee::Name(_) => Operand::None,
            Callee::Expr(callee) => match self.operands.get(callee.index()).cloned() {
                Some(Operand::Global(global)) => {
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

    /// The attributes of a call, with references to the metadata section resolved.
    fn attrs(&self, data: &CallData) -> Result<Attrs, Operand> {
        let metadata = self.link.metadata();
        if !data.trusted {
            return Err(Operand::None);
        }
        if let Some((key, index)) = &data.meta_attrs {
            let found = metadata.map_or(MetaEntry::NoSection, |data| data.attrs(key, *index));
            return match found {
                MetaEntry::Found(attrs) => Ok(attrs),
                _ => Err(not_there(key, *index)),
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
        let values: Result<Vec<AttrValue>, Operand> =
            attrs.values().iter().map(|value| look_up(metadata, value)).collect();
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

fn look_up(metadata: Option<&Metadata>, value: &AttrValue) -> Result<AttrValue, Operand> {
    match value {
        AttrValue::Meta { key, index } => match metadata.map(|data| data.value(key, *index)) {
            Some(MetaEntry::Found(value)) => Ok(value),
            _ => Err(not_there(key, *index)),
        },
        AttrValue::List(values) => {
            let values: Result<Vec<AttrValue>, Operand> =
                values.iter().map(|value| look_up(metadata, value)).collect();
            Ok(AttrValue::List(values?.into()))
        }
        other => Ok(other.clone()),
    }
}

fn not_there(key: &str, index: u32) -> Operand {
    let message = format!("`meta[{key}][{index}]` is not in the module's metadata section");
    Operand::Missing(FaultKind::Missing, message.into())
}

pub(super) fn no_tensors(ty: &types::Type) -> Operand {
    let message = format!("values of the type {ty} are not supported");
    Operand::Missing(FaultKind::Missing, message.into())
}
