# SPDX-License-Identifier: LGPL-2.1-only
"""Refuses commit titles over 72 characters.

    commit_titles.py FILE    the message in FILE, as Git's hook commit-msg calls it
    commit_titles.py         the newest commits since this check exists, as `make lint` calls it

Git shows 72 characters of a title in its lists; the reasons belong in the body. Only the newest 50
commits since this check was added are examined, so that a long title in the history, which cannot
be changed any more, does not fail forever. A shallow clone has fewer commits to check, an unpacked
archive has none.
"""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LONGEST = 72
NEWEST = 50
HOOK = ".githooks/commit-msg"
# Titles that Git generates, or that are rewritten before a push.
EXEMPT = ("Merge ", "Revert ", "fixup! ", "squash! ", "amend! ")


def too_long(title: str) -> bool:
    """Return true if a title is refused."""
    return len(title) > LONGEST and not title.startswith(EXEMPT)


def title_of(message: str) -> str:
    """Return the first line of a message that is neither empty nor a Git comment."""
    lines = (line.strip() for line in message.splitlines())
    return next((line for line in lines if line and not line.startswith("#")), "")


def git(root: Path, *arguments: str) -> list[str]:
    """Return the lines that Git prints; none if there is no repository."""
    try:
        result = subprocess.run(
            ["git", *arguments], cwd=root, capture_output=True, text=True, check=False
        )
    except FileNotFoundError:
        return []
    return result.stdout.splitlines() if result.returncode == 0 else []


def newest_titles(root: Path) -> list[str]:
    """Return the titles of the newest commits after the one that added the hook."""
    added = git(root, "log", "--diff-filter=A", "--format=%H", "--", HOOK)
    if not added:
        return []
    return git(root, "log", "--no-merges", f"-{NEWEST}", "--format=%s", f"{added[-1]}..HEAD")


def main(arguments: list[str]) -> int:
    """Print each title that is refused."""
    if arguments:
        titles = [title_of(Path(arguments[0]).read_text(encoding="utf-8"))]
    else:
        titles = newest_titles(ROOT)
    refused = [title for title in titles if too_long(title)]
    for title in refused:
        print(f"{len(title)} characters, of at most {LONGEST}: {title}", file=sys.stderr)
    if refused:
        print("A commit's title is short; its reasons belong in the body.", file=sys.stderr)
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
