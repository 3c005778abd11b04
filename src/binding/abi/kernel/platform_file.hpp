// SPDX-License-Identifier: LGPL-2.1-only
/* Position in the platform file (src/kernel/xml/platf_sax_cb.cpp). */
#pragma once

/** Line that SimGrid is parsing. */
// NOLINTNEXTLINE(readability-identifier-naming,cppcoreguidelines-avoid-non-const-global-variables): SimGrid's name
extern int simgrid_parse_lineno;
