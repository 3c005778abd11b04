# SPDX-License-Identifier: LGPL-2.1-only
"""Models of weft's files cover everything that is written, and docs/schema matches the models."""

import json
from pathlib import Path
from typing import Any, Literal

import pytest
from msgspec import ValidationError, convert

from studies import schemas
from tests.python.binding.platform.test_forwarding import CACHE_TABLE, fabric
from tests.support.simulated import Program
from weft.base.errors import WeftError
from weft.base.models import Model, unknown
from weft.runs import launch, outcome
from weft.runs.launch import prepare
from weft.runs.record import Record, read_record, write_record
from weft.runs.replay import record_calls
from weft.runs.request import Request
from weft.study.comparison.compare import compare
from weft.study.comparison.comparison import ComparisonRecord, write_comparison
from weft.trace.folder import MANIFEST, CallsManifest
from weft_testbed.hardware import inventory
from weft_testbed.plan import file as plan_file
from weft_testbed.plan import plan, wanted_topology

# Programs of tests/smpi, and how to run them.
RUNS: dict[str, tuple[str, dict[str, Any]]] = {
    "offloaded, with a timeline": ("latency.c 1024 1 2", {"timeline": True}),
    "message by message": ("latency.c 1024 1 2", {"offload": "message"}),
    "fallback": ("latency.c 1024 1 2", {"offload": "off"}),
    "multicast": ("multicast.c bcast 4096", {"offload": "multicast"}),
    "forwarding": ("latency.c 1024 1 2", {"fabric": "cache"}),
    "failed": ("failures.c segmentation-fault", {}),
}


@pytest.fixture
def raw(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Collect the output of libweft.so before weft adds its part."""
    seen: list[Any] = []
    read = outcome.read_raw_record

    def looked_at(path: Path) -> Record | None:
        if path.exists():
            seen.append(json.loads(path.read_text("utf-8")))
        return read(path)

    monkeypatch.setattr(outcome, "read_raw_record", looked_at)
    return seen


def request(words: str, program: Program, directory: Path, **options: Any) -> Request:
    source, *arguments = words.split()
    if options.pop("timeline", False):
        options["timeline"] = directory / "timeline.json"
    if options.get("fabric") == "cache":
        options["fabric"] = fabric(directory / "fabric.toml", CACHE_TABLE)
    given = {"fabric": "tofino-4", "ranks": 4, **options}
    return Request.of(program=str(program(source)), arguments=tuple(arguments), **given)


@pytest.mark.parametrize("kind", RUNS)
def test_no_key_that_the_library_writes_is_unknown_or_lost(
    kind: str, program: Program, raw: list[Any], tmp_path: Path
) -> None:
    words, options = RUNS[kind]
    record = launch.run(prepare(request(words, program, tmp_path, **options)), lambda _line: None)
    for written in raw:
        read = Record.from_json(written)
        assert list(unknown(read)) == []
        kept = read.to_json()
        assert {name: kept[name] for name in written} == written
    assert len(raw) == (kind != "failed")
    if kind == "offloaded, with a timeline":
        assert raw[0]["switches"][0]["packets_reduced"] > 0
        assert record.events and raw[0]["events"]
    if kind == "failed":
        assert (record.outcome.kind, record.outcome.signal) == ("signal", "SIGSEGV")


def test_a_record_that_is_read_and_written_has_the_same_bytes(
    program: Program, tmp_path: Path
) -> None:
    one, other = tmp_path / "one.json", tmp_path / "other.json"
    record = launch.run(prepare(request(*("latency.c 64 1 2",), program, tmp_path)), lambda _: None)
    write_record(record, one)
    newer = one.read_text().replace('"weft": ', '"tomorrow": [{"a": 1.0}],\n "weft": ', 1)
    write_record(read_record(one), other)
    assert other.read_bytes() == one.read_bytes()
    one.write_text(newer)
    write_record(read_record(one), other)
    assert json.loads(other.read_text()) == json.loads(newer)


def test_comparisons_plans_and_traces_are_what_their_models_say(
    program: Program, tmp_path: Path
) -> None:
    prepared = prepare(request("latency.c 64 1 2", program, tmp_path))
    write_comparison(compare(prepared), tmp_path / "both.json")
    record_calls(prepared, tmp_path / "trace")
    made = plan.make(
        inventory.read("topocloud-64"),
        [wanted_topology.read("star-8"), wanted_topology.read("line-4")],
    )
    plan_file.write(made, tmp_path / "plan.json")
    for path, kind in (
        (tmp_path / "both.json", ComparisonRecord),
        (tmp_path / "plan.json", plan_file.PlanRecord),
        (tmp_path / "trace" / MANIFEST, CallsManifest),
    ):
        found = json.loads(path.read_text("utf-8"))
        read = kind.from_json(found)
        assert list(unknown(read)) == []
        assert json.dumps(read.to_json()) == json.dumps(found)


@pytest.mark.parametrize("name", [*schemas.FILES, *schemas.INPUTS])
def test_published_schemas_are_those_of_the_models(name: str) -> None:
    file = schemas.SCHEMAS / f"{name}.json"
    assert file.read_text("utf-8") == schemas.text(name), "run `python -m studies.schemas`"


def test_only_models_have_schemas() -> None:
    assert sorted(path.stem for path in schemas.SCHEMAS.iterdir()) == sorted(
        [*schemas.FILES, *schemas.INPUTS]
    )


class Part(Model, kw_only=True):
    """Part of an example model."""

    size: int
    form: Literal["a", "b"] = "a"


class Whole(Model, kw_only=True):
    """Example model with parts."""

    parts: list[Part]
    form: Literal["flat", "deep"] | None = None
    names: dict[str, str] = {}  # noqa: RUF012 (msgspec copies it)


@pytest.mark.parametrize(
    ("found", "message"),
    [
        ({}, "'parts' is missing"),
        ({"parts": [{}]}, "'size' is missing in 'parts[0]'"),
        ({"parts": [{"size": "big"}]}, "'parts[0].size' is 'big', but must be a whole number"),
        ({"parts": [3]}, "'parts[0]' is 3, but must be an object"),
        (
            {"parts": [{"size": 1, "form": "c"}]},
            "'parts[0].form' is 'c', but must be 'a' or 'b'",
        ),
        ({"parts": [], "form": "x"}, "'form' is 'x', but must be 'flat' or 'deep'"),
        ({"parts": {}}, "'parts' is an object, but must be a list"),
        ({"parts": [], "names": {"a": 1}}, "but must be a text"),
        ([], "found a list; allowed is an object"),
    ],
)
def test_what_does_not_fit_is_named_with_its_place(found: Any, message: str) -> None:
    with pytest.raises(ValidationError):
        convert(found, Whole)
    with pytest.raises(WeftError) as error:
        Whole.from_json(found)
    assert message in str(error.value)
