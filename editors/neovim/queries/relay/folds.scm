; What a person wants out of sight.

[
  (block)
  (constructor_list)
  (match_body)
  (parameters)
  (metadata_section)
  (tir_function)
  (block_comment)
] @fold
