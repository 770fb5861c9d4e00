; Highlighting. No node matches two patterns, so their order is irrelevant.

; Comments, and text that is not Relay

[
  (line_comment)
  (block_comment)
  (unclosed_comment)
  (log_line)
] @comment

(version ["#[" "version"] @keyword.directive)
(old_version) @keyword.directive
(metadata_header) @keyword.directive

; Names

[
  (local)
  (graph)
] @variable

(let_statement name: (bound_local) @variable)
(graph_statement name: (bound_local) @variable)
(free_var_statement name: (bound_local) @variable)
(variable_pattern name: (bound_local) @variable)
(parameter name: (bound_local) @variable.parameter)

(bound_global) @function
(global) @function.call

(constructor_name) @constructor
(relation_name) @function.builtin
(attribute_name) @property

; An operator, a constructor, or `None`, which occurs only in attributes
((identifier) @function.builtin
  (#not-match? @function.builtin "^[A-Z]"))
((identifier) @constructor
  (#match? @constructor "^[A-Z]")
  (#not-eq? @constructor "None"))
((identifier) @constant.builtin
  (#eq? @constant.builtin "None"))

; Types

((type_identifier) @type.builtin
  (#match? @type.builtin "^(bool|(float|bfloat|int|uint)[0-9]+)(x[0-9]+)?$"))
((type_identifier) @type
  (#not-match? @type "^(bool|(float|bfloat|int|uint)[0-9]+)(x[0-9]+)?$"))
(tensor_type "Tensor" @type)
(custom_dtype) @type.builtin
(hole_type) @type.builtin
(shape_variable) @variable.parameter
(shape "?" @constant.builtin)
(wildcard_pattern) @variable.builtin

; Literals

(integer) @number
(float) @number.float
(boolean) @boolean
[
  (string)
  (quoted_name)
] @string
(meta) @constant.builtin
(constant_expression "Constant" @constructor)

; Keywords

["fn" "def"] @keyword.function
["type" "data" "extern"] @keyword.type
["let" "free_var" "where" "ref" "ref_read" "ref_write"] @keyword
["if" "else" "match" "case"] @keyword.conditional
(match_expression "?" @keyword.conditional)

; Operators and punctuation

(binary_expression operator: _ @operator)
(shape "-" @operator)
["=" "->" "=>" "^" ":="] @operator
["," ";" ":" "."] @punctuation.delimiter
["(" ")" "[" "]" "{" "}"] @punctuation.bracket
(type_parameters ["<" ">"] @punctuation.bracket)
(type_arguments ["<" ">"] @punctuation.bracket)
