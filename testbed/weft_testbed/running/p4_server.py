# SPDX-License-Identifier: LGPL-2.1-only
"""P4Runtime server for the chassis of a testbed of namespaces.

It implements the protocol of real switches (P4Runtime specification 1.4): arbitration between
controllers, the pipeline's configuration, writes and reads of table entries, value sets and
multicast groups. Writes are executed by the namespace's bridges and redirects. Instead of a
compiled program, the configuration holds the program's text, which weft's parser checks. Not
implemented are digests, packet I/O, counters, meters, registers, roles and priorities, which the
program does not use.
"""

import os
import queue
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import grpc
from finsy.proto.google.rpc import code_pb2, status_pb2
from finsy.proto.p4.v1 import p4runtime_pb2, p4runtime_pb2_grpc

from weft.base.errors import WeftError
from weft_testbed.p4 import access
from weft_testbed.p4 import program as p4_program
from weft_testbed.p4.info import SET, Names, entries, place_of
from weft_testbed.running import bridges
from weft_testbed.tables.tables import Entry

Apply = Callable[[Sequence[Entry]], None]
"""Replaces a switch's entries."""
READY = "ready"
# Concurrent calls, including streams; a controller has one stream.
_MOST_CALLS = 16
# Election id of controllers that only watch (P4Runtime specification, section 5).
_NEVER_PRIMARY = (0, 0)


class Chassis:
    """Namespace configured by entries."""

    def __init__(self, space: str) -> None:
        """Initialize the state as empty."""
        self.space = space
        self.state: bridges.State | None = bridges.State()
        """None after a failure: the state is then read from the kernel."""

    def apply(self, found: Sequence[Entry]) -> None:
        """Configure the namespace for exactly these entries."""
        state = bridges.of_chassis(found)
        before, self.state = self.state, None
        bridges.change(self.space, before or bridges.observed(self.space), state)
        self.state = state


class Switch:
    """Configuration and entries of the switch."""

    def __init__(self, apply: Apply) -> None:
        """Begin without a pipeline."""
        self.apply = apply
        self.config: Any = None
        self.names: Names | None = None
        self.entities: dict[bytes, Any] = {}

    def configure(self, config: Any, *, commit: bool) -> None:
        """Check a configuration and commit it, which empties all tables. Raises `WeftError`."""
        program = p4_program.read(config.p4_device_config.decode("utf-8", "replace"), "the program")
        try:
            names = Names(program, config.p4info)
        except KeyError as error:
            raise WeftError(f"the P4Info lacks {error}, which the program has") from None
        if commit:
            before, self.entities = self.entities, {}
            self._apply(before)
            self.config, self.names = config, names

    def write(self, updates: Sequence[Any]) -> list[Any]:
        """Execute updates, and return the protocol's error for each.

        Raises `WeftError` if the entries cannot be applied; the switch then keeps its previous
        ones.
        """
        before = dict(self.entities)
        found = [self._write(update) for update in updates]
        self._apply(before)
        return found

    def _apply(self, before: dict[bytes, Any]) -> None:
        """Apply the present entities, or return to the previous ones."""
        try:
            self.apply(self._all_entries())
        except BaseException:
            self.entities = before
            self.apply(self._all_entries())
            raise

    def _all_entries(self) -> list[Entry]:
        return [one for entity in self.entities.values() for one in self._entries(entity)]

    def _entries(self, entity: Any) -> list[Entry]:
        assert self.names is not None
        return entries(entity, self.names)

    def _write(self, update: Any) -> Any:
        place, kind = place_of(update.entity), update.type
        there = place in self.entities
        try:
            found = self._entries(update.entity)
        except (ValueError, IndexError) as error:
            return _error(code_pb2.INVALID_ARGUMENT, str(error))
        if update.entity.WhichOneof("entity") == "value_set_entry":
            if kind != p4runtime_pb2.Update.MODIFY:
                return _error(code_pb2.INVALID_ARGUMENT, "a set of values is only modified")
        elif kind == p4runtime_pb2.Update.INSERT and there:
            return _error(code_pb2.ALREADY_EXISTS, f"{found[0].table} has that entry already")
        elif kind != p4runtime_pb2.Update.INSERT and not there:
            return _error(code_pb2.NOT_FOUND, "there is no such entry")
        if kind == p4runtime_pb2.Update.DELETE:
            del self.entities[place]
        elif self._is_full(update.entity, found, there):
            return _error(code_pb2.RESOURCE_EXHAUSTED, f"{found[0].table} is full")
        else:
            self.entities[place] = update.entity
        return _error(code_pb2.OK, "")

    def _is_full(self, entity: Any, found: Sequence[Entry], there: bool) -> bool:
        assert self.names is not None
        if entity.WhichOneof("entity") == "value_set_entry":
            return len(found) > self.names.program.value_sets[SET].size
        if entity.WhichOneof("entity") != "table_entry" or there:
            return False
        number = entity.table_entry.table_id
        used = sum(one.table_entry.table_id == number for one in self.entities.values())
        return bool(used >= self.names.table_of[number].size)

    def read(self, wanted: Any) -> Iterator[Any]:
        """Yield the entities that a wildcard selects: a kind, optionally of one table."""
        kind = wanted.WhichOneof("entity")
        for entity in self.entities.values():
            if entity.WhichOneof("entity") == kind and (
                kind != "table_entry"
                or wanted.table_entry.table_id in (0, entity.table_entry.table_id)
            ):
                yield entity


def _error(code: int, message: str) -> Any:
    return p4runtime_pb2.Error(canonical_code=code, message=message)


class Service(p4runtime_pb2_grpc.P4RuntimeServicer):
    """Calls of the protocol."""

    def __init__(self, switch: Switch, device: int = 1) -> None:
        """Serve a switch under a device id."""
        self.switch, self.device = switch, device
        self.lock = threading.RLock()
        self.controllers: list[tuple[tuple[int, int], queue.SimpleQueue[Any]]] = []

    # The names of the calls are the protocol's.

    def Capabilities(self, request: Any, context: Any) -> Any:  # noqa: N802, ARG002, RUF100
        """Return the version of the protocol."""
        return p4runtime_pb2.CapabilitiesResponse(p4runtime_api_version="1.4.0")

    def SetForwardingPipelineConfig(self, request: Any, context: Any) -> Any:  # noqa: N802
        """Check the program, and commit it."""
        kind = p4runtime_pb2.SetForwardingPipelineConfigRequest
        with self.lock:
            self._check_primary(request, context)
            if request.action not in (kind.VERIFY, kind.VERIFY_AND_COMMIT):
                context.abort(grpc.StatusCode.UNIMPLEMENTED, "verify, or verify and commit")
            try:
                self.switch.configure(
                    request.config, commit=request.action == kind.VERIFY_AND_COMMIT
                )
            except WeftError as error:
                context.abort(grpc.StatusCode.INVALID_ARGUMENT, str(error))
        return p4runtime_pb2.SetForwardingPipelineConfigResponse()

    def GetForwardingPipelineConfig(self, request: Any, context: Any) -> Any:  # noqa: N802
        """Return the program and its P4Info."""
        with self.lock:
            self._check_device(request, context)
            self._check_configured(context)
            return p4runtime_pb2.GetForwardingPipelineConfigResponse(config=self.switch.config)

    def Write(self, request: Any, context: Any) -> Any:  # noqa: N802
        """Execute updates; failures are reported one by one."""
        with self.lock:
            self._check_primary(request, context)
            self._check_configured(context)
            try:
                errors = self.switch.write(request.updates)
            except WeftError as error:
                context.abort(grpc.StatusCode.INTERNAL, str(error))
        if any(one.canonical_code != code_pb2.OK for one in errors):
            status = status_pb2.Status(code=code_pb2.UNKNOWN, message="some updates failed")
            for one in errors:
                status.details.add().Pack(one)
            context.set_trailing_metadata(
                (("grpc-status-details-bin", status.SerializeToString()),)
            )
            context.abort(grpc.StatusCode.UNKNOWN, status.message)
        return p4runtime_pb2.WriteResponse()

    def Read(self, request: Any, context: Any) -> Iterator[Any]:  # noqa: N802
        """Yield the requested entities that exist."""
        with self.lock:
            self._check_device(request, context)
            self._check_configured(context)
            response = p4runtime_pb2.ReadResponse()
            for wanted in request.entities:
                response.entities.extend(self.switch.read(wanted))
        yield response

    # ---- Controllers -----------------------------------------------------------------------------

    def StreamChannel(self, requests: Any, context: Any) -> Iterator[Any]:  # noqa: N802
        """Tell each controller if it is the primary one, now and after every change."""
        answers: queue.SimpleQueue[Any] = queue.SimpleQueue()

        def listen() -> None:
            try:
                for request in requests:
                    if request.WhichOneof("update") == "arbitration":
                        self._arbitrate(request.arbitration, answers)
            except grpc.RpcError:
                pass  # the controller disconnected
            answers.put(None)

        threading.Thread(target=listen, daemon=True).start()
        try:
            while (answer := answers.get()) is not None:
                if isinstance(answer, str):
                    context.abort(grpc.StatusCode.INVALID_ARGUMENT, answer)
                yield answer
        finally:
            with self.lock:
                self.controllers = [one for one in self.controllers if one[1] is not answers]
                self._tell()

    def _arbitrate(self, found: Any, answers: "queue.SimpleQueue[Any]") -> None:
        election = (found.election_id.high, found.election_id.low)
        with self.lock:
            others = [one for one in self.controllers if one[1] is not answers]
            if found.device_id != self.device:
                answers.put(f"there is no device {found.device_id}")
            elif election != _NEVER_PRIMARY and any(one[0] == election for one in others):
                answers.put("another controller has that election id")
            else:
                self.controllers = [*others, (election, answers)]
                self._tell()

    def _primary(self) -> tuple[int, int] | None:
        """Return the highest election id; a controller without one never becomes primary."""
        return max((one for one, _ in self.controllers if one != _NEVER_PRIMARY), default=None)

    def _tell(self) -> None:
        primary = self._primary()
        for election, answers in self.controllers:
            message = p4runtime_pb2.StreamMessageResponse()
            message.arbitration.device_id = self.device
            if primary is not None:
                message.arbitration.election_id.high, message.arbitration.election_id.low = primary
            others = code_pb2.NOT_FOUND if primary is None else code_pb2.ALREADY_EXISTS
            message.arbitration.status.code = code_pb2.OK if election == primary else others
            answers.put(message)

    def _check_device(self, request: Any, context: Any) -> None:
        if request.device_id != self.device:
            context.abort(grpc.StatusCode.NOT_FOUND, f"there is no device {request.device_id}")

    def _check_primary(self, request: Any, context: Any) -> None:
        self._check_device(request, context)
        if (request.election_id.high, request.election_id.low) != self._primary():
            context.abort(grpc.StatusCode.PERMISSION_DENIED, "not the primary controller")

    def _check_configured(self, context: Any) -> None:
        if self.switch.names is None:
            context.abort(grpc.StatusCode.FAILED_PRECONDITION, "there is no pipeline yet")


def serve(switch: Switch, addresses: Sequence[str], tls: Path | None = None) -> Any:
    """Start to serve, and return the server. Raises `WeftError` if an address is in use.

    Controllers need a certificate except on Unix sockets.
    """
    server = grpc.server(ThreadPoolExecutor(_MOST_CALLS), options=(("grpc.so_reuseport", 0),))
    p4runtime_pb2_grpc.add_P4RuntimeServicer_to_server(Service(switch), server)
    for address in addresses:
        try:
            if tls is None or address.startswith("unix:"):
                bound = server.add_insecure_port(address)
            else:
                bound = server.add_secure_port(address, access.server_credentials(tls))
        except RuntimeError:
            bound = 0
        if not bound:
            raise WeftError(f"P4Runtime: cannot listen on {address}; it is in use or invalid")
    server.start()
    return server


def main() -> None:
    """Serve the chassis of a testbed until terminated: NAMESPACE SOCKET [ADDRESS [TLS]]."""
    from weft_testbed.running.probe import enter

    space, socket, *more = sys.argv[1:]
    os.umask(0o077)  # the socket is its owner's
    try:
        tls = Path(more[1]) if len(more) > 1 else None
        server = serve(Switch(Chassis(space).apply), [socket, *more[:1]], tls)
    except WeftError as error:
        print(error, flush=True)
        sys.exit(2)
    # After listening in the original namespace, enter the testbed's, whose processes `down` kills.
    enter(Path("/run/netns") / space)
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    print(READY, flush=True)
    server.wait_for_termination()


if __name__ == "__main__":
    main()
