# SPDX-License-Identifier: LGPL-2.1-only
"""Runs cases, each in a separate process, and judges their behaviour."""

import hashlib
import json
import os
import re
import select
import shlex
import shutil
import sys
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

from tests.python.stress.draw import HOSTILE, Program, draw_case
from tests.support import in_process
from tests.support.places import ROOT
from weft.base import paths

OUT = ROOT / "build" / "stress"
SANITIZED = ROOT / "build" / "sanitized"
TIMEOUT_S = 300
REFUSED = "refused"
"""Outcome of cases that weft refuses with one error, because options contradict each other."""

_FAILED = {"network-failure", "host-failure"}
"""Outcomes that faults may cause."""
_UNCOVERED = "which another call contains; add one, or a base"
"""Rules without a base may omit a call on which an algorithm is built."""
_VOLATILE = ("wall_time_s", "cpu_time_s", "peak_memory_bytes", "command")
_LIBRARY = paths.platform_library
_FRAME = re.compile(r"#\d+ 0x\w+ in .*?\b(weft::[\w:~]+)")
_REPORT = re.compile(r"(AddressSanitizer: [\w-]+|runtime error: .*)")


@dataclass
class Answer:
    """Output, status and record of a command."""

    status: int
    output: str
    errors: str
    record: dict[str, Any]

    @property
    def lines(self) -> list[str]:
        return sorted(self.output.splitlines())


@dataclass
class Judged:
    """Result of a case: drawn features, outcome, and problems."""

    number: int
    drawn: list[str] = field(default_factory=list)
    runs: int = 0
    ends: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    @property
    def signature(self) -> str:
        """Return the first problem without details that differ between cases."""
        text = self.problems[0].splitlines()[0] if self.problems else ""
        return re.sub(r"0x[0-9a-f]+|\d[\d.e-]*", "N", re.sub(r"/\S+/", "", text))[:160]


class _Runner:
    """Runs a case in this process, and collects its problems."""

    def __init__(
        self, judged: Judged, seed: int, folder: Path, sanitized: bool, packets: bool
    ) -> None:
        self.judged, self.folder, self.sanitized = judged, folder, sanitized
        self.case = draw_case(seed, judged.number, folder, packets)
        judged.drawn = self.case.drawn
        (folder / "command").write_text(f"weft {shlex.join(self.case.words)}\n")

    def wrong(self, problem: str) -> None:
        self.judged.problems.append(problem)

    def weft(self, words: Sequence[str], name: str) -> Answer:
        """Run a command; store its output in the folder."""
        target = self.folder / f"{name}.json"
        words = [words[0], "-q", "--json", str(target), "--timeout", str(TIMEOUT_S), *words[1:]]
        status, output, errors = in_process.run(words, self.environment(), self.folder)
        (self.folder / f"{name}.txt").write_text(f"status {status}\n{errors}\n--\n{output}")
        self.judged.runs += 1
        record = json.loads(target.read_text()) if target.exists() else {}
        answer = Answer(status, output, errors, record)
        self.judge(answer, name)
        return answer

    def environment(self) -> dict[str, str]:
        if not self.sanitized:
            return {}
        log = f"log_path={self.folder / 'sanitizer'}"
        suppressed = f"suppressions={Path(__file__).with_name('suppressions')}"
        return {
            # weft keeps glibc's malloc, which AddressSanitizer replaces, if a library is preloaded.
            "LD_PRELOAD": "libasan.so.8",
            "ASAN_OPTIONS": f"{log}:{suppressed}:detect_leaks=0:verify_asan_link_order=0",
            "UBSAN_OPTIONS": f"{log}:print_stacktrace=1",
        }

    def judge(self, answer: Answer, name: str) -> None:
        """Judge how a command ended."""
        for report in sorted(self.folder.glob("sanitizer.*")):
            text = report.read_text(errors="replace")
            self.wrong(f"{name_of_report(text)}\n{text}")
        if not self.judged.problems and _REPORT.search(answer.errors):  # before the log was open
            self.wrong(f"{name_of_report(answer.errors)}\n{answer.errors}")
        if "Traceback" in answer.errors:
            self.wrong(f"traceback: {answer.errors.strip().splitlines()[-1]}")
        if answer.status == 2:
            said = [line for line in answer.errors.splitlines() if line]
            self.judged.ends.append(f"{REFUSED}: {said[-1] if said else ''}")
            if "weft: installation: " in answer.errors:
                self.wrong("installation: the checkout was changed or rebuilt during the run")
            if not said or (answer.record and name != "recorded"):
                self.wrong("refused without a message, or with a record")
        elif "outcome" in answer.record:
            self.judge_record(answer.record, answer.status)
        elif not answer.record and answer.status != 0:
            self.wrong(f"status {answer.status}: {answer.errors.strip()[-300:]!r}")

    def judge_record(self, record: dict[str, Any], status: int) -> None:
        """Judge the outcomes of a record, and of its jobs."""
        jobs = record.get("jobs") or []
        for one in jobs or [record]:
            outcome = one["outcome"]
            self.judged.ends.append(outcome["kind"])
            may_fail = self.case.faults == HOSTILE and outcome["kind"] in _FAILED
            may_fail = may_fail or _UNCOVERED in (outcome.get("message") or "")
            if outcome["kind"] != "completed" and not may_fail:
                self.wrong(f"outcome {outcome['kind']}: {outcome.get('message')}")
        failed = any(one["outcome"]["kind"] != "completed" for one in jobs or [record])
        if status != (1 if failed else 0) and not self.judged.problems:
            self.wrong(f"status {status} with the outcome {record['outcome']['kind']}")

    def run(self) -> None:
        first = self.weft(self.case.words, "first")
        if self.judged.problems or first.status == 2:
            return
        if not _failed(first.record):
            self.compare_output(first)
        if self.case.mode == "twice":
            again = self.weft(self.case.words, "second")
            self.same(first.record, again.record, "the same run twice")
        if self.case.mode == "compare":
            self.compare(first)
        if self.case.mode == "record":
            self.replay(first)

    def compare_output(self, answer: Answer) -> None:
        """Compare the output with the output of the same programs on the hosts without faults."""
        jobs = {one["name"]: one for one in answer.record.get("jobs") or []}
        for name, program in self.case.programs.items():
            begin = f"{name}: " if name else ""
            if name and jobs[name]["outcome"]["kind"] != "completed":
                continue
            found = [line[len(begin) :] for line in answer.lines if line.startswith(begin)]
            expected = expected_lines(program)
            if found != expected:
                self.wrong(f"output of {name or program.source}: {_difference(found, expected)}")

    def compare(self, plain: Answer) -> None:
        """Run `--compare`, whose first run is the plain one."""
        words = [self.case.words[0], "--compare", "--no-intervals", *self.case.words[1:]]
        answer = self.weft(words, "compared")
        if answer.status == 2 or _failed(plain.record) or self.judged.problems:
            return
        found = answer.record
        self.same(plain.record, found["with_offload"], "the run of --compare")
        runs = [found[key] for key in ("with_offload", "without_offload", "with_best")]
        for one in filter(None, runs):
            self.judge_record(one, one["exit_status"])
        first, second = (one and one["simulated_time_s"] for one in runs[:2])
        if first and second and found["speed_up"] != second / first:
            self.wrong(f"--compare: speed-up {found['speed_up']}, times {second} and {first}")

    def replay(self, plain: Answer) -> None:
        """Record a trace, and replay it on the same fabric."""
        trace = self.folder / "trace"
        words = self.case.words
        recorded = self.weft([words[0], "--record", str(trace), *words[1:]], "recorded")
        if self.judged.problems or recorded.status:
            return
        before, after = (_with_rounded_sums(run.record) for run in (plain, recorded))
        self.same(before, after, "the run that is recorded")
        again = self.weft(["replay", str(trace), *_for_replay(self.case.options)], "replayed")
        if again.status == 0:
            told, did = _calls(recorded.record), _calls(again.record)
            if told != did:
                self.wrong(f"replay: {_difference(did, told)}")

    def same(self, one: dict[str, Any], other: dict[str, Any], what: str) -> None:
        if one and other and not self.judged.problems:
            one, other = _stable(one), _stable(other)
            keys = [key for key in one.keys() | other.keys() if one.get(key) != other.get(key)]
            if keys:
                self.wrong(f"{what}: another record, in {sorted(keys)}")


def _stable(record: dict[str, Any]) -> dict[str, Any]:
    return {key: record[key] for key in record if key not in _VOLATILE}


def _with_rounded_sums(record: dict[str, Any]) -> dict[str, Any]:
    """Return a record whose sums of times do not depend on the order of simultaneous ends.

    Recording may change that order, and with it a sum's last digit.
    """
    rows = [
        row
        | {
            name: row[name] and float(f"{row[name]:.12g}")
            for name in ("total_time_s", "total_wait_s")
        }
        for row in record.get("collectives", [])
    ]
    return record | {"collectives": rows} if record else record


def _failed(record: dict[str, Any]) -> bool:
    return bool(record.get("outcome", {}).get("kind") not in ("completed", "job-failed"))


def _calls(record: dict[str, Any]) -> list[tuple[Any, ...]]:
    """Return the numbers of calls by collective and communicator size."""
    calls: dict[tuple[Any, ...], int] = {}
    for row in record.get("collectives", []):
        key = (row["collective"], row["communicator_size"])
        calls[key] = calls.get(key, 0) + row["calls"]
    return sorted((*key, count) for key, count in calls.items())


def _for_replay(options: Sequence[str]) -> list[str]:
    """Return the options that also apply to a replay, without outputs."""
    words = list(options)
    if "--trace" in words:
        at = words.index("--trace")
        del words[at : at + 2]
    return words


def _difference(found: Sequence[object], expected: Sequence[object]) -> str:
    for one, other in zip(found, expected, strict=False):
        if one != other:
            return f"found {str(one)[:150]!r}, expected {str(other)[:150]!r}"
    return f"found {len(found)} lines, expected {len(expected)}"


def name_of_report(report: str) -> str:
    """Return the error of a sanitizer's report, and its first functions in weft."""
    error = found[1] if (found := _REPORT.search(report)) else report.strip()[:100]
    names = dict.fromkeys(name.split("::")[-1] for name in _FRAME.findall(_readable(report)))
    frames = list(names)[:3]
    return f"sanitizer: {error} in {' < '.join(frames)}"


def _readable(report: str) -> str:
    return report.replace("(anonymous namespace)::", "")


def expected_lines(program: Program) -> list[str]:
    """Return a program's expected output, known in advance or from a run on a star's hosts."""
    if program.source == "random_programs":
        words = [word for word in program.arguments if not word.startswith("-")]
        return sorted(f"program {number}" for number in range(int(words[1]), int(words[-1]) + 1))
    words = [*("run", "-q", "--fabric", "tofino-64x64", "--offload", "off")]
    words += ["-n", str(program.ranks), "--ppn", "1", "--", program.path, *program.arguments]
    key = hashlib.sha256(shlex.join(words).encode()).hexdigest()[:24]
    kept = OUT / "expected" / key
    if not kept.exists():
        with mock.patch.object(paths, "platform_library", _LIBRARY):
            status, output, errors = in_process.run(words)
        assert status == 0, errors
        kept.parent.mkdir(parents=True, exist_ok=True)
        unfinished = kept.with_suffix(f".{os.getpid()}")
        unfinished.write_text(output)
        unfinished.replace(kept)
    return sorted(kept.read_text().splitlines())


def run_case(seed: int, number: int, sanitized: bool, packets: bool = False) -> Judged:
    """Run a case in this process. Keep its folder if there are problems."""
    folder = OUT / f"{seed}-{number}{'-packets' if packets else ''}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    judged = Judged(number)
    library = SANITIZED / "libweft.so" if sanitized else paths.platform_library()
    try:
        with mock.patch.object(paths, "platform_library", lambda: library):
            _Runner(judged, seed, folder, sanitized, packets).run()
    except Exception:
        judged.problems.append(f"exception: {traceback.format_exc().strip().splitlines()[-1]}")
        (folder / "exception.txt").write_text(traceback.format_exc())
    if judged.problems:
        (folder / "problems.txt").write_text("\n\n".join(judged.problems) + "\n")
    else:
        shutil.rmtree(folder, ignore_errors=True)
    return judged


def run_cases(
    seed: int,
    numbers: Sequence[int],
    sanitized: bool,
    at_once: int,
    told: Callable[[Judged], None] = lambda _judged: None,
    packets: bool = False,
) -> list[Judged]:
    """Run cases in child processes, several concurrently; pass each result to `told`."""
    left, results = list(reversed(numbers)), list[Judged]()
    running = dict[int, tuple[int, int]]()  # PID and number by the pipe for its result
    while left or running:
        while left and len(running) < at_once:
            number = left.pop()
            reader, writer = os.pipe()
            child = os.fork()
            if child == 0:
                os.close(reader)
                _work(seed, number, sanitized, packets, writer)
            os.close(writer)
            running[reader] = (child, number)
        for reader in select.select(list(running), [], [])[0]:
            child, number = running.pop(reader)
            with os.fdopen(reader) as pipe:
                text = pipe.read()
            _, status = os.waitpid(child, 0)
            judged = Judged(**json.loads(text)) if text else Judged(number)
            if not text:
                judged.problems.append(f"driver: ended with status {status}")
            results.append(judged)
            told(judged)
    return results


def _work(seed: int, number: int, sanitized: bool, packets: bool, writer: int) -> None:
    try:
        judged = run_case(seed, number, sanitized, packets)
        with os.fdopen(writer, "w") as pipe:
            pipe.write(json.dumps(judged.__dict__))
    finally:
        sys.stdout.flush()
        os._exit(0)
