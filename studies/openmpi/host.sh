#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only
# What Open MPI starts in the place of ssh, with a host and a command: the command runs on this machine, and takes it for
# that host. Needs to be root.
host=$1
shift
# shellcheck disable=SC2016 # the inner shell has the arguments
exec unshare --uts sh -c 'hostname "$1"; shift; eval "$*"' sh "$host" "$@"
