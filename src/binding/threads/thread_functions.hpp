// SPDX-License-Identifier: LGPL-2.1-only
/* Creation and end of simulated threads: pthread_create(), pthread_join() and their like. */
#pragma once

#include <pthread.h>

namespace weft {

/** Lets threads that the current rank creates from now on be simulated. Returns false where that cannot be. */
bool simulate_threads_of_rank();

/** Returns whether threads that the current thread creates are simulated. */
bool threads_are_simulated();

/** Waits until a thread has ended, as far as it is simulated. Returns false if that has not been by simulated time
 * @p deadline; a negative one is none. */
bool join_thread(pthread_t thread, double deadline);

/** Returns whether threads of any rank are simulated. */
bool any_threads_are_simulated();

struct ThreadRoutine {
  void* (*function)(void*);
  void* argument;
};
using CreateThread = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);

/** Does what pthread_create() does, by @p create, for a simulated thread. */
int create_simulated_thread(CreateThread create, pthread_t* thread, const pthread_attr_t* attributes,
                            ThreadRoutine routine);

} // namespace weft
