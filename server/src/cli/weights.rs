//! `relay-analyzer weights`

mod parameters;

use std::{
    io::{BufWriter, Write},
    ops::Range,
    path::{Path, PathBuf},
};

use clap::{Args, ValueEnum};
use interpreter::Tensor;
use serde::Serialize;
use syntax::SyntaxKind;
use weights::{BARS, CONSTANT, Header, Module, ModuleFile, Payload, Stats, Weights};

use super::{CodeLimit, Failure, Outcome};
use crate::{
    files::Claims,
    input,
    report::{columns::aligned, escape, stderr},
    weights::{NamedArrays, decoded},
};

/// The arguments of `weights`.
#[derive(Args)]
pub(super) struct WeightsArgs {
    /// The file, or `-` for standard input
    path: PathBuf,
    /// The output format
    #[arg(long, value_enum, default_value = "table")]
    format: WeightsFormat,
    /// Write each tensor to this folder, as `constant_0.npy`, `constant_1.npy`, …; parameters of an
    /// archive as `parameter_0.npy`, …
    #[arg(long, value_name = "DIR")]
    save: Option<PathBuf>,
    /// Name tensors by equal ones of a `.params` or `.npz` file; may be repeated
    #[arg(long, value_name = "FILE")]
    params: Vec<PathBuf>,
    #[command(flatten)]
    reading: CodeLimit,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum WeightsFormat {
    /// Columns for a terminal
    Table,
    /// One JSON document
    Json,
    /// One line per tensor, for spreadsheets
    Csv,
}

/// A row of the list.
#[derive(Default, Serialize)]
struct Row {
    /// The entry of the metadata section; `None` for a parameter.
    entry: Option<u32>,
    dtype: String,
    shape: String,
    bytes: u64,
    #[serde(rename = "statistics")]
    stats: Option<Stats>,
    /// The references in the code.
    uses: u64,
    /// The first entry with the same content, if it is another one.
    #[serde(rename = "sameAs")]
    same: Option<u32>,
    /// The name of the parameter, or of an equal tensor in a file.
    name: Option<String>,
    problem: Option<String>,
}

pub(super) fn run(args: &WeightsArgs) -> Result<Outcome, Failure> {
    let WeightsFile { code, weights, parameters } = opened(args)?;
    let mut files = args.save.as_deref().map(|folder| Saves::new(folder, args)).transpose()?;
    let shown = input::shown(&args.path);
    if weights.is_none() && parameters.is_none() {
        return Err(format!("`{shown}` has no metadata section, and no weights").into());
    }
    let known = NamedArrays::open(&args.params)?;
    let mut rows = Vec::new();
    if let Some(weights) = weights {
        if let Some(error) = weights.section().error() {
            return Err(format!("`{shown}`: its metadata section is invalid: {error}").into());
        }
        if let Some(files) = &mut files {
            save(&weights, files)?;
        }
        let uses = uses(&code, weights.section().entries(CONSTANT).len());
        for (entry, &uses) in (0u32..).zip(&uses) {
            rows.push(row(&weights, &known, entry, uses)?);
        }
    }
    if let Some(part) = parameters {
        rows.extend(parameters::rows(&args.path, part, &code, files.as_mut())?);
    }
    let mut outcome = Outcome::Clean;
    for row in &rows {
        if let Some(problem) = &row.problem {
            let subject = match (row.entry, &row.name) {
                (None, Some(name)) => format!("`{}`", escape::terminal(name)),
                (entry, _) => format!("`meta[{CONSTANT}][{}]`", entry.unwrap_or_default()),
            };
            stderr::error(&format!("{subject}: {problem}"));
            outcome = Outcome::Errors;
        }
    }
    let mut out = BufWriter::new(std::io::stdout().lock());
    match args.format {
        WeightsFormat::Table => table(&mut out, &rows)?,
        WeightsFormat::Json => {
            // As a value, so that the fields are in the order of their names.
            let document = serde_json::to_value(Document { path: &shown, weights: &rows });
            writeln!(out, "{:#}", document.map_err(std::io::Error::from)?)?;
        }
        WeightsFormat::Csv => csv(&mut out, &rows)?,
    }
    out.flush()?;
    Ok(outcome)
}

/// A file with weights.
struct WeightsFile {
    code: String,
    /// The tensors of the metadata section.
    weights: Option<Weights>,
    /// The range of the parameters in an archive.
    parameters: Option<Range<u64>>,
}

/// Reads a file: mapped if it is a text, else as what TVM saved.
fn opened(args: &WeightsArgs) -> Result<WeightsFile, Failure> {
    let failed = |error| input::cannot_read(&args.path, &error);
    if args.path.as_os_str() != "-" && input::is_text(&args.path).map_err(failed)? {
        let (code, weights) = weights_of(&args.path).map_err(failed)?;
        return Ok(WeightsFile { code, weights, parameters: None });
    }
    let input = input::read(&args.path, args.reading.max_code())?;
    if let Some(problem) = &input.problem {
        return Err(format!("{}: {}", escape::terminal(&input.path), problem.message).into());
    }
    let parts = weights::split(input.text.as_bytes())
        .map_err(|error| format!("{}: {error}", escape::terminal(&input.path)))?;
    let weights = (!parts.section.is_empty()).then(|| Weights::of_text(parts.section));
    let parameters = input.saved.as_ref().and_then(|saved| saved.params.clone());
    Ok(WeightsFile { code: parts.code.to_owned(), weights, parameters })
}

/// Reads a text: its code, and its weights if it has any.
fn weights_of(path: &Path) -> std::io::Result<(String, Option<Weights>)> {
    let module = Module::read(ModuleFile::open(path)?);
    module.map(Module::into_parts).map_err(std::io::Error::other)
}

/// Counts the references to each constant.
fn uses(code: &str, count: usize) -> Vec<u64> {
    let mut uses = vec![0; count];
    let mut start = 0;
    for (kind, end) in syntax::tokens(code) {
        let end = usize::from(end);
        if kind == SyntaxKind::META_REF
            && let Some(rest) = code[start..end].strip_prefix("meta[")
            && let Some((key, index)) = rest.split_once(']')
            && key.trim() == CONSTANT
            && let Ok(index) = index.trim_matches(['[', ']', ' ']).parse::<usize>()
            && let Some(uses) = uses.get_mut(index)
        {
            *uses += 1;
        }
        start = end;
    }
    uses
}

fn row(weights: &Weights, known: &NamedArrays, entry: u32, uses: u64) -> Result<Row, String> {
    let section = weights.section();
    let repeated = weights.repeated();
    let same = repeated.binary_search_by_key(&entry, |pair| pair.0).ok();
    let same = same.map(|at| repeated[at].1);
    let mut row = Row { entry: Some(entry), uses, same, ..Row::default() };
    let array = section.array_of(CONSTANT, entry);
    let found = array.and_then(|array| Some((section.header(array)?, weights.payload(array)?)));
    let Some((header, payload)) = found else {
        row.problem = Some("it is not a readable tensor".to_owned());
        return Ok(row);
    };
    describe(&mut row, header, &payload);
    row.name = known.name_of(header, &payload)?;
    Ok(row)
}

/// Adds the type and the statistics of a tensor to a row.
fn describe(row: &mut Row, header: &Header, payload: &Payload<'_>) {
    row.dtype = header.ty.dtype.to_string();
    let sizes: Vec<String> = header.ty.shape.iter().map(|size| size.to_string()).collect();
    row.shape = format!("({})", sizes.join(", "));
    row.bytes = header.bytes().unwrap_or(0);
    match Stats::of(payload, header) {
        Ok(stats) => row.stats = stats,
        Err(error) => row.problem = Some(error.to_string()),
    }
}

/// The files of `--save`.
struct Saves {
    folder: PathBuf,
    claims: Claims,
}

impl Saves {
    /// Creates the folder.
    fn new(folder: &Path, args: &WeightsArgs) -> Result<Saves, String> {
        std::fs::create_dir_all(folder)
            .map_err(|error| format!("cannot create `{}`: {error}", input::shown(folder)))?;
        let claims = Claims::default().read(&args.path).read_all(&args.params);
        Ok(Saves { folder: folder.to_owned(), claims })
    }

    /// Writes a tensor.
    fn write(&mut self, name: &str, tensor: &Tensor) -> Result<(), String> {
        let file = self.claims.write(&self.folder.join(name))?;
        let written = file.write(|out| arrays::write_npy(out, tensor));
        written.map(drop).map_err(|error| file.error(&error))
    }
}

fn save(weights: &Weights, files: &mut Saves) -> Result<(), Failure> {
    let section = weights.section();
    for entry in 0..section.entries(CONSTANT).len() as u32 {
        let array = section.array_of(CONSTANT, entry);
        let tensor = array.and_then(|array| decoded(section, array, &weights.payload(array)?));
        // The list reports the problem.
        let Some(tensor) = tensor else { continue };
        files.write(&format!("constant_{entry}.npy"), &tensor)?;
    }
    Ok(())
}

/// Formats a number in few characters.
fn short(x: f64) -> String {
    match x {
        0.0 => "0".to_owned(),
        x if !x.is_finite() => "-".to_owned(),
        x if (1e-3..1e6).contains(&x.abs()) => format!("{x:.4}"),
        x => format!("{x:.3e}"),
    }
}

/// The heads of the columns, of which the last one has notes.
const COLUMNS: [&str; 11] =
    ["entry", "type", "shape", "bytes", "min", "max", "mean", "zeros", "uses", "histogram", ""];

fn table(out: &mut impl Write, rows: &[Row]) -> std::io::Result<()> {
    let cells = |row: &Row| {
        let stats = row.stats.as_ref();
        let number = |f: fn(&Stats) -> f64| stats.map_or("-".to_owned(), |stats| short(f(stats)));
        let counted = |count: u64, what| (count > 0).then(|| format!("{count} {what}"));
        let notes = [
            stats.and_then(|stats| counted(stats.nans, "NaN")),
            stats.and_then(|stats| counted(stats.infinities, "infinite")),
            row.same.map(|same| format!("same as {same}")),
            row.name.clone(),
        ];
        [
            row.entry.map_or("-".to_owned(), |entry| entry.to_string()),
            row.dtype.clone(),
            row.shape.clone(),
            ide::words::bytes(row.bytes),
            number(|stats| stats.min),
            number(|stats| stats.max),
            number(|stats| stats.mean),
            stats.map_or("-".to_owned(), |stats| stats.zeros.to_string()),
            row.uses.to_string(),
            stats.map_or_else(|| " ".repeat(BARS), Stats::bars),
            notes.into_iter().flatten().collect::<Vec<_>>().join("  "),
        ]
    };
    let head = COLUMNS.map(str::to_owned);
    let rows: Vec<_> = std::iter::once(head).chain(rows.iter().map(cells)).collect();
    let right = COLUMNS.map(|name| !matches!(name, "type" | "shape" | "histogram" | ""));
    let lines = aligned(&rows, &right, "  ", None);
    lines.iter().try_for_each(|line| writeln!(out, "{line}"))
}

/// The document of `weights --format json`. JSON has no NaN and no infinity: such a number is null.
#[derive(Serialize)]
struct Document<'r> {
    path: &'r str,
    weights: &'r [Row],
}

fn csv(out: &mut impl Write, rows: &[Row]) -> std::io::Result<()> {
    writeln!(out, "entry,type,shape,bytes,min,max,mean,zeros,nans,infinities,uses,same as,name")?;
    for row in rows {
        let stats = row.stats.as_ref().map_or(",,,,,".to_owned(), |s| {
            // A spreadsheet takes `-inf` for a formula.
            let number = |x: f64| if x.is_finite() { x.to_string() } else { String::new() };
            let (min, max, mean) = (number(s.min), number(s.max), number(s.mean));
            format!("{min},{max},{mean},{},{},{}", s.zeros, s.nans, s.infinities)
        });
        let number = |entry: Option<u32>| entry.map(|entry| entry.to_string()).unwrap_or_default();
        let (entry, same) = (number(row.entry), number(row.same));
        let (dtype, shape) = (escape::csv(&row.dtype), escape::csv(&row.shape));
        let name = escape::csv(row.name.as_deref().unwrap_or_default());
        writeln!(out, "{entry},{dtype},{shape},{},{stats},{},{same},{name}", row.bytes, row.uses)?;
    }
    Ok(())
}
