// BucketSum adds up the buckets of a plan over ranks, one collective per bucket.
//
//   sum.begin(step);
//   sum.launch(bucket, values, out);   // in flight from here on; buckets in ascending order
//   ... sum.is_done(bucket)            // makes progress without waiting
//   sum.finish(bucket);                // `out` holds the sum; buckets in ascending order
//   sum.commit();                      // the step is complete: error-feedback residuals count
//   sum.undo();                        // or it is dropped: they are as they were before the step
//
// Implementations: plain_sums.h (all-reduce, reduce-scatter), coded_sum.h (the same with a codec on
// the wire) and coded_host_sum.h (between hosts).
//
// Errors:        what Group throws; Corrupt for bytes from another rank that cannot be decoded.
// Thread safety: one thread.

#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>

#include "trireme/comm/group.h"
#include "trireme/parallel/data/coded/error_feedback.h"
#include "trireme/parallel/traffic.h"

namespace trireme::parallel::data {

inline std::span<float> floats_of(const at::Tensor& tensor) {
  return {tensor.mutable_data_ptr<float>(), static_cast<std::size_t>(tensor.numel())};
}

class BucketSum {
 public:
  // The ranks of a new membership epoch.
  struct Members {
    comm::Group all = comm::Group::solo();
    comm::Group host = comm::Group::solo();  // of this rank's host
    int place = 0;                           // of this rank in the host's arena
    std::int64_t last_step = -1;             // the last one whose residuals count
  };

  virtual ~BucketSum() = default;

  virtual void begin(std::int64_t /*step*/) {}
  // `values` and `out` may be the same tensor; both must stay until the bucket is finished.
  virtual void launch(std::size_t bucket, const at::Tensor& values, const at::Tensor& out) = 0;
  // The number of buckets launched since begin().
  std::size_t launched() const noexcept { return launched_; }
  virtual bool is_done(std::size_t bucket) = 0;
  virtual void finish(std::size_t bucket) = 0;
  // Gives up everything in flight.
  virtual void forget() = 0;
  // REQUIRES: nothing is in flight.
  virtual void regroup(const Members& /*members*/) {}
  // Of these buckets; zero if this sum does not count.
  Traffic traffic() const noexcept { return traffic_; }
  // Null if there is none, or if another rank keeps it for this one.
  virtual ErrorFeedback* feedback() { return nullptr; }

  void undo() {
    if (feedback() != nullptr) feedback()->undo();
  }
  void commit() {
    if (feedback() != nullptr) feedback()->commit();
  }

 protected:
  std::size_t launched_ = 0;
  Traffic traffic_;
};

}  // namespace trireme::parallel::data
