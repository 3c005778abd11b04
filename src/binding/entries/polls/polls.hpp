// SPDX-License-Identifier: LGPL-2.1-only
/* Polls: MPI_Test…, MPI_Iprobe and MPI_Request_get_status, which return immediately in any case.
 *
 * A failed poll takes `[mpi] poll_overhead`. A rank that polls in a loop would need one
 * SimGrid event per poll, so its polls are prepaid: after N failed polls in a row the rank sleeps
 * for N / 16 more of them (at least one), and the next polls find the time already spent. An event that may change the
 * results of its polls (a message is sent to the rank, or a request of its polls completes) wakes it at the end of the
 * poll during which it happens. A loop that ends with the message therefore ends at the same time as with single polls;
 * a loop that gives up ends late by at most a sixteenth of the time that it has polled.
 *
 * MPI_Probe sleeps until a message is sent to the rank. SMPI's own options take precedence: if a run sets smpi/test or
 * smpi/iprobe, polls are charged as without weft. */
#pragma once

#include <simgrid/forward.h>
#include <smpi/smpi.h>
#include <span>

namespace weft {

// NOLINTBEGIN(readability-identifier-naming): MPI's names
int polled_Test(decltype(&PMPI_Test) next_definition, MPI_Request* request, int* flag, MPI_Status* status);
int polled_Testall(decltype(&PMPI_Testall) next_definition, int count, MPI_Request* requests, int* flag,
                   MPI_Status* statuses);
int polled_Testany(decltype(&PMPI_Testany) next_definition, int count, MPI_Request* requests, int* index, int* flag,
                   MPI_Status* status);
int polled_Testsome(decltype(&PMPI_Testsome) next_definition, int count, MPI_Request* requests, int* ended,
                    int* indices, MPI_Status* statuses);
int polled_Request_get_status(decltype(&PMPI_Request_get_status) next_definition, MPI_Request request, int* flag,
                              MPI_Status* status);
int polled_Iprobe(decltype(&PMPI_Iprobe) next_definition, int source, int tag, MPI_Comm comm, int* flag,
                  MPI_Status* status);
// NOLINTEND(readability-identifier-naming)

/** Disables SMPI's costs of polls at the start of the run, unless SMPI's options set them. SMPI also tests requests
 * within other calls (MPI_Waitsome), whose cost must not depend on earlier polls of the rank. */
void take_over_polls();

/** Returns whether a request is complete or inactive, and sets its status if so. */
bool look_at_request(MPI_Request request, MPI_Status* status);
/** Charges the current rank one failed poll of several requests. */
void pay_for_poll(std::span<const MPI_Request> requests);

} // namespace weft
