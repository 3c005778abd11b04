// SPDX-License-Identifier: LGPL-2.1-only
// NEVER COMPILED: no compiler for Tofino was at hand. It is the program of testbed.p4 for Tofino's architecture (TNA), with
// the same tables, keys and actions, so that the same entries fill it; weft's reader proves that much, and that names and
// widths fit, and nothing else. Read it before you trust it.
//
// Two things differ. What ingress has found goes to egress in a header of its own, since metadata ends between the two; it
// never leaves the switch. And a wire bypasses egress, which has nothing to do for it. Copies of broadcasts cut through, as in
// TopoCloud's experiments (section III), where that had to be said for multicast.
#include <core.p4>
#include <tna.p4>

const bit<48> ALL = 0xffffffffffff;

typedef bit<16> virtual_port_t; // device ports, and virtual ones from 512 on
typedef bit<16> slice_t;

// Between ingress and egress.
header bridge_t {
    virtual_port_t entered;
    virtual_port_t leaves;
}

header loop_t {
    virtual_port_t virtual_port;
}

header ethernet_t {
    bit<48> destination;
    bit<48> source;
    bit<16> type;
}

struct headers_t {
    bridge_t   bridge;
    loop_t     loop;
    ethernet_t ethernet;
}

struct metadata_t {
    virtual_port_t entered;
    virtual_port_t leaves;
    slice_t        slice;
}

parser Parse(packet_in packet, out headers_t headers, out metadata_t metadata, out ingress_intrinsic_metadata_t intrinsic) {
    value_set<bit<9>>(64) loop_ports; // as many as the inventory's parser_values

    state start {
        packet.extract(intrinsic);
        packet.advance(PORT_METADATA_SIZE);
        metadata.entered = 0;
        metadata.leaves = 0;
        metadata.slice = 0;
        transition select(intrinsic.ingress_port) {
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

control Ingress(inout headers_t headers, inout metadata_t metadata, in ingress_intrinsic_metadata_t intrinsic,
                in ingress_intrinsic_metadata_from_parser_t from_parser,
                inout ingress_intrinsic_metadata_for_deparser_t for_deparser,
                inout ingress_intrinsic_metadata_for_tm_t for_manager) {
    action drop() {
        for_deparser.drop_ctl = 1;
    }
    action wire(bit<9> port) {
        for_manager.ucast_egress_port = port;
        for_manager.bypass_egress = 1;
    }
    action in_slice(slice_t slice) {
        metadata.slice = slice;
    }
    action broadcast(bit<16> group) {
        for_manager.mcast_grp_a = group;
        for_manager.enable_mcast_cutthru = 1;
    }
    action forward(virtual_port_t virtual_port) {
        metadata.leaves = virtual_port;
        for_manager.ucast_egress_port = (bit<9>) virtual_port;
    }
    action loop(bit<9> port) {
        for_manager.ucast_egress_port = port;
    }

    table wire_table {
        key = { intrinsic.ingress_port: exact; }
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
            metadata.entered = (virtual_port_t) intrinsic.ingress_port;
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
        headers.bridge.setValid();
        headers.bridge.entered = metadata.entered;
        headers.bridge.leaves = metadata.leaves;
    }
}

control IngressDeparse(packet_out packet, inout headers_t headers, in metadata_t metadata,
                       in ingress_intrinsic_metadata_for_deparser_t for_deparser) {
    apply {
        packet.emit(headers.bridge);
        packet.emit(headers.ethernet);
    }
}

parser EgressParse(packet_in packet, out headers_t headers, out metadata_t metadata, out egress_intrinsic_metadata_t intrinsic) {
    state start {
        packet.extract(intrinsic);
        packet.extract(headers.bridge);
        packet.extract(headers.ethernet);
        transition accept;
    }
}

control Egress(inout headers_t headers, inout metadata_t metadata, in egress_intrinsic_metadata_t intrinsic,
               in egress_intrinsic_metadata_from_parser_t from_parser,
               inout egress_intrinsic_metadata_for_deparser_t for_deparser,
               inout egress_intrinsic_metadata_for_output_port_t for_port) {
    action drop() {
        for_deparser.drop_ctl = 1;
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
        metadata.entered = headers.bridge.entered;
        metadata.leaves = headers.bridge.leaves;
        headers.bridge.setInvalid();
        // A copy of a broadcast has the number of the virtual port that it leaves by; no other frame has one.
        if (intrinsic.egress_rid != 0) {
            metadata.leaves = intrinsic.egress_rid;
        }
        if (metadata.leaves == metadata.entered) {
            drop();
        } else if (metadata.leaves >= 512) {
            tag_table.apply();
        }
    }
}

control EgressDeparse(packet_out packet, inout headers_t headers, in metadata_t metadata,
                      in egress_intrinsic_metadata_for_deparser_t for_deparser) {
    apply {
        packet.emit(headers.loop);
        packet.emit(headers.ethernet);
    }
}

Pipeline(Parse(), Ingress(), IngressDeparse(), EgressParse(), Egress(), EgressDeparse()) pipe;

Switch(pipe) main;
