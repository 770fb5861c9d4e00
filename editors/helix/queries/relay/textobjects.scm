(function_definition body: (block) @function.inside) @function.around
(function_expression body: (block) @function.inside) @function.around

(type_definition (constructor_list) @class.inside) @class.around

(parameters ((_) @parameter.inside . ","? @parameter.around) @parameter.around)
(argument_list ((_) @parameter.inside . ","? @parameter.around) @parameter.around)

[
  (line_comment)
  (block_comment)
] @comment.inside

(line_comment)+ @comment.around
(block_comment) @comment.around

(let_statement) @entry.around
(graph_statement) @entry.around
(let_statement value: (_) @entry.inside)
(graph_statement value: (_) @entry.inside)
