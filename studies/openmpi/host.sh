#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only
# Replaces ssh as Open MPI's remote shell: runs the command on this machine under the given host name, so that ranks see
# different hosts. Requires root.
host=$1
shift
# shellcheck disable=SC2016 # expanded by the inner shell
exec unshare --uts sh -c 'hostname "$1"; shift; eval "$*"' sh "$host" "$@"
