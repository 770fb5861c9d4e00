//! `relay-analyzer strip` and `relay-analyzer merge`

use std::{
    fs::File,
    io::{self, BufWriter, Read, Write},
    path::{Path, PathBuf},
};

use arrays::{Archive, FileReader, Source};
use clap::Args;
use interpreter::Tensor;
use types::DataType;
use weights::{Module, ModuleFile, Part, Stamp, Weights};

use super::{Failure, Outcome};
use crate::{
    code_view::{self, Refusal},
    files::{Claims, Target, cannot_write},
    input,
    weights::{decoded, names},
};

/// The entry of an archive with the section without its tensors.
const SECTION: &str = "__section__";

/// The arguments of `strip`.
#[derive(Args)]
pub(super) struct StripArgs {
    /// The file, or `-` for standard input
    path: PathBuf,
    /// The file to write the code to, in place of standard output
    #[arg(long, short, value_name = "FILE", default_value = "-", hide_default_value = true)]
    output: PathBuf,
    /// Also write the section to an archive of arrays, from which `merge` restores the same bytes
    #[arg(long, value_name = "FILE.npz")]
    weights: Option<PathBuf>,
}

/// The arguments of `merge`.
#[derive(Args)]
pub(super) struct MergeArgs {
    /// The code that `strip` wrote, edited or not
    path: PathBuf,
    /// The archive that `strip` wrote, or a module with the section
    #[arg(long, value_name = "FILE")]
    weights: PathBuf,
    /// The file to write
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,
}

/// The message about a file, with its name.
pub(super) fn refused(path: &Path, what: impl std::fmt::Display) -> Failure {
    Failure::Message(format!("`{}`: {what}", input::shown(path)))
}

/// Opens a file whose section is read.
fn open(path: &Path, purpose: &str) -> Result<Module, Failure> {
    let file = ModuleFile::open(path).map_err(|error| input::cannot_read(path, &error))?;
    code_view::module_of(file).map_err(|refusal| match refusal {
        Refusal::NoSection => {
            refused(path, format!("it has no metadata section: there is nothing to {purpose}"))
        }
        refusal => refused(path, refusal),
    })
}

/// A module to strip.
struct StripInput {
    code: String,
    weights: Weights,
    /// The length of its section in bytes.
    length: usize,
}

impl StripInput {
    /// Reads a module; `-` is standard input, which is kept in memory.
    fn read(path: &Path) -> Result<StripInput, Failure> {
        if path.as_os_str() != "-" {
            let Module { code, section, text, .. } = open(path, "strip")?;
            let length = usize::try_from(text.length()).unwrap_or(usize::MAX);
            return Ok(StripInput { code, weights: Weights::of_file(section, text), length });
        }
        let mut bytes = Vec::new();
        // A longer text is refused with its reason.
        let most = u64::from(u32::MAX) + 1;
        let read = io::stdin().lock().take(most).read_to_end(&mut bytes);
        read.map_err(|error| input::cannot_read(path, &error))?;
        let split = weights::split(&bytes).map_err(|error| refused(path, error))?;
        if split.section.is_empty() || weights::is_folded(split.section) {
            let message = "it has no metadata section: there is nothing to strip";
            return Err(refused(path, message));
        }
        let length = split.section.len();
        Ok(StripInput {
            code: split.code.to_owned(),
            weights: Weights::of_text(split.section),
            length,
        })
    }
}

pub(super) fn strip(args: &StripArgs) -> Result<Outcome, Failure> {
    let path = &args.path;
    let mut claims = Claims::default().read(path);
    let output = claims.write(&args.output)?;
    let archive = args.weights.as_ref().map(|archive| claims.write(archive)).transpose()?;
    let StripInput { code, weights, length } = StripInput::read(path)?;
    let folded = code_view::folded(&code, weights.section(), length);
    if let Some(archive) = archive {
        let section = weights.section();
        if let Some(error) = section.error() {
            return Err(refused(path, format!("its metadata section is invalid: {error}")));
        }
        let names = names(section);
        let tensor = |array: usize| decoded(section, array, &weights.payload(array)?);
        let named = |array: usize| tensor(array).and_then(|_| names.get(array).cloned());
        let rest = weights::cut(&weights, named).map_err(|error| refused(path, error))?;
        let arrays = (0..section.arrays())
            .filter_map(|array| Some(Ok((names.get(array)?.clone(), tensor(array)?))));
        let bytes = rest.as_bytes();
        let rest = Tensor::from_le_bytes(DataType::UINT8, &[bytes.len()], bytes)
            .ok_or_else(|| refused(path, "there is no memory for its section"))?;
        let all = std::iter::once(Ok((SECTION.to_owned(), rest))).chain(arrays);
        archive
            .write(|out| {
                arrays::write_npz(out, all)?;
                // A tensor that could not be read is not in the archive.
                weights.check_unchanged()
            })
            .map_err(|error| archive.error(&error))?;
    }
    output.write_text(&folded).map_err(|error| output.error(&error))?;
    Ok(Outcome::Clean)
}

pub(super) fn merge(args: &MergeArgs) -> Result<Outcome, Failure> {
    let path = &args.path;
    let mut file = weights::open_file(path).map_err(|error| input::cannot_read(path, &error))?;
    let stamp = Stamp::of_file(&file).map_err(|error| input::cannot_read(path, &error))?;
    let mut text = Vec::new();
    file.read_to_end(&mut text).map_err(|error| input::cannot_read(path, &error))?;
    let text = std::str::from_utf8(&text).map_err(|error| refused(path, error))?;
    let view = code_view::view_of(text).map_err(|refusal| refused(path, refusal))?;
    let source = &args.weights;
    let mut head = [0; 4];
    let mut file = File::open(source).map_err(|error| input::cannot_read(source, &error))?;
    let is_archive = file.read_exact(&mut head).is_ok() && &head == b"PK\x03\x04";
    let claims = Claims::default().read_and_replace(path, Some(stamp));
    if is_archive {
        let output = claims.read(source).write(&args.output)?;
        let length = file.metadata().map_err(|error| input::cannot_read(source, &error))?.len();
        let archive = Archive::npz(Source::new(FileReader::from(file), length))
            .map_err(|error| refused(source, error))?;
        if view.drops() {
            let message =
                "its line lists constants to drop: merge it with the module, or delete the list";
            return Err(refused(path, message));
        }
        return merge_archive(args, view.code, &archive, &output);
    }
    let Module { text: section, .. } = open(source, "merge")?;
    let stamp = section.file().stamp();
    // The code of the module is replaced, as when a code view is saved.
    let output = claims.read_and_replace(source, Some(stamp)).write(&args.output)?;
    code_view::write(code_view::Source { text: &section, section: None }, &view, &output)
        .map_err(|refusal| cannot_write(&args.output, refusal))?;
    Ok(Outcome::Clean)
}

/// Writes the section from the arrays of an archive.
fn merge_archive(
    args: &MergeArgs,
    code: &str,
    archive: &Archive<FileReader>,
    output: &Target,
) -> Result<Outcome, Failure> {
    let source = &args.weights;
    let array = |name: &str| {
        // Of several arrays with the same name, the last one counts.
        let position = archive.names().iter().rposition(|known| known == name)?;
        Some(archive.array(position).and_then(arrays::Array::read))
    };
    let read = |name: &str| match array(name) {
        Some(Ok(tensor)) => Ok(tensor),
        Some(Err(error)) => Err(format!("`{}`: {error}", input::shown(source))),
        None => Err(format!("`{}` has no array `{name}`", input::shown(source))),
    };
    let rest = array(SECTION).ok_or_else(|| {
        refused(source, "it is not an archive that `relay-analyzer strip --weights` wrote")
    })?;
    let rest = rest.map_err(|error| refused(source, error))?;
    let mut bytes = Vec::new();
    rest.write_le(|part| {
        bytes.extend_from_slice(part);
        Ok::<(), Failure>(())
    })?;
    let rest = String::from_utf8(bytes).map_err(|error| refused(source, error))?;
    let parts = weights::parts(&rest)
        .ok_or_else(|| refused(source, format!("its entry `{SECTION}` is damaged")))?;
    let mut problem = None;
    let written = output.write(|out| {
        out.write_all(code.as_bytes())?;
        for part in &parts {
            if let Err(message) = write_part(out, part, &read)? {
                problem = Some(message);
                return Err(io::Error::other("it is incomplete"));
            }
        }
        Ok(())
    });
    match (problem, written) {
        (Some(message), _) => Err(message.into()),
        (None, Err(error)) => Err(output.error(&error).into()),
        (None, Ok(_)) => Ok(Outcome::Clean),
    }
}

/// Writes a part of a section, or returns the message for a tensor of another type or shape.
fn write_part(
    out: &mut BufWriter<File>,
    part: &Part<'_>,
    read: &impl Fn(&str) -> Result<Tensor, String>,
) -> io::Result<Result<(), String>> {
    let (name, bytes, header) = match part {
        Part::Text(text) => return out.write_all(text.as_bytes()).map(Ok),
        Part::Array { name, bytes, header } => (name, bytes, header),
    };
    let tensor = match read(name) {
        Ok(tensor) => tensor,
        Err(message) => return Ok(Err(message)),
    };
    if tensor.ty() != header.ty.clone().into() {
        let (found, expected) = (tensor.ty(), &header.ty);
        return Ok(Err(format!("the array `{name}` is {found}, and the section has {expected}")));
    }
    weights::encode(out, bytes, |to| tensor.write_le(|part| to.write_all(part))).map(Ok)
}
