# SPDX-License-Identifier: LGPL-2.1-only
"""A controller of a switch that speaks P4Runtime: it fills, changes and empties its tables.

The same is said to the server of a testbed of namespaces and to a real switch. That one wants its
own compiled program and the compiler's P4Info, whose numbers are then taken.
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

from weft.base import paths
from weft.base.errors import WeftError, named
from weft.base.reading import UnreadableError, read_text
from weft.testbed import p4_program, p4info
from weft.testbed.inventory import FOLDER
from weft.testbed.p4info import Names, batches, entries
from weft.testbed.tables import Entry

_DEVICE = 1
# The controller's, in an election that it wins where there is no other.
_ELECTION = (0, 1)
_PATIENCE_S = 20.0
_CALL_S = 60.0
_MOST_TOLD = 3


@dataclass(frozen=True)
class Pipeline:
    """What a switch is configured with."""

    info: Any
    config: bytes

    @property
    def names(self) -> Names:
        """The numbers of its P4Info. Raises `WeftError` where that is another program's."""
        try:
            return Names(p4_program.shipped(), self.info)
        except KeyError as error:
            raise WeftError(
                f"{named('p4info')}: it has no {error}, which {p4_program.V1MODEL} has; compile"
                " that program"
            ) from None


def pipeline(info: Path | None = None, config: Path | None = None) -> Pipeline:
    """Return a compiled program's files, or what the server of namespaces takes."""
    if info is None:
        text = paths.installed(FOLDER, p4_program.V1MODEL).read_bytes()
        return Pipeline(p4info.p4info(p4_program.shipped()), text)
    try:
        message = text_format.Parse(read_text(info), p4info_pb2.P4Info())
        return Pipeline(message, config.read_bytes() if config else b"")
    except (UnreadableError, text_format.ParseError) as error:
        raise WeftError(f"{named('p4info')}: {info}: no P4Info as text: {error}") from None
    except OSError as error:
        raise WeftError(f"{named('config')}: {config}: {error.strerror}") from None


class Client:
    """The primary controller of a switch, while it is entered."""

    def __init__(self, address: str, taken: Pipeline) -> None:
        """Take an address, as `HOST:PORT` or `unix:PATH`."""
        self.address, self.pipeline, self.names = address, taken, taken.names
        self.requests: queue.SimpleQueue[Any] = queue.SimpleQueue()

    def __enter__(self) -> Self:
        """Connect, and become primary."""
        self.channel = grpc.insecure_channel(self.address)
        self.stub = p4runtime_pb2_grpc.P4RuntimeStub(self.channel)
        try:
            grpc.channel_ready_future(self.channel).result(timeout=_PATIENCE_S)
        except grpc.FutureTimeoutError:
            self.channel.close()
            raise WeftError(
                f"P4Runtime: nothing answers at {self.address} within {_PATIENCE_S:g} s; is the"
                " switch's server there?"
            ) from None
        try:
            self._become_primary()
        except BaseException:
            self.channel.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        """Leave the switch as it is."""
        self.requests.put(None)
        self.channel.close()

    def _become_primary(self) -> None:
        request = p4runtime_pb2.StreamMessageRequest()
        request.arbitration.device_id = _DEVICE
        request.arbitration.election_id.high, request.arbitration.election_id.low = _ELECTION
        self.requests.put(request)
        try:
            # Kept, as the stream ends with the last who knows it.
            self.answers = self.stub.StreamChannel(iter(self.requests.get, None))
            status = next(self.answers).arbitration.status
        except (grpc.RpcError, StopIteration) as error:
            raise WeftError(f"P4Runtime: {self.address}: {_said(error)}") from None
        if status.code != code_pb2.OK:
            raise WeftError(f"P4Runtime: {self.address}: another controller is the primary one")

    # ---- Calls -----------------------------------------------------------------------------------

    def configure(self) -> None:
        """Load the program, which empties all tables."""
        request = p4runtime_pb2.SetForwardingPipelineConfigRequest(device_id=_DEVICE)
        self._elect(request)
        request.action = request.VERIFY_AND_COMMIT
        request.config.p4info.CopyFrom(self.pipeline.info)
        request.config.p4_device_config = self.pipeline.config
        self._call(self.stub.SetForwardingPipelineConfig, request)

    def change(self, before: Sequence[Entry], after: Sequence[Entry], pause_s: float) -> int:
        """Go from some entries to others; return how many updates that took."""
        removing, adding = batches(before, after, self.names)
        for updates in removing:
            self.write(updates)
        if removing and adding:
            time.sleep(pause_s)
        for updates in adding:
            self.write(updates)
        return sum(map(len, (*removing, *adding)))

    def write(self, updates: Sequence[Any]) -> None:
        """Write a batch."""
        request = p4runtime_pb2.WriteRequest(device_id=_DEVICE, updates=updates)
        self._elect(request)
        self._call(self.stub.Write, request)

    def read(self) -> list[Entry]:
        """Return all entries that the switch has."""
        request = p4runtime_pb2.ReadRequest(device_id=_DEVICE)
        request.entities.add().table_entry.table_id = 0
        for number in self.names.sets.values():
            request.entities.add().value_set_entry.value_set_id = number
        replication = request.entities.add().packet_replication_engine_entry
        replication.multicast_group_entry.multicast_group_id = 0
        return sorted(
            entry
            for response in self._call(lambda one, timeout: self._all(one, timeout), request)
            for entity in response.entities
            for entry in entries(entity, self.names)
        )

    def _all(self, request: Any, timeout: float) -> list[Any]:
        return list(self.stub.Read(request, timeout=timeout))

    def _elect(self, request: Any) -> None:
        request.election_id.high, request.election_id.low = _ELECTION

    def _call(self, call: Any, request: Any) -> Any:
        try:
            return call(request, timeout=_CALL_S)
        except grpc.RpcError as error:
            raise WeftError(f"P4Runtime: {self.address}: {_said(error)}") from None


def _said(error: Any) -> str:
    """Return what a failed call says, with what is said of each update."""
    told = [*_details(error)][:_MOST_TOLD] if isinstance(error, grpc.RpcError) else []
    if told:
        return "; ".join(told)
    details = error.details() if hasattr(error, "details") else None
    return str(details or "the switch ended the conversation")


def _details(error: Any) -> Iterator[str]:
    for key, value in error.trailing_metadata() or ():
        if key == "grpc-status-details-bin":
            for one in status_pb2.Status.FromString(value).details:
                found = p4runtime_pb2.Error()
                if one.Unpack(found) and found.canonical_code != code_pb2.OK:
                    yield found.message
