#include "trireme/cluster/launch/fixed_job.h"

#include <string>

#include "trireme/base/error.h"

namespace trireme::cluster::launch {

void FixedJob::supervise() {
  if (is_over_ || options().ending->has_begun() || !options().hosts->is_ready()) return;
  is_over_ = true;
  for (int i = 0; i < spec().ranks; ++i) options().hosts->start_rank(spec().ranks, {});
  options().note();
}

void FixedJob::on_ended(const RankExit& exit, const std::string& /*failure*/) {
  const bool has_failed = !exit.is_success() && !exit.is_ours();
  Record record{{"rank", exit.rank}};
  if (!exit.host.empty()) record.add({"host", exit.host});
  publish(has_failed ? "rank failed" : "rank ended", record.add({"how", describe(exit)}));
  if (!has_failed || options().ending->has_begun()) return;
  options().ending->begin("rank " + std::to_string(exit.rank) + " failed");
}

void FixedJob::on_request(const job::ControlRequest& request) {
  if (!request.caller) return;
  request.caller->fail(
      Error(ErrorCode::InvalidInput,
            "job " + options().folder->name() + " is not elastic; start it with --elastic"));
}

}  // namespace trireme::cluster::launch
