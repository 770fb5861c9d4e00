//! Kinds of damage of a pasted text, and the tokens by which the lexer notices it; see [`crate::pasted`].

pub(crate) mod chars;

/// A kind of damage.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Damage {
    /// `> def @main() {`
    Quoted,
    /// `12  %0 = add(%x, %y);`
    Numbered,
    /// A line of backticks around the text.
    Fence,
    /// U+00A0 and other spaces of Unicode.
    Space,
    /// U+200B, a byte order mark inside of the text, and other characters without a width.
    Invisible,
    /// `“main”`
    Quote,
    /// `–`, `→` and `≥` for `-`, `->` and `>=`.
    Sign,
    /// `，` and other wide forms.
    Wide,
    /// `&lt;`
    Entity,
    /// `\n`, `\"`, and a `\` at the end of a line.
    Escape,
    /// `/ ty=int32 /`
    Asterisks,
    /// `<---- this one`
    Remark,
    /// `...`
    Cut,
}

impl Damage {
    /// Every kind.
    pub const ALL: &'static [Damage] = &[
        Damage::Quoted,
        Damage::Numbered,
        Damage::Fence,
        Damage::Space,
        Damage::Invisible,
        Damage::Quote,
        Damage::Sign,
        Damage::Wide,
        Damage::Entity,
        Damage::Escape,
        Damage::Asterisks,
        Damage::Remark,
        Damage::Cut,
    ];

    /// Returns the kind in words, to which a number is added.
    pub fn words(self) -> &'static str {
        match self {
            Damage::Quoted => "lines quoted as in mail",
            Damage::Numbered => "line numbers in front",
            Damage::Fence => "Markdown fences",
            Damage::Space => "no-break spaces, as web pages have them",
            Damage::Invisible => "invisible characters",
            Damage::Quote => "curly quotes, as text processors write them",
            Damage::Sign => "dashes and arrows, as text processors write them",
            Damage::Wide => "full-width punctuation",
            Damage::Entity => "HTML entities such as `&lt;`",
            Damage::Escape => "escapes of a string, such as `\\n` and a `\\` at the end of a line",
            Damage::Asterisks => "comments that lost their asterisks",
            Damage::Remark => "remarks behind arrows",
            Damage::Cut => "places where somebody cut the text",
        }
    }
}

/// The most bytes of a comment without asterisks, which bounds the search for its end.
const MAX_COMMENT: usize = 4096;

/// Returns the length of a comment such as `/ ty=int32 /`, whose asterisks Markdown took for emphasis, at the
/// start of `text`. It ends on its line.
pub(crate) fn bare_comment(text: &str) -> Option<usize> {
    let bytes = &text.as_bytes()[..text.len().min(MAX_COMMENT)];
    let line = memchr::memchr(b'\n', bytes).map_or(bytes, |end| &bytes[..end]);
    // A type has no ` /` inside, so that the first one ends the comment.
    let end = memchr::memmem::find(line.get(1..)?, b" /")? + 1 + " /".len();
    (!matches!(line.get(end), Some(b'/' | b'*'))).then_some(end)
}

/// Returns true if the character `c`, which begins no token, is a reason to search the text for damage.
#[cold]
#[inline(never)]
pub(crate) fn is_suspect(c: char, text: &str, at: usize) -> bool {
    c == '&'
        || matches!(c, '`' | '~') && is_line_start(text, at)
        || c == '\\' && chars::escape(&text[at..]).is_some()
        || chars::is_sign(c)
}

/// Returns true if the `>` at an offset may be that of a quotation. `>>>` is a prompt of Python.
pub(crate) fn is_quote(text: &str, at: usize) -> bool {
    is_line_start(text, at) && !text[at..].starts_with(">>>")
}

fn is_line_start(text: &str, at: usize) -> bool {
    at == 0 || text.as_bytes()[at - 1] == b'\n'
}
