#include "trireme/parallel/local/flat_model.h"

#include <ATen/ops/zeros.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "trireme/optim/clip.h"

namespace trireme::parallel::local {
namespace {

// Whether the codec chooses the elements to send among the parts of all ranks that hold some.
bool is_joint(const FlatModel::Options& options) {
  return options.codec && options.beside.size() > 1 && options.codec->joint();
}

data::BucketPlan plan_for(const FlatModel::Options& options) {
  const std::vector<Parameter>& parameters = options.parameters;
  std::vector<data::BucketPlan::Parameter> shapes;
  for (const Parameter& parameter : parameters) shapes.push_back({parameter.tensor.numel(), 0});
  const std::int64_t element = parameters.empty() ? 1 : parameters[0].tensor.element_size();
  std::int64_t bucket_count = std::max<std::int64_t>(options.bucket_size / element, 1);
  // Joint selection requires the same number of buckets on all ranks, but their parts differ in
  // size, so each rank has exactly one bucket, which may be empty.
  if (is_joint(options)) bucket_count = std::numeric_limits<std::int64_t>::max();
  data::BucketPlan plan = data::BucketPlan::make(shapes, data::order_of({}, parameters.size()),
                                                 {.bucket_count = bucket_count});
  if (is_joint(options)) plan.buckets.resize(1);
  return plan;
}

data::CodedSum::Beside holders_of(const comm::Group& beside, std::int64_t count) {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(beside.size()));
  beside
      .all_gather({counts.data(), counts.size(), comm::DType::Int64},
                  {&count, 1, comm::DType::Int64}, {.label = "parts"})
      .wait();
  return {.group = beside.duplicate(), .counts = {{counts.begin(), counts.end()}}};
}

}  // namespace

FlatModel::FlatModel(Options options) : options_(std::move(options)), plan_(plan_for(options_)) {
  if (!options_.codec) return;
  data::CodedSum::Options how{.group = options_.group,
                              .codec = options_.codec,
                              .has_error_feedback = options_.has_error_feedback,
                              .is_mean = options_.is_mean,
                              .seed = options_.seed,
                              .is_undoable = options_.is_elastic || options_.can_drop};
  if (is_joint(options_)) how.beside = holders_of(options_.beside, plan_.count);
  exchange_.emplace(std::move(how), plan_, options_.parameters);
}

at::Tensor FlatModel::make() const {
  const at::ScalarType type =
      options_.parameters.empty() ? at::kFloat : options_.parameters[0].tensor.scalar_type();
  return at::zeros({plan_.count}, type);
}

at::Tensor FlatModel::at(const at::Tensor& flat, std::size_t parameter) const {
  const data::ElementRange range = plan_.range_of[parameter];
  return flat.narrow(0, range.begin, range.count())
      .view(options_.parameters[parameter].tensor.sizes());
}

at::Tensor FlatModel::bucket_of(const at::Tensor& flat, std::size_t bucket) const {
  const data::ElementRange range = plan_.buckets[bucket].range;
  return flat.narrow(0, range.begin, range.count());
}

void FlatModel::read_values(const at::Tensor& flat) const {
  for (std::size_t i = 0; i < options_.parameters.size(); ++i) {
    at(flat, i).copy_(options_.parameters[i].tensor.detach());
  }
}

void FlatModel::write_values(const at::Tensor& flat) const {
  for (std::size_t i = 0; i < options_.parameters.size(); ++i) {
    options_.parameters[i].tensor.detach().copy_(at(flat, i));
  }
}

// In one pass, unless other ranks of the replica are the first holders of some parameters.
double FlatModel::squared_norm(const at::Tensor& flat) const {
  if (std::ranges::all_of(options_.parameters, &Parameter::is_first_holder)) {
    return optim::squared_norm(flat);
  }
  double squares = 0;
  for (std::size_t i = 0; i < options_.parameters.size(); ++i) {
    if (options_.parameters[i].is_first_holder()) squares += optim::squared_norm(at(flat, i));
  }
  return squares;
}

std::vector<checkpoint::Piece> FlatModel::pieces(const at::Tensor& flat,
                                                 const std::string& state) const {
  std::vector<checkpoint::Piece> all;
  for (std::size_t i = 0; i < options_.parameters.size(); ++i) {
    const Parameter& own = options_.parameters[i];
    all.push_back(piece_of(own, state_name(state, own.name), 0, at(flat, i)));
  }
  return all;
}

bool FlatModel::has_some(const std::string& state, const checkpoint::Checkpoint& from) const {
  return std::any_of(options_.parameters.begin(), options_.parameters.end(),
                     [&](const Parameter& one) { return from.has(state_name(state, one.name)); });
}

bool FlatModel::restore(const at::Tensor& flat, const std::string& state,
                        const checkpoint::Checkpoint& from) const {
  const std::vector<checkpoint::Piece> all = pieces(flat, state);
  const bool is_there = std::all_of(
      all.begin(), all.end(), [&](const checkpoint::Piece& piece) { return from.has(piece.name); });
  if (!is_there) return false;
  for (const checkpoint::Piece& piece : all) from.read_into(piece);
  return true;
}

void FlatModel::launch(const at::Tensor& flat, std::int64_t number) {
  const c10::NoGradGuard no_grad;
  is_coded_ = exchange_ && number >= options_.codec_begin;
  finished_ = 0;
  if (is_coded_) exchange_->begin(number);
  for (std::size_t b = 0; b < plan_.buckets.size(); ++b) {
    if (is_coded_) {
      exchange_->launch(b, bucket_of(flat, b));
    } else {
      works_.push_back(comm::all_reduce(options_.group, bucket_of(flat, b), comm::ReduceOp::Sum,
                                        {.label = "bucket " + std::to_string(b)}));
    }
  }
  if (is_coded_) exchange_->encode_launched();
  const auto size = static_cast<std::int64_t>(flat.nbytes());
  traffic_ = is_coded_ ? exchange_->traffic() : Traffic{.plain = size, .sent = size};
}

void FlatModel::poll() {
  if (is_coded_) {
    while (finished_ < exchange_->launched() && exchange_->is_done(finished_)) {
      exchange_->finish(finished_++);
    }
    return;
  }
  for (comm::TensorWork& work : works_) {
    if (!work.is_done()) break;
  }
}

void FlatModel::finish() {
  const c10::NoGradGuard no_grad;
  while (is_coded_ && finished_ < exchange_->launched()) exchange_->finish(finished_++);
  for (comm::TensorWork& work : works_) work.wait();
  works_.clear();
  is_coded_ = false;
}

void FlatModel::commit() {
  if (exchange_) exchange_->commit();
}

void FlatModel::undo() {
  if (exchange_) exchange_->undo();
}

void FlatModel::forget() {
  works_.clear();
  if (exchange_) exchange_->forget();
  finished_ = 0;
  is_coded_ = false;
}

void FlatModel::regroup(const comm::Group& group) {
  forget();
  options_.group = group;
  if (exchange_) exchange_->regroup({.all = group});
}

}  // namespace trireme::parallel::local
