//! Edit distance of names, for suggestions.

/// Maximum edit distance of names that are called similar.
const MAX_DISTANCE: usize = 8;

/// Maximum length in letters of the parts that differ. Limits the time, which is their product.
const MAX_DIFFERENT: usize = 64;

/// Returns the edit distance of two names, where a transposition of adjacent letters is one edit
/// (optimal string alignment); `None` if it is more than `limit` or [`MAX_DISTANCE`], or if the parts
/// between the common start and the common end are longer than [`MAX_DIFFERENT`].
pub fn distance(a: &str, b: &str, limit: usize) -> Option<usize> {
    let limit = limit.min(MAX_DISTANCE);
    // A character has at most four bytes, so this difference exceeds `limit` insertions.
    if a.len().abs_diff(b.len()) > limit * 4 {
        return None;
    }
    let (a, b) = without_common_ends(a, b);
    if a.len().max(b.len()) > MAX_DIFFERENT * 4
        || a.chars().count().max(b.chars().count()) > MAX_DIFFERENT
    {
        return None;
    }
    Some(strsim::osa_distance(a, b)).filter(|&distance| distance <= limit)
}

/// Removes the common start and then the common end of two names, which need no edits.
fn without_common_ends<'n>(a: &'n str, b: &'n str) -> (&'n str, &'n str) {
    let length = |letters: &mut dyn Iterator<Item = (char, char)>| -> usize {
        letters.take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum()
    };
    let start = length(&mut a.chars().zip(b.chars()));
    let (a, b) = (&a[start..], &b[start..]);
    let end = length(&mut a.chars().rev().zip(b.chars().rev()));
    (&a[..a.len() - end], &b[..b.len() - end])
}

/// Returns the candidate most similar to `name`, if at most a third of the letters differ. Ties are
/// broken alphabetically.
pub fn nearest<'n>(name: &str, candidates: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let letters = name.chars().count();
    let mut limit = (letters / 3).clamp(1, MAX_DISTANCE);
    let own = Letters::of(name);
    let mut found: Option<(usize, &'n str)> = None;
    for candidate in candidates {
        // An edit adds or removes at most one letter. A name has at least as many bytes as letters.
        let is_other_length = candidate.len() + limit < letters
            || candidate.len() > letters + limit && candidate.is_ascii();
        if is_other_length
            || own.differ_from(Letters::of(candidate)) > 2 * limit as u32
            || candidate == name
        {
            continue;
        }
        let Some(distance) = distance(name, candidate, limit) else { continue };
        if found.is_none_or(|best| (distance, candidate) < best) {
            found = Some((distance, candidate));
            limit = distance;
        }
    }
    found.map(|(_, candidate)| candidate)
}

/// The set of letters of a name, a cheap lower bound: one edit changes at most two elements.
#[derive(Clone, Copy)]
struct Letters(u64);

impl Letters {
    fn of(name: &str) -> Letters {
        Letters(name.bytes().fold(0, |set, byte| set | 1 << (byte & 63)))
    }

    fn differ_from(self, other: Letters) -> u32 {
        (self.0 ^ other.0).count_ones()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distance_counts_edits_up_to_the_limit() {
        let cases = [
            ("", "", 0),
            ("", "ab", 2),
            ("ab", "ba", 1),
            ("abc", "acb", 1),
            ("kernel_size", "kernal_size", 1),
            ("kernel_size", "kernelsize", 1),
            ("é", "aé", 1),
            ("größe", "grösse", 2),
            ("batch_matmul", "bacth_matmul", 1),
        ];
        for (a, b, edits) in cases {
            for limit in 0..=9 {
                let expected = Some(edits).filter(|&edits| edits <= limit);
                assert_eq!(distance(a, b, limit), expected, "{a} {b} within {limit}");
                assert_eq!(distance(b, a, limit), expected, "{b} {a} within {limit}");
            }
        }
        assert_eq!(distance("abcdefghi", "", usize::MAX), None, "more than eight");
    }

    #[test]
    fn nearest_prefers_fewest_edits_then_alphabetical_order() {
        assert_eq!(nearest("valeu", ["value", "vague", "valet"]), Some("valet"));
        assert_eq!(nearest("valeu", ["value", "vague"]), Some("value"));
        assert_eq!(nearest("value", ["value"]), None, "a name is not a suggestion for itself");
        assert_eq!(nearest("x", ["y", "é"]), Some("y"));
        assert_eq!(nearest("abc", ["xyz"]), None);
    }

    /// A quadratic algorithm would take hours for names of a megabyte.
    #[test]
    fn distance_of_long_names_is_linear() {
        let (a, b) = ("a".repeat(1 << 20), "b".repeat(1 << 20));
        assert_eq!(distance(&a, &b, usize::MAX), None);
        let late = format!("{}xy{a}", &a[1..]);
        assert_eq!(distance(&format!("{}yx{a}", &a[1..]), &late, 8), Some(1));
    }
}
