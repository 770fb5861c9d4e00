; Line comments only: TVM prints types in block comments, each of which would need a parser.
((line_comment) @injection.content
  (#set! injection.language "comment"))

; Not in a `json_archive`, such as the weights of a network, which are too long to parse.
((json) @injection.content
  (#set! injection.language "json"))
