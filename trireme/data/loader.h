// Loader returns the batches of one step after another. Its own threads read ahead into buffers
// that it reuses.
//
//   Loader loader({.source = set, .seed = 1, .batch = 64, .threads = 2});
//   const StepBatches& step = loader.next();
//
// Semantics:     the result of next() depends only on (source, seed, batch, micro_batches, mine,
// position):
//                any number of threads gives bitwise identical batches. Each epoch is followed by
//                the next one, without end.
// Thread safety: next(), seek() and assign() must be called by one thread at a time. With threads =
//                0, next() reads by itself.
// Errors:        next() throws the error of a source for the step in which it occurred, and again
//                until seek(). A source that does not return within `timeout` is a Deadline error.
//                If the source's form says that bad samples are skipped, Corrupt samples are left
//                out of their batch and counted there; the first few of a source are named on
//                stderr.
// Lifetime:      the result of next() is valid until the next call of next(), also across seek()
//                and assign(). A tensor that is kept longer keeps its content. The destructor waits
//                for samples that are being read.

#pragma once

#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "trireme/base/clock.h"
#include "trireme/comm/timeouts.h"
#include "trireme/data/batch.h"
#include "trireme/data/order/order.h"
#include "trireme/data/order/position.h"
#include "trireme/data/order/returned.h"
#include "trireme/data/order/sample_plan.h"
#include "trireme/data/source/source.h"
#include "trireme/data/step_buffer.h"

namespace trireme::data {

class Loader {
 public:
  struct Options {
    std::shared_ptr<const Source> source;
    std::uint64_t seed = 0;
    std::int64_t batch = 1;       // samples per step, over all micro-batches on all ranks
    int micro_batches = 1;        // micro-batches per step
    std::vector<int> mine = {0};  // micro-batches that this rank reads
    bool is_shuffled = true;
    bool is_last_dropped = false;  // drops the last batch of an epoch if it is smaller
    int threads = 1;
    int ahead = 2;  // steps that are ready or being read, besides the current one
    // Batches lie in memory that is copied to a GPU while the host goes on. The copies of a step
    // must have ended at the next call of next().
    bool is_pinned = false;
    Duration timeout = comm::Timeouts().loader();
  };

  explicit Loader(const Options& options);
  ~Loader();

  const StepBatches& next();
  // The position of the step that next() will return.
  Position position() const noexcept { return position_; }
  // Continues from this position.
  void seek(Position to);
  // From the next step on, cuts steps into this number of micro-batches, with these weights
  // (empty: all equal), and reads those listed in `mine`.
  void assign(int micro_batches, std::vector<int> mine, std::vector<std::int64_t> weights = {});

  std::int64_t steps_an_epoch() const noexcept { return plan_.steps_an_epoch(); }
  // Whether the step that next() returned last is the last one of its epoch.
  bool is_epoch_over() const { return plan_.settle(position_).cursor == 0; }
  // The samples of a micro-batch in the step that next() returned last. REQUIRES: assign() was not
  // called since.
  Returned samples_of(const StepBatches& given, int micro_batch) const;
  // Reads such samples now, in the calling thread; the first has this place in its step.
  Batch read(const Returned& samples, std::int64_t place) const;
  // By micro-batch, as in the last call of assign(); empty: all equal.
  const std::vector<std::int64_t>& weights() const noexcept { return plan_.options().weights; }
  const Source& source() const noexcept { return *options_.source; }
  // Total time that next() has waited for data.
  double seconds_waited() const noexcept { return seconds_waited_; }

 private:
  // A step that is planned and being read.
  struct Fill {
    StepBuffer buffer;
    std::int64_t claimed = 0;
    std::int64_t done = 0;
    std::int64_t failed_at = 0;
    std::exception_ptr failure = nullptr;

    bool is_whole() const noexcept { return done == buffer.count(); }
  };

  Fill& fill_of(std::int64_t step) {
    return fills_[static_cast<std::size_t>(step) % fills_.size()];
  }
  bool has_work() const;
  Fill& plan();
  Fill* find_work();
  void work_on(Fill& fill, std::unique_lock<std::mutex>& lock);
  void run();
  void wait_until_whole(Fill& fill, std::unique_lock<std::mutex>& lock);
  void restart(Position from, SamplePlan::Options cut, std::vector<int> mine);
  void name_skipped(const std::vector<std::string>& complaints) const;

  Options options_;
  SamplePlan plan_;
  Position position_;
  double seconds_waited_ = 0;

  std::mutex mutex_;
  std::condition_variable work_;   // there may be samples to read
  std::condition_variable whole_;  // a step is complete, or the last reader paused
  std::vector<Fill> fills_;  // step s is in fills_[s % size]; the caller holds step given_ - 1
  std::int64_t given_ = 0;
  std::int64_t planned_ = 0;
  Position plan_at_;  // of step planned_
  int reading_ = 0;
  bool is_paused_ = false;
  bool is_ending_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace trireme::data
