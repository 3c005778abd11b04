# SPDX-License-Identifier: LGPL-2.1-only
"""Reading and writing of run records."""

import io
import json
import sys
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from weft.base.errors import WeftError
from weft.base.models import write_json
from weft.base.user_files import UnreadableError
from weft.runs.record import Record, read_record, write_record


def raw() -> dict[str, Any]:
    """Return libweft.so's output, with keys of a future weft."""
    return {
        "schema": "weft-run/1",
        "weft": "0.1.0",
        "simgrid": "4.1.0",
        "fabric": {
            "name": "tofino-4",
            "file": "tofino-4.toml",
            "topology": "star",
            "hosts": 4,
            "switches": 1,
            "links": 8,
            "colour": "grey",
        },
        "ranks": 4,
        "hosts_used": 4,
        "offload": "stream",
        "outcome": {"kind": "completed", "message": ""},
        "simulated_time_s": 1.25e-4,
        "collectives": [
            {
                "collective": "allreduce",
                "communicator_size": 4,
                "datatype": "MPI_INT",
                "op": "MPI_SUM",
                "path": "stream",
                "reason": "",
                "algorithm": "",
                "calls": 10,
                "bytes": 10240,
                "multicast_bytes": 0,
                "total_time_s": 3.2e-4,
                "total_wait_s": 1e-5,
                "max_time_s": 1e-5,
                "energy_J": 3.5,
            }
        ],
        "switches": [
            {
                "name": "switch",
                "preset": "tofino",
                "offloaded": 10,
                "bytes_reduced": 40960,
                "bytes_multicast": 40960,
                "slots_used_max": 4,
                "channels_used_max": 1,
                "cache_hits": 7,
                "cache_misses": None,
                "cache_packets": 12,
                "cache_packet_hits": None,
            }
        ],
        "links": [
            {
                "name": "host-0.up",
                "bandwidth_Bps": 1.25e10,
                "bytes": 10240,
                "multicast_bytes": 0,
                "utilisation": 0.1,
            }
        ],
        "weather": {"sky": "clear"},
    }


def test_nothing_is_lost_between_reading_and_writing(tmp_path: Path) -> None:
    write_record(Record.from_json(raw()), tmp_path / "run.json")
    written = json.loads((tmp_path / "run.json").read_text())
    assert {key: written[key] for key in raw()} == raw()
    assert "extra" not in (tmp_path / "run.json").read_text()
    assert Record.from_json(written) == read_record(tmp_path / "run.json")


def test_what_a_newer_weft_says_of_rows_is_kept(tmp_path: Path) -> None:
    data = raw()
    data["links"] += [{**data["links"][0], "colour": "red"}, data["links"][0]]
    write_record(Record.from_json(data), tmp_path / "run.json")
    assert json.loads((tmp_path / "run.json").read_text())["links"] == data["links"]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.just("},\n {"),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner) | st.tuples(inner, inner),
)


@given(JSON)
@example([{"a": 1}, {"a": 2, "b": "},"}, {"{": "\n"}])
@example([{"a": 1}, {}])
@example([{"a": 1}, {"a": [1]}])
@example([{"a": 1}, 1])
def test_files_are_written_as_json_indents_them(data: Any) -> None:
    file = io.StringIO()
    write_json(data, file)
    assert file.getvalue() == json.dumps(data, indent=1) + "\n"


def test_python_does_little_for_each_of_many_links(tmp_path: Path) -> None:
    rows = 2000
    data = raw()
    data["links"] *= rows
    calls = 0

    def count(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event == "call"

    text = json.dumps(data).encode()
    sys.setprofile(count)
    try:
        write_record(Record.from_own_json(text), tmp_path / "run.json")
    finally:
        sys.setprofile(None)
    assert calls < 4 * rows
    assert json.loads((tmp_path / "run.json").read_text())["links"] == data["links"]


def test_what_libweft_left_unfinished_is_said_to_be() -> None:
    with pytest.raises(json.JSONDecodeError):
        Record.from_own_json(b'{"schema": "weft-run/1", "links": [')
    with pytest.raises(UnreadableError, match=r"'links\[0\]\.bytes' is 'x', but must be a number"):
        Record.from_own_json(
            json.dumps({**raw(), "links": [{**raw()["links"][0], "bytes": "x"}]}).encode()
        )


def test_the_mean_time_is_that_of_one_rank_in_one_call() -> None:
    row = Record.from_json(raw()).collectives[0]
    assert row.mean_time_s == pytest.approx(8e-6)
    assert row.offloaded


def test_the_mean_wait_is_part_of_the_mean_time() -> None:
    data = raw()
    record = Record.from_json(data)
    assert record.collectives[0].mean_wait_s == pytest.approx(2.5e-7)
    assert record.frame()["mean_wait_s"].to_list() == pytest.approx([2.5e-7])
    del data["collectives"][0]["total_wait_s"]
    assert Record.from_json(data).collectives[0].mean_wait_s is None  # of an earlier version


@pytest.mark.parametrize("path", [["simulated_time_s"], ["fabric", "hosts"], ["outcome", "kind"]])
def test_a_missing_key_is_named(tmp_path: Path, path: list[str]) -> None:
    data = raw()
    part = data
    for key in path[:-1]:
        part = part[key]
    del part[path[-1]]
    (tmp_path / "run.json").write_text(json.dumps(data))
    with pytest.raises(
        WeftError, match=f"run.json is not a record of a run: '{path[-1]}' is missing"
    ):
        read_record(tmp_path / "run.json")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "is not a record of a run"),
        ("[]", "is not a record of a run"),
        ('{"schema": "weft-compare/1"}', r"holds the two records of a comparison; .*with_offload"),
        ('{"schema": "weft-run/9"}', "has the schema 'weft-run/9'; allowed is 'weft-run/1'"),
    ],
)
def test_what_is_no_record_is_refused(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "run.json").write_text(text)
    with pytest.raises(WeftError, match=message):
        read_record(tmp_path / "run.json")


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(WeftError, match=r"none\.json is not a record of a run: cannot be read"):
        read_record(tmp_path / "none.json")
