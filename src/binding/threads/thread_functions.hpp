// SPDX-License-Identifier: LGPL-2.1-only
/* Creation and end of simulated threads: pthread_create(), pthread_join() and the like. */
#pragma once

#include <pthread.h>

namespace weft {

/** Makes further threads created by the current rank simulated. Returns false where that is impossible. */
bool simulate_threads_of_rank();

/** Returns whether threads that the current thread creates are simulated. */
bool threads_are_simulated();

/** Waits until a thread has ended, if it is simulated. Returns false if it has not ended by simulated time @p deadline;
 * a negative deadline means none. */
bool join_thread(pthread_t thread, double deadline);

/** Returns whether threads of any rank are simulated. */
bool any_threads_are_simulated();

struct ThreadRoutine {
  void* (*function)(void*);
  void* argument;
};
using CreateThread = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);

/** Creates a simulated thread by @p create, like pthread_create(). */
int create_simulated_thread(CreateThread create, pthread_t* thread, const pthread_attr_t* attributes,
                            ThreadRoutine routine);

} // namespace weft
