" What `:RelayExplain` shows: prose, with examples that are indented.

if exists('b:current_syntax')
  finish
endif

syntax include @relayExample syntax/relay.vim
syntax match relayExplainTitle '\%1l.*'
syntax match relayExplainCode '`[^`]\+`'
syntax region relayExplainExample start='^    ' end='$' contains=@relayExample keepend
syntax match relayExplainAddress '^https\?://\S\+$'

highlight default link relayExplainTitle Title
highlight default link relayExplainCode Special
highlight default link relayExplainAddress Underlined

let b:current_syntax = 'relay-explain'
