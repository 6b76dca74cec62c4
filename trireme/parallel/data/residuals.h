// Residuals is what a codec has lost of one rank's values and owes to later steps, and behind it
// what the codec keeps from step to step: floats, end to end.
//
//   residuals.begin(step);
//   std::span<float> own = residuals.open({begin, end});   // as they were; to be changed
//   residuals.commit();                                    // the step has ended: these count now
//
// Where a step may be run again there are two versions: what was opened and not committed is
// forgotten when a step begins. Where ranks share memory both lie there, and what a dead rank owed
// another can take over: after the step that ended last, whether or not its owner came to commit.
//
// Threads: one. Whoever inherits calls when the owner is dead.
// Failure: what Arena throws.

#pragma once

#include <ATen/core/Tensor.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>

#include "trireme/comm/arena.h"
#include "trireme/parallel/data/bucket_plan.h"

namespace trireme::parallel::data {

class Residuals {
 public:
  // Where ranks share memory: by place, in blocks that all ranks find by the key.
  struct SharedResiduals {
    std::shared_ptr<comm::Arena> arena{};  // null: this rank alone can read them
    std::uint64_t key = 0;
    int place = 0;
  };
  struct Options {
    std::int64_t owed = 0;  // floats
    std::int64_t kept = 0;  // floats behind them
    bool is_undoable = false;
    SharedResiduals shared{};
  };
  // Zeros, whoever had the place before.
  explicit Residuals(Options options);

  // As they are after the last step that ended.
  at::Tensor current() const { return mine_.versions[index_]; }
  // And as they will be, where all of them have been opened since.
  at::Tensor opened() const { return mine_.versions[is_open_ ? 1 - index_ : index_]; }

  void begin(std::int64_t step);
  // What was opened is forgotten.
  void undo();
  std::span<float> open(const ElementRange& range);
  void commit();

  // Adds what the rank of a place owed after step `last`, the last one that ended. Once: whoever
  // comes second finds nothing. If this rank dies on the way, it may be lost. What its codec kept
  // is taken over by whoever follows it, and has none.
  enum class As : std::uint8_t { Successor, Follower };
  void inherit(int place, std::int64_t last, As as = As::Successor);

 private:
  struct Memory {
    std::atomic<std::uint64_t>* mark = nullptr;
    at::Tensor versions[2];
  };
  Memory at(int place) const;
  Memory in(const at::Tensor& bytes) const;
  std::size_t size() const;

  Options options_;
  Memory mine_;
  std::size_t index_ = 0;  // of the version that counts
  std::int64_t step_ = -1;
  bool is_open_ = false;  // in this step
};

}  // namespace trireme::parallel::data
