//! Markdown, for whoever does not lay it out.

/// A text in Markdown without what only a layout needs: the fences around blocks of code, and the
/// asterisks of what is bold. Backquotes stay: they set names off in plain text, too.
pub(crate) fn plain(markdown: &str) -> String {
    let mut out = String::with_capacity(markdown.len());
    let mut is_code = false;
    for line in markdown.lines() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
            continue;
        }
        match is_code {
            true => out += line,
            false => out += &line.replace("**", ""),
        }
        out.push('\n');
    }
    out.truncate(out.trim_end().len());
    out
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn code_and_prose() {
        let markdown = "```relay\n%x: int32\n```\n\n**Shape**: of `data`\n\n```\n%a ** 2\n```\n";
        assert_eq!(plain(markdown), "%x: int32\n\nShape: of `data`\n\n%a ** 2");
        assert_eq!(plain("nothing to do"), "nothing to do");
        assert_eq!(plain("```relay\nnever closed"), "never closed");
    }
}
