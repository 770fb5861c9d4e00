//! Reads the operators that `relay.toml` declares.

use semantics::{DeclaredOperator, DeclaredResult};
use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use super::{OPERATORS, Reader, integer, range};

/// The keys of an operator, as a message lists them.
const KEYS: &str = "`args`, `same-as` and `result`";

/// Reads the table of operators. One with a problem is not declared.
pub(super) fn read(reader: &mut Reader, table: &DeTable<'_>) {
    for (key, value) in table.iter() {
        let (name, at) = (key.get_ref(), range(key.span()));
        if !is_name(name) {
            let message = format!("`{name}` cannot be the name of an operator");
            let help = "names have letters, digits, `_` and dots: `[operators.\"vendor.topk\"]`";
            reader.refuse(at, message, Some(help.to_owned()));
        } else if operators::find(name).is_some() {
            let message = format!("TVM has an operator `{name}`, which cannot be declared");
            reader.refuse(at, message, None);
        } else {
            match value.get_ref() {
                DeValue::Table(operator) => {
                    if let Some(operator) = read_one(reader, name, operator) {
                        reader.project.operators.insert(name.to_string(), operator);
                    }
                }
                _ => {
                    let message = format!("`{OPERATORS}.\"{name}\"` is a table");
                    let help = format!("write `[{OPERATORS}.\"{name}\"]`, and {KEYS} after it");
                    reader.refuse(range(value.span()), message, Some(help));
                }
            }
        }
    }
}

/// Reads an operator; returns `None` after a problem.
fn read_one(reader: &mut Reader, name: &str, table: &DeTable<'_>) -> Option<DeclaredOperator> {
    let before = reader.problems.len();
    let mut operator = DeclaredOperator { args: None, result: DeclaredResult::Comment };
    let mut results = Vec::new();
    for (key, value) in table.iter() {
        let at = range(value.span());
        let mut takes = |what: &str| {
            let message = format!("`{}` of `{name}` takes {what}", key.get_ref());
            reader.refuse(at, message, None);
        };
        match key.get_ref().as_ref() {
            "args" => match arguments(value) {
                Some(args) => operator.args = Some(args),
                None => takes("a list of names: `[\"data\", \"k\"]`"),
            },
            "same-as" => {
                let index = integer(value.get_ref()).and_then(|index| usize::try_from(index).ok());
                match index {
                    Some(index) => results.push((at, DeclaredResult::SameAs(index))),
                    None => takes("the number of an argument, from 0"),
                }
            }
            "result" => match value.get_ref().as_str().and_then(DeclaredResult::of_type) {
                Some(result) => results.push((at, result)),
                None => takes("a type: \"Tensor[(2, ?), float32]\""),
            },
            other => {
                let message = format!("operators have no key `{other}`");
                reader.refuse(range(key.span()), message, Some(format!("the keys are {KEYS}")));
            }
        }
    }
    if let [_, (at, _), ..] = results[..] {
        let message = format!("`{name}` has both `same-as` and `result`");
        reader.refuse(at, message, Some("remove one of them".to_owned()));
    }
    if let (Some((at, DeclaredResult::SameAs(index))), Some(args)) =
        (results.first(), &operator.args)
        && *index >= args.len()
    {
        let message = format!("`{name}` has no argument {index}");
        let help = format!("it has {} arguments, of which the first is 0", args.len());
        reader.refuse(*at, message, Some(help));
    }
    operator.result = results.pop().map_or(DeclaredResult::Comment, |(_, result)| result);
    (reader.problems.len() == before).then_some(operator)
}

fn arguments(value: &Spanned<DeValue<'_>>) -> Option<Vec<String>> {
    let names = value.get_ref().as_array()?.iter();
    let name = |name: &Spanned<DeValue<'_>>| {
        name.get_ref().as_str().filter(|name| is_word(name)).map(str::to_owned)
    };
    names.map(name).collect()
}

/// Returns true for `vendor.topk`.
fn is_name(name: &str) -> bool {
    name.split('.').all(is_word)
}

fn is_word(word: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_alphabetic() || c == '_';
    word.starts_with(is_letter) && word.chars().all(|c| is_letter(c) || c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::super::read;

    #[test]
    fn operators_are_read() {
        let (project, problems) = read(
            "[operators.\"vendor.topk\"]\nargs = [\"data\", \"k\"]\nsame-as = 0\n\
             [operators.\"vendor.norm\"]\nresult = \"Tensor[(2, ?), float32]\"\n\
             [operators.fused]\n",
        );
        assert!(problems.is_empty(), "{problems:?}");
        let signature = |(name, operator): (&str, &semantics::DeclaredOperator)| {
            format!("{name}{}", operator.signature())
        };
        assert_eq!(
            project.operators.iter().map(signature).collect::<Vec<_>>(),
            [
                "fused(…) -> the type in the comment",
                "vendor.norm(…) -> Tensor[(2, ?), float32]",
                "vendor.topk(data, k) -> the type of data",
            ]
        );
    }

    #[test]
    fn invalid_operators_are_refused() {
        for (text, message) in [
            ("operators = 1", "`operators` is a table"),
            ("operators.\"a b\" = {}", "`a b` cannot be the name of an operator"),
            ("operators.add = {}", "TVM has an operator `add`, which cannot be declared"),
            ("operators.mine = 1", "`operators.\"mine\"` is a table"),
            (
                "operators.mine.args = [1]",
                "`args` of `mine` takes a list of names: `[\"data\", \"k\"]`",
            ),
            (
                "operators.mine.same-as = -1",
                "`same-as` of `mine` takes the number of an argument, from 0",
            ),
            (
                "operators.mine.result = \"Tensr[(2), float32]\"",
                "`result` of `mine` takes a type: \"Tensor[(2, ?), float32]\"",
            ),
            ("operators.mine.shape = 1", "operators have no key `shape`"),
            (
                "operators.mine = { same-as = 0, result = \"int8\" }",
                "`mine` has both `same-as` and `result`",
            ),
            ("operators.mine = { args = [\"x\"], same-as = 1 }", "`mine` has no argument 1"),
        ] {
            let (project, problems) = read(text);
            let messages: Vec<&str> = problems.iter().map(|it| it.message.as_str()).collect();
            assert_eq!(messages, [message], "{text}");
            assert_eq!(project.operators.iter().count(), 0, "{text}");
        }
    }
}
