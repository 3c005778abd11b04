// SPDX-License-Identifier: LGPL-2.1-only
#include "trace/call_check.hpp"

#include "base/error.hpp"

#include <gtest/gtest.h>

namespace weft::trace {
namespace {

/** Returns the error for a trace of two ranks, or "". */
std::string said(const std::string& lines, std::size_t piece = 1000)
{
  CallCheck check(2, {"MPI_INT"}, {"MPI_SUM"});
  try {
    const std::string text = "weft-calls 2 2\n" + lines;
    for (std::size_t at = 0; at < text.size(); at += piece)
      check.add(std::string_view(text).substr(at, piece));
    check.end();
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST(CallCheck, AcceptsCompleteFilesInPartsOfAnySize)
{
  const std::string lines = "0 Isend 0 4 MPI_INT 1 7 0\n"
                            "communicator 1 1,0\n"
                            "0 Comm_split 0 undefined 0 null\n"
                            "0 Testall 0,-1 0-1\n"
                            "1 Comm_dup 0 1\n"
                            "1 Alltoallw 1 0*2 MPI_INT,derived:12 3,4 MPI_INT*2\n"
                            "1 Reduce 1 in-place 4 MPI_INT user-ordered 1\n"
                            "1 sleep 1e-05\n"
                            "end 7\n";
  for (const std::size_t piece : {1, 5, 1000})
    EXPECT_EQ(said(lines, piece), "");
}

TEST(CallCheck, RequestsMustBeOpen)
{
  EXPECT_EQ(said("0 Ibarrier 0 0\n1 Wait 0\nend 2\n"), "line 3: found the request 0 in 'Wait'; rank 1 has opened 0");
  EXPECT_EQ(said("0 Ibarrier 0 0\n0 Test 0 1\nend 2\n"),
            "line 3: found '1' in 'Test'; allowed is a number from 0 to 0");
}

TEST(CallCheck, RanksMustBeMembersOfTheCommunicator)
{
  EXPECT_EQ(said("communicator 1 0\n1 Barrier 1\nend 1\n"),
            "line 3: found the communicator '1', of which rank 1 is no member");
  EXPECT_EQ(said("communicator 1 0\n1 Comm_dup 0 1\nend 1\n"),
            "line 3: found that 'Comm_dup' makes the communicator '1', of which rank 1 is no member");
  EXPECT_EQ(said("0 Bcast self 1 MPI_INT 1\nend 1\n"),
            "line 2: found the rank 1 in 'Bcast'; those of its communicator are 0 to 0");
  EXPECT_EQ(said("communicator 1 0,0\nend 0\n"), "line 2: found 0 twice in '0,0'");
}

TEST(CallCheck, ReportsCallsThatWereNotRecorded)
{
  EXPECT_EQ(said("unfit rank 1 calls MPI_Put, which traces do not support\n"),
            "rank 1 calls MPI_Put, which traces do not support");
}

TEST(CallCheck, ReportsTruncatedFiles)
{
  const std::string cut = "it is truncated: its last line is not 'end' with the number of lines before it";
  EXPECT_EQ(said("0 Barrier 0\n"), cut);
  EXPECT_EQ(said("0 Barrier 0\nend 1"), cut);
  EXPECT_EQ(said("0 Barrier 0\nend 2\n"), "line 3: found 'end 2'; there are 1 lines");
  EXPECT_EQ(said("end 0\n0 Barrier 0\n"), "line 3: found '0 Barrier 0' after the end");
}

} // namespace
} // namespace weft::trace
