#include "trireme/train/job_settings.h"

#include <string>

#include "trireme/base/error.h"
#include "trireme/model/model_config.h"
#include "trireme/parallel/kinds.h"
#include "trireme/parallel/parallel_config.h"
#include "trireme/parallel/strategy_conflicts.h"
#include "trireme/train/balance/balance.h"
#include "trireme/train/balance/balance_config.h"
#include "trireme/train/module_precision.h"
#include "trireme/train/recovery/elastic_config.h"
#include "trireme/train/sharded_model.h"

namespace trireme::train {
namespace {

// The ranks of an elastic job change.
void check_ranks(const Job& job) {
  const int replicas = job.replicas();
  micro_batch_count(job.train(), replicas);
  if (job.is_elastic) return;
  if (const auto mistake = Balance::mistake_in(balance_of(job.config), replicas);
      !mistake.empty()) {
    throw Error(ErrorCode::InvalidInput, mistake);
  }
  const int most = left_out_max(job);
  if (most == 0 || most < replicas || replicas == 1) return;
  throw Error(ErrorCode::InvalidInput,
              "balance.drop_stragglers = " + std::to_string(most) + " would exclude all of the " +
                  std::to_string(replicas) +
                  " data-parallel replicas; use a smaller value or more ranks");
}

}  // namespace

int micro_batch_count(const TrainConfig& config, int replicas) {
  if (config.logical_ranks > 0 && config.logical_ranks < replicas) {
    throw Error(ErrorCode::InvalidInput,
                "train.logical_ranks = " + std::to_string(config.logical_ranks) +
                    " is less than the number of data-parallel replicas, " +
                    std::to_string(replicas) + "; use a larger value or fewer ranks");
  }
  return config.logical_ranks > 0 ? config.logical_ranks : replicas * config.accumulate;
}

int left_out_max(const Job& job) {
  return job.config.get<BalanceConfig>(kBalanceSection).drop_stragglers;
}

parallel::SyncOptions sync_settings(const Job& job, const JobOptions& options) {
  const config::Config& config = job.config;
  const TrainConfig& train = job.train();
  const auto& sync = config.get<parallel::SyncConfig>(parallel::kSyncSection);
  const auto& axes = config.get<parallel::ParallelConfig>(parallel::kParallelSection);
  const bool has_many_stages = axes.is_pipelined() && axes.stages() > 1;
  return {.group = job.mesh.group(kDataAxis),
          .commit_group = job.group,
          .stretches = job.stretches,
          .is_sliced_in_host = sync.is_sliced_in_host,
          .bucket_size = static_cast<std::int64_t>(sync.bucket.count),
          .codec = sync.codec,
          .seed = train.seed,
          .is_ordered = train.logical_ranks > 0,
          .is_loss_scaled = train.precision == Precision::Float16,
          .narrow_type = narrow_type(train.precision),
          .can_leave_out = left_out_max(job) > 0,
          .is_recomputed =
              config.get<model::ModelConfig>(model::kModelSection).recompute || has_many_stages,
          .is_elastic = job.is_elastic,
          .is_spread = job.is_spread,
          .keeps_gradients = config.get<ElasticConfig>(kElasticSection).keeps_gradients,
          .faults = options.faults};
}

void check_settings(const Job& job, const JobOptions& options) {
  check_ranks(job);
  if (job.replicas() < job.group.size()) {
    check_sharded_settings(job.config);
    if (job.stretches.size() > 1) {
      throw Error(ErrorCode::Unsupported,
                  "sync.schedule is not supported with parallel.tensor and parallel.pipe; remove "
                  "it, or set both to 1");
    }
  }
  const parallel::SyncOptions sync = sync_settings(job, options);
  if (!parallel::is_synchronized(sync)) return;
  for (const parallel::SyncOptions& part : parallel::parts_of(sync, job.strategies)) {
    const parallel::Strategy& strategy = job.strategies.named(part.stretches[0].kind);
    job.config.check_conflicts(parallel::facts_of(strategy, part));
  }
}

}  // namespace trireme::train
