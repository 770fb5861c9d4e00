"""Runs the tests of this folder, and says `OK` when all of them passed.

    PYTHONPATH=target/editors/pytest-lsp python3 tests/editors/pytest/drive.py

RELAY_TEST_SERVER: the server, a program with `lsp`
RELAY_TEST_FILE:   tests/examples/broken-attention.relay, or a copy of it
"""

import os
import pathlib
import sys

# Disables other plugins of this machine.
os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
sys.dont_write_bytecode = True

import pytest  # noqa: E402

here = pathlib.Path(__file__).parent
status = pytest.main(["-q", "-c", str(here / "pytest.ini"), str(here), *sys.argv[1:]])
print("OK" if status == 0 else f"FAILED: {status!r}")
sys.exit(int(status))
