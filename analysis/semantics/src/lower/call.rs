//! Lowering of calls.

use operators::{CallForm, Operator};
use smallvec::SmallVec;
use syntax::{
    NodeOrToken, SyntaxKind,
    ast::{self, AstNode},
};
use types::Releases;

use super::{
    Lowerer,
    attr::form_of,
    python::{Notation, PrecedingCounts, Site, operator_of_module},
    shared::is_claim,
};
use crate::body::*;

impl Lowerer {
    /// Lowers `f(a, b, axis=1)`.
    pub(super) fn call(&mut self, call: ast::CallExpr<'_>) -> ExprId {
        let range = call.range();
        let CallParts { callee: callee_node, type_args, args } = CallParts::of(call);
        let callee_text = callee_node.map_or(range, |callee| callee.range());
        let callee_range = self.range(callee_text);
        // Set if the name is that of Python.
        let mut is_renamed = false;
        // A callee that is an expression is evaluated first; names are resolved instead.
        let callee = match callee_node {
            Some(ast::Expr::NameRef(name)) => match self.shared.operator(name) {
                Some(operator) => Callee::Operator(operator),
                None => {
                    let name = name.text();
                    if let Some(expr) = self.python_expr(call, &name, callee_range, args) {
                        return expr;
                    }
                    self.unknown_callee(&name, &mut is_renamed)
                }
            },
            Some(callee) => match numbered(callee) {
                Some(name) => Callee::Name(name),
                None => Callee::Expr(self.expr(callee.node())),
            },
            None => Callee::Name(Name::default()),
        };
        let type_args = type_args.map(|list| self.type_args(list)).unwrap_or_default();
        let (mut values, mut written) = (SmallVec::new(), Vec::new());
        let before =
            PrecedingCounts { problems: self.unit.problems.len(), exprs: self.unit.exprs.len() };
        let mut whole = args.is_some_and(|list| self.arguments(list, &mut values, &mut written));
        let meta_attrs = self.take_meta_attrs(&mut values);
        let mut releases = Releases::ALL;
        let mut form = None;
        let mut callee = callee;
        if let Callee::Operator(operator) = &mut callee {
            releases = operator.releases;
            if !operator.forms.is_empty() {
                let names = written.iter().map(|attr| attr.name.as_str());
                (form, releases) = form_of(operator, values.len(), names, meta_attrs.is_some());
            }
            if !operator.formerly.is_empty() {
                let text = callee_node.map(|callee| callee.node().to_string()).unwrap_or_default();
                if let Some((_, former)) =
                    operator.formerly.iter().find(|(name, _)| *name == text.trim())
                {
                    releases = *former;
                    let is_former = |form: &&CallForm| !form.releases.and(*former).is_empty();
                    form = operator.forms.iter().find(is_former).or(form);
                }
            }
            if let Some(form) = form {
                self.attrs_as_arguments(form, &written, callee_text, &mut values);
                *operator = form.operator.unwrap_or(operator);
            }
        }
        let bound_from = self.unit.problems.len();
        let (attrs, trusted) = match &callee {
            Callee::Operator(operator) => {
                let is_meta = meta_attrs.is_some();
                let bound =
                    self.bind_attrs(operator, &written, is_meta, callee_range, form, &mut releases);
                // A cheap test, since it runs for each call. The problems may be those of calls in arguments.
                let is_unusual = values.len() != operator.args.len() && !operator.variadic
                    || self.unit.problems.len() != before.problems
                    || is_renamed;
                if is_unusual {
                    // The attributes that another release takes are errors if their values have the notation of Python.
                    let is_other = form.is_some() && self.unit.problems.len() == bound_from;
                    let list = args.filter(|_| whole && !is_meta && !is_other);
                    let site =
                        Site { list, operator, callee_range, is_renamed, before, bound_from };
                    match self.python_call(&site, &mut values, &mut written) {
                        Notation::Python(meant) => {
                            releases = operator.releases;
                            (meant, true)
                        }
                        Notation::Relay => bound,
                        // The number of arguments is not an error of its own.
                        Notation::Unclear => {
                            whole = false;
                            bound
                        }
                    }
                } else {
                    bound
                }
            }
            Callee::Name(_) | Callee::Expr(_) => {
                // Only operators accept attributes; other callees keep them if their type is named.
                let is_carried = written.is_empty() || Self::has_known_key(&written);
                if let Some(first) = written.first().filter(|_| !is_carried) {
                    let callee = match callee_node {
                        Some(callee) if callee.node().range().len() <= 40.into() => {
                            callee.node().to_string().trim().into()
                        }
                        _ => "this".into(),
                    };
                    let kind = ProblemKind::AttrsNotTaken { callee, callee_range };
                    self.problem_at(first.name_range, kind);
                }
                if let Some(operator) = operator_of_module(&callee) {
                    let list = args.filter(|_| whole && meta_attrs.is_none());
                    let site =
                        Site { list, operator, callee_range, is_renamed: true, before, bound_from };
                    self.unqualified(&site, &values);
                }
                (self.no_attrs.clone(), is_carried)
            }
        };
        // The manual's names have three letters, TVM's names for the same operators are longer.
        let is_alias =
            |operator: &Operator| callee_text.len() == 3.into() && operator.name.len() > 3;
        let alias = matches!(callee, Callee::Operator(operator) if is_alias(operator));
        let call = CallData {
            callee,
            callee_range,
            args: values,
            attrs,
            trusted,
            whole,
            written,
            meta_attrs: meta_attrs.map(Box::new),
            type_args,
            infix: false,
            alias,
            releases,
        };
        self.push_call(range, call)
    }

    /// Collects the arguments and attributes of a call in one pass. Returns true if the list is
    /// closed and has no syntax errors.
    fn arguments(
        &mut self,
        list: ast::ArgList<'_>,
        args: &mut SmallVec<[ExprId; 4]>,
        attrs: &mut Vec<WrittenAttr>,
    ) -> bool {
        let mut whole = false;
        // `Some(true)` after a comma, `None` after the end or a syntax error. A comma may follow
        // the last argument, `add(%x, )`, but not another comma.
        let mut open = Some(false);
        // The argument that a following comment refers to.
        let mut fresh = None;
        let mut misplaced = None;
        for element in list.node().parts() {
            match element {
                NodeOrToken::Node(child) => {
                    fresh = None;
                    let is_error = child.kind() == SyntaxKind::ERROR;
                    open = open.and((!is_error).then_some(false));
                    if let Some(attr) = ast::Attr::cast(child) {
                        let attr = self.written_attr(attr);
                        attrs.push(attr);
                    } else if ast::BlockOrExpr::can_cast(child.kind()) {
                        if !attrs.is_empty() && misplaced.is_none() {
                            misplaced = Some(child.range());
                        }
                        let expr = self.expr(child);
                        args.push(expr);
                        fresh = Some(expr);
                    } else if child.kind() == SyntaxKind::ATTR_LIST {
                        let expr = self.list_argument(child);
                        args.push(expr);
                        fresh = Some(expr);
                    }
                }
                NodeOrToken::Token(token) => match token.kind() {
                    _ if is_claim(&token) => {
                        // TVM 0.6 prints the comment of a constant twice.
                        if let Some(expr) = fresh {
                            self.comment(expr, token.range(), token.text());
                        }
                    }
                    SyntaxKind::COMMA => {
                        fresh = None;
                        open = (open == Some(false)).then_some(true);
                    }
                    SyntaxKind::R_PAREN => {
                        fresh = None;
                        whole |= open.take().is_some();
                    }
                    kind if kind.is_trivia() => {}
                    _ => fresh = None,
                },
            }
        }
        if let Some(range) = misplaced {
            self.problem(range, ProblemKind::ArgAfterAttr);
        }
        whole
    }

    /// Takes `meta[relay.attrs.X][0]` from the end of the arguments: it replaces the attributes.
    fn take_meta_attrs(
        &mut self,
        args: &mut SmallVec<[ExprId; 4]>,
    ) -> Option<(smol_str::SmolStr, u32)> {
        let last = *args.last()?;
        let Expr::Meta(meta) = self.unit.expr(last) else { return None };
        if !meta.key.contains("attrs") && !meta.key.contains("Attrs") {
            return None;
        }
        args.pop();
        let entry = (meta.key.clone(), meta.index);
        // It is not a value.
        self.unit.exprs[last.index()] = Expr::Missing;
        Some(entry)
    }
}

/// The parts of `f<T>(a, b)`, found in one pass.
#[derive(Default)]
struct CallParts<'t> {
    callee: Option<ast::Expr<'t>>,
    type_args: Option<ast::TypeArgList<'t>>,
    args: Option<ast::ArgList<'t>>,
}

impl<'t> CallParts<'t> {
    fn of(call: ast::CallExpr<'t>) -> CallParts<'t> {
        let mut parts = CallParts::default();
        for child in call.node().parts().filter_map(NodeOrToken::into_node) {
            match child.kind() {
                SyntaxKind::ARG_LIST => parts.args = parts.args.or(ast::ArgList::cast(child)),
                SyntaxKind::TYPE_ARG_LIST => {
                    parts.type_args = parts.type_args.or(ast::TypeArgList::cast(child));
                }
                _ if parts.callee.is_none() => parts.callee = ast::Expr::cast(child),
                _ => {}
            }
        }
        parts
    }
}

/// Returns the name of a constructor that the pass Defunctionalization made, in `1(%x)`.
fn numbered(callee: ast::Expr<'_>) -> Option<Name> {
    let ast::Expr::Literal(literal) = callee else { return None };
    let token = literal.node().tokens().find(|token| token.kind() == SyntaxKind::INT)?;
    Some(token.text().into())
}
