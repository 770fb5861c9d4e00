//! Files that other programs change while they are read or saved.

use std::{
    fs,
    path::Path,
    sync::{
        Arc, Barrier,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use relay_tests::{
    bound::{Tensor, section},
    client::Client,
    command::Folder,
    figures::WATCHDOG,
    notes::note,
    variables::number,
    writers::{CODE, net},
};
use serde_json::{Value, json};

/// Returns a module of which code and section have other lengths for each number.
fn other(number: usize) -> String {
    let mut random = fastrand::Rng::with_seed(number as u64);
    let tensors = [[2, 300], [2, 300], [1, 300]].map(|shape| Tensor::drawn(&shape, &mut random));
    format!("{CODE}// {}\n{}", "other ".repeat(number % 50), section(&tensors))
}

/// The code view of a file.
struct View {
    uri: String,
    stamp: Value,
    text: String,
}

fn view(client: &mut Client, path: &Path) -> View {
    let uri = format!("file://{}", path.display());
    let opened = client.request("relay/codeView", json!({ "uri": uri }));
    let text = opened["result"]["text"].as_str().unwrap_or_else(|| panic!("{opened}")).to_owned();
    View { uri, stamp: opened["result"]["stamp"].clone(), text }
}

/// Asks for a save of edited code; returns the number of the request.
fn ask(client: &mut Client, view: &View, edit: &str) -> i64 {
    let text = view.text.replacen("#[metadata]", &format!("// {edit}\n#[metadata]"), 1);
    let params = json!({ "uri": view.uri, "stamp": view.stamp, "text": text });
    client.ask("relay/saveCode", params)
}

/// Returns the new stamp if a save was acknowledged.
fn stamp_of(answer: &Value) -> Option<&str> {
    assert!(answer.get("error").is_none(), "{answer}");
    answer["result"]["stamp"].as_str()
}

/// Another program replaces the file at any moment of a save: its version is kept, and the state that the
/// client gets is not that of another file, whose bytes the next save would mix with those of this one.
#[test]
fn saves_keep_what_another_program_writes() {
    let folder = Folder::new("race", &[("net.relay", net().as_bytes())]);
    let path = folder.path().join("net.relay");
    let mut client = Client::start();
    let mut random = fastrand::Rng::with_seed(3);
    let (mut acknowledged, mut took) = (0, Duration::ZERO);
    let races = number("RELAY_RACES", 200);
    note(&format!("{races} races of two programs (RELAY_RACES)"));
    for round in 0..races {
        let view = view(&mut client, &path);
        let (theirs, text) = (folder.path().join("theirs"), other(round));
        fs::write(&theirs, &text).expect("a file");
        let delay = took.mul_f64(random.f64() * 1.3);
        let renamed = std::thread::spawn({
            let path = path.clone();
            move || {
                std::thread::sleep(delay);
                fs::rename(theirs, path).expect("it is replaced");
            }
        });
        let begin = std::time::Instant::now();
        let id = ask(&mut client, &view, &format!("edit {round}"));
        let answer = client.answer(id);
        took = (took + begin.elapsed()).div_f64(if round == 0 { 1.0 } else { 2.0 });
        renamed.join().expect("it is replaced");
        assert!(folder.text("net.relay") == text, "round {round}: {answer}");
        if let Some(stamp) = stamp_of(&answer) {
            acknowledged += 1;
            let again = View { stamp: json!(stamp), ..view };
            let id = ask(&mut client, &again, "more");
            assert_eq!(stamp_of(&client.answer(id)), None, "round {round}");
            assert!(folder.text("net.relay") == text, "round {round}");
        }
    }
    eprintln!("{acknowledged} saves were first");
    assert_eq!(client.finish(), Some(0));
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1);
}

/// Of several saves of the same state one is acknowledged, and the file has its code: in one server and in
/// several.
#[test]
fn one_of_several_saves_is_acknowledged() {
    for servers in [1, 2, 3] {
        let folder = Folder::new("several", &[("net.relay", net().as_bytes())]);
        let path = folder.path().join("net.relay");
        let mut clients: Vec<Client> = (0..servers).map(|_| Client::start()).collect();
        for round in 0..40 / servers {
            let views: Vec<View> = clients.iter_mut().map(|client| view(client, &path)).collect();
            let saves = 6 / servers;
            let ids: Vec<Vec<i64>> = (0..saves)
                .map(|save| {
                    let clients = clients.iter_mut().zip(&views).enumerate();
                    clients
                        .map(|(at, (client, view))| ask(client, view, &format!("by {at}, {save}")))
                        .collect()
                })
                .collect();
            let mut winners = Vec::new();
            for (save, ids) in ids.iter().enumerate() {
                for (at, (client, &id)) in clients.iter_mut().zip(ids).enumerate() {
                    if stamp_of(&client.answer(id)).is_some() {
                        winners.push(format!("// by {at}, {save}\n#[metadata]"));
                    }
                }
            }
            assert_eq!(winners.len(), 1, "{servers} servers, round {round}: {winners:?}");
            let text = folder.text("net.relay");
            assert!(text.contains(&winners[0]), "{servers} servers, round {round}");
            let at = text.find("#[metadata]").expect("a section");
            assert!(net().ends_with(&text[at..]), "round {round}: the section has changed");
        }
        for client in clients {
            assert_eq!(client.finish(), Some(0));
        }
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1);
    }
}

/// A server that is killed during a save leaves the old file or the new one. `RELAY_KILLS` kills.
#[cfg(unix)]
#[test]
fn killed_servers_leave_whole_files() {
    let mut random = fastrand::Rng::with_seed(5);
    let mut took = Duration::ZERO;
    for round in 0..number("RELAY_KILLS", 20) {
        let folder = Folder::new("killed", &[("net.relay", net().as_bytes())]);
        let mut client = Client::start();
        let view = view(&mut client, &folder.path().join("net.relay"));
        let begin = std::time::Instant::now();
        let id = ask(&mut client, &view, "edit");
        // The first one measures.
        if round == 0 {
            assert!(stamp_of(&client.answer(id)).is_some());
            took = begin.elapsed();
        }
        std::thread::sleep(took.mul_f64(random.f64() * 1.2));
        let kill =
            std::process::Command::new("kill").args(["-9", &client.id().to_string()]).status();
        assert!(kill.is_ok_and(|status| status.success()));
        assert_eq!(client.exit_code(WATCHDOG), None);
        let text = folder.text("net.relay");
        assert!(text == net() || text == net().replace("#[metadata]", "// edit\n#[metadata]"));
    }
}

/// Lets another thread truncate and restore a file in place until `work` is done.
fn while_it_shrinks(path: &Path, text: &str, work: impl FnOnce()) {
    let (done, barrier) = (Arc::new(AtomicBool::new(false)), Arc::new(Barrier::new(2)));
    let thread = std::thread::spawn({
        let (done, barrier) = (done.clone(), barrier.clone());
        let (path, text) = (path.to_owned(), text.to_owned());
        move || {
            let mut random = fastrand::Rng::with_seed(1);
            barrier.wait();
            while !done.load(Ordering::Relaxed) {
                let file = fs::File::options().write(true).open(&path).expect("the file");
                file.set_len(random.u64(..text.len() as u64)).expect("it is truncated");
                std::thread::sleep(Duration::from_micros(random.u64(..2_000)));
                fs::write(&path, &text).expect("it is restored");
                std::thread::sleep(Duration::from_micros(random.u64(..4_000)));
            }
        }
    });
    barrier.wait();
    work();
    done.store(true, Ordering::Relaxed);
    thread.join().expect("no panic");
}

/// A file that is truncated while it is read is an error: it does not end the program.
#[test]
fn truncated_files_end_no_command() {
    // Large enough to be truncated while it is read.
    let mut random = fastrand::Rng::with_seed(1);
    let tensors: Vec<Tensor> = (0..4).map(|_| Tensor::drawn(&[300, 1_000], &mut random)).collect();
    let text = format!("{CODE}{}", section(&tensors));
    let folder =
        Folder::new("shrinks", &[("net.relay", text.as_bytes()), ("code.relay", CODE.as_bytes())]);
    let (mut works, mut fails) = (0, 0);
    while_it_shrinks(&folder.path().join("net.relay"), &text, || {
        for round in 0..number("RELAY_SHRINKS", 12) {
            for args in [
                &["strip", "net.relay", "-o", "out.relay"][..],
                &["strip", "net.relay", "-o", "out.relay", "--weights", "out.npz"],
                &["weights", "net.relay", "--format", "json"],
                &["merge", "code.relay", "--weights", "net.relay", "-o", "merged.relay"],
                &["check", "net.relay"],
                &["lift", "net.relay", "-o", "out.relay", "--params", "out.npz"],
            ] {
                let run = folder.run(args);
                // A signal leaves no exit code.
                match run.code {
                    Some(0) => works += 1,
                    Some(1 | 2) => fails += 1,
                    code => panic!("round {round}: {args:?}: {code:?}: {}", run.err),
                }
                if args[0] == "merge" && run.code == Some(0) {
                    // It may have been read when it was short.
                    let merged = folder.text("merged.relay");
                    assert!(text.starts_with(&merged), "round {round}: a mixture was written");
                }
            }
        }
    });
    eprintln!("{works} commands worked, {fails} failed");
}

#[test]
fn truncated_files_end_no_server() {
    let mut random = fastrand::Rng::with_seed(1);
    let tensors: Vec<Tensor> = (0..4).map(|_| Tensor::drawn(&[300, 1_000], &mut random)).collect();
    let text = format!("{CODE}{}", section(&tensors));
    let folder = Folder::new("served", &[("net.relay", text.as_bytes())]);
    let path = folder.path().join("net.relay");
    let mut client = Client::start();
    let uri = format!("file://{}", path.display());
    let (mut opened, mut refused) = (0, 0);
    while_it_shrinks(&path, &text, || {
        for _ in 0..number("RELAY_SHRINKS", 12) * 6 {
            let answer = client.request("relay/codeView", json!({ "uri": uri }));
            match answer["result"]["stamp"].is_string() {
                true => opened += 1,
                false => refused += 1,
            }
            if let Some(text) = answer["result"]["text"].as_str() {
                let params =
                    json!({ "uri": uri, "stamp": answer["result"]["stamp"], "text": text });
                client.request("relay/saveCode", params);
            }
        }
    });
    eprintln!("{opened} views were opened, {refused} refused");
    assert_eq!(client.finish(), Some(0));
}

/// The files of the prelude, which an editor opens, are written to a folder of this user alone, never through
/// a link that another user may have created.
#[cfg(unix)]
#[test]
fn prelude_is_written_to_a_private_folder() {
    use std::os::unix::fs::{PermissionsExt, symlink};

    let folder = Folder::new("cache", &[("theirs.txt", b"theirs"), ("elsewhere/a.txt", b"a")]);
    let path = folder.path();
    let text = "def @main() { @hd(Cons(1, Nil)) }\n";
    let define = |variables: &[(&str, &Path)]| {
        let mut server = std::process::Command::new(relay_tests::client::binary());
        server.env_remove("XDG_CACHE_HOME").env_remove("HOME").envs(variables.iter().copied());
        let abilities = json!({ "general": { "positionEncodings": ["utf-8"] } });
        let mut client = Client::run(&mut server).shake_hands(abilities, Value::Null);
        client.open("file:///work/a.relay", text);
        let place = relay_tests::client::at("file:///work/a.relay", 0, 16);
        let answer = client.request("textDocument/definition", place);
        assert_eq!(client.finish(), Some(0));
        let uri = answer["result"]["uri"].as_str().or(answer["result"][0]["uri"].as_str());
        uri.and_then(|uri| uri.strip_prefix("file://")).map(std::path::PathBuf::from)
    };
    let own = path.join("cache/relay-analyzer");
    for variables in [
        &[("XDG_CACHE_HOME", path.join("cache"))][..],
        &[("XDG_CACHE_HOME", path.join("")), ("TMPDIR", path.join("cache"))],
        &[("TMPDIR", path.join("cache"))],
    ] {
        let variables: Vec<_> = variables.iter().map(|(name, path)| (*name, &**path)).collect();
        let _ = fs::remove_dir_all(&own);
        let file = define(&variables[..]).expect("a file");
        assert!(fs::read_to_string(&file).is_ok_and(|text| text.contains("@hd")), "{file:?}");
        let own = file.ancestors().find(|it| it.ends_with("relay-analyzer")).expect("a folder");
        let mode = fs::metadata(own).expect("a folder").permissions().mode();
        assert_eq!(mode & 0o077, 0, "{mode:o}");
        // A file that was changed is written again, and a link in its place is not followed.
        fs::remove_file(&file).expect("a file");
        symlink(path.join("theirs.txt"), &file).expect("a link");
        assert_eq!(define(&variables[..]), Some(file.clone()));
        assert_eq!(folder.text("theirs.txt"), "theirs");
        assert!(fs::symlink_metadata(&file).is_ok_and(|data| data.is_file()));
    }
    // A folder that somebody has created as a link.
    fs::remove_dir_all(&own).expect("a folder");
    symlink(path.join("elsewhere"), &own).expect("a link");
    assert_eq!(define(&[("XDG_CACHE_HOME", &path.join("cache"))]), None);
    assert_eq!(fs::read_dir(path.join("elsewhere")).expect("a folder").count(), 1);
}
