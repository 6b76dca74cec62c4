// RankPipes makes the pipes that the ranks of this host write their output to: named ones in the
// job's folder if the ranks outlive the launcher, so that the next launcher can read from them.
//
// Errors:        Io if a pipe cannot be made or opened.
// Thread safety: immutable.

#pragma once

#include <filesystem>
#include <utility>

#include "trireme/base/file/descriptor.h"

namespace trireme::cluster::launch::output {

struct PipeEnds {
  Descriptor out, in;  // the end to read from, and the end to write to
};
// `flags`: see pipe2(2); they are closed on exec in any case.
PipeEnds make_pipe(int flags);

class RankPipes {
 public:
  RankPipes(std::filesystem::path folder, bool are_named)
      : folder_(std::move(folder)), are_named_(are_named) {}

  // `target`: 1 or 2. A named pipe is non-blocking for the reader, and open for reading too where
  // it is written to, so that writing never fails for lack of a reader.
  PipeEnds make(int rank, int target) const;
  // The end of a named pipe to read from.
  Descriptor open_reader(int rank, int target) const;
  // Removes the named pipes of the rank, if there are any.
  void remove(int rank) const;

 private:
  std::filesystem::path path_of(int rank, int target) const;

  std::filesystem::path folder_;
  bool are_named_;
};

}  // namespace trireme::cluster::launch::output
