//! Characters that stand for others, and HTML entities.

use super::Damage;

/// The characters of ASCII from `!` to `~`.
const ASCII: &str = "!\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~";

/// Returns the ASCII character that is `distance` after `!`.
fn ascii(distance: u32) -> Option<&'static str> {
    let at = distance as usize;
    ASCII.get(at..at + 1)
}

/// Returns what a character stands for.
pub(crate) fn meaning(c: char) -> Option<(Damage, &'static str)> {
    Some(match c {
        '\u{A0}' | '\u{1680}' | '\u{2000}'..='\u{200A}' | '\u{202F}' | '\u{205F}' | '\u{3000}' => {
            (Damage::Space, " ")
        }
        '\u{2028}' | '\u{2029}' => (Damage::Space, "\n"),
        '\u{AD}'
        | '\u{200B}'..='\u{200F}'
        | '\u{202A}'..='\u{202E}'
        | '\u{2060}'..='\u{206F}'
        | '\u{FEFF}' => (Damage::Invisible, ""),
        '“' | '”' | '„' | '‟' | '″' | '«' | '»' => (Damage::Quote, "\""),
        '‘' | '’' | '‚' | '‛' | '′' => (Damage::Quote, "'"),
        '\u{2010}'..='\u{2015}' | '\u{2212}' => (Damage::Sign, "-"),
        '→' => (Damage::Sign, "->"),
        '⇒' => (Damage::Sign, "=>"),
        '≤' => (Damage::Sign, "<="),
        '≥' => (Damage::Sign, ">="),
        '≠' => (Damage::Sign, "!="),
        '、' => (Damage::Wide, ","),
        '。' => (Damage::Wide, "."),
        // A wide letter or digit may be part of a name.
        '\u{FF01}'..='\u{FF5E}' if !c.is_alphanumeric() && c != '＿' => {
            (Damage::Wide, ascii(c as u32 - 0xFF01)?)
        }
        _ => return None,
    })
}

/// Returns true for a character that the lexer reads as no part of a name, because it stands for another one.
pub(crate) fn is_sign(c: char) -> bool {
    !c.is_ascii() && meaning(c).is_some()
}

/// Returns the length of the escape of a string at the start of `text`, and what it stands for. A `\` at the end of a
/// line or of the text continues the line.
pub(crate) fn escape(text: &str) -> Option<(usize, &'static str)> {
    let rest = text.strip_prefix('\\')?;
    Some(match rest.bytes().next() {
        Some(b'r') if rest[1..].starts_with("\\n") => (4, "\n"),
        Some(b'n') => (2, "\n"),
        Some(b't' | b'r') => (2, " "),
        Some(b'"') => (2, "\""),
        Some(b'\'') => (2, "'"),
        _ => {
            let rest = rest.trim_start_matches([' ', '\t', '\r']);
            (rest.is_empty() || rest.starts_with('\n')).then_some((1, ""))?
        }
    })
}

/// Returns the length of the HTML entity at the start of `text`, and its character. In a text that was
/// escaped repeatedly, `&amp;lt;` is one entity.
pub(crate) fn entity(text: &str) -> Option<(usize, &'static str)> {
    let rest = text.strip_prefix('&')?;
    let inner = rest.trim_start_matches("amp;");
    let escaped = text.len() - inner.len();
    let name = inner.bytes().take(9).position(|byte| byte == b';').map(|end| &inner[..end]);
    let named = name.and_then(|name| Some((escaped + name.len() + 1, character(name)?)));
    let is_escaped = escaped > 1;
    named.or_else(|| match is_escaped && inner.starts_with("&amp;") {
        true => Some((escaped + "&amp;".len(), "&&")),
        false => is_escaped.then_some((escaped, "&")),
    })
}

/// Returns the text for the name of an entity.
fn character(name: &str) -> Option<&'static str> {
    Some(match name {
        "lt" => "<",
        "gt" => ">",
        "quot" | "ldquo" | "rdquo" => "\"",
        "apos" | "lsquo" | "rsquo" => "'",
        "nbsp" | "ensp" | "emsp" | "thinsp" => " ",
        "ndash" | "mdash" | "minus" => "-",
        "rarr" => "->",
        "rArr" => "=>",
        "hellip" => "...",
        "lbrack" | "lsqb" => "[",
        "rbrack" | "rsqb" => "]",
        "percnt" => "%",
        "commat" => "@",
        _ => {
            let number = name.strip_prefix('#')?;
            let code = match number.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16).ok()?,
                None => number.parse().ok()?,
            };
            match char::from_u32(code)? {
                ' ' => " ",
                '…' => "...",
                c if c.is_ascii() => ascii(code.checked_sub(u32::from(b'!'))?)?,
                c => meaning(c)?.1,
            }
        }
    })
}
