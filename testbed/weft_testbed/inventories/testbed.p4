// SPDX-License-Identifier: LGPL-2.1-only
// A chassis that is a whole testbed: each port is one end of a virtual wire, or belongs to a slice of the chassis that
// is an Ethernet switch of its own. `weft testbed tables` writes the entries.
//
// A wire is one entry by the port that a frame comes in at (TopoCloud, section III). A slice forwards by the
// destination's address, as its switch would after learning it, and broadcasts what goes to all, such as ARP requests. What
// is in no table is dropped, so that nothing leaves a slice or a wire.
//
// Slices are cabled to each other by looping ports, which bring back what is sent to them. Each end of such a cable is a
// virtual port, numbered above all real ones; a frame on its way carries the number of the end where it will come in, ahead
// of its Ethernet header. The parser expects that number at looping ports alone, so that no server can write one.
#include <core.p4>
#include <v1model.p4>

const bit<48> ALL = 0xffffffffffff;

typedef bit<16> virtual_port_t; // real ports as they are, virtual ones from 512 on
typedef bit<16> slice_t;

header loop_t {
    virtual_port_t virtual_port;
}

header ethernet_t {
    bit<48> destination;
    bit<48> source;
    bit<16> type;
}

struct headers_t {
    loop_t     loop;
    ethernet_t ethernet;
}

struct metadata_t {
    virtual_port_t entered;
    virtual_port_t leaves;
    slice_t        slice;
}

parser Parse(packet_in packet, out headers_t headers, inout metadata_t metadata,
             inout standard_metadata_t standard_metadata) {
    value_set<bit<9>>(512) loop_ports;

    state start {
        transition select(standard_metadata.ingress_port) {
            loop_ports: looped;
            default: ethernet;
        }
    }
    state looped {
        packet.extract(headers.loop);
        transition ethernet;
    }
    state ethernet {
        packet.extract(headers.ethernet);
        transition accept;
    }
}

control Verify(inout headers_t headers, inout metadata_t metadata) {
    apply { }
}

control Ingress(inout headers_t headers, inout metadata_t metadata, inout standard_metadata_t standard_metadata) {
    action drop() {
        mark_to_drop(standard_metadata);
    }
    action wire(bit<9> port) {
        standard_metadata.egress_spec = port;
    }
    action in_slice(slice_t slice) {
        metadata.slice = slice;
    }
    action broadcast(bit<16> group) {
        standard_metadata.mcast_grp = group;
    }
    action forward(virtual_port_t virtual_port) {
        metadata.leaves = virtual_port;
        standard_metadata.egress_spec = (bit<9>) virtual_port;
    }
    action loop(bit<9> port) {
        standard_metadata.egress_spec = port;
    }

    table wire_table {
        key = { standard_metadata.ingress_port: exact; }
        actions = { wire; NoAction; }
        default_action = NoAction();
        size = 512;
    }
    table slice_table {
        key = { metadata.entered: exact; }
        actions = { in_slice; drop; }
        default_action = drop();
        size = 1024;
    }
    table arp_table {
        key = { metadata.slice: exact; }
        actions = { broadcast; drop; }
        default_action = drop();
        size = 4096;
    }
    table forward_table {
        key = {
            metadata.slice: exact;
            headers.ethernet.destination: exact;
        }
        actions = { forward; drop; }
        default_action = drop();
        size = 65536;
    }
    table loop_table {
        key = { metadata.leaves: exact; }
        actions = { loop; NoAction; }
        default_action = NoAction();
        size = 512;
    }

    apply {
        if (headers.loop.isValid()) {
            metadata.entered = headers.loop.virtual_port;
            headers.loop.setInvalid();
        } else {
            metadata.entered = (virtual_port_t) standard_metadata.ingress_port;
            if (wire_table.apply().hit) {
                return;
            }
        }
        if (!slice_table.apply().hit) {
            return;
        }
        if (headers.ethernet.destination == ALL) {
            arp_table.apply();
        } else if (forward_table.apply().hit) {
            if (metadata.leaves == metadata.entered) {
                drop();
            } else if (!loop_table.apply().hit && metadata.leaves >= 512) {
                drop();
            }
        }
    }
}

control Egress(inout headers_t headers, inout metadata_t metadata, inout standard_metadata_t standard_metadata) {
    action drop() {
        mark_to_drop(standard_metadata);
    }
    action tag(virtual_port_t virtual_port) {
        headers.loop.setValid();
        headers.loop.virtual_port = virtual_port;
    }

    table tag_table {
        key = { metadata.leaves: exact; }
        actions = { tag; drop; }
        default_action = drop();
        size = 512;
    }

    apply {
        // A copy of a broadcast has the number of the virtual port that it leaves by.
        if (standard_metadata.mcast_grp != 0) {
            metadata.leaves = standard_metadata.egress_rid;
            if (metadata.leaves == metadata.entered) {
                drop();
                return;
            }
        }
        if (metadata.leaves >= 512) {
            tag_table.apply();
        }
    }
}

control Compute(inout headers_t headers, inout metadata_t metadata) {
    apply { }
}

control Deparse(packet_out packet, in headers_t headers) {
    apply {
        packet.emit(headers.loop);
        packet.emit(headers.ethernet);
    }
}

V1Switch(Parse(), Verify(), Ingress(), Egress(), Compute(), Deparse()) main;
