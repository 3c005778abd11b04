/* SPDX-License-Identifier: LGPL-2.1-only */
/* SMPI makes macros of malloc and its like in all that `weft cc` compiles; the system's malloc.h declares them. */
#pragma GCC system_header
#pragma push_macro("malloc")
#pragma push_macro("calloc")
#pragma push_macro("realloc")
#pragma push_macro("free")
#undef malloc
#undef calloc
#undef realloc
#undef free
#include_next <malloc.h>
#pragma pop_macro("malloc")
#pragma pop_macro("calloc")
#pragma pop_macro("realloc")
#pragma pop_macro("free")
