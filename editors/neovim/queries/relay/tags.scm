; Definitions and references, for outlines and search.

(function_definition name: (bound_global) @name) @definition.function
(type_definition name: (type_identifier) @name) @definition.type
(constructor name: (constructor_name) @name) @definition.constructor

(call_expression function: (global) @name) @reference.call
(call_expression function: (identifier) @name) @reference.call
(generic_type name: (type_identifier) @name) @reference.type
