// Crew is the ranks that write checkpoints together, and this one among them. Each writes the
// pieces it is given; they meet in the draft's folder and nowhere else. Rank 0 is the one who
// waits for all parts, writes the manifest and keeps the folder.
//
// Threads: a value.

#pragma once

#include <string>

namespace trireme::checkpoint {

struct Crew {
  int rank = 0;
  int ranks = 1;
  // The same on all of them, and nobody else's, ever: what two crews write must not mix. Letters,
  // digits and '-'. Empty, in a crew of one: drawn.
  std::string tag{};
};

}  // namespace trireme::checkpoint
