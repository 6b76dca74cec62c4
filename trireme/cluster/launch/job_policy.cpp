#include "trireme/cluster/launch/job_policy.h"

#include <utility>

#include "trireme/cluster/launch/elastic/elastic_job.h"
#include "trireme/cluster/launch/fixed_job.h"

namespace trireme::cluster::launch {

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
