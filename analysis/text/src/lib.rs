//! The macro `text!`, which is called like `format!` and keeps what it is given: the template, and
//! a fact for each of its placeholders.
//!
//! ```text
//! text!("`{operator}`: {name} has {}", axes(rank))
//! ```
//!
//! A placeholder is `{}`, whose value is the next argument, or `{name}`, whose value is the argument
//! `name = …` or else the variable `name`. A placeholder without a value, a value without a
//! placeholder and a format such as `{:?}` do not compile. A sentence is made of both in one place, by
//! `types::Text`.

use proc_macro::{Delimiter, Group, Ident, Literal, Punct, Spacing, Span, TokenStream, TokenTree};

/// Makes a `types::Text` of a template and its values.
#[proc_macro]
pub fn text(input: TokenStream) -> TokenStream {
    expand(input).unwrap_or_else(|why| {
        let why = TokenTree::from(Literal::string(why));
        let bang = [punct('!'), TokenTree::from(Group::new(Delimiter::Parenthesis, why.into()))];
        path("::std::compile_error").into_iter().chain(bang).collect()
    })
}

fn expand(input: TokenStream) -> Result<TokenStream, &'static str> {
    let mut arguments = split(input).into_iter();
    let template = arguments.next().unwrap_or_default();
    let [TokenTree::Literal(literal)] = &template[..] else {
        return Err("the first argument is a string literal");
    };
    let mut unnamed = Vec::new();
    let mut named = Vec::new();
    for argument in arguments.filter(|argument| !argument.is_empty()) {
        match &argument[..] {
            [TokenTree::Ident(name), TokenTree::Punct(equals), value @ ..]
                if equals.as_char() == '=' && equals.spacing() == Spacing::Alone =>
            {
                named.push((name.to_string(), value.to_vec()));
            }
            _ => unnamed.push(argument),
        }
    }
    let mut unnamed = unnamed.into_iter();
    let mut used = vec![false; named.len()];
    let mut facts = TokenStream::new();
    for name in placeholders(&literal.to_string())? {
        let value = if name.is_empty() {
            unnamed.next().ok_or("a placeholder `{}` has no argument")?
        } else if let Some(at) = named.iter().position(|(known, _)| *known == name) {
            used[at] = true;
            named[at].1.clone()
        } else {
            vec![Ident::new(&name, literal.span()).into()]
        };
        let value = Group::new(Delimiter::Parenthesis, value.into_iter().collect());
        let reference = [punct('&'), value.into()].into_iter().collect();
        facts.extend(path("::types::ToFact::to_fact"));
        facts.extend([TokenTree::from(Group::new(Delimiter::Parenthesis, reference)), punct(',')]);
    }
    if unnamed.next().is_some() || used.contains(&false) {
        return Err("an argument has no placeholder");
    }
    let mut inside: TokenStream = template.into_iter().collect();
    inside.extend([punct(',')]);
    inside.extend(path("::std::vec"));
    inside.extend([punct('!'), Group::new(Delimiter::Bracket, facts).into()]);
    let mut text = path("::types::Text::new");
    text.extend([TokenTree::from(Group::new(Delimiter::Parenthesis, inside))]);
    Ok(text)
}

/// Splits arguments at commas.
fn split(input: TokenStream) -> Vec<Vec<TokenTree>> {
    let mut arguments = vec![Vec::new()];
    for token in input {
        match (&token, arguments.last_mut()) {
            (TokenTree::Punct(comma), _) if comma.as_char() == ',' => arguments.push(Vec::new()),
            (_, Some(last)) => last.push(token),
            (_, None) => {}
        }
    }
    arguments
}

/// Returns the names in the placeholders of a literal, in order; empty ones for `{}`.
fn placeholders(literal: &str) -> Result<Vec<String>, &'static str> {
    let mut names = Vec::new();
    let mut rest = literal.strip_prefix('"').ok_or("the template is an ordinary string literal")?;
    while let Some(at) = rest.find(['{', '}', '\\']) {
        let (special, after) = rest[at..].split_at(1);
        rest = after;
        match special {
            // `\u{2212}` has braces of its own.
            "\\" if rest.starts_with("u{") => {
                rest = rest.split_once('}').map_or("", |(_, end)| end)
            }
            "\\" => rest = rest.get(1..).unwrap_or_default(),
            _ if rest.starts_with(special) => rest = &rest[1..],
            "{" => {
                let (name, end) = rest.split_once('}').ok_or("a `{` has no `}`")?;
                let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
                if !name.chars().all(is_letter) || name.starts_with(|c: char| c.is_ascii_digit()) {
                    return Err("a placeholder is `{}` or `{name}`, without a format");
                }
                names.push(name.to_owned());
                rest = end;
            }
            _ => return Err("a `}` has no `{`"),
        }
    }
    Ok(names)
}

fn punct(c: char) -> TokenTree {
    Punct::new(c, Spacing::Alone).into()
}

/// Returns the tokens of a path that begins with `::`.
fn path(path: &str) -> TokenStream {
    let mut tokens = TokenStream::new();
    for name in path.split("::").skip(1) {
        let colon = Punct::new(':', Spacing::Joint);
        tokens.extend([colon.into(), punct(':'), Ident::new(name, Span::call_site()).into()]);
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::placeholders;

    #[test]
    fn placeholders_are_read_from_the_literal() {
        let names = |literal: &str| placeholders(literal).map(|names| names.join(" "));
        assert_eq!(names(r#""`{operator}`: {name} has {}""#), Ok("operator name ".to_owned()));
        assert_eq!(names(r#""{{ \"{x}\" \u{2212} }} \\ {y}""#), Ok("x y".to_owned()));
        for wrong in [r#""{x:?}""#, r#""{0}""#, r#""{x""#, r#""x}""#, r##"r"{x}""##] {
            assert!(names(wrong).is_err(), "{wrong}");
        }
    }
}
