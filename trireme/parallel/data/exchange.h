// Exchange adds up what all ranks have in the buckets of a plan, as the bytes that a codec makes.
//
//   exchange.begin(step);
//   exchange.launch(bucket, values);     // on its way from here on; in ascending order
//   ... exchange.is_done(bucket)         // moves on without waiting
//   exchange.finish(bucket);             // `values` is the sum now; in ascending order
//
// Every rank sends its bytes to all others, decodes everybody's in the order of ranks and adds them
// up, so that all come to the same bits. What a rank lost of its own is its residual, by parameter
// (trireme/parallel/data/debts.h): it is added to what the rank encodes next.
//
// Where ranks hold slices of the buckets (beside), a codec that can chooses among all of them what
// is sent (trireme/codec/joint.h): the holders of a bucket's slices tell each other what they
// nominate, and encode when they have heard all.
//
// Where ranks come and go (is_lasting), residuals count from commit() on; until then the same sum
// can be begun again, with another group.
//
// Bytes:   a rank sends its encoded bucket once and receives those of all others.
// Failure: what Group throws; Corrupt where another rank's bytes make no sense.
// Threads: one.

#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <optional>
#include <vector>

#include "trireme/checkpoint/checkpoint.h"
#include "trireme/checkpoint/state.h"
#include "trireme/codec/codec.h"
#include "trireme/codec/joint.h"
#include "trireme/comm/group.h"
#include "trireme/parallel/agree.h"
#include "trireme/parallel/data/bucket_plan.h"
#include "trireme/parallel/data/debts.h"
#include "trireme/parallel/parameter.h"

namespace trireme::parallel::data {

class Exchange {
 public:
  // Those who hold slices of the same buckets: their group, and by bucket how much each holds.
  struct Beside {
    comm::Group group;
    std::vector<std::vector<std::size_t>> counts;
  };
  struct Options {
    comm::Group group;
    std::shared_ptr<const codec::Codec> codec;
    bool has_error_feedback = true;
    bool is_mean = false;  // what it adds up is divided by the number of ranks
    std::uint64_t seed = 0;
    bool is_lasting = false;
    Residuals::Estate estate{};  // where others find residuals when this rank is dead
    std::optional<Beside> beside{};
  };
  // REQUIRES: parameters are float32; values lie as the plan says. `parts`: see Debts.
  Exchange(Options options, const BucketPlan& plan, const std::vector<Parameter>& parameters,
           std::vector<checkpoint::Piece> parts = {});

  void begin(std::int64_t step);
  void launch(std::size_t bucket, at::Tensor values);
  std::size_t launched() const noexcept { return launched_; }
  bool is_done(std::size_t bucket);
  void finish(std::size_t bucket);

  // What is on its way is given up.
  void forget();
  // From now on with these. Nothing is on its way.
  void regroup(const comm::Group& group);
  // What was encoded since begin() counts: all ranks have it.
  void commit() { debts_.commit(); }
  // See Residuals.
  void inherit(int place, std::int64_t last) { debts_.inherit(place, last); }

  // Of what was launched since begin().
  Traffic traffic() const noexcept { return traffic_; }

  // What this rank has to keep: residuals, and what its codec keeps.
  std::vector<checkpoint::Piece> own_pieces() const { return debts_.pieces(); }
  // As they were saved by these ranks or by any others.
  void restore(const checkpoint::Checkpoint& from) { debts_.restore(from); }

 private:
  // A bucket's way: its bytes, those of all, and where they are to become values.
  struct Passage {
    std::vector<codec::Part> parts;
    std::vector<float> nominated{};     // of this rank's slice
    std::vector<float> nominations{};   // of all slices
    std::vector<std::size_t> voters{};  // how many of them are whose
    Bytes mine{};
    Bytes all{};
    std::int64_t size = 0;              // of mine
    std::vector<std::int64_t> sizes{};  // of everybody's
    std::optional<comm::Work> nominating{};
    std::optional<comm::Work> telling{};
    std::optional<comm::Work> gathering{};
    at::Tensor values{};
  };

  void nominate(std::size_t bucket);
  std::size_t quota_of(std::size_t bucket);
  void encode(std::size_t bucket);
  void start_gathering(std::size_t bucket);
  void advance();

  Options options_;
  comm::Group bytes_;  // sizes and bytes are not in one order
  BucketPlan plan_;
  std::shared_ptr<const codec::Joint> joint_;  // null: each encodes what it has
  std::shared_ptr<const codec::Codec> codec_;  // that one, or the one of the options
  Debts debts_;
  std::vector<Passage> passages_;  // by bucket
  std::int64_t step_ = 0;
  // Buckets that have come so far, each no further than the one before.
  std::size_t launched_ = 0;
  std::size_t encoded_ = 0;
  std::size_t gathered_ = 0;  // on their way, at least
  Traffic traffic_;
};

}  // namespace trireme::parallel::data
