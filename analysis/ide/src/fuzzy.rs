//! How well a name fits what somebody has typed of it.

/// Letters of a name that are looked at.
const LONGEST: usize = 128;

/// How well `name` fits `query`, more being better; nothing if not each letter of the query stands
/// in the name, in order. Letters at the start of a word, in a row, and of the same case count
/// more: `fp` finds `@forward_pass` in front of `@flip`.
pub fn score(query: &str, name: &str) -> Option<u32> {
    if !is_within(query, name) {
        return None;
    }
    let query: Vec<char> = query.chars().filter(|c| !c.is_whitespace()).take(LONGEST).collect();
    if query.is_empty() {
        return Some(0);
    }
    let name: Vec<char> = name.chars().take(LONGEST).collect();
    // The best score of the letters so far with the last of them at each place of the name.
    let mut best: Vec<Option<u32>> = Vec::new();
    for (row, &wanted) in query.iter().enumerate() {
        let mut next = vec![None; name.len()];
        // The best of all places at least two in front.
        let mut apart: Option<u32> = None;
        for (at, &letter) in name.iter().enumerate() {
            if let Some(before) = at.checked_sub(2).and_then(|at| best.get(at).copied().flatten()) {
                apart = apart.max(Some(before));
            }
            if !letter.to_lowercase().eq(wanted.to_lowercase()) {
                continue;
            }
            let before = at.checked_sub(1).map(|at| name[at]);
            let mut own = 10 + u32::from(letter == wanted);
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
    // Of names that fit alike, the shorter one.
    Some((found * 4).saturating_sub(name.len() as u32).max(1))
}

/// Whether the letters of the query stand in the name in order: most names end here.
fn is_within(query: &str, name: &str) -> bool {
    if !query.is_ascii() || !name.is_ascii() {
        return true;
    }
    let mut letters = name.bytes();
    let mut wanted = query.bytes().filter(|b| !b.is_ascii_whitespace());
    wanted.all(|wanted| letters.any(|letter| letter.eq_ignore_ascii_case(&wanted)))
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
    fn the_better_names_come_first() {
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
    fn odd_queries() {
        assert_eq!(score("", "@f"), Some(0));
        assert_eq!(score("f", ""), None);
        assert!(score(&"a".repeat(500), &"a".repeat(500)).is_some());
        assert!(score("É", "@éa").is_some());
    }
}
