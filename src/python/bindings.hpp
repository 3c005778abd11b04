// SPDX-License-Identifier: LGPL-2.1-only
/* What each file of this folder binds. */
#pragma once

#include <pybind11/pybind11.h>

namespace weft::python {

/** Fabrics, presets, what fabric files may say. */
void bind_fabrics(pybind11::module_& module);
/** Packet forwarding: caches and hashes. */
void bind_forwarding(pybind11::module_& module);
void bind_progress_engines(pybind11::module_& module);
/** How MPI libraries execute collectives on hosts. */
void bind_host_schedules(pybind11::module_& module);
/** The lists that Python and C++ share, and single functions of the models. */
void bind_lists(pybind11::module_& module);
/** The check of recorded calls. */
void bind_traces(const pybind11::module_& module);

} // namespace weft::python
