//! The lines of `docs/install.md` for Neovim, each in a new home folder: the plugin starts the server, and has its help.

use std::{fs, os::unix::fs::symlink, path::Path, process::Command};

use super::{
    installed,
    readmes::{self, Home},
    root, run,
};

/// What lazy.nvim does with a plugin of an init file: after the detection of file types, it puts the folder of the
/// plugin on the runtimepath, loads that folder, and calls `config`.
const LAZY: &str = r#"
vim.cmd('filetype plugin indent on')
local loader = {}
function loader.packadd(folder)
  for _, kind in ipairs({ 'plugin', 'ftdetect' }) do
    for _, file in ipairs(vim.fn.sort(vim.fn.glob(folder .. '/' .. kind .. '/*.{lua,vim}', false, true))) do
      vim.cmd.source(file)
    end
  end
end
package.loaded['lazy.core.loader'] = loader
local plugin = SPEC
vim.go.loadplugins = false
plugin.dir = vim.fn.expand(plugin.dir or '~/src/relay-analyzer')
vim.opt.runtimepath:prepend(plugin.dir)
loader.packadd(plugin.dir)
if plugin.config then
  plugin.config(plugin)
end
"#;

/// Makes the clone a repository, which Neovim fetches in place of the one of the address.
fn publish(home: &Home, command: &mut Command) {
    let clone = home.clone();
    let git = |arguments: &[&str]| {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=a", "-c", "user.email=a@example.org"]).args(arguments);
        let output = git.current_dir(&clone).output().expect("git runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    if !clone.join(".git").exists() {
        git(&["init", "--quiet"]);
        git(&["add", "--force", "editors/neovim"]);
        git(&["commit", "--quiet", "--message", "plugin"]);
    }
    command.envs([
        ("GIT_CONFIG_COUNT", "1".to_owned()),
        ("GIT_CONFIG_KEY_0", format!("url.file://{}.insteadOf", clone.display())),
        ("GIT_CONFIG_VALUE_0", "https://github.com/relay-analyzer/relay-analyzer".to_owned()),
    ]);
}

/// Each block of Lua of `docs/install.md`, with each version.
#[test]
fn lines_of_the_installation_of_neovim_start_the_server() {
    for name in ["neovim", "neovim-latest"] {
        let Some(nvim) = installed(&format!("{name}/usr/bin/nvim"), name) else { continue };
        let mut followed = 0;
        for (language, block) in readmes::blocks("docs/install.md") {
            if language == "lua" && (name == "neovim-latest" || !block.contains("vim.pack")) {
                follow(&format!("{name}-install-{followed}"), &nvim, &block);
                followed += 1;
            }
        }
        assert_eq!(followed, if name == "neovim" { 3 } else { 4 });
    }
}

fn follow(name: &str, nvim: &Path, block: &str) {
    let home = Home::new(name);
    home.has_server();
    symlink(nvim, home.programs.join("nvim")).expect("a link in target");
    let config = home.folder.join(".config/nvim");
    fs::create_dir_all(&config).expect("a folder in target");
    let init = match block.starts_with('{') {
        true => LAZY.replace("SPEC", block),
        // Nobody is there to confirm the installation.
        false => block.replace("}, {\n  load", "}, {\n  confirm = false,\n  load"),
    };
    fs::write(config.join("init.lua"), init).expect("a file");
    let mut command = home.command(nvim);
    if block.contains("vim.pack") {
        publish(&home, &mut command);
    }
    command.args(["--headless", "tests/examples/broken-attention.relay", "-c"]);
    let script = root().join("tests/editors/neovim/fresh.lua");
    command.arg(format!("luafile {}", script.display()));
    let printed = run(&mut command);
    assert!(printed.contains("error shape-mismatch"), "{block}\n{printed}");
}

/// The index of the help is in the repository, since no way of installing has to make it.
#[test]
fn the_tags_of_the_help_are_current() {
    let Some(nvim) = installed("neovim/usr/bin/nvim", "neovim") else { return };
    let folder = super::scratch("neovim-tags");
    let plugin = root().join("editors/neovim/doc");
    fs::copy(plugin.join("relay-analyzer.txt"), folder.join("relay-analyzer.txt"))
        .expect("a file in target");
    let tags = format!("helptags {}", folder.display());
    let done = Command::new(nvim).args(["--clean", "--headless", "-c", &tags, "-c", "q"]).output();
    assert!(done.expect("Neovim runs").status.success());
    let read = |folder: &Path| fs::read_to_string(folder.join("tags")).expect("the tags");
    assert_eq!(read(&plugin), read(&folder));
}
