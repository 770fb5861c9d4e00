//! `relay-analyzer check --watch`
//!
//! The system reports changes of folders, because editors replace files. A round checks the files whose
//! contents or settings changed; the databases of those that changed last are kept, so that a further
//! change of them is analysed incrementally.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    ffi::OsString,
    fs::Metadata,
    io::{IsTerminal, Write},
    path::{Path, PathBuf},
    sync::{
        Arc,
        mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    },
    thread,
    time::{Duration, Instant, SystemTime},
};

use notify::{RecommendedWatcher, RecursiveMode, Watcher};

use super::{FileResult, Job, all, jobs, printer::Printer};
use crate::{
    analyzer::{Analyzer, Options},
    cli::{Failure, Outcome, check_args::CheckArgs, found_files, settings::FileSettings},
    progress::Progress,
    project::FILE_NAME,
    report::stderr,
};

/// The time without changes after which files are read: an editor writes a file in several steps.
const QUIET: Duration = Duration::from_millis(50);
/// The longest time that changes may follow one another before files are read.
const LONGEST_WAIT: Duration = Duration::from_millis(500);
/// The number of files whose databases are kept.
const MAX_KEPT: usize = 8;

/// An event.
enum Event {
    /// Something changed at these paths.
    Changed(Vec<PathBuf>),
    /// The system lost events, or cannot watch something.
    Lost,
    /// The user ends the command.
    Stop,
}

pub(super) fn run(args: &CheckArgs) -> Result<Outcome, Failure> {
    if args.paths.iter().any(|path| path.as_os_str() == "-") {
        return Err("`--watch` cannot watch standard input".to_owned().into());
    }
    let (sender, events) = channel();
    stop_on_interrupt(sender.clone())?;
    let send = move |event: notify::Result<notify::Event>| {
        let event = match event {
            // Reading a file causes an event, too.
            Ok(event) if event.kind.is_access() => return,
            Ok(event) if event.need_rescan() => Event::Lost,
            Ok(event) => Event::Changed(event.paths),
            Err(_) => Event::Lost,
        };
        // The receiver lives as long as the process.
        let _ = sender.send(event);
    };
    let watcher = notify::recommended_watcher(send)
        .map_err(|error| format!("files cannot be watched: {error}"))?;
    let mut watch = Watch {
        args,
        watcher,
        watched: BTreeMap::new(),
        names: BTreeSet::new(),
        known: BTreeMap::new(),
        kept: VecDeque::new(),
        outcome: Outcome::Clean,
    };
    watch.round(true)?;
    while watch.wait(&events) {
        watch.round(false)?;
    }
    Ok(watch.outcome)
}

/// Sends [`Event::Stop`] when the user presses Ctrl-C.
fn stop_on_interrupt(sender: Sender<Event>) -> std::io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    let wait = move || {
        if runtime.block_on(tokio::signal::ctrl_c()).is_ok() {
            let _ = sender.send(Event::Stop);
        }
    };
    thread::Builder::new().name("interrupt".into()).spawn(wait)?;
    Ok(())
}

/// The state of a file when it was read: modification time and length.
type Stamp = Option<(Option<SystemTime>, u64)>;

fn stamp(path: &Path) -> Stamp {
    let of = |data: Metadata| (data.modified().ok(), data.len());
    std::fs::metadata(path).ok().map(of)
}

/// The last result of a file, and what it was computed from.
struct LastResult {
    stamp: Stamp,
    options: Arc<Options>,
    result: Result<FileResult, String>,
}

struct Watch<'a> {
    args: &'a CheckArgs,
    watcher: RecommendedWatcher,
    watched: BTreeMap<PathBuf, RecursiveMode>,
    /// The names of files that are checked, which may have any extension.
    names: BTreeSet<OsString>,
    known: BTreeMap<PathBuf, LastResult>,
    /// The databases of files, the one that changed last at the end.
    kept: VecDeque<(PathBuf, Analyzer)>,
    outcome: Outcome,
}

impl Watch<'_> {
    /// Checks the files that changed, and prints all results if any of them did.
    fn round(&mut self, is_first: bool) -> Result<(), Failure> {
        let mut settings = FileSettings::new(&self.args.settings);
        let (files, problems) = found_files(self.args.paths());
        self.watch_folders(&files);
        let jobs = match jobs(files, self.args, &mut settings) {
            Ok(jobs) => jobs,
            Err(Failure::Message(message)) => {
                self.watch_settings(&settings);
                stderr::error(&message);
                self.known.clear();
                self.outcome = Outcome::Unusable;
                return Ok(());
            }
            Err(closed) => return Err(closed),
        };
        self.watch_settings(&settings);
        self.names = jobs.iter().filter_map(|job| job.path.file_name()).map(Into::into).collect();
        let count = self.known.len();
        self.known.retain(|path, _| jobs.iter().any(|job| job.path == *path));
        let is_gone = self.known.len() < count;
        let is_stale = |job: &&Job| {
            self.known
                .get(&job.path)
                .is_none_or(|known| known.options != job.options || known.stamp != stamp(&job.path))
        };
        let stale: Vec<&Job> = jobs.iter().filter(is_stale).collect();
        if stale.is_empty() && !is_gone && !is_first {
            return Ok(());
        }
        self.check(&stale, is_first);
        self.clear();
        let mut printer = Printer::new(self.args, &problems);
        for job in &jobs {
            if let Some(known) = self.known.get(&job.path) {
                printer.print(&known.result)?;
            }
        }
        self.outcome = printer.finish()?;
        if !self.args.quiet {
            stderr::note("waiting for changes; Ctrl-C ends");
        }
        Ok(())
    }

    /// Checks files. Many at once are checked in parallel, and their databases not kept.
    fn check(&mut self, stale: &[&Job], is_first: bool) {
        let stamps: Vec<Stamp> = stale.iter().map(|job| stamp(&job.path)).collect();
        let results: Vec<Result<FileResult, String>> = if is_first || stale.len() > MAX_KEPT {
            let progress = Progress::new(stale.len() > 1, stale.len(), "files");
            all(stale, self.args, &progress)
        } else {
            stale.iter().map(|job| self.check_next(job)).collect()
        };
        for ((job, stamp), result) in stale.iter().zip(stamps).zip(results) {
            let known = LastResult { stamp, options: job.options.clone(), result };
            self.known.insert(job.path.clone(), known);
        }
    }

    /// Checks a file with the database that has its previous version, if there is one.
    fn check_next(&mut self, job: &Job) -> Result<FileResult, String> {
        let at = self.kept.iter().position(|(path, _)| *path == job.path);
        let kept = at.and_then(|at| self.kept.remove(at));
        let mut analyzer = kept.map(|(_, analyzer)| analyzer).unwrap_or_default();
        let result = job.run_next(&mut analyzer, self.args);
        self.kept.push_back((job.path.clone(), analyzer));
        if self.kept.len() > MAX_KEPT {
            self.kept.pop_front();
        }
        result
    }

    /// Clears the screen.
    fn clear(&self) {
        let mut out = std::io::stdout().lock();
        if out.is_terminal() {
            // A failure to write is noticed when the results are printed.
            let _ = out.write_all(b"\x1b[2J\x1b[H").and_then(|()| out.flush());
        }
    }

    /// Watches the folders of the files, and the folders that are checked with all in them. A
    /// `relay.toml` may be created in any folder above them.
    fn watch_folders(&mut self, files: &[PathBuf]) {
        for path in self.args.paths() {
            if path.is_dir() {
                self.watch(path, RecursiveMode::Recursive);
            }
        }
        let all = files.iter().chain(self.args.paths());
        let all: Vec<PathBuf> = all.filter_map(|path| std::path::absolute(path).ok()).collect();
        let folders: BTreeSet<&Path> = all.iter().flat_map(|p| p.ancestors().skip(1)).collect();
        for folder in folders {
            self.watch(folder, RecursiveMode::NonRecursive);
        }
    }

    fn watch_settings(&mut self, settings: &FileSettings<'_>) {
        for file in settings.files() {
            if let Some(folder) = std::path::absolute(file).ok().as_deref().and_then(Path::parent) {
                self.watch(folder, RecursiveMode::NonRecursive);
            }
        }
    }

    /// Watches a folder. One that cannot be watched is tried again in the next round.
    fn watch(&mut self, folder: &Path, mode: RecursiveMode) {
        let Ok(folder) = std::path::absolute(folder) else { return };
        let is_watched = self.watched.iter().any(|(known, how)| match how {
            RecursiveMode::Recursive => folder.starts_with(known),
            RecursiveMode::NonRecursive => mode == *how && *known == folder,
        });
        if !is_watched && self.watcher.watch(&folder, mode).is_ok() {
            self.watched.insert(folder, mode);
        }
    }

    /// Waits until a file or the settings may have changed. Returns false if the command ends.
    fn wait(&self, events: &Receiver<Event>) -> bool {
        let mut begin: Option<Instant> = None;
        loop {
            let event = match begin {
                None => events.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(begin) if begin.elapsed() > LONGEST_WAIT => return true,
                Some(_) => events.recv_timeout(QUIET),
            };
            match event {
                Ok(Event::Changed(paths)) if paths.iter().any(|path| self.concerns(path)) => {
                    begin.get_or_insert_with(Instant::now);
                }
                Ok(Event::Changed(_)) => {}
                Ok(Event::Lost) => {
                    begin.get_or_insert_with(Instant::now);
                }
                Err(RecvTimeoutError::Timeout) => return true,
                Ok(Event::Stop) | Err(RecvTimeoutError::Disconnected) => return false,
            }
        }
    }

    /// Returns true if a change of a path may change results.
    fn concerns(&self, path: &Path) -> bool {
        let is_module = path.extension().is_some_and(|e| e == "relay" || e == "rly");
        let is_settings = path.file_name().is_some_and(|name| name == FILE_NAME)
            || self.args.settings.config.as_deref().and_then(Path::file_name) == path.file_name();
        let is_named = path.file_name().is_some_and(|name| self.names.contains(name));
        is_module || is_settings || is_named || path.is_dir()
    }
}
