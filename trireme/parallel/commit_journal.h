// CommitJournal is memory in which a rank records how far it has come in a step, and which outlives
// the rank: if it dies, other ranks find out there that the step was prepared.
//
// Errors:        none; the memory was allocated before.
// Thread safety: as StepCommit, which calls begin(), prepare() and finish().

#pragma once

#include <cstdint>
#include <vector>

namespace trireme::parallel {

// The sums over all ranks when they prepared a step.
struct Prepared {
  std::int64_t step = -1;
  std::vector<double> figures{};

  friend bool operator==(const Prepared&, const Prepared&) = default;
};

// The phase of a rank in the step that it began last.
struct StepStatus {
  enum class Phase : std::uint8_t { Open, Prepared, Finished };

  std::int64_t step = -1;
  Phase phase = Phase::Finished;
  // Of the last step that this rank prepared, if other ranks cannot look it up in shared memory.
  parallel::Prepared prepared{};

  friend bool operator==(const StepStatus&, const StepStatus&) = default;
};

class CommitJournal {
 public:
  virtual ~CommitJournal() = default;

  // The step may still fail.
  virtual void begin(std::int64_t step) = 0;
  virtual void prepare(const Prepared& prepared) = 0;
  // This rank's update is made.
  virtual void finish() = 0;

  // The figures of this step that any rank recorded whose memory this rank can read, dead or alive;
  // empty if none did.
  virtual std::vector<double> prepared(std::int64_t step) const = 0;
};

}  // namespace trireme::parallel
