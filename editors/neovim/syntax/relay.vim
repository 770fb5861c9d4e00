" Relay: TVM's text format, what TVM prints, and the notation of the manual.
" Every item but comments and the metadata section is within a line, so that no state has to be
" searched for; lines beyond 'synmaxcol' are left alone.

if exists('b:current_syntax')
  finish
endif

syntax case match
syntax iskeyword @,48-57,_,192-255
syntax sync minlines=100 maxlines=300

syntax match relayNumber '\<\d\+\%(i\d\+\)\?\>'
syntax match relayFloat '\<\%(\d\+\.\d*\%([eE][+-]\?\d\+\)\?\%(f\d*\)\?\|\d\+[eE][+-]\?\d\+\%(f\d*\)\?\|\d\+f\d*\|inff\d*\|nanf\d*\)'
syntax match relayAny '?'
syntax keyword relayBoolean True False
syntax keyword relayNone None

syntax match relayOperator '[-+*/<>!]\|=\+\|[-=]>\|[<>!]=\|&&\|||'

" `nn.conv2d(`, `Cons(`, `List[`, `axis=`
syntax match relayCall '\<\l[A-Za-z0-9_]*\%(\.[A-Za-z0-9_]\+\)*\ze\s*[(<]'
syntax match relayTypeName '\<\u[A-Za-z0-9_]*\>'
syntax match relayConstructor '\<\u[A-Za-z0-9_]*\ze\s*('
syntax match relayAttribute '\<\h[A-Za-z0-9_.]*\ze\s*=[=>]\@!'
syntax match relayDataType '\<\%(\%(bfloat\|float\|uint\|int\)\d\+\|bool\)\%(x\d\+\)\?\>'
syntax match relayTensor '\<\%(Tensor\|Scalar\)\ze\['
syntax match relayMeta '\<meta\[[^][]*\]\%(\[[^][]*\]\)\?'

syntax keyword relayStatement def fn let free_var extern
syntax match relayStatement '^\s*\zs\%(type\|data\)\ze\s'
syntax match relayConditional '\<\%(if\|else\|case\|where\|match\>?\?\)'
syntax match relayReference '\<ref\%(_read\|_write\)\?\ze\s*('

" After the words: a sigil begins a name, whatever the rest of it looks like.
syntax match relayGlobal '@\%(\h\|[^\x00-\x7F]\)\%(\w\|[^\x00-\x7F]\|/\ze[/*]\@!\)*\%(\%(\%(\.\|::\)\d\+\)*\%(\.\|::\)\d*\h\w*\)*'
syntax match relayLocal '%\%(\h\|[^\x00-\x7F]\)\%(\w\|[^\x00-\x7F]\|/[/*]\@!\)*\%(\%(\%(\.\|::\)\d\+\)*\%(\.\|::\)\d*\h\%(\w\|/[/*]\@!\)*\)*\%(-malformed-ir\)\?'
syntax match relayGraph '%\d\+'
syntax match relayProjection '\.\zs\d\+'

syntax match relayString '"[^"]*"'
syntax match relayString "'[^']*'"
syntax match relayVersion '#\[\s*version[^]]*\]'
syntax match relayLineComment '//.*$' contains=@Spell
syntax match relayLineComment '#\[\@!.*$' contains=@Spell
syntax match relayLog '^\[\d\d:\d\d:\d\d\].*$'
syntax region relayComment start='/\*' end='\*/' contains=relayComment,@Spell
" What TVM prints after an expression.
syntax match relayEvidence '/\*\s*\%(ty\|span\)=[^*/]\{-}\*/'

" JSON to the end of the file, or to the next module of a log.
syntax region relayMetadata start='^#\[\s*metadata\s*\]' end='^\ze\%(#\[\s*version\|\[\d\d:\)' contains=relayMetadataText fold
syntax match relayMetadataText '"[^"]*"' contained

" Numbers, types, calls and variables: see lua/relay-analyzer/colours.lua for schemes that have them plain.
highlight default link relayNumber Number
highlight default link relayFloat relayNumber
highlight default link relayAny Special
highlight default link relayBoolean relayNumber
highlight default link relayNone relayNumber
highlight default link relayOperator Operator
highlight default link relayCall Function
highlight default link relayTypeName Type
highlight default link relayConstructor relayTypeName
highlight default link relayTensor relayTypeName
highlight default link relayDataType relayTypeName
highlight default link relayAttribute Tag
highlight default link relayMeta Special
highlight default link relayStatement Statement
highlight default link relayConditional Conditional
highlight default link relayReference Keyword
highlight default link relayGlobal relayCall
highlight default link relayLocal Identifier
highlight default link relayGraph relayLocal
highlight default link relayProjection relayNumber
highlight default link relayString String
highlight default link relayVersion PreProc
highlight default link relayComment Comment
highlight default link relayLineComment Comment
highlight default link relayEvidence Comment
highlight default link relayLog Comment
highlight default link relayMetadata PreProc
highlight default link relayMetadataText Comment

let b:current_syntax = 'relay'
