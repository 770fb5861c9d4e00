"""Annotates a run with the findings of Relay modules, and comments the diff of those that a pull request
changes. It needs git, Python 3.8 and the program that RELAY_ANALYZER names; see action.yml for its settings.
"""

import json
import os
import pathlib
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
SUFFIXES = (".relay", ".rly")


def wanted(name, default):
    return os.environ.get(name, default).strip().lower() == "true"


def command(name, text):
    """Prints a workflow command."""
    escaped = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    print(f"::{name}::{escaped}", flush=True)


def program(*arguments):
    """Runs relay-analyzer. Returns its exit code, output and errors."""
    name = os.environ.get("RELAY_ANALYZER") or "relay-analyzer"
    try:
        done = subprocess.run([name, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    except OSError as error:
        command("error", f"relay-analyzer: cannot start `{name}`: {error.strerror}. Set the input `version` or `program`")
        sys.exit(2)
    return done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")


def git(*arguments):
    done = subprocess.run(["git", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return done.returncode, done.stdout


def check():
    """Prints the annotations. Returns the number of errors."""
    arguments = ["check", "--format", "github"]
    if wanted("RELAY_TVM", "false"):
        arguments.append("--tvm")
    paths = (os.environ.get("RELAY_PATHS") or ".").split()
    code, out, err = program(*arguments, "--", *paths)
    # Annotations name files as git does.
    out = out.replace(" file=./", " file=")
    print(out, end="", flush=True)
    if code not in (0, 1):
        command("error", f"relay-analyzer: {err.strip() or f'check ended with {code}'}")
        sys.exit(2)
    return sum(line.startswith("::error") for line in out.splitlines())


def base_of(event):
    """Returns the base commit of a pull request, if the event is one."""
    base = event.get("pull_request", {}).get("base", {}).get("sha")
    if base is None:
        return None
    if git("cat-file", "-e", f"{base}^{{commit}}")[0] != 0:
        # The checkout has only one commit.
        git("fetch", "--quiet", "--depth", "1", "origin", base)
    if git("cat-file", "-e", f"{base}^{{commit}}")[0] != 0:
        command("warning", f"relay-analyzer: the base commit {base} cannot be fetched, so no diff is made")
        return None
    return base


def changed_files(base):
    """Returns the modules that differ from a commit: state, name before, name after."""
    _, out = git("diff", "--name-status", "-z", "--find-renames", base, "--")
    fields = out.decode("utf-8", "surrogateescape").split("\0")
    found = []
    at = 0
    while at + 1 < len(fields) and len(found) < MAX_CHANGED_FILES:
        state = fields[at][:1]
        count = 2 if state in "RC" else 1
        names = fields[at + 1 : at + 1 + count]
        at += 1 + count
        if names and names[-1].endswith(SUFFIXES):
            found.append((state, names[0], names[-1]))
    return found


def shown(name):
    return name.encode("utf-8", "replace").decode("utf-8").replace("`", "'").replace("|", "\\|")


def fenced(text):
    fence = "```"
    while fence in text:
        fence += "`"
    if len(text) > MAX_DIFF:
        text = text[:MAX_DIFF].rsplit("\n", 1)[0] + "\n… (cut)"
    return f"{fence}text\n{text.rstrip()}\n{fence}"


def diff_of(base, files):
    """Returns the rows and the details of a comment, and the number of changed modules."""
    rows, details, changed = [], [], 0
    with tempfile.TemporaryDirectory() as folder:
        for number, (state, before, now) in enumerate(files):
            if state == "A":
                rows.append(f"| `{shown(now)}` | new |")
                changed += 1
                continue
            if state == "D":
                rows.append(f"| `{shown(now)}` | removed |")
                changed += 1
                continue
            old = pathlib.Path(folder) / str(number) / pathlib.PurePosixPath(before).name
            old.parent.mkdir()
            old.write_bytes(git("show", f"{base}:{before}")[1])
            code, out, err = program("diff", "--", str(old), now)
            if code == 0:
                rows.append(f"| `{shown(now)}` | the same structure |")
            elif code == 1:
                changed += 1
                text = out.replace(str(old), f"{before} (before)")
                head = next((line for line in text.splitlines() if line.strip()), "changed")
                rows.append(f"| `{shown(now)}` | {shown(head)[:120]} |")
                details.append(f"<details><summary><code>{shown(now)}</code></summary>\n\n{fenced(text)}\n\n</details>")
            else:
                reason = (err.strip().splitlines() or ["it cannot be compared"])[0]
                rows.append(f"| `{shown(now)}` | {shown(reason)[:200]} |")
    return rows, details, changed


def comment_of(errors, rows, details):
    found = "no errors" if errors == 0 else "1 error" if errors == 1 else f"{errors} errors"
    lines = [MARK, "### Relay modules", "", f"`relay-analyzer check` found {found}.", ""]
    lines += ["| module | structure |", "|---|---|", *rows[:MAX_MODULES]]
    if len(rows) > MAX_MODULES:
        lines.append(f"| … | {len(rows) - MAX_MODULES} more |")
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
                if one.get("body", "").startswith(MARK):
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
    event = {}
    if os.environ.get("GITHUB_EVENT_PATH"):
        event = json.loads(pathlib.Path(os.environ["GITHUB_EVENT_PATH"]).read_text(encoding="utf-8"))
    errors = check()
    base = base_of(event)
    rows, details, changed = ([], [], 0) if base is None else diff_of(base, changed_files(base))
    append("GITHUB_OUTPUT", f"errors={errors}\nchanged={changed}\n")
    if rows:
        text = comment_of(errors, rows, details)
        append("GITHUB_STEP_SUMMARY", text)
        if wanted("RELAY_COMMENT", "true"):
            comment(event, text)
    sys.exit(1 if errors and wanted("RELAY_FAIL", "true") else 0)


main()
