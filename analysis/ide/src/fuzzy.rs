//! Fuzzy matching of names.

/// The maximal number of characters of a name to compare.
const MAX_LEN: usize = 128;

/// Returns how well `name` matches `query`; higher is better. Returns `None` if the query is not a
/// subsequence of the name, ignoring case. Letters at the start of a word, consecutive letters and
/// letters of the same case score higher: `fp` ranks `@forward_pass` before `@flip`.
pub fn score(query: &str, name: &str) -> Option<u32> {
    if !may_match(query, name) {
        return None;
    }
    let query: Vec<char> = query.chars().filter(|c| !c.is_whitespace()).take(MAX_LEN).collect();
    if query.is_empty() {
        return Some(0);
    }
    let name: Vec<char> = name.chars().take(MAX_LEN).collect();
    // The best score of the query so far if its last letter is at each position of the name.
    let mut best: Vec<Option<u32>> = Vec::new();
    for (row, &expected) in query.iter().enumerate() {
        let mut next = vec![None; name.len()];
        // The best score at positions that are not adjacent to the current one.
        let mut apart: Option<u32> = None;
        for (at, &letter) in name.iter().enumerate() {
            if let Some(before) = at.checked_sub(2).and_then(|at| best.get(at).copied().flatten()) {
                apart = apart.max(Some(before));
            }
            if !letter.to_lowercase().eq(expected.to_lowercase()) {
                continue;
            }
            let before = at.checked_sub(1).map(|at| name[at]);
            let mut own = 10 + u32::from(letter == expected);
            if starts_word(before, letter) {
                own += 8;
            }
            next[at] = if row == 0 {
                Some(own)
            } else {
                let joined = at.checked_sub(1).and_then(|at| best[at]).map(|score| score + 12);
                joined.max(apart).map(|score| score + own)
            };
        }
        best = next;
    }
    let found = best.into_iter().flatten().max()?;
    // A shorter name wins among equal scores.
    Some((found * 4).saturating_sub(name.len() as u32).max(1))
}

/// Returns false if the query is certainly not a subsequence of the name. This fast path rejects
/// most names.
fn may_match(query: &str, name: &str) -> bool {
    if !query.is_ascii() || !name.is_ascii() {
        return true;
    }
    let mut letters = name.bytes();
    let mut expected = query.bytes().filter(|b| !b.is_ascii_whitespace());
    expected.all(|expected| letters.any(|letter| letter.eq_ignore_ascii_case(&expected)))
}

fn starts_word(before: Option<char>, letter: char) -> bool {
    match before {
        None => true,
        Some(before) => !before.is_alphanumeric() || before.is_lowercase() && letter.is_uppercase(),
    }
}

#[cfg(test)]
mod tests {
    use super::score;

    #[test]
    fn better_matches_rank_first() {
        let ranked = |query: &str, names: &[&'static str]| -> Vec<&'static str> {
            let scored = names.iter().filter_map(|name| Some((score(query, name)?, *name)));
            let mut scored: Vec<_> = scored.collect();
            scored.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
            scored.into_iter().map(|(_, name)| name).collect()
        };
        assert_eq!(ranked("fp", &["@flip", "@forward_pass", "@pf"]), ["@forward_pass", "@flip"]);
        assert_eq!(
            ranked("main", &["@domain", "@main_2", "@main"]),
            ["@main", "@main_2", "@domain"]
        );
        assert_eq!(ranked("@main", &["@domain", "@main"]), ["@main", "@domain"]);
        assert_eq!(ranked("gc", &["GradCell", "@magic"]), ["GradCell", "@magic"]);
        assert_eq!(ranked("x", &["@main"]), [] as [&str; 0]);
    }

    #[test]
    fn empty_long_and_non_ascii_queries_are_scored() {
        assert_eq!(score("", "@f"), Some(0));
        assert_eq!(score("f", ""), None);
        assert!(score(&"a".repeat(500), &"a".repeat(500)).is_some());
        assert!(score("É", "@éa").is_some());
    }
}
