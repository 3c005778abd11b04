# SPDX-License-Identifier: LGPL-2.1-only
"""P4Info of a program, and the conversion between table entries and P4Runtime entities.

P4Info defines the ids of tables, actions, keys and parameters in the protocol (P4Runtime
specification, section 6). Usually a compiler writes it; here it is derived from weft's parse of the
program. The upper byte of an id is the kind of object, the rest counts from 1.

Entries of tables are table entries. All `group` entries of a slice are one multicast group, whose
copies carry the number of their egress port, and all `loop_ports` are one value set.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from weft_testbed.p4.declarations import Field, Program, Table
from weft_testbed.plan.plan import FIRST_VIRTUAL
from weft_testbed.tables.tables import ORDER, Entry

# P4Runtime specification, section 6.3: p4.config.v1.P4Ids.Prefix.
_ACTION, _TABLE, _VALUE_SET = 0x01, 0x02, 0x03
SET = "loop_ports"
GROUP = "group"


def _number(prefix: int, place: int) -> int:
    return prefix << 24 | place


class Names:
    """Ids of a program in the protocol, in both directions: from a P4Info, or counted from 1."""

    def __init__(self, program: Program, info: Any = None) -> None:
        """Assign the ids. Raises `KeyError` if a P4Info lacks a name of the program."""
        self.program = program
        actions = {key: _full(*key) for key in program.actions}
        if info is None:
            self.tables = {name: _number(_TABLE, k) for k, name in enumerate(program.tables, 1)}
            self.actions = {key: _number(_ACTION, k) for k, key in enumerate(program.actions, 1)}
            self.sets = {
                name: _number(_VALUE_SET, k) for k, name in enumerate(program.value_sets, 1)
            }
        else:
            here = {one.preamble.name: one.preamble.id for one in (*info.tables, *info.value_sets)}
            does = {one.preamble.name: one.preamble.id for one in info.actions}
            self.tables = {name: here[one.full_name] for name, one in program.tables.items()}
            self.actions = {key: does[full] for key, full in actions.items()}
            self.sets = {name: here[one.full_name] for name, one in program.value_sets.items()}
        self.table_of = {number: program.tables[name] for name, number in self.tables.items()}
        self.action_of = {number: program.actions[key] for key, number in self.actions.items()}


def _full(control: str, action: str) -> str:
    return action if action == "NoAction" else f"{control}.{action}"


def p4info(program: Program) -> Any:
    """Return the P4Info of a program."""
    from finsy.proto.p4.config.v1 import p4info_pb2

    names = Names(program)
    info = p4info_pb2.P4Info()
    info.pkg_info.name, info.pkg_info.arch = program.source, "v1model"
    for name, table in program.tables.items():
        one = info.tables.add(size=table.size)
        one.preamble.id, one.preamble.name = names.tables[name], table.full_name
        one.preamble.alias = name
        for k, key in enumerate(table.key, 1):
            one.match_fields.add(
                id=k, name=key.name, bitwidth=key.width, match_type=p4info_pb2.MatchField.EXACT
            )
        for allowed in table.actions:
            one.action_refs.add(id=names.actions[table.control, allowed])
    for (control, name), action in program.actions.items():
        one = info.actions.add()
        one.preamble.id = names.actions[control, name]
        one.preamble.name = _full(control, name)
        for k, parameter in enumerate(action.parameters, 1):
            one.params.add(id=k, name=parameter.name, bitwidth=parameter.width)
    for name, values in program.value_sets.items():
        one = info.value_sets.add(size=values.size)
        one.preamble.id, one.preamble.name = names.sets[name], values.full_name
        one.match.add(id=1, bitwidth=values.width, match_type=p4info_pb2.MatchField.EXACT)
    return info


# ---- Values --------------------------------------------------------------------------------------


def as_bytes(one: Field, value: int | str) -> bytes:
    """Encode a value for the protocol in the fewest bytes (specification, section 8.4)."""
    number = int(str(value).replace(":", ""), 16) if one.width == 48 else int(value)
    return number.to_bytes(max(1, (number.bit_length() + 7) // 8), "big")


def as_value(one: Field, content: bytes) -> int | str:
    """Decode a value for entries. Raises `ValueError` if it is wider than the field."""
    number = int.from_bytes(content, "big")
    if not content or number >= 1 << one.width:
        raise ValueError(f"{one.name} has {one.width} bits; found 0x{content.hex()}")
    return number.to_bytes(6, "big").hex(":") if one.width == 48 else number


# ---- Entities ------------------------------------------------------------------------------------


def entities(entries: Iterable[Entry], names: Names) -> Iterator[tuple[str, Any]]:
    """Yield the entities for some entries, each with its table, in the order of adding."""
    found = [one for one in entries if not one.external]
    loops = {one.key[0]: int(one.data[0]) for one in found if one.table == "loop_table"}
    groups: dict[int, list[int]] = defaultdict(list)
    values: list[int] = []
    for entry in found:
        if entry.table == GROUP:
            groups[int(entry.key[0])].append(int(entry.key[1]))
        elif entry.table == SET:
            values.append(int(entry.key[0]))
        else:
            yield entry.table, _table_entry(entry, names)
    for number, ports in groups.items():
        group = _group(number, ports, loops)
        if group.packet_replication_engine_entry.multicast_group_entry.replicas:
            yield GROUP, group
    if values:
        yield SET, _values(values, names)


def told(entries_: Iterable[Entry], names: Names) -> set[Entry]:
    """Return the entries that a switch has after it has been given some.

    Copies of a broadcast to a virtual port are omitted until that port has a looping port.
    """
    return {one for _, entity in entities(entries_, names) for one in entries(entity, names)}


def _table_entry(entry: Entry, names: Names) -> Any:
    from finsy.proto.p4.v1 import p4runtime_pb2

    table = names.program.tables[entry.table]
    action = names.program.action(table, entry.action)
    entity = p4runtime_pb2.Entity()
    one = entity.table_entry
    one.table_id = names.tables[entry.table]
    for k, (key, value) in enumerate(zip(table.key, entry.key, strict=True), 1):
        one.match.add(field_id=k).exact.value = as_bytes(key, value)
    one.action.action.action_id = names.actions[table.control, entry.action]
    for k, (parameter, value) in enumerate(zip(action.parameters, entry.data, strict=True), 1):
        one.action.action.params.add(param_id=k, value=as_bytes(parameter, value))
    return entity


def _group(number: int, ports: Sequence[int], loops: dict[Any, int]) -> Any:
    """Return a group; each copy's instance is its egress port, real or virtual."""
    from finsy.proto.p4.v1 import p4runtime_pb2

    entity = p4runtime_pb2.Entity()
    group = entity.packet_replication_engine_entry.multicast_group_entry
    group.multicast_group_id = number
    for port in sorted(ports):
        if port < FIRST_VIRTUAL or port in loops:
            group.replicas.add(egress_port=loops.get(port, port), instance=port)
    return entity


def _values(values: Sequence[int], names: Names) -> Any:
    from finsy.proto.p4.v1 import p4runtime_pb2

    entity = p4runtime_pb2.Entity()
    one = entity.value_set_entry
    one.value_set_id = names.sets[SET]
    width = Field(SET, names.program.value_sets[SET].width)
    for value in sorted(values):
        one.members.add().match.add(field_id=1).exact.value = as_bytes(width, value)
    return entity


def entries(entity: Any, names: Names) -> list[Entry]:
    """Return the entries of an entity. Raises `ValueError` if it does not fit."""
    kind = entity.WhichOneof("entity")
    if kind == "table_entry":
        return [_entry(entity.table_entry, names)]
    if kind == "packet_replication_engine_entry":
        group = entity.packet_replication_engine_entry.multicast_group_entry
        return [Entry(GROUP, (group.multicast_group_id, one.instance)) for one in group.replicas]
    if kind == "value_set_entry":
        if entity.value_set_entry.value_set_id != names.sets[SET]:
            raise ValueError(f"there is no set of values {entity.value_set_entry.value_set_id}")
        width = Field(SET, names.program.value_sets[SET].width)
        members = entity.value_set_entry.members
        return [Entry(SET, (as_value(width, one.match[0].exact.value),)) for one in members]
    raise ValueError(f"an entity of the kind {kind} is unknown")


def _entry(one: Any, names: Names) -> Entry:
    table = names.table_of.get(one.table_id)
    if table is None:
        raise ValueError(f"there is no table {one.table_id}")
    key = _key(table, one)
    if not one.HasField("action"):
        return Entry(table.name, key)
    action = names.action_of.get(one.action.action.action_id)
    if action is None or action.name not in table.actions or action.control != table.control:
        raise ValueError(f"{table.name} has no action {one.action.action.action_id}")
    params = {param.param_id: param.value for param in one.action.action.params}
    if set(params) != set(range(1, len(action.parameters) + 1)):
        raise ValueError(f"action {action.name} takes {len(action.parameters)} parameters")
    data = tuple(as_value(field, params[k]) for k, field in enumerate(action.parameters, 1))
    return Entry(table.name, key, action.name, data)


def _key(table: Table, one: Any) -> tuple[int | str, ...]:
    matches = {match.field_id: match for match in one.match}
    if set(matches) != set(range(1, len(table.key) + 1)):
        raise ValueError(f"{table.name} is matched by {len(table.key)} fields")
    for match in matches.values():
        if match.WhichOneof("field_match_type") != "exact":
            raise ValueError(f"{table.name} is matched exactly")
    return tuple(as_value(key, matches[k].exact.value) for k, key in enumerate(table.key, 1))


# ---- Changes -------------------------------------------------------------------------------------


def batches(
    before: Sequence[Entry], after: Sequence[Entry], names: Names
) -> tuple[list[list[Any]], list[list[Any]]]:
    """Return the updates that remove old entries, then those that add new ones, batched by table.

    Entries that admit frames are removed first and added last. The updates of a batch may be
    executed in any order, so each table has a batch of its own.
    """
    left = {*after}
    stays = [one for one in before if one in left]
    return _updates(before, stays, names), _updates(stays, after, names)[::-1]


def _updates(before: Sequence[Entry], after: Sequence[Entry], names: Names) -> list[list[Any]]:
    old = {place_of(one): (table, one) for table, one in entities(before, names)}
    new = {place_of(one): (table, one) for table, one in entities(after, names)}
    by: dict[str, list[Any]] = {table: [] for table in ORDER}
    for place, (table, one) in {**old, **new}.items():
        if place not in new:
            by[table].append(_update("DELETE", one))
        elif place not in old:
            by[table].append(_update("INSERT", one))
        elif one != old[place][1]:
            by[table].append(_update("MODIFY", one))
    return [updates for updates in by.values() if updates]


def place_of(entity: Any) -> bytes:
    """Return the key of an entity."""
    from finsy.proto.p4.v1 import p4runtime_pb2

    place = p4runtime_pb2.Entity()
    place.CopyFrom(entity)
    kind = entity.WhichOneof("entity")
    if kind == "table_entry":
        place.table_entry.ClearField("action")
    elif kind == "value_set_entry":
        place.value_set_entry.ClearField("members")
    else:
        place.packet_replication_engine_entry.multicast_group_entry.ClearField("replicas")
    return bytes(place.SerializeToString(deterministic=True))


def _update(kind: str, entity: Any) -> Any:
    """Return an update; value sets always exist and are only modified."""
    from finsy.proto.p4.v1 import p4runtime_pb2

    update = p4runtime_pb2.Update()
    update.entity.CopyFrom(entity)
    if entity.WhichOneof("entity") == "value_set_entry":
        if kind == "DELETE":
            update.entity.value_set_entry.ClearField("members")
        kind = "MODIFY"
    update.type = p4runtime_pb2.Update.Type.Value(kind)
    return update


def as_text(message: Any) -> str:
    """Return a protocol message as text."""
    from google.protobuf import text_format

    return str(text_format.MessageToString(message))


def requests(entries: Sequence[Entry], names: Names) -> Iterator[str]:
    """Yield as text the requests that write entries to an empty switch, in order.

    Each begins with a comment line; device and election id are left for the reader to set.
    """
    from finsy.proto.p4.v1 import p4runtime_pb2

    _, adding = batches([], entries, names)
    for number, updates in enumerate(adding, 1):
        request = p4runtime_pb2.WriteRequest(device_id=1, updates=updates)
        yield f"# p4.v1.WriteRequest {number} of {len(adding)}\n{as_text(request)}"
