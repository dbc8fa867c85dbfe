"""Applies each patch of docs/extending.md to a copy of the tree as it is in the index, counts the files that it touches, and runs a command there.

    python3 tests/docs/patches.py cargo test --lib output

Without a command it only applies them. Fails where a patch does not apply, touches more files besides tests and docs than it
may, or the command fails.
"""
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MOST_FILES = {"A storage format": 3}


def patches():
    """The title of each chapter with a patch, and the patch."""
    text = (ROOT / "docs/extending.md").read_text()
    for chapter in re.split(r"(?m)^## ", text)[1:]:
        title = chapter.splitlines()[0]
        for patch in re.findall(r"(?ms)^```diff\n(.*?)^```", chapter):
            yield title, patch


def check(title, patch, command):
    """What is wrong with a patch, in words."""
    files = [name for name in re.findall(r"(?m)^\+\+\+ b/(\S+)", patch) if not name.startswith(("tests/", "docs/"))]
    most = MOST_FILES.get(title, 2)
    if len(files) > most:
        return f"touches {len(files)} files, more than {most}"
    with tempfile.TemporaryDirectory() as copy:
        subprocess.run(["git", "checkout-index", "-a", f"--prefix={copy}/"], cwd=ROOT, check=True)
        if subprocess.run(["git", "apply", "-"], input=patch, text=True, cwd=copy).returncode:
            return "does not apply"
        if command and subprocess.run(command, cwd=copy).returncode:
            return f"`{' '.join(command)}` fails with it"
    return None


wrong = [f"{title}: {why}" for title, patch in patches() if (why := check(title, patch, sys.argv[1:]))]
sys.exit("\n".join(wrong) or None)
