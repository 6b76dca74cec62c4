// ErrorFeedback is what the codec of an exchange owes to later steps, by parameter: how it is
// saved, and how it is found again by ranks that hold other parameters, or other parts of them.
//
// Every rank, or every host whose ranks hold parts, is one debtor. A debtor's residual of a
// parameter is one logical tensor of a checkpoint, in the pieces that ranks hold, so that it does
// not matter where buckets and slices were cut. With another number of debtors each takes over what
// every so many-th one owed: what all of them owe together stays what it was.
//
// What is added up may be made a mean (is_mean). Then a residual is worth less with more debtors,
// and is scaled where their number changes.
//
// Threads: one.

#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "trireme/checkpoint/checkpoint.h"
#include "trireme/checkpoint/state.h"
#include "trireme/codec/codec.h"
#include "trireme/parallel/data/bucket_plan.h"
#include "trireme/parallel/data/residuals.h"
#include "trireme/parallel/parameter.h"

namespace trireme::parallel::data {

// Where a parameter lies in what is encoded, as codecs know it.
codec::Part part_of(const at::Tensor& tensor, std::int64_t begin);

class ErrorFeedback {
 public:
  struct Contributor {
    int rank = 0;
    int count = 1;
  };
  struct Options {
    std::shared_ptr<const codec::Codec> codec;
    Contributor contributor{};
    bool has_error_feedback = true;  // otherwise nothing is owed
    bool is_mean = false;
    bool is_elastic = false;
    Residuals::SharedResiduals shared{};  // where others find residuals when this rank is dead
  };
  // `parts`: by parameter, of what it is a part and from where on; empty where all are whole.
  ErrorFeedback(const Options& options, const BucketPlan& plan,
                const std::vector<Parameter>& parameters,
                std::vector<checkpoint::Piece> parts = {});

  // See Residuals.
  void begin(std::int64_t step) { residuals_.begin(step); }
  void commit() { residuals_.commit(); }
  void inherit(int place, std::int64_t last, Residuals::As as = Residuals::As::Successor) {
    residuals_.inherit(place, last, as);
  }

  // What is owed of a range of the plan, to be changed; empty without error feedback.
  std::span<float> open(const ElementRange& range);
  // The same as it is, to be read.
  std::span<const float> owed(const ElementRange& range) const;
  // What the codec keeps for a parameter, to be changed; mostly nothing.
  std::span<float> open_kept(std::size_t parameter);

  // From now on it is this debtor.
  void regroup(const Contributor& contributor);

  std::vector<checkpoint::Piece> pieces() const { return pieces_of(residuals_.current()); }
  // As if what was encoded counted already. REQUIRES: all of it was, or nothing.
  std::vector<checkpoint::Piece> pieces_once_committed() const {
    return pieces_of(residuals_.opened());
  }
  void restore(const checkpoint::Checkpoint& from);
  // Nothing is owed any more.
  void clear();

 private:
  Residuals::Options residual_options();
  std::string residual_name(int rank, std::size_t parameter) const;
  std::string kept_name(int rank, std::size_t parameter) const;
  at::Tensor at(const ElementRange& range) const;
  std::vector<checkpoint::Piece> pieces_of(const at::Tensor& version) const;

  Options options_;
  BucketPlan plan_;
  std::vector<checkpoint::Piece> parts_;  // by parameter; without data
  std::vector<codec::Part> shapes_;       // by parameter
  std::vector<ElementRange> kept_;        // by parameter, behind what is owed
  Residuals residuals_;
};

}  // namespace trireme::parallel::data
