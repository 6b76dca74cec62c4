// Reducer sums a step's gradients over all ranks, bucket by bucket, while backward still runs.
//
//   reducer.begin_step(step);
//   reducer.launch(bucket);     // this rank's gradients of the bucket are complete
//   reducer.poll();             // makes progress without waiting
//   reducer.finish();           // launches the remaining buckets and waits for all of them
//
// Afterwards the layout's `reduced` space holds the sums of the elements that this rank updates.
//
// BucketReducer   sums of one or two levels: within hosts, then across hosts; each with or without
//                 a codec
// OrderedReducer  a fixed binary tree over logical ranks: bitwise equal for every world size
//
// Errors:        what Group throws.
// Thread safety: the thread that runs backward.

#pragma once

#include <vector>

#include "trireme/parallel/data/gradient/micro_batch_gradients.h"
#include "trireme/parallel/data/reduce/bucket_sum.h"
#include "trireme/parallel/data/storage/layout.h"

namespace trireme::parallel::data {

class Reducer {
 public:
  virtual ~Reducer() = default;

  virtual void begin_step(const StepPlan& plan) = 0;
  virtual void launch(std::size_t bucket) = 0;
  virtual void poll() {}
  virtual void finish() = 0;
  // Gives up everything in flight: its group is no longer used.
  virtual void forget() = 0;
};

class BucketReducer final : public Reducer {
 public:
  // One collective per bucket; the second level sums what the first has finished.
  struct Levels {
    BucketSum* first = nullptr;
    BucketSum* second = nullptr;     // null: there is one level
    bool has_whole_buckets = false;  // the second level gets whole buckets, not this rank's shards
  };
  struct Options {
    MicroBatchGradients* gradients = nullptr;
    const StorageLayout* layout = nullptr;
    Levels plain{};
    Levels coded{};  // used from step `codec_begin` on; first null: no codec
    std::int64_t codec_begin = 0;
  };
  explicit BucketReducer(Options options) : options_(options), now_(options.plain) {}

  void begin_step(const StepPlan& plan) override;
  void launch(std::size_t bucket) override;
  void poll() override;
  void finish() override;
  void forget() override;

 private:
  void finish_next();

  Options options_;
  Levels now_;                // of this step
  std::size_t finished_ = 0;  // buckets of the first level
  std::size_t crossed_ = 0;   // buckets of the second level
};

class OrderedReducer final : public Reducer {
 public:
  struct Options {
    MicroBatchGradients* gradients = nullptr;
    const StorageLayout* layout = nullptr;
    comm::Group group;
  };
  explicit OrderedReducer(Options options) : options_(std::move(options)) {}

  void begin_step(const StepPlan& plan) override;
  void launch(std::size_t bucket) override;
  void finish() override;
  void forget() override { works_.clear(); }

 private:
  Options options_;
  StepPlan plan_;
  std::vector<comm::Work> works_;  // by bucket
};

}  // namespace trireme::parallel::data
