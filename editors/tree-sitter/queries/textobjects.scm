; Functions

(function_definition) @function.outer
(function_definition body: (block) @function.inner)
(function_expression) @function.outer
(function_expression body: (block) @function.inner)

; Types

(type_definition) @class.outer
(type_definition (constructor_list) @class.inner)

; Parameters, arguments and attributes

(parameter) @parameter.inner @parameter.outer
(attribute) @parameter.inner @parameter.outer
(argument_list (_) @parameter.inner)
(attribute name: (_) @attribute.inner) @attribute.outer

; Calls, branches, bindings

(call_expression) @call.outer
(call_expression arguments: (argument_list) @call.inner)
(if_expression) @conditional.outer
(if_expression consequence: (block) @conditional.inner)
(match_expression) @conditional.outer
(match_expression body: (match_body) @conditional.inner)
(let_statement name: (_) @assignment.lhs value: (_) @assignment.rhs @assignment.inner) @assignment.outer
(graph_statement name: (_) @assignment.lhs value: (_) @assignment.rhs @assignment.inner) @assignment.outer
(block) @block.outer
(expression_statement) @statement.outer

[
  (integer)
  (float)
] @number.inner

[
  (line_comment)
  (block_comment)
] @comment.outer
