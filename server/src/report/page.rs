//! Self-contained HTML pages.
//!
//! A page has a Content-Security-Policy: a browser uses the style and the script of the page, which the
//! policy names by their hashes, and loads and runs nothing else. Escaping alone must be right at every
//! place where a name is written; with the policy, a place that was missed shows a name and runs nothing.

use base64::{Engine, prelude::BASE64_STANDARD};
use sha2::{Digest, Sha256};

use super::escape::html as escaped;

/// The style and the script of a page.
pub(crate) struct Page {
    style: String,
    script: String,
}

impl Page {
    pub(crate) fn new(style: &str, script: &str) -> Page {
        // A browser reads line breaks so, and the hashes are those of what it reads.
        let read = |text: &str| text.replace("\r\n", "\n");
        Page { style: read(style), script: read(script) }
    }

    /// Returns the page up to the start of its body.
    pub(crate) fn start(&self, title: &str) -> String {
        format!(
            "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src {}; script-src {}; worker-src blob:; \
             base-uri 'none'; form-action 'none'\">\n\
             <title>{}</title>\n<style>{}</style></head>\n<body>\n",
            source(&self.style),
            source(&self.script),
            escaped(title),
            self.style,
        )
    }

    /// Returns the page from the end of its body.
    pub(crate) fn end(&self) -> String {
        format!("<script>{}</script>\n</body></html>\n", self.script)
    }
}

/// Returns the source of a policy that permits one text.
fn source(text: &str) -> String {
    format!("'sha256-{}'", BASE64_STANDARD.encode(Sha256::digest(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policy_permits_the_style_and_the_script_of_the_page_only() {
        let page = Page::new("", "alert(1)\r\n");
        let (start, end) = (page.start("<a> → b"), page.end());
        // `printf '' | openssl dgst -sha256 -binary | base64`, likewise `printf 'alert(1)\n'`.
        let style = "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='";
        let script = "'sha256-MaeD7tQk/YNyd6Pm9J12ROmv0Z93QwNN4VH7v3gI+RI='";
        let policy = format!("default-src 'none'; style-src {style}; script-src {script}; ");
        assert!(start.contains(&policy), "{start}");
        assert!(start.contains("<title>&lt;a&gt; → b</title>"), "{start}");
        // A policy holds for what follows it.
        assert!(start.find("http-equiv") < start.find("<style>"), "{start}");
        assert!(end.contains("<script>alert(1)\n</script>"), "{end}");
    }
}
