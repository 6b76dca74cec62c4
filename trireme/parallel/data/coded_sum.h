// CodedSum is how ranks add up the buckets of a plan as the bytes that a codec makes of them: all
// of them get all of it (exchange.h), or each its slice (coded_scatter.h), or hosts do, for which
// one rank speaks (host_exchange.h).
//
//   sum.begin(step);
//   sum.launch(bucket, values, out);   // on its way from here on; in ascending order
//   ... sum.is_done(bucket)            // moves on without waiting
//   sum.finish(bucket);                // `out` is the sum now; in ascending order
//   sum.commit();                      // what is owed counts from here on
//
// Failure: what Group throws; Corrupt where another rank's bytes make no sense.
// Threads: one.

#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <vector>

#include "trireme/comm/group.h"
#include "trireme/parallel/data/error_feedback.h"
#include "trireme/parallel/gradient_sync.h"

namespace trireme::parallel::data {

inline std::span<float> floats_of(const at::Tensor& tensor) {
  return {tensor.mutable_data_ptr<float>(), static_cast<std::size_t>(tensor.numel())};
}

class CodedSum {
 public:
  virtual ~CodedSum() = default;

  virtual void begin(std::int64_t step) = 0;
  // `values` and `out` may be one; both must stay until it is finished.
  virtual void launch(std::size_t bucket, const at::Tensor& values, const at::Tensor& out) = 0;
  virtual std::size_t launched() const = 0;
  virtual bool is_done(std::size_t bucket) = 0;
  virtual void finish(std::size_t bucket) = 0;
  // What is on its way is given up.
  virtual void forget() = 0;
  // Where this rank is now, and whom it adds up with. Nothing is on its way.
  struct Seat {
    comm::Group all = comm::Group::solo();
    comm::Group inside = comm::Group::solo();  // its host's
    int place = 0;                             // in their arena
    std::int64_t last = -1;                    // step that ended
  };
  virtual void regroup(const Seat& seat) = 0;
  // Of what was launched since begin().
  virtual Traffic traffic() const = 0;
  // Null where another rank owes for this one.
  virtual ErrorFeedback* feedback() = 0;

  // What was encoded since begin() counts: all ranks have it.
  void commit() {
    if (feedback() != nullptr) feedback()->commit();
  }
  // See Residuals.
  void inherit(int place, std::int64_t last) {
    if (feedback() != nullptr) feedback()->inherit(place, last);
  }
  // What this rank has to keep: residuals, and what its codec keeps.
  std::vector<checkpoint::Piece> own_pieces() {
    return feedback() != nullptr ? feedback()->pieces() : std::vector<checkpoint::Piece>{};
  }
  // As they were saved by these ranks or by any others.
  void restore(const checkpoint::Checkpoint& from) {
    if (feedback() != nullptr) feedback()->restore(from);
  }
};

}  // namespace trireme::parallel::data
