;extends

; Relay in strings that are passed to TVM's parser.
((call
  function: [
    (identifier) @_function
    (attribute
      attribute: (identifier) @_function)
  ]
  arguments: (argument_list
    .
    [
      (string
        (string_content) @injection.content)
      (concatenated_string
        (string
          (string_content) @injection.content))
      (binary_operator
        operator: "+"
        right: (string
          (string_content) @injection.content))
    ]))
  (#any-of? @_function "fromtext" "parse_expr")
  (#set! injection.include-children)
  (#set! injection.language "relay"))

((call
  function: (attribute
    object: (_) @_module
    attribute: (identifier) @_function)
  arguments: (argument_list
    .
    (string
      (string_content) @injection.content)))
  (#eq? @_function "parse")
  (#any-of? @_module "relay" "tvm.relay" "parser" "tvm.parser")
  (#set! injection.include-children)
  (#set! injection.language "relay"))

; A module says what it is.
((string
  (string_content) @injection.content)
  (#match? @injection.content "^[[:space:]]*#\\[version")
  (#set! injection.include-children)
  (#set! injection.language "relay"))
