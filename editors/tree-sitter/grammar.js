/**
 * @file Grammar of Relay, the tensor IR of TVM, in its three notations.
 *
 *   A. TVM's text format 0.0.5:        let %y = nn.relu(%x); %y
 *   B. what `print(mod)` shows beyond: %aten::relu_1.0, {a=1}, 'main', @T.prim_func
 *   C. the notation of the manual:     data Nat { Z : () -> Nat }, case Z() { 1 }, @f<int32>(%x)
 *
 * All three have the same tree. The grammar accepts what the crate `syntax` accepts, which a test
 * checks. Names with a sigil, comments and tokens that depend on line breaks come from
 * `src/scanner.c`.
 */

/// <reference types="tree-sitter-cli/dsl" />
// @ts-check

/** Reserved words, which may also be names of attributes: `ref=1`, `type="float32"`. */
const KEYWORDS = [
  'let', 'fn', 'def', 'if', 'else', 'type', 'match', 'extern', 'free_var', 'ref', 'ref_read',
  'ref_write', 'True', 'False',
];

/** Numbers without a digit before their suffix: `inff`, `nanf16`. */
const FLOAT_WORDS = ['inff', 'nanf'].flatMap((word) => ['', 16, 32, 64].map((bits) => word + bits));

/** Precedence, as in TVM; the manual's `&&` and `||` are below all others. */
const PREC = { or: 4, and: 5, equal: 7, compare: 8, add: 10, multiply: 12, postfix: 20 };

/** `a, b, c,` or nothing. */
const list = (rule) => optional(seq(rule, repeat(seq(',', rule)), optional(',')));

/** `a, b, name=value,`, of which either part may be missing. */
const listThenAttributes = (rule, attribute) => optional(choice(
  seq(rule, repeat(seq(',', rule)), repeat(seq(',', attribute)), optional(',')),
  seq(attribute, repeat(seq(',', attribute)), optional(',')),
));

const WHITESPACE = /[ \t\r\n\u000B\u000C]/;
const LETTER = '[A-Za-z_\\u{80}-\\u{10FFFF}]';
const WORD = '[A-Za-z_0-9\\u{80}-\\u{10FFFF}]';
/** One part of a name: `conv2d`, `resnet/conv1`. A comment ends it: `Nil//empty`. */
const PART = `${LETTER}(\\/?${WORD})*`;

module.exports = grammar({
  name: 'relay',

  word: ($) => $.identifier,

  extras: ($) => [WHITESPACE, $.line_comment, $.block_comment],

  // The order is that of the enumeration in `src/scanner.c`.
  externals: ($) => [
    $._line_break,
    $.line_comment,
    $.block_comment,
    $.local,
    $.bound_local,
    $.graph,
    $.global,
    $.string,
    $._type_arguments_open,
    $._constant,
    $._inline_semicolon,
    $.json,
    $.json_archive,
    $.tir_text,
    // Not part of any rule, so an error: the rest of the text.
    $.unclosed_comment,
    // Not part of any rule: valid only while tree-sitter recovers from an error.
    $._recovering,
  ],

  supertypes: ($) => [$._expression, $._statement, $._type, $._pattern],

  inline: ($) => [
    $._ascription, $._attribute_name, $._binder, $._chain, $._dimension, $._float, $._separator,
  ],

  rules: {
    // A log contains several modules, each after a log line or a version header.
    source_file: ($) => seq(
      optional($._module),
      repeat(seq(choice($.version, $.log_line), optional($._module))),
    ),

    // Definitions, and among them at most one bare expression.
    _module: ($) => choice(
      repeat1($._definition),
      seq(repeat($._definition), $.expression_item, repeat($._definition)),
    ),

    _definition: ($) => choice(
      $.function_definition,
      $.type_definition,
      $.metadata_section,
      $.tir_function,
    ),

    // #[version = "0.0.5"], and v0.0.4 of TVM 0.6
    version: ($) => choice(
      seq('#[', 'version', '=', field('value', $.string), ']'), $.old_version),

    old_version: (_) => token(prec(1, /v0\.0\.[0-9]+/)),

    // [12:30:00] /src/relay/transforms/print_ir.cc:60: PrintIR():
    log_line: (_) => token(prec(1, /\[[^\n]{2}:[^\n]{2}:[^\n]{2}\][^\n]*/)),

    // #[metadata] { "root": 1, … } to the end of the module, or METADATA: in TVM 0.6. A long one, such as
    // the weights of a network, is a `json_archive`, into which no other grammar is injected.
    metadata_section: ($) => prec.right(seq(
      $.metadata_header,
      optional(choice($.json, $.json_archive)),
    )),

    metadata_header: (_) => token(choice(/#\[[ \t\r\n]*metadata[ \t\r\n]*\]/, 'METADATA:')),

    // @main = primfn(…) -> () { … }, @T.prim_func …: verbatim.
    tir_function: ($) => $.tir_text,

    // %0 = add(%a, %b); nn.relu(%0)
    expression_item: ($) => seq(repeat($._statement), $._expression),

    // def @f[A](%x: A) -> A { %x }, def @f = meta[ExternalFunc][0]
    function_definition: ($) => seq(
      'def',
      field('name', alias($.global, $.bound_global)),
      choice($._signature_and_body, seq('=', field('value', $.meta))),
    ),

    // type List[A] { Cons(A, List[A]), Nil }, extern type Handle, data Nat { Z : () -> Nat }
    type_definition: ($) => prec.right(seq(
      choice(seq(optional('extern'), 'type'), 'data'),
      field('name', alias($.identifier, $.type_identifier)),
      optional($.type_parameters),
      optional($.constructor_list),
    )),

    constructor_list: ($) => seq(
      '{',
      optional(seq(
        $.constructor,
        repeat(seq($._separator, $.constructor)),
        optional(','),
      )),
      '}',
    ),

    // Constructors and arms on lines of their own need no comma.
    _separator: ($) => choice(',', $._line_break),

    // Cons(A, List[A]); S : (Nat) -> Nat
    constructor: ($) => seq(
      field('name', alias($.identifier, $.constructor_name)),
      optional(choice(
        field('fields', $.tuple_type),
        seq(':', field('fields', $.tuple_type), optional($._return_type)),
      )),
    ),

    // ---- parts of both definitions and function expressions

    _signature_and_body: ($) => seq(
      optional($.type_parameters),
      field('parameters', $.parameters),
      optional($._return_type),
      optional($.where_clause),
      field('body', $.block),
    ),

    // [A, B]; <s : Shape, bt : BaseType>
    type_parameters: ($) => choice(
      seq('[', list($.type_parameter), ']'),
      seq('<', list($.type_parameter), '>'),
    ),

    type_parameter: ($) => seq(
      field('name', alias($.identifier, $.type_identifier)),
      optional(seq(':', field('kind', alias($.identifier, $.type_identifier)))),
    ),

    // (%x: Tensor[(2), float32], %y, Primitive=1)
    parameters: ($) => seq('(', listThenAttributes($.parameter, $.attribute), ')'),

    // %x {virtual_device=VirtualDevice(device_type=1)}: int32
    parameter: ($) => seq(
      field('name', $._binder),
      optional($.virtual_device),
      optional($._ascription),
    ),

    virtual_device: ($) => seq('{', list($.attribute), '}'),

    // A printed name may end in numbers, `%input.1`, which are projections at its uses.
    _binder: ($) => choice($.bound_local, $.graph),

    _ascription: ($) => seq(':', field('type', $._type)),

    _return_type: ($) => seq($._arrow, field('return_type', $._type)),

    // TVM reads the arrow as two tokens: `- >`.
    _arrow: (_) => alias(token(/-[ \t\r\n]*>/), '->'),

    // where Broadcast(t1, t2, t3), Identity
    where_clause: ($) => prec.right(seq('where', $.relation, repeat(seq(',', $.relation)))),

    relation: ($) => prec.right(seq(
      field('name', alias($.identifier, $.relation_name)),
      optional(field('arguments', alias($._relation_arguments, $.tuple_type))),
    )),

    _relation_arguments: ($) => seq('(', listThenAttributes($._type, $.attribute), ')'),

    // ---- statements

    block: ($) => seq('{', repeat($._statement), $._expression, '}'),

    // Bindings without braces: f(let %x = 1; %x), (%a; %b). If the line ends with the first `;`,
    // as in `f(%a;`, the bracket is unclosed.
    sequence: ($) => seq(
      choice(
        $.let_statement,
        $.graph_statement,
        $.free_var_statement,
        alias($._inline_statement, $.expression_statement),
      ),
      repeat($._statement),
      $._expression,
    ),

    _inline_statement: ($) => seq($._expression, alias($._inline_semicolon, ';')),

    _chain: ($) => choice($._expression, $.sequence),

    _statement: ($) => choice(
      $.let_statement,
      $.graph_statement,
      $.free_var_statement,
      $.expression_statement,
    ),

    // let %x: int32 = 1;
    let_statement: ($) => seq(
      'let',
      field('name', $._binder),
      optional($._ascription),
      '=',
      field('value', choice($._expression, alias($._nested_let, $.sequence))),
      ';',
    ),

    // let %x = let %y = 1; %y;
    _nested_let: ($) => seq(
      $.let_statement,
      repeat(choice($.let_statement, $.graph_statement)),
      $._expression,
    ),

    // %0 = add(%a, %b); In the manual it ends with the line.
    graph_statement: ($) => seq(
      field('name', choice($.graph, alias($.local, $.bound_local))),
      '=',
      field('value', $._expression),
      choice(';', $._line_break),
    ),

    // free_var %x: Tensor[(2), float32];
    free_var_statement: ($) => seq(
      'free_var', field('name', $._binder), optional($._ascription), choice(';', $._line_break)),

    // ref_write(%r, 1);
    expression_statement: ($) => seq($._expression, ';'),

    // ---- expressions

    _expression: ($) => choice($._postfix, $.binary_expression),

    // %a + %b * %c, left-associative
    binary_expression: ($) => choice(...[
      ['||', PREC.or], ['&&', PREC.and],
      ['==', PREC.equal], ['!=', PREC.equal],
      ['<', PREC.compare], ['<=', PREC.compare], ['>', PREC.compare], ['>=', PREC.compare],
      ['+', PREC.add], ['-', PREC.add],
      ['*', PREC.multiply], ['/', PREC.multiply],
    ].map(([operator, strength]) => prec.left(strength, seq(
      field('left', $._expression),
      field('operator', operator),
      field('right', $._expression),
    )))),

    _postfix: ($) => choice(
      $._atom, $.call_expression, $.projection, alias($._printed_read, $.ref_read_expression)),

    // %r^, as TVM 0.6 and 0.7 print ref_read(%r)
    _printed_read: ($) => prec(PREC.postfix, seq(field('reference', $._postfix), '^')),

    // nn.relu(%x), @plus<(10, 10)>(%a, %b)
    call_expression: ($) => prec(PREC.postfix, seq(
      field('function', $._postfix),
      optional($.type_arguments),
      field('arguments', $.argument_list),
    )),

    // The scanner has found a `>` that is directly followed by `(`; any other `<` is an operator.
    type_arguments: ($) => seq(alias($._type_arguments_open, '<'), list($._type_argument), '>'),

    _type_argument: ($) => choice($._type, alias($._shape_argument, $.shape), $.integer, '?'),

    // (10, 10): a tuple of types does not begin with a number.
    _shape_argument: ($) => seq(
      '(', choice($.integer, '?'), repeat(seq(',', $._dimension)), optional(','), ')'),

    // (%a, %b, axis=1): attributes come last
    argument_list: ($) => seq('(', listThenAttributes($._chain, $.attribute), ')'),

    // %pair.0
    projection: ($) => prec(PREC.postfix, seq(
      field('tuple', $._postfix),
      '.',
      field('index', alias($._index, $.integer)),
    )),

    _index: (_) => /[0-9]+/,

    _atom: ($) => choice(
      $._simple_atom,
      $.parenthesized_expression,
      $.tuple_expression,
      $.block,
    ),

    _simple_atom: ($) => choice(
      // add, nn.conv2d, Cons
      $.identifier,
      $.local, $.graph, $.global, $.meta,
      $.integer, $._float, $.boolean, $.string,
      $.constant_expression,
      $.if_expression,
      $.match_expression,
      $.function_expression,
      $.ref_expression,
      $.ref_read_expression,
      $.ref_write_expression,
    ),

    parenthesized_expression: ($) => seq(
      '(', choice($._chain, alias($._printed_write, $.ref_write_expression)), ')'),

    // (%r := 1), as TVM 0.6 and 0.7 print ref_write(%r, 1)
    _printed_write: ($) => seq(field('reference', $._postfix), ':=', field('value', $._expression)),

    // (), (%a,), (%a, %b)
    tuple_expression: ($) => choice(
      seq('(', ')'),
      seq('(', $._chain, ',', list($._chain), ')'),
    ),

    // if (%c) { %a } else { %b }
    if_expression: ($) => seq(
      'if',
      '(',
      field('condition', $._chain),
      ')',
      field('consequence', $.block),
      'else',
      field('alternative', choice($.block, $.if_expression)),
    ),

    // match? (%l) { Nil => 0, Cons(%h, _) => %h }
    match_expression: ($) => seq(
      'match',
      optional('?'),
      field('value', $._postfix),
      field('body', $.match_body),
    ),

    match_body: ($) => seq(
      '{',
      optional(seq(
        $.match_arm,
        repeat(seq($._separator, $.match_arm)),
        optional(','),
      )),
      '}',
    ),

    // Cons(%h, _) => %h; the manual's case Cons(%h, _) { %h }
    match_arm: ($) => choice(
      seq(field('pattern', $._pattern), '=>', field('value', $._chain)),
      seq(
        'case',
        field('pattern', $._pattern),
        choice(field('value', $.block), seq('=>', field('value', $._chain))),
      ),
    ),

    // fn (%x: int32) -> int32 { %x }
    function_expression: ($) => seq('fn', $._signature_and_body),

    ref_expression: ($) => seq('ref', '(', field('value', $._chain), ')'),
    ref_read_expression: ($) => seq('ref_read', '(', field('reference', $._chain), ')'),
    ref_write_expression: ($) => seq(
      'ref_write', '(', field('reference', $._chain), ',', field('value', $._chain), ')'),

    // Constant(1, (10, 10), float32); the scanner distinguishes it from a call.
    constant_expression: ($) => seq(
      alias($._constant, 'Constant'),
      '(',
      field('value', choice($.integer, $._float, $.boolean)), ',',
      field('shape', $.shape), ',',
      field('type', $._type),
      ')',
    ),

    // ---- attributes

    // axis=1, padding=[1, 1]
    attribute: ($) => prec(1, seq(
      field('name', $._attribute_name),
      '=',
      field('value', $._attribute_value),
    )),

    _attribute_name: ($) => choice(
      alias($.identifier, $.attribute_name),
      ...KEYWORDS.map((keyword) => alias(keyword, $.attribute_name)),
    ),

    _attribute_value: ($) => choice(
      $._simple_atom,
      $.attribute_list,
      $.attribute_tuple,
      $.attribute_map,
      $.quoted_name,
      $.opaque_value,
    ),

    attribute_list: ($) => seq('[', list($._attribute_value), ']'),

    // (1, 0): TVM reads one value in parentheses, but prints tuples.
    attribute_tuple: ($) => seq(
      '(',
      $._attribute_value,
      repeat(seq(',', $._attribute_value)),
      optional(','),
      ')',
    ),

    // {"keys"=[1], 'main': 2}, printed without metadata
    attribute_map: ($) => seq('{', list(choice($.attribute, $.map_entry)), '}'),

    map_entry: ($) => seq(
      field('key', $._attribute_value),
      optional(seq(choice('=', ':'), field('value', $._attribute_value))),
    ),

    // VirtualDevice(device_type=1, target=Target(id=55a1c3d0, kind='llvm'))
    opaque_value: ($) => seq(
      field('name', alias($.identifier, $.constructor_name)), '(', repeat($._opaque_item), ')'),

    _balanced: ($) => choice(
      seq('(', repeat($._opaque_item), ')'),
      seq('[', repeat($._opaque_item), ']'),
      seq('{', repeat($._opaque_item), '}'),
    ),

    _opaque_item: ($) => choice(
      alias($.identifier, $.opaque_word), $.local, $.graph, $.global, $.integer, $._float, $.boolean, $.string,
      $.quoted_name, $.meta, $._arrow, $._balanced,
      ...['=', ',', ':', ';', '.', '?', '+', '-', '*', '/', '<', '>'],
    ),

    // ---- patterns

    _pattern: ($) => choice(
      $.wildcard_pattern,
      $.variable_pattern,
      $.constructor_pattern,
      $.tuple_pattern,
    ),

    wildcard_pattern: (_) => '_',

    variable_pattern: ($) => seq(
      field('name', $.bound_local),
      optional($._ascription),
    ),

    constructor_pattern: ($) => seq(
      field('name', alias($.identifier, $.constructor_name)),
      optional(seq('(', list($._pattern), ')')),
    ),

    tuple_pattern: ($) => seq('(', list($._pattern), ')'),

    // ---- types

    _type: ($) => choice(
      $.tensor_type,
      $.hole_type,
      alias($.identifier, $.type_identifier),
      alias('Tensor', $.type_identifier),
      $.custom_dtype,
      $.generic_type,
      $.tuple_type,
      $.function_type,
      $.ref_type,
      $.meta,
    ),

    // Tensor[(1, ?, n), float32], Tensor[s, bt]
    tensor_type: ($) => seq(
      'Tensor',
      '[',
      field('shape', choice($.shape, alias($.identifier, $.shape_variable))),
      ',',
      field('dtype', choice(alias($.identifier, $.type_identifier), $.custom_dtype)),
      ']',
    ),

    // custom[posit]32
    custom_dtype: (_) => token(/custom\[[A-Za-z_0-9]+\][0-9]+(x[0-9]+)?/),

    shape: ($) => seq('(', list($._dimension), ')'),

    _dimension: ($) => choice(
      seq(optional('-'), $.integer),
      '?',
      $.meta,
      alias($.identifier, $.shape_variable),
      $.size_expression,
    ),

    // ((n * 2) + 1), max(n, 2)
    size_expression: ($) => choice(
      prec.left(1, seq($._dimension, choice('+', '-'), $._dimension)),
      prec.left(2, seq($._dimension, choice('*', '/', '%'), $._dimension)),
      seq('(', $._dimension, ')'),
      seq(choice('max', 'min'), '(', $._dimension, ',', $._dimension, ')'),
    ),

    hole_type: (_) => '_',

    // List[A], Nat[], Box[(2, 3)], Box<(2, 3)>
    generic_type: ($) => seq(
      field('name', alias($.identifier, $.type_identifier)),
      choice(seq('[', list($._type_argument), ']'), seq('<', list($._type_argument), '>')),
    ),

    // (), (A, B)
    tuple_type: ($) => seq('(', list($._type), ')'),

    // fn (A, B) -> C, fn [A](A) -> A, fn<a : Type>(a) -> a where Identity(a)
    function_type: ($) => prec.right(seq(
      'fn',
      choice(
        seq(field('parameters', $.tuple_type), $._return_type),
        seq($.type_parameters, field('parameters', $.tuple_type), $._return_type, optional($.where_clause)),
      ),
    )),

    // ref(int32), which TVM prints
    ref_type: ($) => seq('ref', '(', $._type, ')'),

    // ---- tokens

    // nn.conv2d; TVM allows white space around the dots.
    identifier: (_) => new RustRegex(`${PART}([ \\t\\r\\n]*\\.[ \\t\\r\\n]*${PART})*`),

    // 1, 1i64, -1: a sign at the start of a value is part of the number, as in TVM; int64(1) of TVM 0.5
    integer: (_) => token(choice(/-{0,3}[0-9]+(i[0-9]+)?/, /int64\(-?[0-9]+\)/)),

    // 1.5f, 1e-5, 3., -inff
    float: (_) => token(choice(
      /-{0,3}[0-9]+\.[0-9]*([eE][+-]?[0-9]+)?(f[0-9]*)?/,
      /-{0,3}[0-9]+[eE][+-]?[0-9]+(f[0-9]*)?/,
      /-{0,3}[0-9]+f[0-9]*/,
      /-{1,3}(inff|nanf)[0-9]*/,
      // TVM 0.5
      /float64\(-?([0-9]+(\.[0-9]*)?([eE][+-]?[0-9]+)?|inf|nan)\)/,
    )),

    _float: ($) => choice($.float, ...FLOAT_WORDS.map((word) => alias(word, $.float))),

    boolean: (_) => choice('True', 'False'),

    // "NCHW", without escapes. The scanner reads those over several lines.
    string: (_) => /"[^"\n]*"/,

    // 'main'
    quoted_name: (_) => /'[^'\n]*'/,

    // meta[relay.Constant][0]
    meta: (_) => token(/meta\[[^\[\]\n]*\]\[[^\[\]\n]*\]/),

    line_comment: (_) => token(choice(/\/\/[^\n]*/, /#[^\[\n][^\n]*/)),

    // Not nested; the scanner reads nested ones.
    block_comment: (_) => token(/\/\*([^*\/]|\*+[^*\/]|\/+[^*\/])*\*+\//),
  },
});
