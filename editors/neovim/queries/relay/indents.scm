; Lines inside brackets are indented by one level, as in the output of TVM.

[
  (block)
  (constructor_list)
  (match_body)
  (parameters)
  (argument_list)
  (parenthesized_expression)
  (tuple_expression)
  (attribute_list)
  (attribute_tuple)
  (attribute_map)
  (tuple_type)
  (tuple_pattern)
] @indent.begin

["}" ")" "]"] @indent.branch
["}" ")" "]"] @indent.end

[
  (metadata_section)
  (tir_function)
  (block_comment)
] @indent.ignore
