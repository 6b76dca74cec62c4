// How DataParallel outlives its group: what stays of a step, who finishes it, who gets the state.

#include <c10/core/GradMode.h>

#include <algorithm>
#include <utility>

#include "trireme/base/check.h"
#include "trireme/optim/clip.h"
#include "trireme/parallel/data/data_parallel.h"
#include "trireme/parallel/sameness.h"

namespace trireme::parallel::data {
namespace {

// What a rank brings to a new group, least first.
enum class Having : std::uint8_t { Nothing, FirstValues, Values, Layout };

}  // namespace

void DataParallel::throw_if_lost() const {
  if (const std::optional<Error> error = options_.group.error()) throw *error;
}

// A step begins, for the first time or once more.
void DataParallel::reopen(int count_before) {
  // Others may have begun it where this rank did not.
  const bool is_again = plan_.is_repeated && status_.step == plan_.step;
  status_.step = plan_.step;
  status_.phase = StepStatus::Phase::Open;
  if (page_) page_->begin(plan_.step);
  if (!is_again) {
    filled_.assign(filled_.size(), kEmpty);
    first_buffers_.clear();
    micro_batch_buffers_.clear();
    return;
  }
  keep_filled(count_before);
  // What a forward pass changed counts as often as its gradients do.
  take_buffers_back(has_none() || micro_batch_buffers_.empty() ? first_buffers_
                                                               : micro_batch_buffers_);
  for (Parameter& parameter : options_.parameters) parameter.tensor.mutable_grad().reset();
  if (!layout_) arrival_.clear();
}

bool DataParallel::keeps_micro_batches() const {
  return options_.is_ordered || is_sum_apart() || (is_sliced() && !is_released());
}

bool DataParallel::has_none() const {
  return std::all_of(filled_.begin(), filled_.end(),
                     [](int micro_batch) { return micro_batch == kEmpty; });
}

// The gradients of slots that stay this rank's move to the places that these slots have now.
void DataParallel::keep_filled(int count_before) {
  const std::vector<int> before = std::exchange(filled_, {});
  filled_.assign(plan_.micro_batches.size(), kEmpty);
  const bool is_mixed = std::exchange(is_mixed_, false);
  // Who was dealt other slots than whoever says what is kept, between two deaths, has none of
  // these.
  if (plan_.kept_micro_batches != count_before || !keeps_micro_batches()) return;
  if (options_.is_ordered) return keep_ordered(before);
  TRIREME_CHECK(plan_.micro_batch_count % count_before == 0, count_before, " slots became ",
                plan_.micro_batch_count);
  const int pieces = plan_.micro_batch_count / count_before;
  for (std::size_t i = 0; i < filled_.size() && !is_mixed; ++i) {
    const int whole = plan_.micro_batches[i] / pieces;
    const bool is_there = std::find(before.begin(), before.end(), whole) != before.end();
    if (is_there) filled_[i] = plan_.micro_batches[i];
  }
}

// REQUIRES: slots are those of the last attempt, in one piece.
void DataParallel::keep_ordered(const std::vector<int>& filled) {
  std::vector<std::unique_ptr<GradientBuckets>> before = std::exchange(buckets_, {});
  buckets_.resize(std::max(before.size(), plan_.micro_batches.size()));
  for (std::size_t i = 0; i < plan_.micro_batches.size(); ++i) {
    const auto at = std::find(filled.begin(), filled.end(), plan_.micro_batches[i]);
    if (at == filled.end()) continue;
    buckets_[i] = std::move(before[static_cast<std::size_t>(at - filled.begin())]);
    filled_[i] = plan_.micro_batches[i];
  }
  auto spare = before.begin();
  for (std::unique_ptr<GradientBuckets>& place : buckets_) {
    if (place) continue;
    spare = std::find_if(spare, before.end(), [](const auto& one) { return one != nullptr; });
    if (spare == before.end()) break;
    place = std::move(*spare);
  }
}

bool DataParallel::has_micro_batch(int micro_batch) const {
  return std::find(filled_.begin(), filled_.end(), micro_batch) != filled_.end();
}

// Of this rank's slots.
std::size_t DataParallel::last_to_run() const {
  std::size_t last = plan_.micro_batches.size();
  while (last > 0 && has_micro_batch(plan_.micro_batches[last - 1])) --last;
  return last - 1;
}

// Statistics that a forward pass changes must not change twice.
std::vector<at::Tensor> DataParallel::copied_buffers() const {
  std::vector<at::Tensor> values;
  for (const at::Tensor& buffer : options_.buffers) values.push_back(buffer.clone());
  return values;
}

void DataParallel::take_buffers_back(const std::vector<at::Tensor>& values) {
  const c10::NoGradGuard no_grad;
  for (std::size_t i = 0; i < values.size(); ++i) options_.buffers[i].copy_(values[i]);
}

void DataParallel::survive(const comm::Group& group, std::vector<int> places) {
  works_.clear();
  crossing_.clear();
  ordered_.clear();
  if (publishing_) publishing_->forget();
  if (exchange_) exchange_->forget();
  is_exchange_met_ = false;
  finished_ = crossed_ = 0;
  is_surviving_ = true;
  options_.group = group;
  meet_hosts(places);
}

// Who shares this rank's memory, and who has the same slice on every other host.
void DataParallel::meet_hosts(const std::vector<int>& places) {
  const comm::Group& group = options_.group;
  const std::vector<int> host_of = options_.is_spread && is_sliced()
                                       ? group.hosts()
                                       : std::vector<int>(static_cast<std::size_t>(group.size()));
  const int hosts = 1 + *std::max_element(host_of.begin(), host_of.end());
  std::vector<std::vector<int>> ranks_of(static_cast<std::size_t>(hosts));
  for (int rank = 0; rank < group.size(); ++rank) {
    ranks_of[static_cast<std::size_t>(host_of[static_cast<std::size_t>(rank)])].push_back(rank);
  }
  host_ = host_of[static_cast<std::size_t>(group.rank())];
  beside_ = ranks_of[static_cast<std::size_t>(host_)];
  firsts_.clear();
  is_uneven_ = false;
  for (const std::vector<int>& ranks : ranks_of) {
    firsts_.push_back(ranks.front());
    is_uneven_ |= ranks.size() != beside_.size();
  }
  inside_ = options_.is_spread && is_sliced() ? group.subgroup(beside_) : group;
  options_.across = comm::Group::solo();
  if (hosts > 1 && !is_uneven_) {
    std::vector<int> alike;
    for (const std::vector<int>& ranks : ranks_of) {
      alike.push_back(ranks[static_cast<std::size_t>(inside_.rank())]);
    }
    options_.across = group.subgroup(alike);
  }
  places_.clear();
  for (const int rank : beside_) places_.push_back(places[static_cast<std::size_t>(rank)]);
}

// What a prepare of this step added up, as far as this host knows.
std::vector<double> DataParallel::find_figures(std::int64_t step,
                                               std::span<const Prepared> told) const {
  for (const Prepared& one : told) {
    if (one.step == step) return one.figures;
  }
  for (std::size_t i = 0; ledger_ && i < cut_.places.size(); ++i) {
    const Ledger::Page page = ledger_->page(cut_.places[i]);
    // Whoever has begun the next one was prepared, and has kept the figures.
    const bool is_prepared =
        page.step() == step ? page.phase() != Ledger::Phase::Open : page.step() == step + 1;
    if (is_prepared) return {page.figures().begin(), page.figures().end()};
  }
  return {};
}

// What only the dead of one host knew, and left in its ledger, all hosts go by.
void DataParallel::share_figures(std::int64_t step, std::vector<double>& figures) const {
  const comm::Group& group = options_.group;
  const std::int64_t mine = figures.empty() ? -1 : step;
  std::vector<std::int64_t> known(static_cast<std::size_t>(group.size()));
  group
      .all_gather({known.data(), known.size(), comm::DType::Int64}, {&mine, 1, comm::DType::Int64},
                  {.label = "who was prepared"})
      .wait();
  const auto latest = std::max_element(known.begin(), known.end());
  if (*latest < 0) return;
  std::vector<double> theirs(kFigures + options_.parameters.size());
  const auto source = static_cast<int>(latest - known.begin());
  if (group.rank() == source) theirs = figures;
  group
      .broadcast({theirs.data(), theirs.size(), comm::DType::Float64}, source,
                 {.label = "what was prepared"})
      .wait();
  if (step == *latest) figures = theirs;
}

std::optional<Gradients> DataParallel::recall(std::int64_t step, std::span<const Prepared> told) {
  const bool is_asked = step >= 0 && status_.step == step;
  std::vector<double> figures = is_asked ? find_figures(step, told) : std::vector<double>{};
  if (options_.is_spread && is_sliced()) share_figures(is_asked ? step : -1, figures);
  if (figures.empty()) return std::nullopt;
  // This rank may be the next to die: whoever looks for them finds them with it, too.
  if (status_.phase == StepStatus::Phase::Open) mark_prepared(figures);
  return take_figures(figures);
}

void DataParallel::mark(std::int64_t what) {
  page_->set_mark(what);
}

std::int64_t DataParallel::last_mark() const {
  std::int64_t last = 0;
  for (std::size_t i = 0; ledger_ && i < cut_.places.size(); ++i) {
    last = std::max(last, ledger_->page(cut_.places[i]).mark());
  }
  return last;
}

// By rank of the cut, the place of whoever does what is left to do of it: its own where it lives.
std::vector<int> DataParallel::successors() const {
  const auto is_in = [](const std::vector<int>& places, int place) {
    return std::find(places.begin(), places.end(), place) != places.end();
  };
  // Whoever has come since knows nothing of the step.
  std::vector<int> living;
  for (const int place : places_) {
    if (is_in(cut_.places, place)) living.push_back(place);
  }
  std::vector<int> successors;
  std::size_t failed = 0;
  for (const int place : cut_.places) {
    successors.push_back(is_in(living, place) ? place : living[failed++ % living.size()]);
  }
  return successors;
}

// The slices of those who are gone, dealt out to those who live.
void DataParallel::update_failed_ranks(const Update& how) {
  if (!is_one_copy()) return;
  const std::vector<int> successor_of = successors();
  for (int rank = 0; rank < cut_.size; ++rank) {
    const int place = cut_.places[static_cast<std::size_t>(rank)];
    const int successor = successor_of[static_cast<std::size_t>(rank)];
    if (successor == place || successor != places_[static_cast<std::size_t>(inside_.rank())])
      continue;
    Ledger::Page page = ledger_->page(place);
    // One that has begun the next step had finished this one.
    const bool is_finished = page.step() > status_.step || page.phase() == Ledger::Phase::Finished;
    if (is_finished) continue;
    const std::vector<optim::Slice> theirs = slices(how.rate, rank);
    if (plan_.clip_value > 0) optim::clip_by_value(theirs, plan_.clip_value, how.scale);
    page.update(theirs, *options_.optimizer, how.number, how.scale, options_.faults,
                options_.group.rank());
    write_copies(rank);
    page.finish();
  }
}

void DataParallel::finish_failed_ranks() {
  const c10::NoGradGuard no_grad;
  if (made_) update_failed_ranks(*made_);
}

void DataParallel::regroup(bool is_new) {
  const c10::NoGradGuard no_grad;
  finish_publishing();
  const comm::Group& group = options_.group;
  const Having mine = is_new       ? Having::Nothing
                      : layout_    ? Having::Layout
                      : has_state_ ? Having::Values
                                   : Having::FirstValues;
  const auto own = static_cast<std::uint8_t>(mine);
  std::vector<std::uint8_t> all(static_cast<std::size_t>(group.size()));
  group
      .all_gather({all.data(), all.size(), comm::DType::UInt8}, {&own, 1, comm::DType::UInt8},
                  {.label = "who has the state"})
      .wait();
  const auto most = std::max_element(all.begin(), all.end());
  const auto least = static_cast<Having>(*std::min_element(all.begin(), all.end()));
  const int source = static_cast<int>(most - all.begin());
  const bool is_strange = least < Having::Values;  // somebody has not met the others yet
  if (is_strange) expect_same_parameters(group, options_.parameters);
  if (static_cast<Having>(*most) == Having::Layout) {
    if (least < Having::Layout) {
      share_layout(source, all);
      share_spaces(source, all);
    }
  } else if (is_strange) {
    std::vector<at::Tensor> values;
    for (const Parameter& parameter : options_.parameters) values.push_back(parameter.tensor);
    share(group, source, values);
  }
  if (is_strange) share(group, source, options_.buffers);
  if (exchange_) meet_again();
  group.barrier({.label = "regrouped"}).wait();
  has_state_ = true;
  is_surviving_ = false;
  if (layout_) cut_slices();
  // Nobody has anything left to do of the last step, by the slices of before.
  made_.reset();
}

// What the dead owed, those who live owe now, where they can read it.
void DataParallel::inherit_residuals() {
  const bool is_finished = status_.phase == StepStatus::Phase::Finished;
  const std::vector<int> successor_of = successors();
  for (std::size_t rank = 0; rank < successor_of.size(); ++rank) {
    const int place = cut_.places[rank];
    const bool is_mine = successor_of[rank] == places_[static_cast<std::size_t>(inside_.rank())];
    if (is_mine && successor_of[rank] != place) {
      exchange_->inherit(place, is_finished ? status_.step : status_.step - 1);
    }
  }
}

// Who has come now has an exchange of this group already, unless it is of hosts.
void DataParallel::meet_again() {
  if (is_exchange_met_) return;
  const bool is_finished = status_.phase == StepStatus::Phase::Finished;
  if (!is_in_hosts()) inherit_residuals();
  exchange_->regroup({.all = options_.group,
                      .inside = inside_,
                      .place = places_[static_cast<std::size_t>(inside_.rank())],
                      .last = is_finished ? status_.step : status_.step - 1});
  is_exchange_met_ = true;
}

// Those who have no layout get the source's, with the names that memory has on their host.
void DataParallel::share_layout(int source, std::span<const std::uint8_t> having) {
  Blueprint blueprint = blueprint_;
  blueprint.order.resize(options_.parameters.size());
  options_.group
      .broadcast({blueprint.order.data(), blueprint.order.size(), comm::DType::Int64}, source,
                 {.label = "layout"})
      .wait();
  const auto has_names = [&](int rank) {
    return static_cast<Having>(having[static_cast<std::size_t>(rank)]) == Having::Layout;
  };
  const auto known = std::find_if(beside_.begin(), beside_.end(), has_names);
  if (!layout_) blueprint.names = draw({}).names;
  inside_
      .broadcast({blueprint.names.data(), blueprint.names.size(), comm::DType::Int64},
                 known == beside_.end() ? 0 : static_cast<int>(known - beside_.begin()),
                 {.label = "names of shared memory"})
      .wait();
  if (layout_ && blueprint.names == blueprint_.names) return;
  // Where nobody here has any, what this rank has is worth more than nothing, should the source
  // die.
  lay_out(blueprint, /*is_attached=*/is_one_copy() && known != beside_.end());
}

// Whoever has nothing gets the source's; of a host with one copy, that is its first rank, where
// nobody there has it.
void DataParallel::share_spaces(int source, std::span<const std::uint8_t> having) {
  std::vector<at::Tensor> spaces{layout_->values.memory};
  for (const FlatSpace& state : layout_->states) spaces.push_back(state.memory);
  if (!is_one_copy()) return share(options_.group, source, spaces);
  if (firsts_.size() == 1) return;
  const std::vector<int> host_of = options_.group.hosts();
  std::vector<bool> is_there(firsts_.size());
  for (std::size_t rank = 0; rank < having.size(); ++rank) {
    const bool has_it = static_cast<Having>(having[rank]) == Having::Layout;
    if (has_it) is_there[static_cast<std::size_t>(host_of[rank])] = true;
  }
  std::vector<int> members{source};
  for (std::size_t host = 0; host < firsts_.size(); ++host) {
    if (!is_there[host]) members.push_back(firsts_[host]);
  }
  const int me = options_.group.rank();
  const bool is_in = std::find(members.begin(), members.end(), me) != members.end();
  if (members.size() == 1 || !is_in) return;
  share(options_.group.subgroup(members), 0, spaces);
  if (me != source && has_copies()) layout_->copies.memory.copy_(layout_->values.memory);
}

void DataParallel::share(const comm::Group& group, int source,
                         const std::vector<at::Tensor>& tensors) {
  for (const at::Tensor& tensor : tensors) {
    comm::broadcast(group, tensor.detach(), source, {.label = "state"}).wait();
  }
}

}  // namespace trireme::parallel::data
