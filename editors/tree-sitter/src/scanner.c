// Tokens that are not regular: nested comments, names that end at a comment, line breaks that end a
// statement, and the parts of a module that are not Relay.
//
// The scanner has no state, so that it can start anywhere in a text.

#include "tree_sitter/parser.h"

#include <string.h>

// In the order of `externals` in grammar.js.
enum TokenType {
  LINE_BREAK,
  LINE_COMMENT,
  BLOCK_COMMENT,
  LOCAL,
  BOUND_LOCAL,
  GRAPH,
  GLOBAL,
  STRING,
  TYPE_ARGUMENTS_OPEN,
  CONSTANT,
  INLINE_SEMICOLON,
  JSON,
  JSON_ARCHIVE,
  TIR_TEXT,
  UNCLOSED_COMMENT,
  RECOVERING,
};

// The maximum length of a metadata section that is parsed as JSON, in characters.
#define LONGEST_JSON 65536
// The maximum number of tokens of type arguments.
#define MAX_TYPE_ARGUMENT_TOKENS 256
// The maximum number of comments after a line break that are scanned to decide whether it ends a statement.
#define MAX_COMMENTS 64
// The maximum number of characters that decide what a line begins.
#define LINE_START 16

static inline void advance(TSLexer *lexer) { lexer->advance(lexer, false); }

static inline bool is_space(int32_t c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

static inline bool is_digit(int32_t c) { return c >= '0' && c <= '9'; }

static inline bool is_letter(int32_t c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c >= 0x80;
}

static inline bool is_word(int32_t c) { return is_letter(c) || is_digit(c); }

static void skip_spaces(TSLexer *lexer) {
  while (is_space(lexer->lookahead)) advance(lexer);
}

static void to_line_end(TSLexer *lexer) {
  while (lexer->lookahead != '\n' && !lexer->eof(lexer)) advance(lexer);
}

// Scans `/* … */` after its first two characters. Returns false if it is unclosed.
static bool to_comment_end(TSLexer *lexer) {
  unsigned depth = 1;
  for (;;) {
    int32_t c = lexer->lookahead;
    if (c == '*') {
      advance(lexer);
      if (lexer->lookahead == '/') {
        advance(lexer);
        if (--depth == 0) return true;
      }
    } else if (c == '/') {
      advance(lexer);
      if (lexer->lookahead == '*') {
        advance(lexer);
        depth++;
      }
    } else if (c == 0 && lexer->eof(lexer)) {
      return false;
    } else {
      advance(lexer);
    }
  }
}

// An unclosed comment. No parser state expects it. It extends to the end of the text, so that its text is
// not scanned again from each `/*` in it.
static bool unclosed_comment(TSLexer *lexer) {
  lexer->mark_end(lexer);
  lexer->result_symbol = UNCLOSED_COMMENT;
  return true;
}

// Scans word characters, and slashes that begin no comment, and marks the end after each of them.
// Returns true if a comment follows them.
static bool to_part_end(TSLexer *lexer) {
  for (;;) {
    while (is_word(lexer->lookahead)) advance(lexer);
    lexer->mark_end(lexer);
    if (lexer->lookahead != '/') return false;
    advance(lexer);
    if (lexer->lookahead == '/' || lexer->lookahead == '*') return true;
    lexer->mark_end(lexer);
  }
}

// Scans the parts of a printed name after the first: `.1.weight`, `::linear_3.bias`. Digits belong to
// the name only if another part follows: `%layer.0.weight` is a name, `%pair.0` a projection of a tuple,
// unless the name is being bound.
static void to_name_end(TSLexer *lexer, bool local, bool bound) {
  if (to_part_end(lexer)) return;
  bool digits_only = false;
  for (;;) {
    int32_t separator = lexer->lookahead;
    if (separator != '.' && separator != ':') break;
    advance(lexer);
    if (separator == ':') {
      if (lexer->lookahead != ':') {
        // `%input:0`
        if (!local || digits_only || !is_digit(lexer->lookahead)) return;
        while (is_digit(lexer->lookahead)) advance(lexer);
        lexer->mark_end(lexer);
        break;
      }
      advance(lexer);
      bound = false;
    }
    bool digits = is_digit(lexer->lookahead);
    while (is_digit(lexer->lookahead)) advance(lexer);
    if (is_letter(lexer->lookahead)) {
      if (to_part_end(lexer)) return;
      digits_only = false;
    } else if (digits) {
      if (bound) lexer->mark_end(lexer);
      digits_only = true;
    } else {
      return;
    }
  }
  if (local && !digits_only && lexer->lookahead == '-') {
    for (const char *c = "-malformed-ir"; *c; c++) {
      if (lexer->lookahead != *c) return;
      advance(lexer);
    }
    lexer->mark_end(lexer);
  }
}

// `%x`, `%12`, `%resnet/conv1`, `%aten::linear_3.bias`
static bool scan_local(TSLexer *lexer, const bool *valid) {
  bool bound = valid[BOUND_LOCAL] && !valid[RECOVERING];
  advance(lexer);
  if (is_digit(lexer->lookahead)) {
    while (is_digit(lexer->lookahead)) advance(lexer);
    lexer->result_symbol = GRAPH;
    if (is_letter(lexer->lookahead)) {
      while (is_word(lexer->lookahead)) advance(lexer);
      lexer->result_symbol = bound ? BOUND_LOCAL : LOCAL;
    }
    lexer->mark_end(lexer);
    return true;
  }
  if (!is_letter(lexer->lookahead)) return false;
  to_name_end(lexer, true, bound);
  lexer->result_symbol = bound ? BOUND_LOCAL : LOCAL;
  return true;
}

// Copies the start of a line. Returns true if the rest contains `= primfn(`.
typedef struct {
  char start[LINE_START + 1];
  bool has_primfn;
} Line;

// Scans to the end of a line.
static Line read_line(TSLexer *lexer) {
  static const char primfn[] = "= primfn(";
  Line line = {.start = {0}, .has_primfn = false};
  unsigned length = 0, matched = 0;
  while (lexer->lookahead != '\n' && !lexer->eof(lexer)) {
    int32_t c = lexer->lookahead;
    if (length < LINE_START) line.start[length++] = c > 0 && c < 0x80 ? (char)c : '\x7f';
    matched = c == primfn[matched] ? matched + 1 : c == '=';
    if (!primfn[matched]) {
      line.has_primfn = true;
      matched = 0;
    }
    advance(lexer);
  }
  return line;
}

static bool starts_with(const char *text, const char *prefix) {
  return strncmp(text, prefix, strlen(prefix)) == 0;
}

static bool starts_with_word(const char *text, const char *word) {
  return starts_with(text, word) && !is_word((unsigned char)text[strlen(word)]);
}

// `[12:30:00] `: a line of a log between two modules.
static bool is_log_line(const char *start) {
  return strlen(start) >= 10 && start[0] == '[' && start[3] == ':' && start[6] == ':' && start[9] == ']';
}

// Returns true for the start of a line after a TIR function.
static bool begins_item(const Line *line) {
  const char *start = line->start;
  return starts_with(start, "def @") || starts_with_word(start, "type") ||
         starts_with_word(start, "extern") || starts_with(start, "#[") || is_log_line(start) ||
         starts_with(start, "@T.prim_func") || (start[0] == '@' && line->has_primfn);
}

// Scans lines up to one that begins another item, and marks the end after each of them.
static void to_item_line(TSLexer *lexer) {
  to_line_end(lexer);
  lexer->mark_end(lexer);
  while (!lexer->eof(lexer)) {
    advance(lexer);
    Line line = read_line(lexer);
    if (begins_item(&line)) return;
    if (line.start[0]) lexer->mark_end(lexer);
  }
}

// `@main`; at the start of an item also `@T.prim_func …` and `@main = primfn(…) …`
static bool scan_global(TSLexer *lexer, const bool *valid) {
  advance(lexer);
  if (!is_letter(lexer->lookahead)) return false;
  bool tir = valid[TIR_TEXT] && !valid[RECOVERING];
  if (tir && lexer->lookahead == 'T') {
    advance(lexer);
    if (lexer->lookahead == '.') {
      to_item_line(lexer);
      lexer->result_symbol = TIR_TEXT;
      return true;
    }
  }
  to_name_end(lexer, false, false);
  lexer->result_symbol = GLOBAL;
  if (tir) {
    skip_spaces(lexer);
    if (lexer->lookahead != '=') return true;
    advance(lexer);
    skip_spaces(lexer);
    for (const char *c = "primfn"; *c; c++) {
      if (lexer->lookahead != *c) return true;
      advance(lexer);
    }
    if (is_word(lexer->lookahead)) return true;
    to_item_line(lexer);
    lexer->result_symbol = TIR_TEXT;
  }
  return true;
}

// A string. It may have several lines if a token follows that may follow an attribute; otherwise it is
// probably unclosed while a user types.
static bool scan_string(TSLexer *lexer) {
  bool lines = false;
  advance(lexer);
  while (lexer->lookahead != '"') {
    if (lexer->eof(lexer)) return false;
    lines |= lexer->lookahead == '\n';
    advance(lexer);
  }
  advance(lexer);
  lexer->mark_end(lexer);
  lexer->result_symbol = STRING;
  if (!lines) return true;
  while (lexer->lookahead == ' ' || lexer->lookahead == '\t') advance(lexer);
  return lexer->lookahead && strchr(",)]}", (char)lexer->lookahead) && lexer->lookahead < 0x80;
}

// The `<` of `@plus<(10, 10)>(%a)`: tokens of types follow, up to a `>` that is directly followed
// by `(`.
static bool scan_type_arguments(TSLexer *lexer) {
  int depth = 0;
  advance(lexer);
  lexer->mark_end(lexer);
  lexer->result_symbol = TYPE_ARGUMENTS_OPEN;
  for (unsigned tokens = 1; tokens < MAX_TYPE_ARGUMENT_TOKENS; tokens++) {
    skip_spaces(lexer);
    int32_t c = lexer->lookahead;
    if (is_letter(c)) {
      while (is_word(lexer->lookahead) || lexer->lookahead == '/' || lexer->lookahead == '.') advance(lexer);
      continue;
    }
    if (is_digit(c)) {
      while (is_digit(lexer->lookahead)) advance(lexer);
      if (lexer->lookahead == '.' || is_letter(lexer->lookahead)) return false;
      continue;
    }
    advance(lexer);
    switch (c) {
      case '(':
      case '[':
        depth++;
        break;
      case ')':
      case ']':
        depth--;
        break;
      case ',':
      case '?':
        break;
      case '-':
        if (lexer->lookahead != '>') return false;
        advance(lexer);
        break;
      case '>':
        return depth <= 0 && lexer->lookahead == '(';
      default:
        return false;
    }
  }
  return false;
}

// `Constant` of a constant of the manual, `Constant(1, (10, 10), float32)`: a literal, a comma and a
// bracket follow.
static bool scan_constant(TSLexer *lexer) {
  for (const char *c = "Constant"; *c; c++) {
    if (lexer->lookahead != *c) return false;
    advance(lexer);
  }
  lexer->mark_end(lexer);
  lexer->result_symbol = CONSTANT;
  skip_spaces(lexer);
  if (lexer->lookahead != '(') return false;
  advance(lexer);
  skip_spaces(lexer);
  bool negative = lexer->lookahead == '-';
  if (negative) advance(lexer);
  if (is_digit(lexer->lookahead)) {
    while (is_word(lexer->lookahead) || lexer->lookahead == '.' || lexer->lookahead == '-' || lexer->lookahead == '+') advance(lexer);
  } else {
    char word[6] = {0};
    for (unsigned i = 0; is_letter(lexer->lookahead); i++) {
      if (i == 5) return false;
      word[i] = (char)lexer->lookahead;
      advance(lexer);
    }
    bool number = !strcmp(word, "inff") || !strcmp(word, "nanf");
    if (!number && (negative || (strcmp(word, "True") && strcmp(word, "False")))) return false;
    while (number && is_digit(lexer->lookahead)) advance(lexer);
  }
  skip_spaces(lexer);
  if (lexer->lookahead != ',') return false;
  advance(lexer);
  skip_spaces(lexer);
  return lexer->lookahead == '(';
}

// A `;` that is not at the end of its line.
static bool scan_inline_semicolon(TSLexer *lexer) {
  advance(lexer);
  lexer->mark_end(lexer);
  lexer->result_symbol = INLINE_SEMICOLON;
  for (;;) {
    while (is_space(lexer->lookahead)) {
      if (lexer->lookahead == '\n') return false;
      advance(lexer);
    }
    if (lexer->lookahead != '/') break;
    advance(lexer);
    if (lexer->lookahead != '*') return false;
    advance(lexer);
    if (!to_comment_end(lexer)) return false;
  }
  return lexer->lookahead != ';' && lexer->lookahead != '#' && !lexer->eof(lexer);
}

// The text of the metadata section: to the end, or to the next module of a log. No line of JSON
// begins with `#[` or `v`, or looks like one of a log.
static bool scan_metadata(TSLexer *lexer) {
  size_t length = 0;
  lexer->mark_end(lexer);
  while (!lexer->eof(lexer)) {
    if (lexer->lookahead != '\n') {
      bool space = is_space(lexer->lookahead);
      // White space before the text is not part of it.
      lexer->advance(lexer, length == 0 && space);
      if (length > 0 || !space) length++;
      continue;
    }
    if (length > 0) lexer->mark_end(lexer);
    unsigned breaks = 0;
    while (lexer->lookahead == '\n') {
      lexer->advance(lexer, length == 0);
      breaks++;
    }
    if (lexer->lookahead == '#' || lexer->lookahead == 'v' || (breaks > 1 && lexer->lookahead == '[')) {
      char start[LINE_START + 1] = {0};
      for (unsigned i = 0; i < LINE_START && lexer->lookahead != '\n' && !lexer->eof(lexer); i++) {
        start[i] = lexer->lookahead > 0 && lexer->lookahead < 0x80 ? (char)lexer->lookahead : '\x7f';
        advance(lexer);
        length++;
      }
      bool is_version = starts_with(start, "#[version") || starts_with(start, "v0.0.");
      if (is_version || (breaks > 1 && is_log_line(start))) {
        length -= strlen(start);
        lexer->result_symbol = length > LONGEST_JSON ? JSON_ARCHIVE : JSON;
        return length > 0;
      }
    }
    if (lexer->eof(lexer)) {
      lexer->result_symbol = length > LONGEST_JSON ? JSON_ARCHIVE : JSON;
      return length > 0;
    }
  }
  if (length == 0) return false;
  lexer->mark_end(lexer);
  lexer->result_symbol = length > LONGEST_JSON ? JSON_ARCHIVE : JSON;
  return true;
}

// Returns true if an expression or type before a line break continues after it, or the enclosing list
// ends there.
static bool goes_on_with(int32_t c) {
  switch (c) {
    case 0: case '(': case ')': case '[': case ']': case '}': case ',': case ';': case '.': case ':':
    case '*': case '/': case '+': case '-': case '<': case '>': case '=': case '!': case '&': case '|':
      return true;
    default:
      return false;
  }
}

// A line break that ends a statement, an arm or a constructor: an empty token before the line break, so
// that comments after it are not moved. Called at the first character of the next line.
static bool scan_line_break(TSLexer *lexer) {
  lexer->result_symbol = LINE_BREAK;
  for (unsigned comments = 0; comments < MAX_COMMENTS; comments++) {
    skip_spaces(lexer);
    int32_t c = lexer->lookahead;
    if (c == '#') {
      advance(lexer);
      if (lexer->lookahead == '[') return false;
      to_line_end(lexer);
    } else if (c == '/') {
      advance(lexer);
      if (lexer->lookahead == '/') {
        to_line_end(lexer);
      } else if (lexer->lookahead != '*') {
        return false;
      } else {
        advance(lexer);
        if (!to_comment_end(lexer)) return unclosed_comment(lexer);
      }
    } else {
      return !goes_on_with(c);
    }
  }
  return true;
}

void *tree_sitter_relay_external_scanner_create(void) { return NULL; }

void tree_sitter_relay_external_scanner_destroy(void *payload) { (void)payload; }

unsigned tree_sitter_relay_external_scanner_serialize(void *payload, char *buffer) {
  (void)payload;
  (void)buffer;
  return 0;
}

void tree_sitter_relay_external_scanner_deserialize(void *payload, const char *buffer, unsigned length) {
  (void)payload;
  (void)buffer;
  (void)length;
}

bool tree_sitter_relay_external_scanner_scan(void *payload, TSLexer *lexer, const bool *valid) {
  (void)payload;
  bool recovering = valid[RECOVERING];
  if (!recovering && lexer->lookahead == '<' && valid[TYPE_ARGUMENTS_OPEN]) {
    // The `<` directly follows the callee: no white space has been skipped.
    return scan_type_arguments(lexer);
  }
  if (!recovering && valid[JSON]) return scan_metadata(lexer);

  lexer->mark_end(lexer);
  bool breaks = false;
  while (is_space(lexer->lookahead)) {
    breaks |= lexer->lookahead == '\n';
    lexer->advance(lexer, true);
  }
  int32_t c = lexer->lookahead;
  if (breaks && valid[LINE_BREAK] && !recovering && (c == '#' || c == '/' || !goes_on_with(c))) {
    return scan_line_break(lexer);
  }
  switch (c) {
    case '%':
      return scan_local(lexer, valid);
    case '@':
      return scan_global(lexer, valid);
    case '/':
      advance(lexer);
      if (lexer->lookahead != '*') return false;
      advance(lexer);
      if (!to_comment_end(lexer)) return unclosed_comment(lexer);
      lexer->mark_end(lexer);
      lexer->result_symbol = BLOCK_COMMENT;
      return true;
    case '#':
      advance(lexer);
      if (lexer->lookahead == '[') return false;
      to_line_end(lexer);
      lexer->mark_end(lexer);
      lexer->result_symbol = LINE_COMMENT;
      return true;
    case '"':
      return (valid[STRING] || recovering) && scan_string(lexer);
    case ';':
      return valid[INLINE_SEMICOLON] && !recovering && scan_inline_semicolon(lexer);
    case 'C':
      return valid[CONSTANT] && !recovering && scan_constant(lexer);
    default:
      return false;
  }
}
