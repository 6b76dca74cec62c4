#include "trireme/parallel/data/coded/error_feedback.h"

#include <ATen/ops/empty_like.h>
#include <c10/core/GradMode.h>

#include <utility>

#include "trireme/parallel/saved_state.h"

namespace trireme::parallel::data {
namespace {

constexpr const char* kResidual = "residual.";
constexpr const char* kMeanResidual = "mean_residual.";
constexpr const char* kKept = "codec.";

}  // namespace

codec::BucketPart part_of(const at::Tensor& tensor, std::int64_t begin) {
  const auto count = static_cast<std::size_t>(tensor.numel());
  codec::BucketPart part{
      .begin = static_cast<std::size_t>(begin), .count = count, .rows = 1, .columns = count};
  if (tensor.dim() >= 2 && count > 0) {
    part.rows = static_cast<std::size_t>(tensor.size(0));
    part.columns = count / part.rows;
  }
  return part;
}

ErrorFeedback::ErrorFeedback(const Options& options, const BucketPlan& plan,
                             const std::vector<Parameter>& parameters)
    : options_(options),
      plan_(plan),
      shapes_([&] {
        std::vector<codec::BucketPart> all;
        for (const Parameter& parameter : parameters) all.push_back(part_of(parameter.tensor, 0));
        return all;
      }()),
      residuals_(residual_options()) {
  for (const Parameter& parameter : parameters) {
    parts_.push_back(piece_of(parameter, parameter.name, 0, {}));
  }
}

// Also computes kept_.
Residuals::Options ErrorFeedback::residual_options() {
  Residuals::Options all{.residual = options_.has_error_feedback ? plan_.count : 0,
                         .is_undoable = options_.is_undoable,
                         .shared = options_.shared};
  for (const codec::BucketPart& shape : shapes_) {
    const auto count = static_cast<std::int64_t>(options_.codec->kept_count(shape));
    const std::int64_t begin = all.residual + all.kept;
    kept_.push_back({begin, begin + count});
    all.kept += count;
  }
  return all;
}

std::span<float> ErrorFeedback::open(const ElementRange& range) {
  return options_.has_error_feedback ? residuals_.open(range) : std::span<float>{};
}

std::span<const float> ErrorFeedback::residual(const ElementRange& range) const {
  if (!options_.has_error_feedback) return {};
  return {residuals_.current().const_data_ptr<float>() + range.begin,
          static_cast<std::size_t>(range.count())};
}

std::span<float> ErrorFeedback::open_kept(std::size_t parameter) {
  const ElementRange range = kept_[parameter];
  return range.count() > 0 ? residuals_.open(range) : std::span<float>{};
}

void ErrorFeedback::regroup(const Contributor& contributor) {
  const int before = std::exchange(options_.contributor, contributor).count;
  if (!options_.is_mean || !options_.has_error_feedback || before == contributor.count) return;
  const c10::NoGradGuard no_grad;
  at({0, plan_.count}).mul_(static_cast<double>(contributor.count) / before);
}

std::string ErrorFeedback::residual_name(int rank, std::size_t parameter) const {
  return state_name((options_.is_mean ? kMeanResidual : kResidual) + std::to_string(rank),
                    parts_[parameter].name);
}

std::string ErrorFeedback::kept_name(int rank, std::size_t parameter) const {
  return state_name(kKept + std::to_string(rank), parts_[parameter].name);
}

at::Tensor ErrorFeedback::at(const ElementRange& range) const {
  return residuals_.current().narrow(0, range.begin, range.count());
}

std::vector<checkpoint::Piece> ErrorFeedback::pieces_of(const at::Tensor& version) const {
  std::vector<checkpoint::Piece> all;
  const auto of = [&](const ElementRange& range) {
    return version.narrow(0, range.begin, range.count());
  };
  for (std::size_t i = 0; options_.has_error_feedback && i < parts_.size(); ++i) {
    checkpoint::Piece piece = parts_[i];
    piece.name = residual_name(options_.contributor.rank, i);
    piece.data = of(plan_.range_of[i]);
    all.push_back(std::move(piece));
  }
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    if (kept_[i].count() == 0) continue;
    all.push_back({.name = kept_name(options_.contributor.rank, i),
                   .shard = {{kept_[i].count()}},
                   .data = of(kept_[i])});
  }
  return all;
}

void ErrorFeedback::clear() {
  const c10::NoGradGuard no_grad;
  residuals_.undo();
  if (options_.has_error_feedback) at({0, plan_.count}).zero_();
}

void ErrorFeedback::restore(const checkpoint::Checkpoint& from) {
  const Contributor& contributor = options_.contributor;
  const c10::NoGradGuard no_grad;
  residuals_.undo();
  for (std::size_t i = 0; options_.has_error_feedback && i < parts_.size(); ++i) {
    int before = 0;
    while (from.has(residual_name(before, i))) ++before;
    const at::Tensor own = at(plan_.range_of[i]);
    checkpoint::Piece one = parts_[i];
    one.data = at::empty_like(own);
    own.zero_();
    for (int rank = contributor.rank; rank < before; rank += contributor.count) {
      one.name = residual_name(rank, i);
      from.read_into(one);
      own.add_(one.data, options_.is_mean ? static_cast<double>(contributor.count) / before : 1.0);
    }
  }
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    if (kept_[i].count() == 0) continue;
    const at::Tensor values = at(kept_[i]);
    const std::string name = kept_name(contributor.rank, i);
    const bool is_there =
        from.has(name) && from.sizes(name) == std::vector<std::int64_t>{values.numel()};
    if (is_there) {
      from.read_into(name, values);
    } else {
      values.zero_();
    }
  }
}

}  // namespace trireme::parallel::data
