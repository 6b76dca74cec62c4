#include "trireme/cluster/launch/job_policy.h"

#include <string>
#include <utility>

#include "trireme/base/error.h"
#include "trireme/cluster/launch/elastic/elastic_job.h"

namespace trireme::cluster::launch {
namespace {

// All ranks start together, and the first one that fails ends the job.
class FixedJob final : public JobPolicy {
 public:
  using JobPolicy::JobPolicy;

  void begin(bool /*is_successor*/) override {}
  void supervise() override;
  bool is_over() const override { return is_over_; }
  void on_request(const job::ControlRequest& request) override;
  void end() override { is_over_ = true; }

  void on_ended(const RankExit& exit, const std::string& failure) override;
  // A lost host ends such a job, so its ranks are never in doubt.
  void on_unreachable(int /*rank*/) override {}
  void on_given_up(const std::string& /*why*/, int /*left*/) override {}
  int wanted() const override { return spec().ranks; }
  bool is_done() const override { return false; }

 private:
  bool is_over_ = false;  // all ranks were started
};

void FixedJob::supervise() {
  if (is_over_ || options().ending->has_begun() || !options().ranks->is_ready()) return;
  is_over_ = true;
  for (int i = 0; i < spec().ranks; ++i) options().ranks->start_rank(spec().ranks, {});
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

}  // namespace

JobPolicy::JobPolicy(Options options) : options_(std::move(options)) {}

std::unique_ptr<JobPolicy> JobPolicy::make(Options options) {
  if (options.spec->elastic) return std::make_unique<ElasticJob>(std::move(options));
  return std::make_unique<FixedJob>(std::move(options));
}

void JobPolicy::on_started(int rank, const Record& where) {
  Record record{{spec().noun(), rank}};
  for (const Record::Field& field : where.fields()) record.add(field);
  publish(std::string(spec().noun()) + " started", record);
}

}  // namespace trireme::cluster::launch
