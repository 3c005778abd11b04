# SPDX-License-Identifier: LGPL-2.1-only
"""Studies: figures and pages match the measured tables, and none is missing."""

import os
import re
import shutil
import signal
import subprocess
import time
import tomllib
from pathlib import Path

import pytest
from matplotlib.figure import Figure

from studies import reports
from studies.all import STUDIES, chosen
from studies.real_programs import gains, traces
from studies.resume import Job, carry_out, kept_rows
from studies.study import DOCS, ROOT, read_table, write_table
from weft.base import pages, plots
from weft.base.errors import WeftError
from weft.base.plots import Series
from weft.study.validation import gain_report

# Figures created by commands; cli/test_demo.py and study/test_validate.py compare them with new
# runs.
OF_DEMO = {"allreduce_4x1.png", "allreduce_1KiB_by_hosts.png"}
MARKER = re.compile(r"<!-- table: .* -->")


def pictures(*folders: str) -> set[Path]:
    return {path for folder in folders for path in (DOCS / folder).glob("*.png")}


# ---- Figures and pages match their tables --------------------------------------------------------


@pytest.mark.parametrize("name", STUDIES)
def test_a_figure_is_as_new_as_its_table(name: str) -> None:
    for target, figure in STUDIES[name].figures().items():
        assert plots.drawn(target) == plots.fingerprint(figure), (
            f"{target.relative_to(ROOT)} is older than its table: make figures STUDIES={name}"
        )


@pytest.mark.parametrize("name", [name for name, one in STUDIES.items() if one.page])
def test_a_page_is_as_new_as_its_table(name: str) -> None:
    study = STUDIES[name]
    assert study.page is not None
    page = study.page.read_text(encoding="utf-8")
    assert pages.update(page, study.texts()) == page, f"make figures STUDIES={name}"


def test_every_figure_of_the_documents_is_made_by_something() -> None:
    made = {target for study in STUDIES.values() for target in study.figures()}
    made |= {DOCS / "images" / name for name in OF_DEMO}
    made |= set(reports.PICTURES)
    checks = tomllib.loads((ROOT / "data" / "checks.toml").read_text(encoding="utf-8"))
    tables = {Path(check["table"]).stem for check in checks["check"]}
    made |= {DOCS / "figures" / f"{name}.png" for name in (*tables, gain_report.PICTURE)}
    assert made == pictures("figures", "images")


def test_every_figure_is_shown_and_every_place_is_filled() -> None:
    pages = (*DOCS.glob("*.md"), ROOT / "README.md", ROOT / "ARCHITECTURE.md")
    texts = [path.read_text(encoding="utf-8") for path in pages]
    shown = {name for text in texts for name in re.findall(r"\]\((?:docs/)?(\S+\.png)\)", text)}
    assert shown == {str(path.relative_to(DOCS)) for path in pictures("figures", "images")}
    filled = {place for study in STUDIES.values() for place in study.texts()}
    places = {place[5:-4] for text in texts for place in MARKER.findall(text)}
    assert places == filled


def test_a_number_that_changed_is_seen(tmp_path: Path) -> None:
    def figure(value: float, label: str = "one") -> Path:
        target = tmp_path / "figure.png"
        series = [Series(label, {1: value, 2: 8.0}, 0)]
        plots.plot_by_size(series, "title", [target], "--plot")
        return target

    before = plots.drawn(figure(4.0))
    assert len(before) == 16
    assert plots.drawn(figure(4.0)) == before
    assert plots.drawn(figure(4.0 * (1 + 1e-12))) == before
    assert plots.drawn(figure(4.01)) != before
    assert plots.drawn(figure(4.0, "other")) != before


def test_names_with_a_dollar_stand_beside_logarithmic_ticks(tmp_path: Path) -> None:
    figure = Figure(layout="constrained")
    axes, named = figure.subplots(1, 2)
    axes.loglog([1e-3, 1e5], [1e-9, 1e4], label="$\\frac")
    axes.set_title("$\\frac$")
    named.bar(["$\\frac$", "b"], [1, 2])
    plots.save(figure, [tmp_path / "figure.png"], "--plot")
    ticks = [label for label in axes.get_xticklabels() if label.get_text()]
    assert len(ticks) > 3
    assert all(label.get_parse_math() for label in ticks)
    assert not any(label.get_parse_math() for label in named.get_xticklabels())


def test_curves_of_a_figure_differ_without_colours() -> None:
    looks = [plots.look(number) for number in range(len(plots.COLOURS))]
    assert len({(str(look["linestyle"]), look["marker"]) for look in looks}) == len(looks)
    assert len({plots.bar_look(number)["hatch"] for number in range(len(looks))}) == len(looks)


# ---- Pages ---------------------------------------------------------------------------------------

PAGE = "before\n<!-- a -->\nold\n<!-- end -->\nbetween\n<!-- b -->\n<!-- end -->\nafter\n"


def test_a_page_is_filled_and_nothing_else_is_touched() -> None:
    filled = pages.update(PAGE, {"b": "new\n", "a": ""})
    assert filled == PAGE.replace("old\n", "").replace("<!-- b -->\n", "<!-- b -->\nnew\n")
    assert pages.update(filled, {"b": "new\n", "a": ""}) == filled


@pytest.mark.parametrize(
    ("page", "message"),
    [
        (PAGE.replace("<!-- end -->\n", ""), "`<!-- a -->` is not closed"),
        (PAGE.replace("<!-- end -->\n", "", 1), "`<!-- a -->` is not closed"),
        (PAGE.replace("<!-- a -->\n", ""), "no place `<!-- a -->`"),
        (PAGE + PAGE, "2 places `<!-- a -->`"),
    ],
)
def test_a_page_with_a_lost_marker_is_refused_and_stays(
    page: str, message: str, tmp_path: Path
) -> None:
    document = tmp_path / "page.md"
    document.write_text(page)
    with pytest.raises(WeftError, match=re.escape(message)):
        pages.fill("studies", document, {"a": "new\n"})
    assert document.read_text() == page


# ---- Resumable runs ------------------------------------------------------------------------------


def test_ctrl_c_loses_nothing_that_has_started(tmp_path: Path) -> None:
    started: list[Path] = []

    def job(number: int) -> Job:
        def run() -> None:
            started.append(target)
            if number == 4:
                os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.1)
            target.touch()

        target = tmp_path / str(number)
        return Job(target, run)

    jobs = [job(number) for number in range(50)]
    with pytest.raises(KeyboardInterrupt):
        carry_out(jobs, at_once=2)
    assert all(target.exists() for target in started)
    assert 4 < len(started) < len(jobs)
    before = len(started)
    carry_out(jobs[:4], at_once=2)
    assert len(started) == before


def test_two_parts_of_a_study_cannot_have_one_result() -> None:
    with pytest.raises(ValueError, match="two parts have one name"):
        kept_rows("none", [("HPCC", list), ("HPCC", list)])
    for programs in (gains.PROGRAMS, traces.PROGRAMS):
        assert len({program.part for program in programs}) == len(programs)


def test_a_table_is_read_as_it_was_written(tmp_path: Path) -> None:
    rows = [{"a": "1", "b": "x,y"}, {"a": "2", "b": ""}]
    write_table(tmp_path / "table.csv", rows)
    assert read_table(tmp_path / "table.csv") == rows


def test_studies_are_chosen_by_name_or_beginning() -> None:
    assert [one.name for one in chosen(["contention"])] == ["contention"]
    multicasts = [one.name for one in chosen(["multicast"])]
    assert len(multicasts) > 5
    assert all(name.startswith("multicast-") for name in multicasts)
    assert [one.name for one in chosen(["forwarding"])] == ["forwarding"]
    assert len(chosen([])) == len(STUDIES)
    with pytest.raises(ValueError, match="found 'nothing'; allowed are contention"):
        chosen(["nothing"])


# ---- The layers ----------------------------------------------------------------------------------


def test_nothing_imports_from_tests() -> None:
    ours = {path.stem for path in (ROOT / "tests" / "python").iterdir()} | {"tests"}
    command = ["git", "ls-files", "studies/*.py", "benchmarks/*.py", "python/*.py"]
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("no git here")
    listed = subprocess.run(command, text=True, capture_output=True, cwd=ROOT, check=True)
    for name in listed.stdout.split():
        text = (ROOT / name).read_text(encoding="utf-8")
        imported = set(re.findall(r"^\s*(?:from|import) (\w+)", text, re.MULTILINE))
        beside = {path.stem for path in (ROOT / name).parent.iterdir()}
        assert not ours & imported - beside, name
