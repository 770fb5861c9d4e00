//! Cells of notebooks of Jupyter: JSON with the lines of each cell as strings.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{
    Block, MAX_BLOCKS,
    mapping::{Builder, Notation},
    markdown, python,
};

#[derive(Deserialize)]
struct Notebook<'a> {
    #[serde(borrow)]
    cells: Vec<Cell<'a>>,
}

#[derive(Deserialize)]
struct Cell<'a> {
    #[serde(default)]
    cell_type: String,
    /// A string, or a list of strings that are joined. It is kept as it is written for its place.
    #[serde(borrow)]
    source: &'a RawValue,
}

/// Returns the blocks of all cells, in places of the whole file.
///
/// # Errors
/// The text is not a notebook.
pub(super) fn blocks(text: &str) -> Result<Vec<Block>, serde_json::Error> {
    let notebook: Notebook<'_> = serde_json::from_str(text)?;
    let mut found = Vec::new();
    for cell in notebook.cells {
        let source = source(text, cell.source.get())?;
        let inner = match cell.cell_type.as_str() {
            "code" => python::blocks(&source.text),
            "markdown" => markdown::blocks(&source.text),
            _ => continue,
        };
        found.extend(inner.into_iter().map(|block| {
            let mapping = block.mapping.within(&source.mapping);
            Block { text: block.text, mapping }
        }));
        if found.len() >= MAX_BLOCKS {
            break;
        }
    }
    Ok(found)
}

/// Returns the text of a cell with its places in the file. `source` is a part of `text`.
fn source(text: &str, source: &str) -> Result<Block, serde_json::Error> {
    let lines: Vec<&RawValue> = match source.starts_with('[') {
        true => serde_json::from_str(source)?,
        false => vec![serde_json::from_str(source)?],
    };
    let mut builder = Builder::default();
    for line in lines {
        // The decoder knows the surrogate pairs; only the length of each escape is found here.
        let decoded: String = serde_json::from_str(line.get())?;
        let place = line.get().as_ptr() as usize - text.as_ptr() as usize + 1;
        let written = &line.get()[1..line.get().len() - 1];
        builder.cover(place, place + written.len());
        let mut rest = written;
        let mut characters = decoded.as_str();
        while let Some(at) = rest.find('\\') {
            let here = place + written.len() - rest.len();
            builder.verbatim(&rest[..at], here);
            characters = &characters[at..];
            let Some(character) = characters.chars().next() else { break };
            let length = match rest.as_bytes().get(at + 1) {
                Some(b'u') if character.len_utf16() == 2 => 12,
                Some(b'u') => 6,
                _ => 2,
            };
            builder.escape(character, here + at, length);
            characters = &characters[character.len_utf8()..];
            rest = rest.get(at + length..).unwrap_or_default();
        }
        builder.verbatim(rest, place + written.len() - rest.len());
    }
    Ok(builder.finish(Notation::Lines { prefix: String::new() }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A string in a cell of code, with escapes of Python in those of JSON, and a block in a text.
    const NOTEBOOK: &str = r##"{"cells": [
 {"cell_type": "code", "source": ["from tvm import relay\n", "relay.fromtext(\"\"\"é \ud83d\ude00\\n\n",
   "%x\"\"\")"]},
 {"cell_type": "markdown", "source": "# A\n```relay\n%y\n```\n"},
 {"cell_type": "raw", "source": ["relay.fromtext('%z')"]},
 {"cell_type": "code", "source": ["%%relay\n", "%a"]}
]}"##;

    #[test]
    fn cells_are_searched_and_places_are_those_of_the_file() {
        let found = blocks(NOTEBOOK).expect("a notebook");
        let texts: Vec<&str> = found.iter().map(|block| block.text.as_str()).collect();
        assert_eq!(texts, ["é 😀\n\n%x", "%y\n", "%a"]);
        for (block, name) in found.iter().zip(["%x", "%y", "%a"]) {
            let at = block.text.find(name).expect(name) as u32;
            let range = syntax::TextRange::new(at.into(), (at + 2).into());
            let place = block.mapping.range_to_host(range);
            assert_eq!(&NOTEBOOK[usize::from(place.start())..usize::from(place.end())], name);
            assert_eq!(block.mapping.to_block(place.start()), Some(at.into()));
        }
        let smile = found[0].text.find('😀').expect("a character") as u32;
        let place = found[0].mapping.range_to_host(syntax::TextRange::at(smile.into(), 4.into()));
        assert_eq!(
            &NOTEBOOK[usize::from(place.start())..usize::from(place.end())],
            r"\ud83d\ude00"
        );
        assert_eq!(found[0].mapping.written("a\n\"b\"").as_deref(), Some(r#"a\n\"b\""#));
    }

    #[test]
    fn other_json_is_no_notebook() {
        for text in ["", "{", "[]", "{\"cells\": 1}", "{\"cells\": [{\"source\": 1}]}"] {
            assert!(blocks(text).is_err(), "{text}");
        }
        assert_eq!(blocks("{\"cells\": []}").expect("a notebook"), []);
    }
}
