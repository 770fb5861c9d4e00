//! Files that the program writes: whatever happens, they have their old content or their new one, and
//! nothing is lost that was only in them.

use std::{
    collections::BTreeSet,
    fs,
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use relay_tests::{
    client::binary,
    command::Folder,
    notes, variables,
    writers::{CODE, WRITERS, Writer, files, net},
};

/// Returns the files of a folder, also in its folders.
fn names(folder: &Path) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let entry = entry.expect("an entry");
        let name = entry.file_name().to_string_lossy().into_owned();
        match entry.file_type().expect("a type").is_dir() {
            true => {
                names.extend(self::names(&entry.path()).iter().map(|it| format!("{name}/{it}")))
            }
            false => drop(names.insert(name)),
        }
    }
    names
}

/// The output of a writer before and after it, and the names of all files after it.
struct Effect {
    before: Vec<u8>,
    after: Vec<u8>,
    names: BTreeSet<String>,
    took: Duration,
}

fn effect(writer: &Writer, name: &str) -> Effect {
    let folder = files(name);
    let before = writer.content(&folder);
    let begin = Instant::now();
    let run = writer.command(&folder).output().expect("the program runs");
    let took = begin.elapsed();
    assert!(run.status.success(), "{writer:?}: {}", String::from_utf8_lossy(&run.stderr));
    let after = writer.content(&folder);
    assert_ne!(before, after, "{writer:?}");
    Effect { before, after, names: names(folder.path()), took }
}

/// Asserts that an interrupted writer has left its old output or its new one, and returns whether it is the
/// new one.
fn is_whole(writer: &Writer, folder: &Folder, effect: &Effect, what: &str) -> bool {
    let found = writer.content(folder);
    let is_new = found == effect.after;
    assert!(is_new || found == effect.before, "{writer:?} {what}: {} bytes", found.len());
    is_new
}

#[test]
fn output_that_is_an_input_is_refused() {
    let folder = files("inputs");
    let path = folder.path();
    fs::write(path.join("p.params"), b"no parameters").expect("a file");
    fs::hard_link(path.join("net.relay"), path.join("hard.relay")).expect("a link");
    #[cfg(unix)]
    std::os::unix::fs::symlink("net.relay", path.join("soft.relay")).expect("a link");
    let before: Vec<_> = names(path)
        .into_iter()
        .map(|name| (fs::read(path.join(&name)).expect("a file"), name))
        .collect();
    let refused: &[&str] = &[
        "lift net.relay -o net.relay",
        "lift net.relay -o ./net.relay",
        "lift net.relay -o hard.relay",
        "lift net.relay -o out.relay --params net.relay",
        "lift saved.json -o saved.json --params p2.npz",
        "strip net.relay -o net.relay",
        "strip net.relay -o out.relay --weights net.relay",
        "strip hard.relay -o net.relay --weights w2.npz",
        "merge code.relay --weights w.npz -o w.npz",
        "bind lifted.relay --params p.npz -o p.npz",
        "bind saved.json --params p.npz -o saved.json",
        "convert saved.json -o saved.json",
        "run net.relay --random 1 --output net.relay",
        "run net.relay --random 1 --expect out.npz --output out.npz",
        "run net.relay --input x=out.npy --output out.npy",
        "run net.relay --params p.params --random 1 --output p.params",
        "weights all/constant_0.npy --save all",
    ];
    let links: &[&str] = match cfg!(unix) {
        true => &[
            "lift soft.relay -o net.relay",
            "lift net.relay -o soft.relay",
            "strip net.relay -o soft.relay",
            "run net.relay --random 1 --output soft.relay",
        ],
        false => &[],
    };
    for line in refused.iter().chain(links) {
        let args: Vec<&str> = line.split(' ').collect();
        let run = folder.run(&args);
        assert_eq!(run.code, Some(2), "{line}: {run:?}");
        let is_about_it = run.err.contains("its content would be lost: name another file");
        // The first is an input that is no module.
        assert!(is_about_it || line.starts_with("weights"), "{line}: {run:?}");
        for (content, name) in &before {
            assert!(fs::read(path.join(name)).is_ok_and(|now| now == *content), "{line}: {name}");
        }
        assert_eq!(names(path).len(), before.len(), "{line}");
    }
}

#[test]
fn two_outputs_on_one_file_are_refused() {
    let folder = files("outputs");
    let (path, net) = (folder.path(), folder.text("net.relay"));
    #[cfg(unix)]
    std::os::unix::fs::symlink("new.relay", path.join("dangling")).expect("a link");
    let before = names(path).len();
    let mut refused = vec![
        "lift net.relay -o net.relay --params net.relay",
        "lift net.relay -o new.relay --params new.relay",
        "lift net.relay -o new.relay --params ./all/../new.relay",
        "strip net.relay -o out.relay --weights out.relay",
    ];
    if cfg!(unix) {
        refused.push("strip net.relay -o new.relay --weights dangling");
    }
    for line in refused {
        let args: Vec<&str> = line.split(' ').collect();
        let run = folder.run(&args);
        assert_eq!(run.code, Some(2), "{line}: {run:?}");
        assert!(run.err.contains("of which one would be lost"), "{line}: {run:?}");
        assert_eq!((names(path).len(), folder.text("net.relay")), (before, net.clone()), "{line}");
    }
}

/// What a command writes over its input contains everything that it has read.
#[test]
fn output_that_contains_its_input_may_replace_it() {
    let folder = files("replaced");
    let works = |args: &[&str]| {
        let run = folder.run(args);
        assert_eq!(run.code, Some(0), "{args:?}: {run:?}");
    };
    works(&["lift", "net.relay", "-o", "net.relay", "--params", "new.npz"]);
    assert!(!folder.text("net.relay").contains("#[metadata]"));
    works(&["bind", "net.relay", "--params", "new.npz", "-o", "net.relay"]);
    assert!(folder.text("net.relay").contains("#[metadata]"));
    works(&["merge", "code.relay", "--weights", "w.npz", "-o", "code.relay"]);
    assert_eq!(folder.text("code.relay"), net());
}

/// A file that is named twice, also by a link, is fixed once.
#[cfg(unix)]
#[test]
fn links_to_named_files_are_fixed_once() {
    for round in 0..10 {
        let folder =
            Folder::new("twice", &[("a.relay", b"def @main(%x: int32) { sub(%x, %x) }\n")]);
        let path = folder.path();
        std::os::unix::fs::symlink("a.relay", path.join("b.relay")).expect("a link");
        fs::hard_link(path.join("a.relay"), path.join("c.relay")).expect("a link");
        for command in [&["check", "--fix"][..], &["fmt"]] {
            let run = folder.run(&[command, &["a.relay", "b.relay", "c.relay"]].concat());
            assert_eq!(run.code, Some(0), "{round}: {run:?}");
        }
        assert!(folder.text("a.relay").contains("subtract(%x, %x)"));
        assert_eq!(folder.text("c.relay"), folder.text("a.relay"));
        assert!(fs::symlink_metadata(path.join("b.relay")).is_ok_and(|data| data.is_symlink()));
    }
}

/// The largest size of a file is a full disk for a program: a write is short, and the next one fails.
#[cfg(unix)]
#[test]
fn full_disk_leaves_the_old_content() {
    let mut failures = 0;
    for writer in WRITERS {
        let effect = effect(writer, "full");
        // In blocks of 512 or 1,024 bytes, by the shell.
        for blocks in [0, 1, 3, 7] {
            let folder = files("full");
            let before = names(folder.path());
            let limited = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\"");
            let mut command = Command::new("sh");
            command.args(["-c", &limited]).arg(binary()).args(writer.args);
            let run = command.current_dir(folder.path()).output().expect("a shell");
            let is_new = is_whole(writer, &folder, &effect, "with a full disk");
            assert!(is_new || run.status.code() == Some(2), "{writer:?}: {run:?}");
            if !is_new {
                failures += 1;
                let message = String::from_utf8_lossy(&run.stderr);
                assert!(message.contains("cannot write `"), "{writer:?}: {message}");
            }
            // Also no temporary file is left.
            let after = names(folder.path());
            assert!(after.is_superset(&before) && after.is_subset(&effect.names), "{after:?}");
        }
    }
    assert!(failures > WRITERS.len(), "{failures} failures");
}

/// System calls that fail, each time or once. `strace` injects the errors.
#[cfg(target_os = "linux")]
#[test]
fn failing_system_calls_leave_the_old_content() {
    let works = |output: &std::process::Output| output.status.success();
    if !Command::new("strace").args(["-o", "/dev/null", "true"]).output().is_ok_and(|it| works(&it))
    {
        return notes::skip("strace, which injects errors, does not work", "RELAY_STRACE_REQUIRED");
    }
    let calls = "openat write copy_file_range fsync fchmod renameat renameat2 unlinkat";
    let errors = ["ENOSPC", "EIO", "ESTALE"];
    let (mut number, mut failures) = (0, 0);
    for writer in WRITERS {
        let effect = effect(writer, "faults");
        for call in calls.split(' ') {
            // The last calls are those of the file; opening a library fails early.
            let times: &[&str] = match call {
                "openat" => &["40+", "44", "45"],
                _ => &["1+", "1", "2"],
            };
            for when in times {
                number += 1;
                let error = errors[number % errors.len()];
                let folder = files("faults");
                let before = names(folder.path());
                let mut command = Command::new("strace");
                command.args(["-f", "-o", "/dev/null", "-e", &format!("trace={call}")]);
                command.args(["-e", &format!("inject={call}:error={error}:when={when}")]);
                command.arg(binary()).args(writer.args).current_dir(folder.path());
                let run = command.output().expect("strace runs");
                let what = format!("with {call}:{error}:{when}");
                let is_new = is_whole(writer, &folder, &effect, &what);
                failures += usize::from(!is_new);
                assert!(is_new || !run.status.success(), "{writer:?} {what}: {run:?}");
                // A file that cannot be removed is left.
                if call != "unlinkat" {
                    let after = names(folder.path());
                    assert!(after.is_superset(&before), "{writer:?} {what}: {after:?}");
                    assert!(after.is_subset(&effect.names), "{writer:?} {what}: {after:?}");
                }
            }
        }
    }
    assert!(failures > 2 * WRITERS.len(), "{failures} failures");
}

/// `RELAY_KILLS` kills at random moments, over all writers.
#[cfg(unix)]
#[test]
fn killed_writers_leave_whole_files() {
    let kills = variables::number("RELAY_KILLS", 140);
    notes::note(&format!("kills the program {kills} times (RELAY_KILLS)"));
    let mut random = fastrand::Rng::with_seed(13);
    let effects: Vec<Effect> = WRITERS.iter().map(|writer| effect(writer, "kills")).collect();
    let (mut killed, mut old) = (0, 0);
    for round in 0..kills {
        let writer = &WRITERS[round % WRITERS.len()];
        let effect = &effects[round % WRITERS.len()];
        let folder = files("kills");
        let mut child = writer
            .command(&folder)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program starts");
        std::thread::sleep(effect.took.mul_f64(random.f64() * 1.2));
        // It may have ended.
        let _ = child.kill();
        let status = child.wait().expect("it ends");
        let is_new = is_whole(writer, &folder, effect, "killed");
        assert!(is_new || !status.success(), "{writer:?} ended without writing");
        killed += usize::from(status.code().is_none());
        old += usize::from(!is_new);
        for name in names(folder.path()).difference(&effect.names) {
            assert!(name.contains(".relay-") && name.ends_with(".tmp"), "{name}");
        }
    }
    eprintln!("{killed} of {kills} killed, {old} before the file was written");
    assert!(killed > 0, "every writer ended before it was killed");
}

#[cfg(unix)]
#[test]
fn pipes_and_devices_are_written_through() {
    use std::os::unix::fs::FileTypeExt;

    let folder = files("through");
    let path = folder.path();
    let works = |args: &[&str]| {
        let run = folder.run(args);
        assert_eq!(run.code, Some(0), "{args:?}: {run:?}");
        run.out
    };
    works(&["strip", "net.relay", "-o", "code.relay"]);
    let code = folder.text("code.relay");
    let devices = fs::read_dir("/dev").expect("devices").count();
    assert_eq!(works(&["strip", "net.relay", "-o", "/dev/stdout"]), code);
    works(&["strip", "net.relay", "-o", "/dev/null", "--weights", "/dev/null"]);
    let null = fs::metadata("/dev/null").expect("a device");
    assert!(null.file_type().is_char_device());
    assert_eq!(fs::read_dir("/dev").expect("devices").count(), devices);
    // Standard output that is a file is appended to.
    let shell = |line: &str| {
        let run = Command::new("sh").args(["-c", line]).arg(binary()).current_dir(path).status();
        assert!(run.is_ok_and(|status| status.success()), "{line}");
    };
    shell("{ echo first; \"$0\" strip net.relay -o /dev/stdout; } > both.txt");
    assert_eq!(folder.text("both.txt"), format!("first\n{code}"));
    shell("echo first > fd.txt; \"$0\" strip net.relay -o /dev/fd/3 3>> fd.txt");
    assert_eq!(folder.text("fd.txt"), format!("first\n{code}"));
    shell("mkfifo pipe; cat pipe > piped.txt & \"$0\" strip net.relay -o pipe; wait");
    assert_eq!(folder.text("piped.txt"), code);
    assert!(fs::metadata(path.join("pipe")).expect("a pipe").file_type().is_fifo());
    // Links are followed, also to files that do not exist.
    for target in ["made.relay", "out.relay"] {
        let link = path.join("link.relay");
        std::os::unix::fs::symlink(target, &link).expect("a link");
        works(&["strip", "net.relay", "-o", "link.relay"]);
        assert_eq!(folder.text(target), code);
        assert!(fs::symlink_metadata(&link).is_ok_and(|data| data.is_symlink()));
        fs::remove_file(link).expect("a link");
    }
    let fails = |output: &str, what: &str| {
        let run = folder.run(&["strip", "net.relay", "-o", output]);
        assert!(run.code == Some(2) && run.err.contains(what), "{output}: {run:?}");
    };
    fails("all", "it is a folder");
    fails("none/out.relay", "No such file");
    std::os::unix::fs::symlink("ring", path.join("ring")).expect("a link");
    fails("ring", "it is a link to itself");
}

/// The longest name of a file leaves no room for a longer one.
#[test]
fn files_with_long_names_are_written() {
    let name = "n".repeat(249) + ".relay";
    let folder = Folder::new("long", &[(&name, b"def @main(){1}\n")]);
    let run = folder.run(&["fmt", &name]);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert_eq!(folder.text(&name), "def @main() {\n  1\n}\n");
}

/// A file with the name of another program's temporary file belongs to the user. In containers, all commands
/// have the same number.
#[cfg(unix)]
#[test]
fn only_files_of_the_command_are_removed() {
    let folder = files("own");
    // The shell has the number of the command that replaces it.
    let line = "echo mine > out.relay.$$.tmp; exec \"$0\" strip net.relay -o out.relay";
    let commands: Vec<_> = (0..12)
        .map(|_| {
            let mut command = Command::new("sh");
            command.args(["-c", line]).arg(binary()).current_dir(folder.path());
            command.spawn().expect("the program starts")
        })
        .collect();
    let before = names(files("before").path()).len();
    for mut command in commands {
        assert!(command.wait().is_ok_and(|status| status.success()));
    }
    assert_eq!(names(folder.path()).len(), before + 12);
    assert!(folder.text("out.relay").starts_with(CODE));
}

#[cfg(unix)]
#[test]
fn mode_owner_and_attributes_are_kept() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};

    use rustix::fs::{XattrFlags, getxattr, setxattr};

    let folder = files("kept");
    let path = folder.path().join("plain.relay");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o2751)).expect("a mode");
    let is_root = fs::metadata(&path).is_ok_and(|data| data.uid() == 0);
    if is_root {
        std::os::unix::fs::chown(&path, Some(1234), Some(4321)).expect("an owner");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o2751)).expect("a mode");
    }
    // Version 2; the owner, user 4321, the group, the mask and others, each with its rights.
    let mut list = 2u32.to_le_bytes().to_vec();
    let entries = [
        (1u16, 7u16, u32::MAX),
        (2, 6, 4321),
        (4, 5, u32::MAX),
        (16, 7, u32::MAX),
        (32, 1, u32::MAX),
    ];
    for (kind, rights, user) in entries {
        list.extend(kind.to_le_bytes());
        list.extend(rights.to_le_bytes());
        list.extend(user.to_le_bytes());
    }
    let attributes = [("user.origin", b"a notebook".to_vec()), ("system.posix_acl_access", list)];
    let set = |(name, value): &&(&str, Vec<u8>)| {
        // Not every file system has them.
        setxattr(&path, *name, value, XattrFlags::empty()).is_ok()
    };
    let attributes: Vec<_> = attributes.iter().filter(set).collect();
    let before = fs::metadata(&path).expect("a file");
    for command in [&["fmt", "plain.relay"][..], &["check", "--fix", "plain.relay"]] {
        let text = folder.text("plain.relay");
        // A file system may give the number of the file before the last one again.
        let replaced = fs::metadata(&path).expect("a file").ino();
        let run = folder.run(command);
        assert_eq!(run.code, Some(0), "{run:?}");
        assert_ne!(folder.text("plain.relay"), text);
        let after = fs::metadata(&path).expect("a file");
        let kept = |data: &fs::Metadata| (data.mode(), data.uid(), data.gid());
        assert_eq!(kept(&after), kept(&before));
        assert_ne!(after.ino(), replaced);
    }
    for (name, value) in attributes {
        let mut found = vec![0; 1_024];
        let length = getxattr(&path, *name, found.as_mut_slice()).expect("the attribute");
        assert_eq!(found[..length], **value, "{name}");
    }
    // A file that may not be written to is not replaced, although its folder permits it.
    if !is_root {
        fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).expect("a mode");
        let run = folder.run(&["strip", "net.relay", "-o", "plain.relay"]);
        assert!(run.code == Some(2) && run.err.contains("Permission denied"), "{run:?}");
    }
}

/// Other hard links have the new content, too.
#[cfg(unix)]
#[test]
fn hard_links_are_kept() {
    use std::os::unix::fs::MetadataExt;

    for writer in WRITERS {
        let folder = files("hard");
        let (output, other) = (folder.path().join(writer.output), folder.path().join("other"));
        fs::hard_link(&output, &other).expect("a link");
        let inode = fs::metadata(&output).expect("a file").ino();
        let run = writer.command(&folder).output().expect("the program runs");
        assert!(run.status.success(), "{writer:?}: {run:?}");
        assert_eq!(fs::metadata(&output).expect("a file").ino(), inode, "{writer:?}");
        assert_eq!(fs::read(&other).expect("a file"), writer.content(&folder), "{writer:?}");
        let mut expected = effect(writer, "single").names;
        expected.insert("other".to_owned());
        assert_eq!(names(folder.path()), expected, "{writer:?}");
    }
}

/// A file whose folder takes no new file is written in place.
#[cfg(unix)]
#[test]
fn files_in_locked_folders_are_written_in_place() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};

    let folder = files("locked");
    let path = folder.path();
    if fs::metadata(path).is_ok_and(|data| data.uid() == 0) {
        // A mount that is a file has the same effect for root, who may write to every folder.
        let line = "mount --bind plain.relay out.relay && \"$0\" strip net.relay -o out.relay && cat out.relay";
        let mounts = Command::new("unshare").args(["-m", "true"]).status();
        if !mounts.is_ok_and(|status| status.success()) {
            return notes::note_skipped(
                "the user is root, who may write everywhere, and cannot mount",
            );
        }
        let mut command = Command::new("unshare");
        command.args(["-m", "sh", "-c", line]).arg(binary()).current_dir(path);
        let run = command.output().expect("a shell");
        let text = String::from_utf8_lossy(&run.stdout);
        assert!(text.starts_with(CODE), "{run:?}");
        assert_eq!(folder.text("plain.relay"), text);
        return;
    }
    let mode =
        |mode: u32| fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("a mode");
    mode(0o555);
    let run = folder.run(&["strip", "net.relay", "-o", "out.relay"]);
    let missing = folder.run(&["strip", "net.relay", "-o", "new.relay"]);
    mode(0o755);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(folder.text("out.relay").starts_with(CODE));
    assert!(missing.code == Some(2) && missing.err.contains("Permission denied"), "{missing:?}");
}

#[test]
fn line_breaks_and_byte_order_marks_are_kept() {
    let plain = "\u{FEFF}def @main(%x: int32) {\r\n  sub(%x, %x)\r\n}\r\n";
    let net = format!("\u{FEFF}{}", net().replace('\n', "\r\n"));
    let folder =
        Folder::new("breaks", &[("plain.relay", plain.as_bytes()), ("net.relay", net.as_bytes())]);
    let works = |args: &[&str]| {
        let run = folder.run(args);
        assert_eq!(run.code, Some(0), "{args:?}: {run:?}");
    };
    let is_kept = |name: &str| {
        let text = folder.text(name);
        assert!(text.starts_with('\u{FEFF}'), "{name}: {text}");
        assert!(!text.replace("\r\n", "").contains(['\n', '\r']), "{name}: {text:?}");
        text
    };
    works(&["check", "--fix", "plain.relay"]);
    let fixed = is_kept("plain.relay");
    assert!(fixed.contains("#[version") && fixed.contains("subtract"), "{fixed}");
    works(&["fmt", "plain.relay"]);
    is_kept("plain.relay");
    works(&["strip", "net.relay", "-o", "code.relay", "--weights", "w.npz"]);
    is_kept("code.relay");
    for weights in ["w.npz", "net.relay"] {
        works(&["merge", "code.relay", "--weights", weights, "-o", "again.relay"]);
        assert_eq!(folder.text("again.relay"), net);
    }
    works(&["lift", "net.relay", "-o", "lifted.relay", "--params", "p.npz"]);
    is_kept("lifted.relay");
    works(&["bind", "lifted.relay", "--params", "p.npz", "-o", "bound.relay"]);
    is_kept("bound.relay");
    works(&["run", "bound.relay", "--random", "1", "--output", "one.npy"]);
    works(&["run", "net.relay", "--random", "1", "--output", "two.npy"]);
    let read = |name: &str| fs::read(folder.path().join(name)).expect("a result");
    assert_eq!(read("one.npy"), read("two.npy"));
}
