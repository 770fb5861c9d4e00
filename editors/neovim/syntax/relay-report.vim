" What `:RelayDiffReport` shows: what changed, and the lines of both sides below it.

if exists('b:current_syntax')
  finish
endif

syntax match relayReportTitle '\%1l.*' contains=relayReportCode
syntax match relayReportCode '`[^`]\+`'
syntax match relayReportRemoved '^    - .*'
syntax match relayReportAdded '^    + .*'
syntax match relayReportMark '^ \+\^\+$'
syntax match relayReportMore '^    … .*'

highlight default link relayReportTitle Title
highlight default link relayReportCode Special
highlight default link relayReportRemoved Removed
highlight default link relayReportAdded Added
highlight default link relayReportMark Comment
highlight default link relayReportMore Comment

let b:current_syntax = 'relay-report'
