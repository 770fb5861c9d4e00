; Scopes and their names. A graph binding is visible up to the end of its block.

[
  (source_file)
  (function_definition)
  (function_expression)
  (block)
  (sequence)
  (match_arm)
  (type_definition)
] @local.scope

(parameter name: (_) @local.definition.parameter)
(let_statement name: (_) @local.definition.var)
(graph_statement name: (_) @local.definition.var)
(free_var_statement name: (_) @local.definition.var)
(variable_pattern name: (_) @local.definition.var)
(function_definition name: (bound_global) @local.definition.function)
(type_definition name: (type_identifier) @local.definition.type)
(type_parameter name: (type_identifier) @local.definition.type)

[
  (local)
  (graph)
  (global)
  (type_identifier)
] @local.reference
