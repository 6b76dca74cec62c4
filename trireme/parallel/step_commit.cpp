#include "trireme/parallel/step_commit.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "trireme/base/check.h"

namespace trireme::parallel {
namespace {

// The figures: requests to stop and to change, whether ranks may change, and whether a replica is
// broken; then the strategy's flags; then the loss, the squared norm and the reported sums, unless
// replicas have sums of their own; then, if replicas can be left out, which are, and the loss terms
// of the others and of all. Each replica, which is one rank, has a bit of its own, so that the
// number of figures does not depend on that of ranks, which may join.
constexpr std::size_t kVotes = 4;
constexpr std::size_t kSums = 2 + ReportedSums{}.size();
constexpr std::size_t kBits = 52;  // that a double sums exactly
constexpr std::size_t kBitFigures = 20;

}  // namespace

void StepCommit::begin(std::int64_t step, double weight) {
  status_.step = step;
  status_.phase = StepStatus::Phase::Open;
  weight_ = weight;
  reduced_ = {};
  if (options_.journal != nullptr) options_.journal->begin(step);
}

CommitResult StepCommit::prepare(const Contribution& mine) {
  std::vector<double> figures = figures_of(mine);
  exchange(figures);
  record(figures);
  reach(options_.faults, kPrepared, options_.group.rank());
  return result_ = result_of(figures);
}

void StepCommit::finish() {
  status_.phase = StepStatus::Phase::Finished;
  if (options_.journal != nullptr) options_.journal->finish();
}

double StepCommit::total(double mine) {
  if (options_.replica != nullptr) return options_.replica->total(mine) * weight_;
  options_.group
      .all_reduce({&mine, 1, comm::DType::Float64}, comm::ReduceOp::Sum,
                  {.label = "total", .priority = 1})
      .wait();
  return mine;
}

std::size_t StepCommit::figure_count() const noexcept {
  const std::size_t sums = kSums + (options_.can_leave_out ? kBitFigures + 2 : 0);
  return kVotes + options_.flag_count + (options_.replica == nullptr ? sums : 0);
}

// Of this rank.
std::vector<double> StepCommit::figures_of(const Contribution& mine) {
  bool is_broken = false;
  if (options_.replica != nullptr) {
    Contribution weighted{.loss = mine.loss * weight_, .reported = mine.reported};
    for (double& sum : weighted.reported) sum *= weight_;
    is_broken = !options_.replica->prepare(weighted).is_finite;
  }
  std::vector<double> figures{mine.is_stop_wanted ? 1.0 : 0.0, mine.is_change_wanted ? 1.0 : 0.0,
                              reduced_.can_change ? 1.0 : 0.0, is_broken ? 1.0 : 0.0};
  figures.insert(figures.end(), reduced_.flags.begin(), reduced_.flags.end());
  figures.resize(kVotes + options_.flag_count);
  if (options_.replica == nullptr) {
    figures.insert(figures.end(), {mine.loss, reduced_.squared_norm});
    figures.insert(figures.end(), mine.reported.begin(), mine.reported.end());
  }
  if (options_.can_leave_out) {
    const auto replica = static_cast<std::size_t>(options_.group.rank());
    TRIREME_CHECK(replica < kBits * kBitFigures, "too many replicas to leave out some of them");
    std::vector<double> bits(kBitFigures);
    if (reduced_.is_left_out) bits[replica / kBits] = static_cast<double>(1ULL << replica % kBits);
    figures.insert(figures.end(), bits.begin(), bits.end());
    figures.insert(figures.end(), {reduced_.is_left_out ? 0 : mine.terms, mine.terms});
  }
  return figures;
}

// Replaces them by their sums over all ranks: of this step, or with slack of an earlier one.
void StepCommit::exchange(std::vector<double>& figures) {
  pending_.push_back(std::make_unique<Pending>(Pending{.figures = figures, .work = {}}));
  Pending& last = *pending_.back();
  // All ranks wait for these few bytes, so they have priority over other transfers in flight.
  last.work =
      options_.group.all_reduce({last.figures.data(), last.figures.size(), comm::DType::Float64},
                                comm::ReduceOp::Sum, {.label = "prepare", .priority = 1});
  if (static_cast<std::int64_t>(pending_.size()) <= options_.slack) {
    last.work.is_done();
    std::fill(figures.begin(), figures.end(), 0);
    return;
  }
  pending_.front()->work.wait();
  figures = std::move(pending_.front()->figures);
  pending_.pop_front();
}

void StepCommit::record(const std::vector<double>& figures) {
  status_.phase = StepStatus::Phase::Prepared;
  const Prepared prepared{.step = status_.step, .figures = figures};
  if (options_.journal != nullptr) options_.journal->prepare(prepared);
  if (options_.has_figures_in_status) status_.prepared = prepared;
}

CommitResult StepCommit::result_of(std::span<const double> figures) {
  CommitResult result{.is_stop_wanted = figures[0] > 0,
                      .is_change_wanted = figures[1] > 0 && figures[2] > 0,
                      .traffic = reduced_.traffic};
  for (const double flag : figures.subspan(kVotes, options_.flag_count)) {
    result.flags.push_back(flag > 0);
  }
  if (options_.replica == nullptr) {
    add_sums(result, figures.subspan(kVotes + options_.flag_count));
    return result;
  }
  const CommitResult& own = options_.replica->result();
  if (own.is_finite) finite_loss_ = own.loss;
  result.loss = options_.slack > 0 ? finite_loss_ : own.loss;
  result.reported = own.reported;
  result.norm = own.norm * weight_;
  result.is_finite = figures[3] == 0;
  return result;
}

void StepCommit::add_sums(CommitResult& result, std::span<const double> sums) const {
  result.loss = sums[0];
  result.norm = std::sqrt(sums[1]);
  result.is_finite = std::isfinite(sums[0]) && std::isfinite(sums[1]);
  std::copy_n(sums.begin() + 2, result.reported.size(), result.reported.begin());
  if (sums.size() > kSums) add_left_out(result, sums.subspan(kSums));
}

void StepCommit::add_left_out(CommitResult& result, std::span<const double> told) const {
  for (std::size_t replica = 0; replica < kBits * kBitFigures; ++replica) {
    const auto bits = static_cast<std::uint64_t>(told[replica / kBits]);
    if ((bits >> replica % kBits & 1) != 0) result.left_out.push_back(static_cast<int>(replica));
  }
  const double used = told[kBitFigures];
  if (used > 0) result.share = used / told[kBitFigures + 1];
}

void StepCommit::regroup(const comm::Group& group) {
  options_.group = group;
  pending_.clear();
}

void StepCommit::drain() {
  while (!pending_.empty()) {
    pending_.front()->work.wait();
    pending_.pop_front();
  }
}

std::optional<CommitResult> StepCommit::recall(std::int64_t step, std::span<const Prepared> told) {
  const bool is_asked = step >= 0 && status_.step == step;
  std::vector<double> figures;
  for (const Prepared& one : told) {
    if (is_asked && one.step == step) figures = one.figures;
  }
  const bool has_journal = options_.journal != nullptr;
  if (is_asked && figures.empty() && has_journal) figures = options_.journal->prepared(step);
  if (options_.recalls_from_all) share(is_asked ? step : -1, figures);
  if (figures.empty()) return std::nullopt;
  // This rank may be the next to die: others must find the figures in its journal, too.
  if (status_.phase == StepStatus::Phase::Open) record(figures);
  return result_ = result_of(figures);
}

// Figures that only failed ranks of one host had recorded become known to all hosts.
void StepCommit::share(std::int64_t step, std::vector<double>& figures) const {
  const comm::Group& group = options_.group;
  const std::int64_t mine = figures.empty() ? -1 : step;
  std::vector<std::int64_t> known(static_cast<std::size_t>(group.size()));
  group
      .all_gather({known.data(), known.size(), comm::DType::Int64}, {&mine, 1, comm::DType::Int64},
                  {.label = "prepared steps"})
      .wait();
  const auto latest = std::max_element(known.begin(), known.end());
  if (*latest < 0) return;
  std::vector<double> theirs(figure_count());
  const auto source = static_cast<int>(latest - known.begin());
  if (group.rank() == source) theirs = figures;
  group
      .broadcast({theirs.data(), theirs.size(), comm::DType::Float64}, source,
                 {.label = "prepared figures"})
      .wait();
  if (step == *latest) figures = theirs;
}

}  // namespace trireme::parallel
