# SPDX-License-Identifier: LGPL-2.1-only
"""SimAI's workload text, as written by AICB: the layers of one pipeline stage.

    HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 16 pp: 12 ... pp_comm 50331648
    1789
    attention_column -1 1750840 ALLGATHER 50331648 875420 REDUCESCATTER 0 875420 NONE 0 100

A line contains a name and an unused number; time (ns), collective and bytes of the forward pass, of
the input gradient and of the weight gradient; and the time of the update. SimAI
(astra-sim-alibabacloud/astra-sim/workload/Workload.cc) executes all lines forwards, then backwards.
It waits for the first two collectives of a line immediately, and for the weights' collective in the
next pass. Collectives without a suffix use the tensor-parallel group, or the data-parallel group in
the third column; `_EP` and `_DP_EP` name groups of experts.

SimAI adds the pipeline's bubbles afterwards. In weft, all stages execute the lines, split into
microbatches and virtual stages, and exchange activations in Megatron's interleaved order, all
forward passes first; the bubbles are as long as in 1F1B.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import NoReturn

from weft.base.errors import WeftError, named, printable
from weft.base.user_files import UnreadableError, read_text
from weft.training.formats import operations as ops
from weft.training.formats.options import ReadOptions
from weft.training.formats.source import head_of
from weft.training.workload import NewProgram, Program, Workload

_POLICIES = (
    "HYBRID_TRANSFORMER_FWD_IN_BCKWD",
    "HYBRID_TRANSFORMER",
    "MICRO",
)
"""Supported first words."""
_OTHER_POLICIES = (
    *("DATA", "MODEL", "HYBRID_DATA_MODEL", "HYBRID_MODEL_DATA", "HYBRID_DLRM"),
    *("HYBRID_DLRM_ENHANCED", "HYBRID_CUSTOMIZED", "DISTRIBUTED_INFERENCE"),
)
_SNIFFED = 1 << 12
_MICROBATCH = "embedding_layer"
"""First line of a microbatch."""
_SMALLEST = 4096
"""Minimum size to which SimAI rounds up smaller collectives of the forward pass."""
_COLLECTIVES = {
    "ALLREDUCE": ops.ALLREDUCE,
    "ALLGATHER": ops.ALLGATHER,
    "REDUCESCATTER": ops.REDUCE_SCATTER,
    "ALLTOALL": ops.ALLTOALL,
    "BROADCAST": ops.BROADCAST,
}
_FIELDS = (11, 12)
"""Number of fields of a line; AICB's smallest example lacks the last field."""

_TP, _DP, _EP, _DP_EP = "TP", "DP", "EP", "DP_EP"
_KINDS = (_TP, _DP, _EP, _DP_EP)
_COMPUTE, _FIRST_COLLECTIVE = 0, 1
_FORWARD_SEND, _FORWARD_RECEIVE, _BACKWARD_SEND, _BACKWARD_RECEIVE = range(5, 9)
_FORWARD, _BACKWARD = 0, 1


@dataclass(frozen=True, slots=True)
class _Step:
    """Time and collective of a layer in one pass."""

    seconds: float
    collective: str = ""
    kind: str = ""
    size: float = 0.0


@dataclass(frozen=True, slots=True)
class _Layer:
    name: str
    forward: _Step
    inputs: _Step
    weights: _Step
    update_s: float


@dataclass(frozen=True)
class _Job:
    """Parallelism stated in the first line."""

    tensor: int
    expert: int
    pipeline: int
    chunks: int
    """Virtual stages per GPU."""
    microbatches: int
    ranks: int
    activation: float
    """Bytes that a stage sends to the next stage."""

    @property
    def data(self) -> int:
        return self.ranks // (self.tensor * self.pipeline)

    def groups(self, kind: str) -> list[list[int]]:
        """Return the groups of a kind; tensor ranks are adjacent, and stages are farthest apart."""
        stage = self.tensor * self.data
        size, stride = {
            _TP: (self.tensor, 1),
            _DP: (self.data, self.tensor),
            _EP: (self.expert, self.tensor),
            _DP_EP: (self.data // self.expert, self.tensor * self.expert),
        }[kind]
        span = size * stride
        return [
            list(range(first + block + offset, first + block + offset + span, stride))
            for first in range(0, self.ranks, stage)
            for block in range(0, stage, span)
            for offset in range(stride)
        ]


def is_simai(path: Path) -> bool:
    """Return True for SimAI's workload text."""
    words = _first_words(path)
    return bool(words) and (words[0] in (*_POLICIES, *_OTHER_POLICIES) and _has_count(path))


def _head_lines(path: Path) -> list[str]:
    head = head_of(path, _SNIFFED)
    if b"\0" in head:
        return []
    lines = head.decode("ascii", errors="replace").splitlines()
    return [line for line in lines if line.strip() and not line.startswith("#")][:2]


def _first_words(path: Path) -> list[str]:
    lines = _head_lines(path)
    return lines[0].split() if lines else []


def _has_count(path: Path) -> bool:
    lines = _head_lines(path)
    return len(lines) == 2 and lines[1].strip().isdigit()


def read(path: Path, options: ReadOptions, new_program: NewProgram) -> Workload:
    """Read a workload text. Raises `WeftError`."""
    return _Reader(path, options).workload(new_program)


class _Reader:
    def __init__(self, path: Path, options: ReadOptions) -> None:
        self._path = path
        try:
            text = read_text(path)
        except UnreadableError as error:
            raise WeftError(f"trace: {path} {error}") from None
        lines = [
            (number, line.split())
            for number, line in enumerate(text.splitlines(), start=1)
            if line.strip() and not line.startswith("#")
        ]
        if len(lines) < 2:
            self._refuse(1, "found no layers; the file is cut: copy it again")
        self._job = self._read_job(*lines[0], options.replicate)
        self._layers = self._read_layers(lines[1], lines[2:])
        if not any(_seconds_or_bytes(self._layers)):
            raise WeftError(
                f"trace: {path}: all times and sizes are zero: there is nothing to simulate; write"
                " the workload again with AICB's measured times"
            )

    def _refuse(self, line: int, what: str) -> NoReturn:
        raise WeftError(f"trace: {self._path}: line {line}: {what}")

    # ---- Lines

    def _read_job(self, line: int, words: Sequence[str], replicate: int | None) -> _Job:
        if words[0] not in _POLICIES:
            self._refuse(
                line, f"found parallelism '{words[0]}'; allowed are {', '.join(_POLICIES)}"
            )
        found: dict[str, int] = {}
        for name, value in pairwise(words):
            key = name.rstrip(":")
            if re.fullmatch(r"\d{1,15}", value) and not re.fullmatch(r"\d+", key):
                found.setdefault(key, int(value))
        ranks = replicate or found.get("all_gpus", 0)
        if not ranks:
            self._refuse(
                line, f"found no all_gpus, the number of GPUs; give it with {named('replicate')}"
            )
        job = _Job(
            tensor=found.get("model_parallel_NPU_group", 1) or 1,
            expert=found.get("ep", 1) or 1,
            pipeline=found.get("pp", 1) or 1,
            chunks=found.get("vpp", 1) or 1,
            microbatches=found.get("ga", 1) or 1,
            ranks=ranks,
            activation=float(found.get("pp_comm", 0)),
        )
        stage = job.tensor * job.pipeline
        if ranks % stage:
            self._refuse(
                line,
                f"found {ranks} GPUs, which tensor parallelism {job.tensor} and {job.pipeline}"
                f" stages do not divide; correct all_gpus or {named('replicate')}",
            )
        if job.data % job.expert:
            self._refuse(
                line,
                f"found {job.data} data-parallel ranks, which expert parallelism {job.expert} does"
                " not divide; correct ep",
            )
        return job

    def _read_layers(
        self, count: tuple[int, Sequence[str]], rows: Sequence[tuple[int, Sequence[str]]]
    ) -> list[_Layer]:
        number, words = count
        if len(words) != 1 or not words[0].isdigit():
            self._refuse(number, f"found '{' '.join(words)[:40]}'; allowed: the number of layers")
        wanted = int(words[0])
        if len(rows) != wanted:
            last = rows[-1][0] if rows else number
            self._refuse(
                last,
                f"found {len(rows):,} layers, and line {number} announces {wanted:,}; the file is"
                " cut or has been edited: copy it again",
            )
        return [self._layer(line, row) for line, row in rows]

    def _layer(self, line: int, row: Sequence[str]) -> _Layer:
        if len(row) not in _FIELDS:
            self._refuse(
                line,
                f"found {len(row)} fields; allowed are {_FIELDS[1]}: name, -1, three times"
                " time, collective and bytes, and the time of the update",
            )
        return _Layer(
            name=printable(row[0][:60]),
            forward=self._step(line, row[2:5], _TP),
            inputs=self._step(line, row[5:8], _TP),
            weights=self._step(line, row[8:11], _DP),
            update_s=self._number(line, row[11]) * 1e-9 if len(row) > 11 else 0.0,
        )

    def _step(self, line: int, words: Sequence[str], default: str) -> _Step:
        seconds, size = self._number(line, words[0]) * 1e-9, self._number(line, words[2])
        base, kind = words[1], default
        for suffix in (_DP_EP, _EP):
            if base.endswith(f"_{suffix}"):
                base, kind = base.removesuffix(f"_{suffix}"), suffix
                break
        if base == "NONE" or not size:
            return _Step(seconds)
        if base not in _COLLECTIVES:
            self._refuse(
                line,
                f"found collective '{printable(words[1][:40])}'; allowed are NONE and"
                f" {', '.join(_COLLECTIVES)}, with _EP or _DP_EP",
            )
        return _Step(seconds, _COLLECTIVES[base], kind, size)

    def _number(self, line: int, word: str) -> float:
        if not re.fullmatch(r"\d{1,18}(\.\d+)?", word):
            self._refuse(
                line, f"found '{printable(word[:40])}'; allowed: a number that is not negative"
            )
        return float(word)

    # ---- Workload

    def workload(self, new_program: NewProgram) -> Workload:
        """Return the programs of the first, inner and last stages."""
        job = self._job
        used = {
            step.kind
            for one in self._layers
            for step in (one.forward, one.inputs, one.weights)
            if step.collective
        }
        kinds = [kind for kind in _KINDS if kind in used and len(job.groups(kind)[0]) > 1]
        stage_size = job.tensor * job.data
        roles = [_role(stage, job.pipeline) for stage in range(job.pipeline)]
        programs: dict[tuple[bool, bool], int] = {}
        written: list[Program] = []
        for stage, role in enumerate(roles):
            if role not in programs:
                programs[role] = len(written)
                written.append(
                    _StageWriter(job, kinds, stage, new_program(True)).write(*self._parts())
                )
        return Workload(
            programs=written,
            program_of=[programs[role] for role in roles for _ in range(stage_size)],
            groups=[(kind, job.groups(kind)) for kind in kinds],
        )

    def _parts(self) -> tuple[list[_Layer], list[list[list[_Layer]]], list[_Layer]]:
        """Return the lines before the microbatches, the lines by microbatch and part, and the rest.

        Without pipeline parallelism, there is one part with all lines.
        """
        job, layers = self._job, self._layers
        starts = [index for index, one in enumerate(layers) if one.name == _MICROBATCH]
        if job.pipeline == 1:
            return [], [[layers]], []
        count = job.microbatches
        if len(starts) != count or len({*_differences(starts)}) > 1:
            self._refuse(
                1,
                f"found {len(starts)} lines '{_MICROBATCH}' for {count} microbatches (ga), so that"
                " the microbatches of the pipeline are unknown; write the workload again with AICB",
            )
        size = starts[1] - starts[0] if count > 1 else len(layers) - starts[0]
        end = starts[-1] + size
        if job.chunks > 1 and count % job.pipeline:
            self._refuse(
                1,
                f"found {count} microbatches (ga) for {job.pipeline} stages with {job.chunks}"
                " virtual ones each (vpp); allowed: a multiple of the stages",
            )
        batches = [list(_cut(layers[start : start + size], job.chunks)) for start in starts]
        return layers[: starts[0]], batches, layers[end:]


def _seconds_or_bytes(layers: Iterable[_Layer]) -> Iterator[float]:
    for one in layers:
        for step in (one.forward, one.inputs, one.weights):
            yield step.seconds or step.size


def _differences(numbers: Sequence[int]) -> Iterator[int]:
    return (after - before for before, after in pairwise(numbers))


def _cut(layers: list[_Layer], parts: int) -> Iterator[list[_Layer]]:
    for part in range(parts):
        yield layers[len(layers) * part // parts : len(layers) * (part + 1) // parts]


def _role(stage: int, stages: int) -> tuple[bool, bool]:
    """Return whether a stage is the first and the last; all inner stages are equivalent."""
    return stage == 0, stage == stages - 1


class _StageWriter:
    """Writes the program of a stage."""

    def __init__(self, job: _Job, kinds: Sequence[str], stage: int, program: Program) -> None:
        self._job = job
        self._kinds = kinds
        self._stage = stage
        self._program = program
        self._waits: list[int] = []
        """Operations for which the next computation waits."""
        self._last = -1
        self._updates: dict[str, tuple[int, float]] = {}

    def write(
        self, head: list[_Layer], batches: list[list[list[_Layer]]], tail: list[_Layer]
    ) -> Program:
        """Write all forward passes, then all backward passes in reverse order."""
        units = self._units(len(batches), len(batches[0]))
        for one in head:
            self._forward(one)
        for batch, chunk in units:
            self._exchange(_FORWARD, chunk, lambda: self._pass_forward(batches[batch][chunk]))  # noqa: B023
        for one in tail:
            self._forward(one)
        for one in reversed(tail):
            self._backward(one)
        for batch, chunk in reversed(units):
            self._exchange(_BACKWARD, chunk, lambda: self._pass_backward(batches[batch][chunk]))  # noqa: B023
        for one in reversed(head):
            self._backward(one)
        self._update()
        return self._program

    def _units(self, batches: int, chunks: int) -> list[tuple[int, int]]:
        """Return microbatches and virtual stages in Megatron's interleaved order."""
        together = self._job.pipeline if chunks > 1 else batches
        return [
            (first + batch, chunk)
            for first in range(0, batches, together)
            for chunk in range(chunks)
            for batch in range(together)
        ]

    def _pass_forward(self, layers: list[_Layer]) -> None:
        for one in layers:
            self._forward(one)

    def _pass_backward(self, layers: list[_Layer]) -> None:
        for one in reversed(layers):
            self._backward(one)

    def _exchange(self, direction: int, chunk: int, work: Callable[[], None]) -> None:
        """Receive the input of a part, execute it, and send its result on."""
        job = self._job
        stages, stage = job.pipeline, self._stage
        distance = job.tensor * job.data
        if stages > 1 and job.activation > 0:
            step = 1 if direction == _FORWARD else -1
            first = 0 if direction == _FORWARD else stages - 1
            first_chunk = 0 if direction == _FORWARD else job.chunks - 1
            if not (stage == first and chunk == first_chunk):
                peer = ((stage - step) % stages - stage) * distance
                stream = _FORWARD_RECEIVE if direction == _FORWARD else _BACKWARD_RECEIVE
                self._waits.append(
                    self._program.receive(stream, peer, job.activation, direction, (), "activation")
                )
            work()
            last, last_chunk = stages - 1 - first, job.chunks - 1 - first_chunk
            if not (stage == last and chunk == last_chunk):
                peer = ((stage + step) % stages - stage) * distance
                stream = _FORWARD_SEND if direction == _FORWARD else _BACKWARD_SEND
                after = [*self._waits, *([self._last] if self._last >= 0 else [])]
                self._program.send(stream, peer, job.activation, direction, after, "activation")
        else:
            work()

    def _forward(self, one: _Layer) -> None:
        step = one.forward
        self._compute(step.seconds, one.name)
        self._join(step, max(step.size, _SMALLEST), one.name, wait=True)

    def _backward(self, one: _Layer) -> None:
        self._compute(one.inputs.seconds, one.name)
        self._join(one.inputs, one.inputs.size, one.name, wait=True)
        self._compute(one.weights.seconds, one.name)
        ended = self._join(one.weights, one.weights.size, one.name, wait=False)
        if ended is not None:
            before = self._updates.get(one.weights.kind, (0, 0.0))[1]
            self._updates[one.weights.kind] = ended, before + one.update_s

    def _compute(self, seconds: float, name: str) -> None:
        if seconds > 0:
            self._last = self._program.compute(_COMPUTE, seconds, self._waits, name)
            self._waits = []

    def _join(self, step: _Step, size: float, name: str, *, wait: bool) -> int | None:
        """Add a collective; return its index, or None if it transfers no data."""
        if not step.collective or step.kind not in self._kinds:
            return None
        kind = self._kinds.index(step.kind)
        after = [*self._waits, *([self._last] if self._last >= 0 else [])]
        index = self._program.collective(
            _FIRST_COLLECTIVE + _KINDS.index(step.kind), kind, step.collective, size, after, name
        )
        if wait:
            self._waits = [index]
        return index

    def _update(self) -> None:
        """Add the update of the weights after their gradients have been combined."""
        for ended, seconds in self._updates.values():
            if seconds > 0:
                self._program.compute(_COMPUTE, seconds, [*self._waits, ended], "update")
