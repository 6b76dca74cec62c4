#include "bench/comm/contest.h"

namespace trireme::bench {

void Contest::add(Contender contender) {
  contender.may_fail |= contender.who != kOurs;
  turns_.add(std::move(contender));
}

bool Contest::run(int rounds,
                  const std::function<void(const std::string&, const Record&)>& on_record) {
  return turns_.run(rounds, [&](const Contender& contender, std::string_view line) {
    const auto record = read_record(line);
    if (!record) return false;
    bench::add(series_, contender.who, *record);
    on_record(contender.who, *record);
    return true;
  });
}

}  // namespace trireme::bench
