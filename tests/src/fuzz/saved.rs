//! Files that TVM saved: whatever they say of themselves, they are converted or refused with one
//! message, soon, and an archive is read nowhere but inside.

use std::{
    io::{self, Cursor, Read, Seek, SeekFrom},
    ops::Range,
    time::{Duration, Instant},
};

use saved::Plan;

use crate::figures::WATCHDOG;

/// The maximum time of a conversion. It has a thread of its own, so that it is not the CPU time of
/// this one.
const MAX_WAIT: Duration = WATCHDOG;
/// Longer messages are no help to anybody.
const MAX_MESSAGE: usize = 600;

fn one_message(error: &saved::Error) {
    let message = error.to_string();
    assert!(!error.message.is_empty(), "an error without a message");
    assert!(message.chars().count() <= MAX_MESSAGE, "a long message: {message}");
    assert!(!message.contains('\n'), "a message of several lines: {message}");
}

/// Converts what `tvm.ir.save_json` wrote, and reads the plan of a compiled module.
pub fn json(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let begin = Instant::now();
    let _ = (saved::is_saved(input), saved::is_plan(input));
    if let Err(error) = Plan::read(text) {
        one_message(&error);
    }
    match saved::convert(text) {
        Ok(module) => assert!(module.starts_with("#[version = "), "no version"),
        Err(error) => one_message(&error),
    }
    let took = begin.elapsed();
    assert!(took < MAX_WAIT, "it takes {took:?}");
}

/// A file that notes how far it is read.
struct NotingFile<'f> {
    file: Cursor<&'f [u8]>,
    /// The bytes that were read in all.
    read: u64,
}

impl Read for NotingFile<'_> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read(to)?;
        self.read += count as u64;
        Ok(count)
    }
}

impl Seek for NotingFile<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

/// Opens an archive of TVM.
pub fn archive(input: &[u8]) {
    let begin = Instant::now();
    let length = input.len() as u64;
    let _ = saved::is_archive(input);
    let mut file = NotingFile { file: Cursor::new(input), read: 0 };
    match saved::open(&mut file, length) {
        Ok(package) => {
            assert!(package.text.is_some() || package.plan.is_some(), "an empty package");
            let is_inside = |range: Range<u64>| range.start <= range.end && range.end <= length;
            assert!(package.params.is_none_or(is_inside), "the parameters are outside");
        }
        Err(error) => one_message(&error),
    }
    // The headers once, and each entry once at most: they do not overlap in a file that is accepted.
    assert!(file.read <= 4 * length + 4096, "{} bytes of {length} are read", file.read);
    let took = begin.elapsed();
    assert!(took < MAX_WAIT, "it takes {took:?}");
}
