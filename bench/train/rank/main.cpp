// trireme-bench-train: the ranks of `trireme bench train`. It can also be run by hand:
//
//   build/trireme-bench-train --model cnn --threads 2
//   trireme run -n 2 build/trireme-bench-train --model mlp --ranks 2 --threads 1 --sync shared
//
// It is an ordinary worker with its own data source; rank 0 prints a record in JSON.

#include <c10/util/Exception.h>

#include <cstdio>
#include <memory>
#include <optional>

#include "bench/train/options.h"
#include "bench/train/rank/measure.h"
#include "bench/train/rank/workload.h"
#include "trireme/base/config/reader.h"
#include "trireme/base/error.h"
#include "trireme/base/machine/heap.h"
#include "trireme/cluster/world.h"
#include "trireme/comm/connect.h"
#include "trireme/mesh/mesh.h"
#include "trireme/parallel/elastic_sync.h"
#include "trireme/parallel/kinds.h"
#include "trireme/train/job.h"

namespace trireme::bench {
namespace {

using train::TrainOptions;
using train::TrainRecord;

config::Config recipe_for(const TrainOptions& options, const Workload& workload,
                          const trireme::train::Kinds& kinds) {
  std::vector<std::string> settings = workload.settings;
  const std::string precision = options.precision == "float32" ? "fp32" : options.precision;
  settings.insert(settings.end(),
                  {"train.global_batch_size=" + std::to_string(workload.batch * options.ranks),
                   "train.num_threads=" + std::to_string(options.threads),
                   "train.precision=" + precision, "optim.lr=1e-3", "optim.weight_decay=0.01",
                   "optim.decay_all=true", "sync.kind=" + options.sync});
  if (options.every > 0) settings.push_back("sync.steps=" + std::to_string(options.every));
  if (options.codec != "none") settings.push_back("sync.codec.kind=" + options.codec);
  return config::read_config(trireme::train::recipe_schema(kinds), {.overrides = settings});
}

std::string sync_of(const TrainOptions& options, const comm::Group& group) {
  if (options.sync != "auto") return options.sync;
  if (group.size() == 1) return "none";
  return group.arena() ? "shared" : "all_reduce";
}

// Forms the group in the same way as the workers of an elastic job; no worker fails here.
trireme::train::Job open(const TrainOptions& options, const config::Config& recipe,
                         const trireme::train::Kinds& kinds, const comm::Group& group) {
  if (!options.is_elastic) return trireme::train::open_job(recipe, kinds, group);
  trireme::train::Job job = trireme::train::open_job(
      recipe, kinds, comm::Group::solo(), {.is_elastic = true, .is_spread = options.wire > 0});
  auto& elastic = dynamic_cast<parallel::ElasticSync&>(job.gradient_sync());
  const std::int64_t seat = mesh::Mesh::of_hosts(group).value().group("inside").arena_member();
  std::vector<std::int64_t> seats(static_cast<std::size_t>(group.size()));
  group.all_gather({seats.data(), seats.size(), comm::DType::Int64}, {&seat, 1, comm::DType::Int64})
      .wait();
  elastic.survive(group, {seats.begin(), seats.end()});
  elastic.regroup(/*is_new=*/false);
  job.regroup(group);
  job.assign(job.fair_owners());
  return job;
}

comm::Group connect(const TrainOptions& options, std::optional<cluster::World>& world) {
  comm::Group group = comm::Group::solo();
  if (options.ranks > 1) {
    world.emplace(cluster::World::join());
    group = comm::connect(
        *world, {.transport = options.is_apart ? comm::Transport::Tcp : comm::Transport::Auto,
                 .interface = options.interface});
  }
  if (group.size() != options.ranks) {
    throw Error(ErrorCode::InvalidInput, "--ranks " + std::to_string(options.ranks) + ", but " +
                                             std::to_string(group.size()) + " are here");
  }
  return group;
}

// Seconds for the communication of one step without computation; 0 if not every step commits.
double seconds_of_communication(const trireme::train::Job& job, const std::string& strategy,
                                const config::Config& recipe, const trireme::train::Kinds& kinds,
                                const comm::Group& group) {
  if (!kinds.strategies.named(strategy).can.commits_every_step) return 0;
  const auto& sync = recipe.get<parallel::SyncConfig>(parallel::kSyncSection);
  return communication_alone(group, {.sync = strategy,
                                     .parameters = model::parameter_count(*job.model),
                                     .bucket = static_cast<std::int64_t>(sync.bucket.count)});
}

int run(const TrainOptions& given) {
  given.check();
  trireme::keep_large_memory();
  const TrainOptions options = given.whole();
  const Workload workload = workload_named(options.model);
  const trireme::train::Kinds kinds = kinds_for(workload, options.ranks);
  const config::Config recipe = recipe_for(options, workload, kinds);
  std::optional<cluster::World> world;
  const comm::Group group = connect(options, world);
  comm::guarded(group, [&] {
    trireme::train::Job job = open(options, recipe, kinds, group);
    TrainRecord record = measure(job, options, workload);
    record.sync = sync_of(options, group);
    record.communication_seconds = seconds_of_communication(job, record.sync, recipe, kinds, group);
    if (group.rank() == 0) std::puts(to_json(record).c_str());
  });
  // A record itself reports an incorrect result.
  return 0;
}

}  // namespace
}  // namespace trireme::bench

int main(int argc, char** argv) {
  using namespace trireme;
  cli::Command command("run -n 2 trireme-bench-train", "Measure training",
                       "trireme run -n 2 build/trireme-bench-train --model mlp --ranks 2");
  const auto options = std::make_shared<bench::train::TrainOptions>();
  bench::train::add_case_options(command, options);
  bench::train::add_rank_options(command, options);
  command.action([options] {
    try {
      return bench::run(*options);
    } catch (const c10::Error& error) {
      throw Error(ErrorCode::Io, error.what_without_backtrace());
    }
  });
  return command.run(std::vector<std::string>(argv + 1, argv + argc));
}
