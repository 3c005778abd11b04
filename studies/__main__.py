# SPDX-License-Identifier: LGPL-2.1-only
"""Runs studies and writes their results: `python -m studies [--draw] [NAME ...]`."""

import argparse
import sys

from studies.all import STUDIES, chosen
from studies.study import show
from weft.base.errors import USER_ERROR, WeftError


def main() -> int:
    """Execute missing measurements, then write tables, figures and pages."""
    parser = argparse.ArgumentParser(
        prog="studies",
        description="Make tables and figures of docs/ again.",
        epilog="\n".join(f"{name}: {one.about}" for name, one in STUDIES.items()),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--draw", action="store_true", help="from the tables that there are")
    parser.add_argument("names", nargs="*", metavar="NAME", help="a study, or how some begin")
    options = parser.parse_args()
    try:
        studies = chosen(options.names)
    except ValueError as error:
        parser.error(str(error))
    try:
        for study in studies:
            print(study.name, flush=True)
            if not options.draw:
                study.measure()
            show(study)
    except KeyboardInterrupt:
        print("\nstopped; what has run is kept, and is not run again", file=sys.stderr)
        return 130
    except WeftError as error:
        print(f"weft: {error}", file=sys.stderr)
        return USER_ERROR
    return 0


if __name__ == "__main__":
    sys.exit(main())
