//! Edit distance of names, for suggestions.

/// Maximum edit distance. Limits the computed cells to a band around the diagonal.
const MAX_DISTANCE: usize = 8;

/// Returns the edit distance of two names, where a transposition of adjacent letters is one edit
/// (optimal string alignment); `None` if it is more than `limit` or [`MAX_DISTANCE`].
///
/// The time is proportional to the length of the names times the limit.
pub fn distance(a: &str, b: &str, limit: usize) -> Option<usize> {
    let limit = limit.min(MAX_DISTANCE);
    if a == b {
        return Some(0);
    }
    // A character has at most four bytes, so this difference exceeds `limit` insertions.
    if a.len().abs_diff(b.len()) > limit * 4 {
        return None;
    }
    if a.is_ascii() && b.is_ascii() {
        return banded(a.as_bytes(), b.as_bytes(), limit);
    }
    let letters = |name: &str| name.chars().collect::<Vec<char>>();
    banded(&letters(a), &letters(b), limit)
}

/// Computes the distance of two sequences. Only the cells within `limit` of the diagonal can be at
/// most `limit`.
fn banded<T: PartialEq>(a: &[T], b: &[T], limit: usize) -> Option<usize> {
    if a.len().abs_diff(b.len()) > limit {
        return None;
    }
    // Strip the common prefix and suffix.
    let prefix = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let (a, b) = (&a[prefix..], &b[prefix..]);
    let suffix = a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count();
    let (a, b) = (&a[..a.len() - suffix], &b[..b.len() - suffix]);
    const WIDTH: usize = 2 * MAX_DISTANCE + 1;
    const FAR: usize = MAX_DISTANCE + 1;
    // Cell `k` of row `i` is the distance of the prefixes `a[..i]` and `b[..i + k - limit]`.
    let mut before = [FAR; WIDTH + 1];
    let mut last = [FAR; WIDTH + 1];
    for (k, cell) in last.iter_mut().enumerate().take(2 * limit + 1).skip(limit) {
        *cell = k - limit;
    }
    for i in 1..=a.len() {
        let mut row = [FAR; WIDTH + 1];
        let mut row_min = FAR;
        for k in 0..=2 * limit {
            let Some(j) = (i + k).checked_sub(limit).filter(|&j| j <= b.len()) else { continue };
            let mut best = FAR;
            if j == 0 {
                best = i;
            } else {
                best = best.min(last[k] + usize::from(a[i - 1] != b[j - 1]));
                if k > 0 {
                    best = best.min(row[k - 1] + 1);
                }
                if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                    best = best.min(before[k] + 1);
                }
            }
            best = best.min(last[k + 1] + 1);
            row[k] = best.min(FAR);
            row_min = row_min.min(row[k]);
        }
        if row_min > limit {
            return None;
        }
        (before, last) = (last, row);
    }
    let found = last[b.len() + limit - a.len()];
    (found <= limit).then_some(found)
}

/// Returns the candidate most similar to `name`, if at most a third of the letters differ. Ties are
/// broken alphabetically.
pub fn nearest<'n>(name: &str, candidates: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let letters = name.chars().count();
    let mut limit = (letters / 3).clamp(1, MAX_DISTANCE);
    let own = Letters::of(name);
    let mut found: Option<(usize, &'n str)> = None;
    for candidate in candidates {
        if candidate == name || own.differ_from(Letters::of(candidate)) > 2 * limit as u32 {
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

    /// The textbook algorithm with the full table.
    fn full_table(a: &str, b: &str) -> usize {
        let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
        let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
        for i in 0..=a.len() {
            for j in 0..=b.len() {
                rows[i][j] = match (i, j) {
                    (0, n) | (n, 0) => n,
                    _ => {
                        let change = usize::from(a[i - 1] != b[j - 1]);
                        let mut best = (rows[i - 1][j] + 1)
                            .min(rows[i][j - 1] + 1)
                            .min(rows[i - 1][j - 1] + change);
                        if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                            best = best.min(rows[i - 2][j - 2] + 1);
                        }
                        best
                    }
                };
            }
        }
        rows[a.len()][b.len()]
    }

    #[test]
    fn banded_distance_equals_the_full_table() {
        let names = ["", "a", "ab", "ba", "abc", "acb", "kernel_size", "kernal_size", "kernelsize"];
        let more =
            ["é", "aé", "éa", "größe", "grösse", "batch_matmul", "matmul_batch", "bacth_matmul"];
        let all: Vec<&str> = names.into_iter().chain(more).collect();
        for a in &all {
            for b in &all {
                for limit in 0..=9 {
                    let expected = Some(full_table(a, b)).filter(|&d| d <= limit.min(MAX_DISTANCE));
                    assert_eq!(distance(a, b, limit), expected, "{a} {b} within {limit}");
                }
            }
        }
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
