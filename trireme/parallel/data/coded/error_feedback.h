// ErrorFeedback keeps the error-feedback residuals of an exchange by parameter, saves them, and
// restores them on ranks that hold other parameters or other parts of them.
//
// Every rank, or every host whose ranks hold parts, is one contributor. A contributor's residual of
// a parameter is one logical tensor of a checkpoint, saved in the pieces that ranks hold, so that
// the division into buckets and shards may change. If a job resumes with another number of
// contributors, contributor r of n adds up the residuals of r, r + n, r + 2n, ...: the sum over all
// contributors does not change.
//
// If the sum is made a mean (is_mean), the weight of a residual depends on the number of
// contributors, so residuals are scaled when that number changes.
//
// Errors:        what Arena and Checkpoint throw.
// Thread safety: one thread at a time.

#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "trireme/checkpoint/checkpoint.h"
#include "trireme/checkpoint/state.h"
#include "trireme/codec/codec.h"
#include "trireme/parallel/data/coded/residuals.h"
#include "trireme/parallel/data/plan/bucket_plan.h"
#include "trireme/parallel/parameter.h"

namespace trireme::parallel::data {

// The codec's description of a parameter that begins at this element of the encoded values.
codec::BucketPart part_of(const at::Tensor& tensor, std::int64_t begin);

class ErrorFeedback {
 public:
  struct Contributor {
    int rank = 0;
    int count = 1;
  };
  struct Options {
    std::shared_ptr<const codec::Codec> codec;
    Contributor contributor{};
    bool has_error_feedback = true;  // otherwise there are no residuals
    bool is_mean = false;
    bool is_undoable = false;             // see Residuals
    Residuals::SharedResiduals shared{};  // where other ranks find the residuals if this one dies
  };
  // The parameters may be parts.
  ErrorFeedback(const Options& options, const BucketPlan& plan,
                const std::vector<Parameter>& parameters);

  // See Residuals.
  void begin(std::int64_t step) { residuals_.begin(step); }
  void undo() { residuals_.undo(); }
  void commit() { residuals_.commit(); }
  void inherit(int place, std::int64_t last, Residuals::As as = Residuals::As::Successor) {
    residuals_.inherit(place, last, as);
  }

  // The residual of a range of the plan, to be overwritten; empty without error feedback.
  std::span<float> open(const ElementRange& range);
  // The current residual of a range, read-only.
  std::span<const float> residual(const ElementRange& range) const;
  // The codec's state of a parameter (BucketPart::kept), to be overwritten; empty for most codecs.
  std::span<float> open_kept(std::size_t parameter);

  // This rank becomes the given contributor.
  void regroup(const Contributor& contributor);

  std::vector<checkpoint::Piece> pieces() const { return pieces_of(residuals_.current()); }
  // As they will be after commit(). REQUIRES: all buckets have been encoded, or none.
  std::vector<checkpoint::Piece> pieces_once_committed() const {
    return pieces_of(residuals_.opened());
  }
  void restore(const checkpoint::Checkpoint& from);
  // Sets all residuals to zero.
  void clear();

 private:
  Residuals::Options residual_options();
  std::string residual_name(int rank, std::size_t parameter) const;
  std::string kept_name(int rank, std::size_t parameter) const;
  at::Tensor at(const ElementRange& range) const;
  std::vector<checkpoint::Piece> pieces_of(const at::Tensor& version) const;

  Options options_;
  BucketPlan plan_;
  std::vector<checkpoint::Piece> parts_;   // by parameter; without data
  std::vector<codec::BucketPart> shapes_;  // by parameter
  std::vector<ElementRange> kept_;         // by parameter, after the residuals
  Residuals residuals_;
};

}  // namespace trireme::parallel::data
