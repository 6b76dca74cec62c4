#include "trireme/parallel/local/state_reports.h"

namespace trireme::parallel::local {

StateReports StateReports::exchange(const comm::Group& group, bool has_state,
                                    std::span<const std::int64_t> numbers) {
  std::vector<std::int64_t> mine{has_state ? 1 : 0};
  mine.insert(mine.end(), numbers.begin(), numbers.end());
  std::vector<std::int64_t> all(mine.size() * static_cast<std::size_t>(group.size()));
  group
      .all_gather({all.data(), all.size(), comm::DType::Int64},
                  {mine.data(), mine.size(), comm::DType::Int64}, {.label = "state reports"})
      .wait();
  return {std::move(all), mine.size()};
}

bool StateReports::have_all_state() const {
  for (int rank = 0; rank < ranks(); ++rank) {
    if (!has_state(rank)) return false;
  }
  return true;
}

int StateReports::source() const {
  for (int rank = 0; rank < ranks(); ++rank) {
    if (has_state(rank)) return rank;
  }
  return 0;
}

}  // namespace trireme::parallel::local
