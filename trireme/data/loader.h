// Loader hands out the batches of step after step, read ahead by threads of its own into buffers
// that it uses again and again.
//
//   Loader loader({.source = set, .seed = 1, .batch = 64, .threads = 2});
//   const StepBatches& step = loader.next();
//
// Meaning:  what next() gives follows from (source, seed, batch, slots, mine, position) alone: any
//           number of threads gives the same bits. After an epoch comes the next, without end.
// Threads:  next(), seek() and deal() are called by one thread at a time. With threads = 0 next()
//           reads by itself.
// Failure:  what a source throws comes out of next() for the step in which it was thrown, and again
//           until seek(). A source that does not answer within `timeout` is a Deadline error.
// Lifetime: what next() gave is valid until the next next(), seek() and deal() included; a tensor
//           kept for longer keeps its content. The destructor waits for the samples being read.

#pragma once

#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "trireme/base/clock.h"
#include "trireme/data/batch.h"
#include "trireme/data/deal.h"
#include "trireme/data/order.h"
#include "trireme/data/position.h"
#include "trireme/data/returned.h"
#include "trireme/data/source.h"
#include "trireme/data/step_buffer.h"

namespace trireme::data {

class Loader {
 public:
  struct Options {
    std::shared_ptr<const Source> source;
    std::uint64_t seed = 0;
    std::int64_t batch = 1;       // samples a step, over all slots everywhere
    int slots = 1;                // into which each step is cut
    std::vector<int> mine = {0};  // those whose batches are wanted here
    bool is_shuffled = true;
    bool is_last_dropped = false;  // an epoch's last batch, where it is smaller
    int threads = 1;
    int ahead = 2;  // steps that are ready or being read beside the one given
    Duration timeout = std::chrono::minutes(5);
  };

  explicit Loader(const Options& options);
  ~Loader();

  const StepBatches& next();
  // Where the step begins that next() will give.
  Position position() const noexcept { return position_; }
  // Goes on from there.
  void seek(Position to);
  // Cuts steps into so many slots, of these weights (empty: all alike), and reads those that are
  // mine, from the next step on.
  void deal(int slots, std::vector<int> mine, std::vector<std::int64_t> weights = {});

  std::int64_t steps_an_epoch() const noexcept { return deal_.steps_an_epoch(); }
  // Whether the step that was given last is its epoch's last.
  bool is_epoch_over() const { return deal_.settle(position_).cursor == 0; }
  // Of a slot in the step that was given last; nothing may have been dealt anew since.
  Returned samples_of(const StepBatches& given, int slot) const;
  // Such samples, read now and by the caller's thread; the first has this place in its step.
  Batch read(const Returned& samples, std::int64_t place) const;
  // By slot, as they were dealt last; empty: all alike.
  const std::vector<std::int64_t>& weights() const noexcept { return deal_.options().weights; }
  const Source& source() const noexcept { return *options_.source; }
  // In which next() had to wait for data, since the beginning.
  double seconds_waited() const noexcept { return seconds_waited_; }

 private:
  // A step on its way from being planned to being whole.
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
  void restart(Position from, Deal::Options cut, std::vector<int> mine);

  Options options_;
  Deal deal_;
  Position position_;
  double seconds_waited_ = 0;

  std::mutex mutex_;
  std::condition_variable work_;   // there may be something to read
  std::condition_variable whole_;  // a step became whole, or the last reader paused
  std::vector<Fill> fills_;        // step s is in fills_[s % size]; step given_ - 1 is the caller's
  std::int64_t given_ = 0;
  std::int64_t planned_ = 0;
  Position plan_at_;  // of step planned_
  int reading_ = 0;
  bool is_paused_ = false;
  bool is_ending_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace trireme::data
