# SPDX-License-Identifier: LGPL-2.1-only
"""P4Runtime controller of a switch: fills, changes and empties its tables.

The server of a testbed of namespaces and real switches get the same requests. A real switch
requires its own compiled program and the compiler's P4Info, whose ids are then used.

A change first reads the switch: it is refused if the entries are not the expected ones, and rolled
back if a step fails.
"""

import queue
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import grpc
from finsy.proto.google.rpc import code_pb2, status_pb2
from finsy.proto.p4.config.v1 import p4info_pb2
from finsy.proto.p4.v1 import p4runtime_pb2, p4runtime_pb2_grpc
from google.protobuf import text_format

from weft.base.errors import WeftError, named
from weft.base.units import plural
from weft.base.user_files import UnreadableError, read_text
from weft_testbed.hardware.inventory import FOLDER
from weft_testbed.p4 import access
from weft_testbed.p4 import info as p4info
from weft_testbed.p4 import program as p4_program
from weft_testbed.p4.info import Names, batches, entries, told
from weft_testbed.plan.plan import Plan
from weft_testbed.tables import entry_numbers
from weft_testbed.tables.tables import Entry

_DEVICE = 1
# Election id of the controller, which wins if there is no other.
_ELECTION = (0, 1)
_PATIENCE_S = 20.0
_CALL_S = 60.0
_MOST_TOLD = 3


@dataclass(frozen=True)
class Pipeline:
    """Configuration of a switch."""

    info: Any
    config: bytes

    @property
    def names(self) -> Names:
        """Ids of its P4Info. Raises `WeftError` if that belongs to another program."""
        try:
            return Names(p4_program.shipped(), self.info)
        except KeyError as error:
            raise WeftError(
                f"{named('p4info')}: it has no {error}, which {p4_program.V1MODEL} has; compile"
                " that program"
            ) from None


def pipeline(info: Path | None = None, config: Path | None = None) -> Pipeline:
    """Return the files of a compiled program, or the configuration for the server of namespaces."""
    if info is None:
        text = (FOLDER / p4_program.V1MODEL).read_bytes()
        return Pipeline(p4info.p4info(p4_program.shipped()), text)
    try:
        message = text_format.Parse(read_text(info), p4info_pb2.P4Info())
        return Pipeline(message, config.read_bytes() if config else b"")
    except (UnreadableError, text_format.ParseError) as error:
        raise WeftError(
            f"{named('p4info')}: {info}: not a P4Info in text format: {error}"
        ) from None
    except OSError as error:
        raise WeftError(f"{named('config')}: {config}: {error.strerror}") from None


class ForeignEntriesError(WeftError):
    """Raised if a switch has entries unknown to weft's program."""


class Client:
    """Controller of a switch, used as a context manager: the primary one, or a read-only one."""

    def __init__(
        self, address: str, taken: Pipeline, *, primary: bool = True, tls: Path | None = None
    ) -> None:
        """Store the address, `HOST:PORT` or `unix:PATH`, and a directory of certificates."""
        self.address, self.pipeline, self.names = address, taken, taken.names
        self.primary, self.tls = primary, tls
        self.requests: queue.SimpleQueue[Any] = queue.SimpleQueue()

    def __enter__(self) -> Self:
        """Connect."""
        self.channel = access.channel(self.address, self.tls)
        self.stub = p4runtime_pb2_grpc.P4RuntimeStub(self.channel)
        try:
            grpc.channel_ready_future(self.channel).result(timeout=_PATIENCE_S)
        except grpc.FutureTimeoutError:
            self.channel.close()
            raise WeftError(
                f"P4Runtime: nothing answers at {self.address} within {_PATIENCE_S:g} s; is the"
                f" switch's server running, and does it accept {self._taken}?"
            ) from None
        try:
            if self.primary:
                self._become_primary()
        except BaseException:
            self.channel.close()
            raise
        return self

    @property
    def _taken(self) -> str:
        return f"connections without TLS ({named('tls')})" if self.tls is None else "this TLS"

    def __exit__(self, *_: object) -> None:
        """Disconnect, leaving the switch as it is."""
        self.requests.put(None)
        self.channel.close()

    def _become_primary(self) -> None:
        request = p4runtime_pb2.StreamMessageRequest()
        request.arbitration.device_id = _DEVICE
        request.arbitration.election_id.high, request.arbitration.election_id.low = _ELECTION
        self.requests.put(request)
        try:
            # Keep a reference: the stream ends when the last one is dropped.
            self.answers = self.stub.StreamChannel(iter(self.requests.get, None))
            status = next(self.answers).arbitration.status
        except (grpc.RpcError, StopIteration) as error:
            raise WeftError(f"P4Runtime: {self.address}: {_said(error)}") from None
        if status.code != code_pb2.OK:
            raise WeftError(f"P4Runtime: {self.address}: another controller is the primary one")

    def primary_controller(self) -> str:
        """Return the election id of the primary controller, or "none".

        A controller without an election id of its own only watches (P4Runtime specification,
        section 5); a switch that accepts no such controllers does not report it.
        """
        request = p4runtime_pb2.StreamMessageRequest()
        request.arbitration.device_id = _DEVICE
        self.requests.put(request)
        try:
            answers = self.stub.StreamChannel(iter(self.requests.get, None), timeout=_CALL_S)
            told = next(answers).arbitration
        except (grpc.RpcError, StopIteration):
            return "not told"
        if told.status.code == code_pb2.NOT_FOUND:
            return "none"
        return f"election id {told.election_id.high}:{told.election_id.low}"

    # ---- Calls -----------------------------------------------------------------------------------

    def fill(self, entries: Sequence[Entry], *, replace: bool = False) -> int:
        """Load the program and write entries; return the number of updates.

        Loading empties all tables, so a switch with entries is refused unless `replace` is set.
        """
        if not replace and (there := self._there()):
            raise WeftError(
                f"testbed up: the switch at {self.address} has {there} already, which loading the"
                " program would remove; change it with `weft testbed diff --p4runtime`,"
                f" empty it with `weft testbed down --p4runtime`, or give {named('replace')}"
            )
        self.configure()
        return self.change([], entries, 0)

    def _there(self) -> str:
        """Describe the switch's state; empty if it has no program or no entry."""
        try:
            return plural(len(found), "entry") if (found := self.read()) else ""
        except ForeignEntriesError as error:
            return f"another program ({error})"
        except WeftError as error:
            if isinstance(error.__cause__, grpc.RpcError) and (
                error.__cause__.code() == grpc.StatusCode.FAILED_PRECONDITION
            ):
                return ""  # no pipeline yet (P4Runtime specification, section 7)
            raise

    def configure(self) -> None:
        """Load the program, which empties all tables."""
        request = p4runtime_pb2.SetForwardingPipelineConfigRequest(device_id=_DEVICE)
        self._elect(request)
        request.action = request.VERIFY_AND_COMMIT
        request.config.p4info.CopyFrom(self.pipeline.info)
        request.config.p4_device_config = self.pipeline.config
        self._call(self.stub.SetForwardingPipelineConfig, request)

    def change(self, before: Sequence[Entry], after: Sequence[Entry], pause_s: float) -> int:
        """Change from some entries to others; return the number of updates.

        Raises `WeftError` if the switch has other entries than `before`, or does not accept all
        updates; in both cases its entries are unchanged afterwards.
        """
        found, expected = self.read(), told(before, self.names)
        if {*found} != expected:
            raise WeftError(
                f"P4Runtime: {self.address}: the switch has changed in the meantime:"
                f" {plural(len(expected - {*found}), 'entry')} gone and"
                f" {plural(len({*found} - expected), 'entry')} new; repeat the command"
            )
        try:
            return self._change(found, after, pause_s)
        except BaseException as error:
            self.restore(found, error)
            raise

    def prove(self, plan: Plan, called: str) -> None:
        """Verify that the switch has exactly a plan's entries. Raises `WeftError`."""
        compared = entry_numbers.compare(plan, self.read())
        if not compared.equal:
            raise WeftError(
                f"testbed diff: {called} differs from the switch at {self.address}:"
                f" {compared.said()}; omit {called} to start from the state of the switch"
            )

    def _change(self, before: Sequence[Entry], after: Sequence[Entry], pause_s: float) -> int:
        removing, adding = batches(before, after, self.names)
        for updates in removing:
            self.write(updates)
        if removing and adding:
            time.sleep(pause_s)
        for updates in adding:
            self.write(updates)
        return sum(map(len, (*removing, *adding)))

    def restore(self, before: Sequence[Entry], error: BaseException) -> None:
        """Restore the entries from before an error, which is raised along with any new failure."""
        try:
            self._change(self.read(), before, 0)
        except WeftError as second:
            raise WeftError(
                f"{str(error) or type(error).__name__}; and its entries could not be restored:"
                f" {second}; `weft testbed status` shows its current state"
            ) from None

    def write(self, updates: Sequence[Any]) -> None:
        """Write a batch."""
        request = p4runtime_pb2.WriteRequest(device_id=_DEVICE, updates=updates)
        self._elect(request)
        self._call(self.stub.Write, request)

    def read(self) -> list[Entry]:
        """Return all entries of the switch."""
        request = p4runtime_pb2.ReadRequest(device_id=_DEVICE)
        request.entities.add().table_entry.table_id = 0
        for number in self.names.sets.values():
            request.entities.add().value_set_entry.value_set_id = number
        replication = request.entities.add().packet_replication_engine_entry
        replication.multicast_group_entry.multicast_group_id = 0
        responses = self._call(lambda one, timeout: self._all(one, timeout), request)
        try:
            return sorted(
                entry
                for response in responses
                for entity in response.entities
                for entry in entries(entity, self.names)
            )
        except (ValueError, IndexError) as error:
            raise ForeignEntriesError(
                f"P4Runtime: {self.address}: has an entry that weft's program does not have:"
                f" {error}"
            ) from None

    def _all(self, request: Any, timeout: float) -> list[Any]:
        return list(self.stub.Read(request, timeout=timeout))

    def _elect(self, request: Any) -> None:
        request.election_id.high, request.election_id.low = _ELECTION

    def _call(self, call: Any, request: Any) -> Any:
        try:
            return call(request, timeout=_CALL_S)
        except grpc.RpcError as error:
            raise WeftError(f"P4Runtime: {self.address}: {_said(error)}") from error


def _said(error: Any) -> str:
    """Return the message of a failed call, including those of its updates."""
    told = [*_details(error)][:_MOST_TOLD] if isinstance(error, grpc.RpcError) else []
    if told:
        return "; ".join(told)
    details = error.details() if hasattr(error, "details") else None
    return str(details or "the switch closed the stream")


def _details(error: Any) -> Iterator[str]:
    for key, value in error.trailing_metadata() or ():
        if key == "grpc-status-details-bin":
            for one in status_pb2.Status.FromString(value).details:
                found = p4runtime_pb2.Error()
                if one.Unpack(found) and found.canonical_code != code_pb2.OK:
                    yield found.message
