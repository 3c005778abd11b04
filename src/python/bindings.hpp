// SPDX-License-Identifier: LGPL-2.1-only
/* Registration functions, one per file of this directory. */
#pragma once

#include <pybind11/pybind11.h>

namespace weft::python {

/** Registers fabrics, presets and the schema of fabric files. */
void bind_fabrics(pybind11::module_& module);
/** Registers packet forwarding: caches and hashes. */
void bind_forwarding(pybind11::module_& module);
void bind_progress_engines(pybind11::module_& module);
/** Registers the schedules by which MPI libraries execute collectives on hosts. */
void bind_host_schedules(pybind11::module_& module);
/** Registers the lists that Python and C++ share, and standalone functions of the models. */
void bind_lists(pybind11::module_& module);
/** Registers the choices of NCCL's tuner. */
void bind_nccl(pybind11::module_& module);
/** Registers the check of recorded calls. */
void bind_traces(const pybind11::module_& module);
/** Registers programs of accelerators, and their execution. */
void bind_workloads(pybind11::module_& module);

} // namespace weft::python
