//! Self-contained HTML pages.
//!
//! A page has a Content-Security-Policy: a browser uses the style and the script of the page, which the
//! policy names by their hashes, and loads and runs nothing else. Escaping alone must be right at every
//! place where a name is written; with the policy, a place that was missed shows a name and runs nothing.

use base64::{Engine, prelude::BASE64_STANDARD};
use serde::Serialize;
use sha2::{Digest, Sha256};

use super::escape::{self, html as escaped};

/// Returns a page. The parts of its style and those of its script are joined.
pub(crate) fn page(title: &str, styles: &[&str], scripts: &[&str], body: &str) -> String {
    // A browser reads line breaks so, and the hashes are those of what it reads.
    let read = |parts: &[&str]| parts.concat().replace("\r\n", "\n");
    let (style, script) = (read(styles), read(scripts));
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src {}; script-src {}; worker-src blob:; \
         base-uri 'none'; form-action 'none'\">\n\
         <title>{}</title>\n<style>{style}</style></head>\n<body>\n{body}<script>{script}</script>\n</body></html>\n",
        source(&style),
        source(&script),
        escaped(title),
    )
}

/// Returns the element with the data of a script, which finds it by its name.
pub(crate) fn data(id: &str, data: &impl Serialize) -> String {
    // Numbers and strings serialise without errors.
    let json = serde_json::to_string(data).unwrap_or_default();
    format!("<script type=\"application/json\" id=\"{id}\">{}</script>\n", escape::script(&json))
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
        let page = page("<a> → b", &[""], &["alert(1)\r\n"], "");
        // `printf '' | openssl dgst -sha256 -binary | base64`, likewise `printf 'alert(1)\n'`.
        let style = "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='";
        let script = "'sha256-MaeD7tQk/YNyd6Pm9J12ROmv0Z93QwNN4VH7v3gI+RI='";
        let policy = format!("default-src 'none'; style-src {style}; script-src {script}; ");
        assert!(page.contains(&policy), "{page}");
        assert!(page.contains("<title>&lt;a&gt; → b</title>"), "{page}");
        // A policy holds for what follows it.
        assert!(page.find("http-equiv") < page.find("<style>"), "{page}");
        assert!(page.contains("<script>alert(1)\n</script>"), "{page}");
    }
}
