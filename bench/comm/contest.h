// Contest measures collectives: it runs several contenders in turns and collects their reports.
//
// Errors:        a failed run of Trireme is an Error. Peers may fail, as in Turns.
// Thread safety: one thread.

#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/comm/series.h"
#include "bench/turns.h"

namespace trireme::bench {

class Contest {
 public:
  void add(Contender contender);
  // Returns false if the user interrupted it.
  bool run(int rounds, const std::function<void(const std::string& who, const Record&)>& on_record);

  const std::vector<Series>& series() const noexcept { return series_; }

 private:
  Turns turns_;
  std::vector<Series> series_;
};

}  // namespace trireme::bench
