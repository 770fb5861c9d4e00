//! Lowering of expressions.

use smallvec::SmallVec;
use syntax::{
    Node, NodeOrToken, SyntaxKind, TextRange, TextSize,
    ast::{self, AstNode},
};
use types::{DataType, Type};

use super::{
    Lowerer,
    shared::{claimed_type, is_claim},
    ty::meta_parts,
};
use crate::body::*;

impl Lowerer {
    /// Lowers an expression or a block.
    pub(super) fn expr(&mut self, node: Node<'_>) -> ExprId {
        match node.kind() {
            SyntaxKind::BLOCK => return self.block(node),
            SyntaxKind::BLOCK_EXPR | SyntaxKind::PAREN_EXPR => {
                return match node.children().find(|n| ast::BlockOrExpr::can_cast(n.kind())) {
                    Some(inner) => self.expr_with_comment(node, inner),
                    None => self.push(node.range(), Expr::Missing),
                };
            }
            SyntaxKind::INFIX_EXPR => return self.infix(node),
            // A node of this token alone.
            SyntaxKind::LOCAL_REF | SyntaxKind::GRAPH_REF => {
                let name = node.parts().find_map(NodeOrToken::into_token);
                let name = name.map(|token| token.text()).unwrap_or_default();
                return self.variable(name, node.range());
            }
            _ => {}
        }
        let Some(expr) = ast::Expr::cast(node) else {
            return self.push(node.range(), Expr::Missing);
        };
        let range = node.range();
        match expr {
            ast::Expr::Literal(_) => {
                let literal = self.literal(node).map(Expr::Literal);
                if literal.is_none() {
                    self.problem(range, ProblemKind::StringValue);
                }
                self.push(range, literal.unwrap_or(Expr::Missing))
            }
            ast::Expr::GlobalRef(global) => {
                let name = global.name().map(|t| Name::new(t.text())).unwrap_or_default();
                self.push(range, Expr::Global(name))
            }
            ast::Expr::NameRef(name) => self.push(range, Expr::Name(name.text().into())),
            ast::Expr::MetaExpr(meta) => {
                let parts = meta.text().and_then(|token| meta_parts(token.text()));
                let expr = parts.map_or(Expr::Missing, |(key, index)| {
                    Expr::Meta(Box::new(MetaRef { key, index, claimed: None }))
                });
                self.push(range, expr)
            }
            ast::Expr::ConstantExpr(constant) => {
                let value = constant.value().and_then(|literal| self.literal(literal.node()));
                let shape = constant.shape().map(|shape| self.dims(shape)).unwrap_or_default();
                let ty = constant.dtype().map_or(Type::Error, |ty| self.ty(ty.node()));
                let dtype = ty.as_tensor().map_or(DataType::FLOAT32, |t| t.dtype);
                let expr = value.map_or(Expr::Missing, |value| {
                    Expr::Filled(Box::new(FilledTensor { value, shape, dtype }))
                });
                self.push(range, expr)
            }
            ast::Expr::TupleExpr(_) => {
                let fields = self.exprs(node);
                self.push(range, Expr::Tuple(fields))
            }
            ast::Expr::ProjExpr(projection) => self.projection(projection),
            ast::Expr::CallExpr(call) => self.call(call),
            ast::Expr::IfExpr(conditional) => self.conditional(conditional),
            ast::Expr::MatchExpr(match_expr) => self.match_expr(match_expr),
            ast::Expr::FnExpr(function) => self.function(function),
            ast::Expr::RefExpr(_) => {
                let value = self.operand(node, 0);
                self.push(range, Expr::RefNew(value))
            }
            ast::Expr::RefReadExpr(_) => {
                let reference = self.operand(node, 0);
                self.push(range, Expr::RefRead(reference))
            }
            ast::Expr::RefWriteExpr(_) => {
                let reference = self.operand(node, 0);
                let value = self.operand(node, 1);
                self.push(range, Expr::RefWrite(reference, value))
            }
            ast::Expr::ParenExpr(_)
            | ast::Expr::BlockExpr(_)
            | ast::Expr::InfixExpr(_)
            | ast::Expr::LocalRef(_)
            | ast::Expr::GraphRef(_) => self.push(range, Expr::Missing),
        }
    }

    /// Lowers the `n`th expression under `node`, with the comment after it.
    fn operand(&mut self, node: Node<'_>, n: usize) -> ExprId {
        let operands = node.parts().filter_map(NodeOrToken::into_node);
        match operands.filter(|c| ast::BlockOrExpr::can_cast(c.kind())).nth(n) {
            Some(operand) => self.expr_with_comment(node, operand),
            None => self.missing(node.range().end()),
        }
    }

    /// Lowers `child` of `parent`, with the type comment after it.
    pub(super) fn expr_with_comment(&mut self, parent: Node<'_>, child: Node<'_>) -> ExprId {
        let expr = self.expr(child);
        let comment = parent
            .parts()
            .filter_map(NodeOrToken::into_token)
            .skip_while(|token| token.start() < child.range().end())
            .take_while(|token| token.kind().is_trivia())
            .find(is_claim);
        if let Some(comment) = comment {
            let subject = match self.unit.expr(expr) {
                // TVM prints no types of writes: in `(%r := 3 /* ty=int32 */)`, it is that of the number.
                Expr::RefWrite(_, value) if child.token(SyntaxKind::COLON_EQ).is_some() => *value,
                _ => expr,
            };
            self.comment(subject, comment.range(), comment.text());
        }
        expr
    }

    /// Lowers a comment after an expression.
    pub(super) fn comment(&mut self, expr: ExprId, range: TextRange, text: &str) {
        self.type_comment(Subject::Expr(expr), range, text);
        self.claim(expr, text);
    }

    /// Takes the type of a constant from the comment, for modules without a metadata section, and that of
    /// a number without a suffix.
    fn claim(&mut self, expr: ExprId, comment: &str) {
        let of_type =
            |comment: &str| Some(claimed_type(&comment[comment.find("ty=")? + 3..]).to_owned());
        match self.unit.expr(expr) {
            Expr::Meta(_) => {
                let Some(text) = of_type(comment) else { return };
                let claimed = self.claimed(&text);
                if let Expr::Meta(meta) = &mut self.unit.exprs[expr.index()] {
                    meta.claimed = claimed;
                }
            }
            &Expr::Literal(Literal::Int { dtype: None, value, .. }) => {
                let Some(text) = of_type(comment) else { return };
                let dtype = DataType::parse(text.trim());
                let is_data = dtype.is_none() && text.ends_with("[]");
                // `1 /* ty=DefuncFuncType[] */`
                let is_data = is_data && matches!(self.claimed(&text), Some(Type::Adt(_)));
                match &mut self.unit.exprs[expr.index()] {
                    literal if is_data => *literal = Expr::Name(value.to_string().into()),
                    Expr::Literal(Literal::Int { claimed, .. }) => *claimed = dtype,
                    _ => {}
                }
            }
            Expr::Literal(Literal::Float { dtype: None, .. }) => {
                let dtype = of_type(comment).and_then(|text| DataType::parse(text.trim()));
                if let Expr::Literal(Literal::Float { claimed, .. }) =
                    &mut self.unit.exprs[expr.index()]
                {
                    *claimed = dtype;
                }
            }
            _ => {}
        }
    }

    pub(super) fn claimed(&mut self, text: &str) -> Option<Type> {
        let parse = syntax::parse_type(text);
        let node = Node::root(&parse.green);
        let ty = node.children().find_map(ast::Type::cast)?;
        // Names in a comment are not resolved, and problems in it are not reported.
        let (uses, problems) = (self.unit.type_uses.len(), self.unit.problems.len());
        let ranges = self.ranges.len();
        // Ranges in the comment are relative to its start.
        let origin = std::mem::take(&mut self.origin);
        // The memo refers to nodes of the tree of the comment, which is dropped here.
        let types = std::mem::take(&mut self.shared.types);
        let ty = self.ty(ty.node());
        self.shared.types = types;
        self.origin = origin;
        self.unit.type_uses.truncate(uses);
        self.unit.problems.truncate(problems);
        self.ranges.truncate(ranges);
        (!ty.has_error() && parse.errors.iter().all(|e| e.kind.is_compat())).then_some(ty)
    }

    /// Lowers the expressions under `node`, each with the comment after it.
    fn exprs(&mut self, node: Node<'_>) -> SmallVec<[ExprId; 4]> {
        let mut exprs: SmallVec<[ExprId; 4]> = SmallVec::new();
        let mut fresh = false;
        for element in node.parts() {
            match element {
                NodeOrToken::Node(child) => {
                    fresh = ast::BlockOrExpr::can_cast(child.kind());
                    if fresh {
                        let expr = self.expr(child);
                        exprs.push(expr);
                    }
                }
                NodeOrToken::Token(token) => match token.kind() {
                    _ if fresh && is_claim(&token) => {
                        if let Some(&expr) = exprs.last() {
                            self.comment(expr, token.range(), token.text());
                        }
                    }
                    kind if kind.is_trivia() => {}
                    _ => fresh = false,
                },
            }
        }
        exprs
    }

    /// Lowers `a + b`. Chains nest to the left, and are lowered in a loop.
    fn infix(&mut self, node: Node<'_>) -> ExprId {
        let mut spine = vec![node];
        while let Some(left) = spine.last().and_then(|n| n.children().next())
            && left.kind() == SyntaxKind::INFIX_EXPR
        {
            spine.push(left);
        }
        let mut left = match spine.last().and_then(|n| ast::InfixExpr::cast(*n)?.left()) {
            Some(first) => self.expr(first.node()),
            None => self.push(node.range(), Expr::Missing),
        };
        for infix in spine.into_iter().rev().filter_map(ast::InfixExpr::cast) {
            let right = infix.right().map(|right| right.node());
            let right = self.expr_or_missing(right, infix.range().end());
            left = self.infix_call(infix, left, right);
        }
        left
    }

    fn infix_call(&mut self, infix: ast::InfixExpr<'_>, left: ExprId, right: ExprId) -> ExprId {
        let range = infix.range();
        let sign = infix.operator();
        let operator = sign.and_then(|token| operators::find(infix_operator(token.kind())?));
        let (Some(operator), Some(sign)) = (operator, sign) else {
            return self.push(range, Expr::Missing);
        };
        let call = CallData {
            callee: Callee::Operator(operator),
            callee_range: self.range(sign.range()),
            args: SmallVec::from_slice(&[left, right]),
            attrs: self.no_attrs.clone(),
            trusted: true,
            whole: true,
            written: Vec::new(),
            meta_attrs: None,
            type_args: Box::default(),
            infix: true,
            alias: false,
            releases: operator.releases,
        };
        self.push_call(range, call)
    }

    pub(super) fn push_call(&mut self, range: TextRange, call: CallData) -> ExprId {
        let id = CallId(self.unit.calls.len() as u32);
        self.unit.calls.push(call);
        self.push(range, Expr::Call(id))
    }

    pub(super) fn type_args(&mut self, list: ast::TypeArgList<'_>) -> Box<[Type]> {
        list.args().map(|arg| self.type_arg(arg.node())).collect()
    }

    /// Notes that an expression is missing.
    pub(super) fn missing(&mut self, at: TextSize) -> ExprId {
        self.push(TextRange::empty(at), Expr::Missing)
    }

    fn expr_or_missing(&mut self, node: Option<Node<'_>>, at: TextSize) -> ExprId {
        match node {
            Some(node) => self.expr(node),
            None => self.missing(at),
        }
    }

    /// Lowers a region with a scope of its own.
    fn branch(&mut self, node: Option<Node<'_>>, end: TextSize) -> Region {
        let (mark, start) = (self.scope.mark(), self.unit.exprs.len() as u32);
        let result = self.expr_or_missing(node, end);
        self.leave(mark);
        Region { start, end: self.unit.exprs.len() as u32, result }
    }

    fn conditional(&mut self, conditional: ast::IfExpr<'_>) -> ExprId {
        let range = conditional.range();
        let cond = conditional.cond().map(|cond| cond.node());
        let cond = self.expr_or_missing(cond, range.start());
        self.push(range, Expr::Condition(cond));
        let then = self.branch(conditional.then().map(|b| b.node()), range.end());
        let otherwise = self.branch(conditional.otherwise().map(|b| b.node()), range.end());
        self.push(range, Expr::If { cond, then, otherwise })
    }

    fn match_expr(&mut self, match_expr: ast::MatchExpr<'_>) -> ExprId {
        let range = match_expr.range();
        let scrutinee = match_expr.scrutinee().map(|scrutinee| scrutinee.node());
        let scrutinee = self.expr_or_missing(scrutinee, range.start());
        let id = MatchId(self.unit.matches.len() as u32);
        let partial = match_expr.partial().is_some();
        self.unit.matches.push(Match { scrutinee, partial, arms: Vec::new() });
        // Inference types all patterns before the first arm.
        self.push(range, Expr::EnterMatch(id));
        let arm_nodes: Vec<_> =
            match_expr.arms().into_iter().flat_map(|list| list.arms()).collect();
        let mut arms = Vec::with_capacity(arm_nodes.len());
        for arm in arm_nodes {
            let mark = self.scope.mark();
            let wildcard = PatternKind::Wildcard;
            let pattern = match arm.pattern() {
                Some(pattern) => self.pattern(pattern),
                None => Pattern { range: self.range(arm.range()), kind: wildcard },
            };
            let body = self.branch(arm.body().map(|b| b.node()), arm.range().end());
            self.leave(mark);
            arms.push(Arm { pattern, body });
        }
        self.require_arms(match_expr);
        self.unit.matches[id.index()].arms = arms;
        self.push(range, Expr::Match(id))
    }

    fn function(&mut self, function: ast::FnExpr<'_>) -> ExprId {
        let range = function.range();
        let (mark, outer_types) = (self.scope.mark(), self.type_params.len());
        let lowered = self.signature(
            function.type_params(),
            function.params(),
            function.ret(),
            function.where_clause(),
        );
        let id = FnId(self.unit.fns.len() as u32);
        self.unit.fns.push(lowered);
        self.push(range, Expr::EnterFn(id));
        let body = self.branch(function.body().map(|b| b.node()), range.end());
        self.unit.fns[id.index()].body = Some(body);
        self.leave(mark);
        self.type_params.truncate(outer_types);
        self.push(range, Expr::Fn(id))
    }
}

/// Returns the operator of an infix sign.
fn infix_operator(sign: SyntaxKind) -> Option<&'static str> {
    Some(match sign {
        SyntaxKind::STAR => "multiply",
        SyntaxKind::SLASH => "divide",
        SyntaxKind::PLUS => "add",
        SyntaxKind::MINUS => "subtract",
        SyntaxKind::LT => "less",
        SyntaxKind::LE => "less_equal",
        SyntaxKind::GT => "greater",
        SyntaxKind::GE => "greater_equal",
        SyntaxKind::EQ2 => "equal",
        SyntaxKind::NEQ => "not_equal",
        SyntaxKind::AMP2 => "logical_and",
        SyntaxKind::PIPE2 => "logical_or",
        _ => return None,
    })
}
