; Foldable nodes.

[
  (block)
  (constructor_list)
  (match_body)
  (parameters)
  (metadata_section)
  (tir_function)
  (block_comment)
] @fold
