# SPDX-License-Identifier: LGPL-2.1-only
"""JSON schemas of files that users write: they accept all valid files, and refuse typos."""

import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any, cast

import jsonschema  # type: ignore[import-untyped]
import pytest

import weft
from tests.support.places import ROOT
from weft.base.errors import WeftError
from weft.campaign.file import keys as campaign
from weft.schemas import input_files as schemas
from weft.training import file as training

TAPLO = Path(sys.executable).parent / "taplo"
_BLOCK = re.compile(r"^```toml\n(.*?)^```", re.MULTILINE | re.DOTALL)
# Table that occurs only in files of one kind.
MARKS = {
    "fabric": "topology",
    "campaign": "campaign",
    "jobs": "jobs",
    "faults": "fault",
    "traffic": "traffic",
    "training": "parallel",
}


def problems(name: str, tables: dict[str, Any]) -> list[str]:
    """Return the positions and errors of a schema's refusals."""
    validator = jsonschema.Draft7Validator(weft.schema(name))
    return [f"{one.json_path}: {one.message}" for one in validator.iter_errors(tables)]


@pytest.mark.parametrize("name", schemas.SCHEMAS)
def test_each_is_a_schema_of_draft_7(name: str) -> None:
    jsonschema.Draft7Validator.check_schema(weft.schema(name))


def test_all_keys_of_the_readers_have_a_type() -> None:
    for keys, types in (
        (training.MODEL, schemas.MODEL_TYPES),
        (training.PARALLEL, schemas.PARALLEL_TYPES),
        (training.BATCH, schemas.BATCH_TYPES),
        (training.TRAIN, schemas.TRAIN_TYPES),
        (training.TOP, schemas.LIKE_TYPES),
        (campaign.CAMPAIGN, schemas.CAMPAIGN_TYPES),
        (campaign.PROGRAM, schemas.PROGRAM_TYPES),
        (campaign.RULES, schemas.RULE_TYPES),
    ):
        assert set(keys) == set(types)


@pytest.mark.parametrize("path", sorted((ROOT / "fabrics").glob("*.toml")), ids=lambda p: p.stem)
def test_shipped_fabrics_are_accepted(path: Path) -> None:
    assert problems("fabric", tomllib.loads(path.read_text())) == []


def documented() -> list[tuple[str, str, dict[str, Any]]]:
    """Return the files in documents and examples: kind, position and tables."""
    texts = [
        (path.name, block)
        for path in sorted((ROOT / "docs").glob("*.md"))
        for block in _BLOCK.findall(path.read_text(encoding="utf-8"))
    ]
    texts += [
        (path.name, path.read_text(encoding="utf-8"))
        for folder in ("campaigns", "training")
        for path in sorted((ROOT / "examples" / folder).glob("*.toml"))
    ]
    found = []
    for place, text in texts:
        if "…" in text:
            continue
        tables = tomllib.loads(text)
        kinds = [kind for kind, mark in MARKS.items() if mark in tables]
        # Fragments of fabrics and campaigns lack tables that a complete file requires.
        whole = not kinds or set(
            cast("list[str]", weft.schema(kinds[0]).get("required", []))
        ) <= set(tables)
        found += [(kind, place, tables) for kind in kinds[:1] if whole]
    return found


def test_files_in_documents_are_accepted() -> None:
    files = documented()
    assert {kind for kind, _, _ in files} == set(MARKS)
    refused = [
        (kind, place, found) for kind, place, tables in files if (found := problems(kind, tables))
    ]
    assert refused == []


WRONG = [
    ("faults", '[[fault]]\nlink = "*"\nmtfb = "1d"', "mtfb"),
    ("faults", '[recovery]\ntransport = "quic"', "quic"),
    ("faults", '[[fault]]\nlink = "*"\nat = "1 fortnight"', "fortnight"),
    ("traffic", '[[traffic]]\npattern = "uniform"\nload = "much"', "much"),
    ("jobs", '[[jobs]]\nname = "a"\nprogram = "./a"\nranks = "4"', "'4'"),
    ("campaign", '[campaign]\nname = "a"\nbest = "no"\n[programs]\n[[runs]]', "'no'"),
    ("training", "[batch]\nsequence = 64\nglobal = 4\n[parallel]\ntensors = 2", "tensors"),
    ("fabric", '[fabric]\nname = "a"\n[topology]\nkind = "star"\nhost = 4', "not valid"),
    (
        "fabric",
        '[fabric]\nname = "a"\n[topology]\nkind = "star"\nhosts = 4\n[link]\nlatency = "1mile"',
        "1mile",
    ),
]


@pytest.mark.parametrize(("name", "text", "found"), WRONG)
def test_what_weft_refuses_by_its_form_is_refused(name: str, text: str, found: str) -> None:
    assert any(found in one for one in problems(name, tomllib.loads(text)))


@pytest.mark.skipif(not TAPLO.exists() and shutil.which("taplo") is None, reason="without taplo")
@pytest.mark.parametrize("name", schemas.SCHEMAS)
def test_taplo_reads_the_schema_by_a_comment(name: str, tmp_path: Path) -> None:
    schema = tmp_path / "file.schema.json"
    schema.write_text(json.dumps(weft.schema(name)))
    right = next(text for kind, _, text in right_files() if kind == name)
    wrong = next(text for kind, text, _ in WRONG if kind == name)
    for text, ok in ((right, True), (wrong, False)):
        file = tmp_path / f"{ok}.toml"
        file.write_text(f"#:schema ./{schema.name}\n{text}")
        result = subprocess.run(
            [str(TAPLO), "lint", file.name],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert (result.returncode == 0) == ok, result.stderr


def right_files() -> list[tuple[str, str, str]]:
    """Return a valid file of each kind."""
    return [
        ("fabric", "", (ROOT / "fabrics" / "tofino-4.toml").read_text()),
        ("campaign", "", (ROOT / "examples" / "campaigns" / "slots.toml").read_text()),
        ("jobs", "", '[[jobs]]\nname = "a"\nprogram = "./a"\nranks = 4\nstart = "1ms"\n'),
        ("faults", "", '[recovery]\ntransport = "ucx"\n[[fault]]\nlink = "*"\nat = "2h"\n'),
        ("traffic", "", '[[traffic]]\npattern = "uniform"\nload = "30%"\n'),
        (
            "training",
            "",
            (ROOT / "examples" / "training" / "deepseek-v3-256.toml").read_text(),
        ),
    ]


def test_the_command_prints_what_the_call_returns(tmp_path: Path) -> None:
    binary = str(Path(sys.executable).parent / "weft")
    printed = subprocess.run(
        [binary, "schema", "faults"], capture_output=True, text=True, check=True
    ).stdout
    assert json.loads(printed) == weft.schema("faults")
    path = tmp_path / "schema.json"
    subprocess.run([binary, "schema", "jobs", "-o", str(path)], check=True)
    assert json.loads(path.read_text()) == weft.schema("jobs")
    with pytest.raises(WeftError, match="name: found 'fabrics'"):
        weft.schema("fabrics")
