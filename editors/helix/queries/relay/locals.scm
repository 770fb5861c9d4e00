; Scopes, and the names in them: a use has the colour of its definition.

[
  (function_definition)
  (function_expression)
  (block)
  (sequence)
  (match_arm)
  (type_definition)
] @local.scope

(parameter name: (_) @local.definition)
(let_statement name: (_) @local.definition)
(graph_statement name: (_) @local.definition)
(free_var_statement name: (_) @local.definition)
(variable_pattern name: (_) @local.definition)

[
  (local)
  (graph)
] @local.reference
