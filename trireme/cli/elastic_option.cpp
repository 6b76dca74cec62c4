#include "trireme/cli/elastic_option.h"

#include <charconv>
#include <chrono>
#include <string>

#include "trireme/base/error.h"

namespace trireme::cli {
namespace {

namespace launch = cluster::launch;

// The host's shared memory has space for this many workers.
constexpr int kWorkersMax = 128;
constexpr int kRestartsMax = 1'000'000;
constexpr double kOrphanTimeoutMax = 7 * 86400;

template <class Number>
Setter set_number(std::string name, std::optional<Number>& target, Number least, Number most) {
  return [=, &target](const std::string& text) -> std::string {
    Number number{};
    const char* end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, number);
    if (read.ec == std::errc() && read.ptr == end && number >= least && number <= most) {
      target = number;
      return {};
    }
    const auto shown = [](Number bound) { return std::to_string(static_cast<long>(bound)); };
    return name + " " + text + ": a number from " + shown(least) + " to " + shown(most);
  };
}

[[noreturn]] void refuse(const std::string& why) {
  throw Error(ErrorCode::InvalidInput, why);
}

}  // namespace

void ElasticWords::apply(launch::JobSpec& spec) const {
  if (is_on && !spec.elastic) spec.elastic.emplace();
  if (!spec.elastic) {
    if (has_any()) refuse("--min-workers and the like are for elastic jobs: add --elastic");
    return;
  }
  launch::Elastic& elastic = *spec.elastic;
  if (least) elastic.least = *least;
  if (most) elastic.most = *most;
  if (restarts) elastic.restarts_max = *restarts;
  if (orphan_timeout) {
    elastic.orphan_timeout =
        std::chrono::duration_cast<Duration>(std::chrono::duration<double>(*orphan_timeout));
  }
  const std::string size = std::to_string(spec.ranks);
  if (spec.ranks > kWorkersMax) {
    refuse("-n " + size + ": an elastic job has at most " + std::to_string(kWorkersMax) +
           " workers a host; start fewer with more threads each");
  }
  if (elastic.least > spec.ranks) {
    refuse("-n " + size + " is less than the least number of workers, " +
           std::to_string(elastic.least) + ": the job could never begin");
  }
  if (elastic.most < spec.ranks) {
    refuse("-n " + size + " is more than the most workers, " + std::to_string(elastic.most));
  }
}

void add_elastic_options(Command& command, const std::shared_ptr<ElasticWords>& words) {
  command.flag("--elastic", "replace workers that die; see `trireme scale` and `trireme join`",
               words->is_on);
  command.option("--min-workers", "N", "elastic: fewer than these do not train (default 1)",
                 set_number("--min-workers", words->least, 1, kWorkersMax));
  command.option("--max-workers", "N", "elastic: never more than these (default 128)",
                 set_number("--max-workers", words->most, 1, kWorkersMax));
  command.option("--restarts", "N", "elastic: replacements within 10 minutes (default 10)",
                 set_number("--restarts", words->restarts, 0, kRestartsMax));
  command.option("--orphan-timeout", "SECONDS",
                 "elastic: how long workers go on unwatched (default 60)",
                 set_number("--orphan-timeout", words->orphan_timeout, 0.1, kOrphanTimeoutMax));
}

}  // namespace trireme::cli
