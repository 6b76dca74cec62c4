#include "trireme/cluster/store/barrier.h"

#include <chrono>
#include <utility>
#include <vector>

#include "trireme/base/check.h"
#include "trireme/base/error.h"
#include "trireme/cluster/rank_names.h"

namespace trireme::cluster {
namespace {

// Extra time to find out which ranks are missing after the caller's deadline has passed.
constexpr auto kAnswerTime = std::chrono::seconds(1);

}  // namespace

Barrier::Barrier(Store& store, Options options) : store_(store), options_(std::move(options)) {
  TRIREME_CHECK(options_.rank >= 0 && options_.rank < options_.size, "rank ", options_.rank,
                " of a barrier of ", options_.size);
}

std::string Barrier::round_key(std::uint64_t round) const {
  return "barrier/" + options_.name + "/" + std::to_string(round) + "/";
}

void Barrier::wait(Deadline deadline) {
  const TimePoint begin = steady_clock().now();
  const std::string round = round_key(round_);
  try {
    arrive(round, deadline);
    store_.wait(round + "open", deadline);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::Deadline) throw;
    throw_who_is_missing(round, deadline.when() - begin);
  }
  // Every rank has entered this round, so no rank reads the keys of the previous round any more.
  if (round_ > 0) clear(round_key(round_ - 1), deadline);
  ++round_;
}

// With the counter, only the last rank to arrive has to list all keys. A rank that retries after a
// failure cannot know whether it was already counted, so it counts again; a count that is too high
// only costs an extra listing.
void Barrier::arrive(const std::string& round, Deadline deadline) {
  const std::string mine = round + "rank/" + std::to_string(options_.rank);
  store_.compare_and_set(mine, std::nullopt, ByteView{}, deadline);
  if (store_.add(round + "count", 1, deadline) < options_.size) return;
  if (missing_in(round, deadline).empty()) store_.set(round + "open", {}, deadline);
}

std::vector<int> Barrier::missing_in(const std::string& round, Deadline deadline) {
  std::vector<bool> is_here(static_cast<std::size_t>(options_.size));
  const std::string prefix = round + "rank/";
  for (const StoreChange& entry : store_.list(prefix, deadline)) {
    const int rank = std::atoi(entry.key.c_str() + prefix.size());
    if (rank >= 0 && rank < options_.size) is_here[static_cast<std::size_t>(rank)] = true;
  }
  std::vector<int> missing;
  for (int rank = 0; rank < options_.size; ++rank) {
    if (!is_here[static_cast<std::size_t>(rank)]) missing.push_back(rank);
  }
  return missing;
}

void Barrier::throw_who_is_missing(const std::string& round, Duration waited) {
  const std::vector<int> missing = missing_in(round, Deadline::after(kAnswerTime));
  throw Error(ErrorCode::Deadline, name_ranks(missing) + " of " + std::to_string(options_.size) +
                                       " did not come within " + name_seconds(waited))
      .with_rank(options_.rank)
      .with_operation("barrier \"" + options_.name + "\"");
}

void Barrier::clear(const std::string& round, Deadline deadline) noexcept {
  try {
    store_.erase(round + "rank/" + std::to_string(options_.rank), deadline);
    if (options_.rank != 0) return;
    store_.erase(round + "count", deadline);
    store_.erase(round + "open", deadline);
  } catch (const std::exception&) {
    // The barrier has completed; a leftover key does no harm.
  }
}

}  // namespace trireme::cluster
