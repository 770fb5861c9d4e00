//! Panics on demand, for tests of recovery from panics.
//!
//! Only builds with the feature `test-panic` have them, which those of the tests enable: elsewhere
//! [`panic_if_requested`] is empty.

/// Panics if the environment variable `RELAY_TEST_PANIC` is `stage:text`, this is that stage, and
/// `subject` contains that text. Stages are `parse` and `edit` (the subject is the whole text,
/// after the edit), `lower` and `infer` (the subject is the name of a definition).
#[cfg(feature = "test-panic")]
pub fn panic_if_requested(stage: &str, subject: &str) {
    use std::sync::LazyLock;
    static REQUEST: LazyLock<Option<(String, String)>> = LazyLock::new(|| {
        let requested = std::env::var("RELAY_TEST_PANIC").ok()?;
        let (stage, text) = requested.split_once(':')?;
        Some((stage.to_owned(), text.to_owned()))
    });
    if let Some((requested, text)) = &*REQUEST {
        assert!(
            requested != stage || !subject.contains(text),
            "a test requested a panic in `{stage}`"
        );
    }
}

/// Does nothing: this build has no panics on demand.
#[cfg(not(feature = "test-panic"))]
#[inline]
pub fn panic_if_requested(_stage: &str, _subject: &str) {}
