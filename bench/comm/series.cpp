#include "bench/comm/series.h"

#include <algorithm>

#include "bench/statistics.h"

namespace trireme::bench {
namespace {

// Peers have no Trireme backend and no symmetric memory, so these fields are not compared.
bool is_asked_of_peer(const CommRecord& theirs, const CommRecord& of) {
  return theirs.op == of.op && theirs.type == of.type && theirs.ranks == of.ranks &&
         theirs.bytes == of.bytes && theirs.wire == of.wire;
}

}  // namespace

CommRecord Series::combined() const {
  CommRecord all = rounds.front();
  all.seconds = median_of(rounds, [](const CommRecord& r) { return r.seconds; });
  all.p99 = median_of(rounds, [](const CommRecord& r) { return r.p99; });
  for (std::size_t i = 0; i < all.bounds.size(); ++i) {
    // Uses the share in each round, because a bound is only comparable with the same round.
    const double share = median_of(rounds, [i](const CommRecord& r) {
      return i < r.bounds.size() && r.seconds > 0 ? r.bounds[i].seconds / r.seconds : 0;
    });
    all.bounds[i].seconds = share * all.seconds;
  }
  all.is_verified = std::ranges::all_of(rounds, &CommRecord::is_verified);
  return all;
}

double Series::best_seconds() const {
  return std::ranges::min(rounds, {}, &CommRecord::seconds).seconds;
}

void add(std::vector<Series>& all, const std::string& who, const CommRecord& record) {
  for (Series& series : all) {
    if (series.who == who && series.rounds.front().is_same_case(record)) {
      series.rounds.push_back(record);
      return;
    }
  }
  all.push_back({who, {record}});
}

const Series* find(std::span<const Series> all, const std::string& who, const CommRecord& of) {
  for (const Series& series : all) {
    const CommRecord& first = series.rounds.front();
    if (series.who != who) continue;
    if (who == kOurs ? first.is_same_case(of) : is_asked_of_peer(first, of)) return &series;
  }
  return nullptr;
}

double times_as_fast(const Series& ours, const Series& theirs) {
  return median_ratio(theirs.rounds, ours.rounds, [](const CommRecord& r) { return r.seconds; });
}

double times_as_fast_at_best(const Series& ours, const Series& theirs) {
  const double best = ours.best_seconds();
  return best > 0 ? theirs.best_seconds() / best : 0;
}

}  // namespace trireme::bench
