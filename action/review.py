"""Annotates a run with the findings of Relay modules, and comments the diff of those that a pull request
changes. It needs git, Python 3.8 and the program that RELAY_ANALYZER names; see action.yml for its settings.

The files of a pull request and their names are untrusted. Versions are read from git's objects, never through
the work tree, where a name may be a link to a file outside of the repository; names reach workflow commands,
Markdown and HTML only through a function for each of them: `escaped_data` and `escaped_property`, `code` and
`plain`, `fenced` and `summary`.
"""

import html
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request

MARK = "<!-- relay-analyzer -->"
#: The limit of GitHub is 65,536 characters.
MAX_COMMENT = 60_000
MAX_DIFF = 6_000
MAX_MODULES = 50
MAX_CHANGED_FILES = 500
MAX_NOTICES = 20
SUFFIXES = (".relay", ".rly")
#: The modes of git that are not files: "000000" is a version that does not exist.
LINK, SUBMODULE, ABSENT = "120000", "160000", "000000"
#: What is stored in place of a large file.
LFS = b"version https://git-lfs.github.com/spec/"

#: Control characters of seven and eight bits, characters that change the direction of text, line separators,
#: and bytes of names that are not UTF-8.
ACTIVE = re.compile("[\0-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
#: Text in which neither Markdown nor GitHub finds anything to interpret.
PLAIN = re.compile(r"[A-Za-z0-9 ,;()]+")


def visible(text, kept=""):
    """Replaces each active character by a visible one, but those in `kept`: the result is a single line."""

    def picture(found):
        code = ord(found[0])
        if found[0] in kept:
            return found[0]
        return chr(0x2400 + code) if code < 0x20 else "\u2421" if code == 0x7F else "\ufffd"

    return ACTIVE.sub(picture, text)


def escaped_data(text):
    """Escapes the message of a workflow command. The log interprets colours as a terminal does."""
    text = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return visible(text)


def escaped_property(text):
    """Escapes a property of a workflow command."""
    return escaped_data(text).replace(":", "%3A").replace(",", "%2C")


def code(text):
    """Returns a code span of Markdown, which may be in a table. No mention, link, image or tag is found in it."""
    # A cell ends at a `|`, and is not read as Markdown before: a backslash does not escape it if another
    # one precedes it.
    text = visible(text).replace("|", "\u00a6")
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    ticks = "`" * (longest + 1)
    # Markdown strips a space at both ends, and a backquote at an end would join the delimiter.
    pad = " " if not text.strip() or text[0] in "` " or text[-1] in "` " else ""
    return f"{ticks}{pad}{text}{pad}{ticks}"


def plain(text):
    """Returns a text of Markdown, as a code span if a character of it could be interpreted."""
    return text if PLAIN.fullmatch(text) else code(text)


def summary(text):
    """Returns HTML with the text. GitHub looks for no mentions in `code`."""
    return f"<summary><code>{html.escape(visible(text))}</code></summary>"


def fenced(text):
    """Returns a block of Markdown with several lines."""
    text = visible(text.replace("\r\n", "\n"), kept="\n\t")
    if len(text) > MAX_DIFF:
        text = text[:MAX_DIFF].rsplit("\n", 1)[0] + "\n… (cut)"
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}text\n{text.rstrip()}\n{fence}"


def wanted(name, default):
    return os.environ.get(name, default).strip().lower() == "true"


def command(name, text, file=None):
    """Prints a workflow command."""
    properties = "" if file is None else f" file={escaped_property(file)}"
    print(f"::{name}{properties}::{escaped_data(text)}", flush=True)


def program(*arguments, folder=None):
    """Runs relay-analyzer. Returns its exit code, output and errors."""
    name = os.environ.get("RELAY_ANALYZER") or "relay-analyzer"
    try:
        done = subprocess.run([name, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=folder)
    except OSError as error:
        command("error", f"relay-analyzer: cannot start `{name}`: {error.strerror}. Set the input `version` or `program`")
        sys.exit(2)
    return done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")


def git(*arguments, into=subprocess.PIPE):
    """Runs git. Returns its exit code and output."""
    done = subprocess.run(["git", *arguments], stdout=into, stderr=subprocess.DEVNULL)
    return done.returncode, done.stdout or b""


def names_of(out):
    """Returns the fields of output that git separates by NUL."""
    return [field.decode("utf-8", "surrogateescape") for field in out.split(b"\0")[:-1]]


def link_on(path):
    """Returns the first part of a path that is a link, if there is one: a pull request can make any folder of the
    repository one, to anywhere.
    """
    folder, path = pathlib.Path.cwd(), pathlib.Path(path)
    if path.is_absolute():
        try:
            path = path.relative_to(folder)
        except ValueError:
            # Not in the repository.
            return None
    at = pathlib.Path()
    for part in path.parts:
        at /= part
        if (folder / at).is_symlink():
            return str(at)
    return None


def check():
    """Prints the annotations. Returns the number of errors."""
    arguments = ["check", "--format", "github"]
    if wanted("RELAY_TVM", "false"):
        arguments.append("--tvm")
    paths, errors = [], 0
    for path in (os.environ.get("RELAY_PATHS") or ".").split():
        link = link_on(path)
        if link is None:
            paths.append(path)
        else:
            errors += 1
            command("error", f"`{link}` is a link, which is not followed: `{path}` is not checked", link)
    if not paths:
        return errors
    status, out, err = program(*arguments, "--", *paths)
    # Annotations name files as git does.
    out = re.sub(r"^(::\w+ file=)\./", r"\1", out, flags=re.MULTILINE)
    print(out, end="", flush=True)
    if status not in (0, 1):
        command("error", f"relay-analyzer: {err.strip() or f'check ended with {status}'}")
        sys.exit(2)
    # Such as links that are not followed.
    lines = [line for line in err.splitlines() if line.strip()]
    for line in lines[:MAX_NOTICES]:
        command("notice", f"relay-analyzer: {line}")
    if len(lines) > MAX_NOTICES:
        command("notice", f"relay-analyzer: {len(lines) - MAX_NOTICES} more notices are left out")
    return errors + sum(line.startswith("::error") for line in out.splitlines())


def base_of(event):
    """Returns the base commit of a pull request, if the event is one."""
    base = event.get("pull_request", {}).get("base", {}).get("sha")
    if base is None or not re.fullmatch("[0-9a-f]{40}|[0-9a-f]{64}", base):
        return None
    if git("cat-file", "-e", f"{base}^{{commit}}")[0] != 0:
        # The checkout has only one commit.
        git("fetch", "--quiet", "--depth", "1", "origin", base)
    if git("cat-file", "-e", f"{base}^{{commit}}")[0] != 0:
        command("warning", f"relay-analyzer: the base commit {base} cannot be fetched, so no diff is made")
        return None
    return base


class Change:
    """A module that differs from the base: its modes, the identifiers of its contents, and its names."""

    def __init__(self, fields, before, now):
        modes = fields.lstrip(":").split(" ")
        self.modes, self.contents = tuple(modes[:2]), tuple(modes[2:4])
        self.before, self.now = before, now

    def name(self):
        return code(self.now) if self.before == self.now else f"{code(self.before)} → {code(self.now)}"

    def skipped(self):
        """Returns why the versions cannot be compared: one of them is not a file."""
        before, now = self.modes
        if SUBMODULE in self.modes:
            return "a submodule, which is not compared"
        if now == LINK:
            return {ABSENT: "a new link", LINK: "a link"}.get(before, "became a link") + ", which is not followed"
        if before == LINK:
            return "a link that was removed" if now == ABSENT else "was a link, which is not followed"
        return None


def changed_files(base):
    """Returns the modules that differ from a commit, and everything that is a link now and was none."""
    status, out = git("diff", "--raw", "-z", "--no-abbrev", "--find-renames", base, "HEAD", "--")
    if status != 0:
        command("warning", f"relay-analyzer: git cannot compare the commit {base} with this one, so no diff is made")
    fields = iter(names_of(out))
    found, links = [], set()
    for field in fields:
        before = next(fields, "")
        now = next(fields, "") if field.split(" ")[-1][:1] in ("R", "C") else before
        change = Change(field, before, now)
        if change.modes[1] == LINK:
            links.add(now)
        if now.endswith(SUFFIXES) or before.endswith(SUFFIXES):
            found.append(change)
    if len(found) > MAX_CHANGED_FILES:
        command("notice", f"relay-analyzer: {len(found) - MAX_CHANGED_FILES} more changed modules are left out")
    return found[:MAX_CHANGED_FILES], links


def compared(change):
    """Compares two versions of a module. Returns the exit code, the text and the errors of `diff`."""
    with tempfile.TemporaryDirectory() as folder:
        for name, content in zip(("before.relay", "after.relay"), change.contents):
            with open(os.path.join(folder, name), "w+b") as file:
                git("cat-file", "blob", content, into=file)
                file.seek(0)
                if file.read(len(LFS)) == LFS:
                    return 2, "", "it is in Git LFS, and is not compared"
        return program("diff", "--", "before.relay", "after.relay", folder=folder)


def diff_of(changes, links):
    """Returns the rows and the details of a comment, and the number of changed modules."""
    rows, details, changed = [], [], 0
    for change in changes:
        now, skipped = change.now, change.skipped()
        folder = next((str(up) for up in pathlib.PurePosixPath(now).parents if str(up) in links), None)
        if skipped is not None:
            command("warning", f"`{now}`: {skipped}", now)
            state = skipped
        elif change.modes[1] == ABSENT:
            changed += 1
            state = "removed"
            if folder is not None:
                command("warning", f"`{folder}` became a link, which is not followed", folder)
                state = f"removed: {code(folder)} became a link, which is not followed"
        elif change.modes[0] == ABSENT:
            changed += 1
            state = "new"
        else:
            status, out, err = compared(change)
            lines = [line for line in (out if status == 1 else err).splitlines() if line.strip()]
            state = "the same structure"
            if status == 1:
                changed += 1
                # Its first line names both files.
                head = (lines or ["changed"])[0].rpartition("`: ")[2]
                state = plain(head[:120])
                details.append(f"<details>{summary(now)}\n\n{fenced(out)}\n\n</details>")
            elif status != 0:
                reason = (lines or ["it cannot be compared"])[0]
                state = plain((reason[7:] if reason.startswith("error: ") else reason)[:300])
        rows.append(f"| {change.name()} | {state} |")
    return rows, details, changed


def comment_of(errors, rows, details):
    found = "no errors" if errors == 0 else "1 error" if errors == 1 else f"{errors} errors"
    lines = [MARK, "### Relay modules", "", f"`relay-analyzer check` found {found}.", ""]
    lines += ["| module | structure |", "|---|---|"]
    length = 0
    for number, row in enumerate(rows):
        length += len(row)
        if number == MAX_MODULES or length > MAX_COMMENT // 2:
            lines.append(f"| … | {len(rows) - number} more |")
            break
        lines.append(row)
    text = "\n".join(lines) + "\n"
    for number, detail in enumerate(details):
        if len(text) + len(detail) > MAX_COMMENT:
            return text + f"\n{len(details) - number} more diffs are left out.\n"
        text += f"\n{detail}\n"
    return text


def request(method, url, token, body=None):
    data = None if body is None else json.dumps(body).encode("utf-8")
    headers = {
        "Accept": "application/vnd.github+json",
        "Authorization": f"Bearer {token}",
        "Content-Type": "application/json",
        "User-Agent": "relay-analyzer",
    }
    with urllib.request.urlopen(urllib.request.Request(url, data, headers, method=method), timeout=60) as answer:
        return json.loads(answer.read() or b"null")


def comment(event, text):
    """Creates the comment, or updates that of an earlier run."""
    token = os.environ.get("GITHUB_TOKEN", "")
    number = event.get("pull_request", {}).get("number")
    if not token or number is None:
        return
    api = os.environ.get("GITHUB_API_URL", "https://api.github.com")
    comments = f"{api}/repos/{os.environ['GITHUB_REPOSITORY']}/issues"
    try:
        for page in range(1, 11):
            known = request("GET", f"{comments}/{number}/comments?per_page=100&page={page}", token)
            for one in known:
                if (one.get("body") or "").startswith(MARK):
                    request("PATCH", f"{comments}/comments/{one['id']}", token, {"body": text})
                    return
            if len(known) < 100:
                break
        request("POST", f"{comments}/{number}/comments", token, {"body": text})
    except (urllib.error.URLError, ValueError, OSError) as error:
        # Pull requests of forks have read-only tokens.
        command("warning", f"relay-analyzer: the comment was not written: {error}. It takes the permission `pull-requests: write`")


def append(variable, text):
    if os.environ.get(variable):
        with open(os.environ[variable], "a", encoding="utf-8") as file:
            file.write(text)


def main():
    # Names may have bytes that are not UTF-8, and a runner another encoding.
    sys.stdout.reconfigure(encoding="utf-8", errors="replace")
    event = {}
    if os.environ.get("GITHUB_EVENT_PATH"):
        event = json.loads(pathlib.Path(os.environ["GITHUB_EVENT_PATH"]).read_text(encoding="utf-8"))
    errors = check()
    base = base_of(event)
    rows, details, changed = ([], [], 0) if base is None else diff_of(*changed_files(base))
    append("GITHUB_OUTPUT", f"errors={errors}\nchanged={changed}\n")
    if rows:
        text = comment_of(errors, rows, details)
        append("GITHUB_STEP_SUMMARY", text)
        if wanted("RELAY_COMMENT", "true"):
            comment(event, text)
    sys.exit(1 if errors and wanted("RELAY_FAIL", "true") else 0)


if __name__ == "__main__":
    main()
