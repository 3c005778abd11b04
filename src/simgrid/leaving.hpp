/* How ranks leave where they do not return 0 from main: exit and STOP, MPI_Abort, a crash; and the children of a fork.
 *
 * All ranks are one process: what ends a process on a real machine must end one rank here, or all of them with a word
 * about which. A rank that fails before MPI_Finalize ends the run, as mpirun does.
 */
#pragma once

#include <optional>
#include <string>

namespace weft {

/** Watch for all of it while ranks run. Where a record is asked for (its path is not empty), a crash leaves the number
 *  of the rank in the file "RECORD.crashed". */
void watch_leaving(const std::string& record_path);

/** The rank whose code runs now: none in SimGrid's own code, nor on threads that the program has made. */
std::optional<int> rank_here();

/** The rank returns @p status from main. */
void rank_returns(int status);

/** Whether this process is a child that a rank forked: nothing of the simulation is its business. */
bool is_forked_child();
/** It ends as it would on a real machine. */
[[noreturn]] void leave_forked_child(int status);

} // namespace weft
