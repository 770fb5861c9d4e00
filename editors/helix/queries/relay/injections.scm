; What people write. What TVM prints in block comments is not worth a parser for each.
((line_comment) @injection.content
  (#set! injection.language "comment"))

; The weights of a network are a `json_archive`, which nobody should parse to colour it.
((json) @injection.content
  (#set! injection.language "json"))
