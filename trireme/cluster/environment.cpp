#include "trireme/cluster/environment.h"

#include <unistd.h>

#include <charconv>

#include "trireme/base/error.h"

namespace trireme::cluster {
namespace {

constexpr int kSizeMax = 1 << 20;
constexpr int kWorkerMax = 1 << 30;
constexpr double kTimeoutMax = 1e9;

struct Names {
  const char* rank;
  const char* size;
  const char* local_rank;
  const char* local_size;  // null: the launcher does not set it
};

void expect_below(const char* small, int value, const char* large, int bound) {
  if (value < bound) return;
  throw Error(ErrorCode::InvalidInput, std::string(small) + "=" + std::to_string(value) +
                                           " contradicts " + large + "=" + std::to_string(bound) +
                                           ": it has to be smaller");
}

void read_ranks(Environment& out, const Variables& in, const Names& names) {
  out.rank = in.need(names.rank, names.size, 0, kSizeMax - 1);
  out.size = in.need(names.size, names.rank, 1, kSizeMax);
  expect_below(names.rank, out.rank, names.size, out.size);
  out.local_rank = in.number(names.local_rank, 0, kSizeMax - 1);
  if (out.local_rank) expect_below(names.local_rank, *out.local_rank, names.size, out.size);
  if (names.local_size == nullptr) return;
  out.local_size = in.number(names.local_size, 1, kSizeMax);
  if (!out.local_size) return;
  if (out.local_rank) {
    expect_below(names.local_rank, *out.local_rank, names.local_size, *out.local_size);
  }
  if (*out.local_size > out.size) {
    throw Error(ErrorCode::InvalidInput, std::string(names.local_size) + "=" +
                                             std::to_string(*out.local_size) + " contradicts " +
                                             names.size + "=" + std::to_string(out.size));
  }
}

// A worker's number may exceed the number of workers.
void read_worker(Environment& out, const Variables& in) {
  out.is_elastic = true;
  out.rank = in.need("TRIREME_WORKER", "TRIREME_ELASTIC", 0, kWorkerMax);
  out.size = in.need("TRIREME_SIZE", "TRIREME_ELASTIC", 1, kSizeMax);
  const std::optional<std::string> text = in.text("TRIREME_ORPHAN_TIMEOUT");
  if (!text) return;
  double seconds = 0;
  const char* end = text->data() + text->size();
  const auto [stop, error] = std::from_chars(text->data(), end, seconds);
  if (error != std::errc{} || stop != end || !(seconds > 0 && seconds < kTimeoutMax)) {
    throw Error(ErrorCode::InvalidInput,
                "TRIREME_ORPHAN_TIMEOUT=" + *text + " is not a number of seconds");
  }
  out.orphan_timeout = std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds));
}

Launcher launcher_of(const Variables& in) {
  if (in.has("TRIREME_RANK") || in.has("TRIREME_SIZE")) return Launcher::Trireme;
  // Other programs may set RANK alone, so WORLD_SIZE is required too.
  const bool has_ranks = in.has("RANK") && in.has("WORLD_SIZE");
  if (has_ranks || in.has("TORCHELASTIC_RUN_ID")) return Launcher::Torchrun;
  if (in.has("OMPI_COMM_WORLD_RANK") || in.has("OMPI_COMM_WORLD_SIZE")) return Launcher::Mpirun;
  // A batch script has SLURM_PROCID too; only srun creates job steps.
  if (in.has("SLURM_STEP_ID") && in.has("SLURM_PROCID")) return Launcher::Srun;
  return Launcher::None;
}

Names names_of(Launcher launcher) {
  switch (launcher) {
    case Launcher::Torchrun:
      return {"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"};
    case Launcher::Mpirun:
      return {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
              "OMPI_COMM_WORLD_LOCAL_SIZE"};
    case Launcher::Srun:
      return {"SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", nullptr};
    default:
      return {"TRIREME_RANK", "TRIREME_SIZE", "TRIREME_LOCAL_RANK", "TRIREME_LOCAL_SIZE"};
  }
}

std::string job_of(Launcher launcher, const Variables& in) {
  const auto said = [&](const char* name) { return in.text(name).value_or("0"); };
  if (const std::optional<std::string> job = in.text("TRIREME_JOB")) return *job;
  switch (launcher) {
    case Launcher::Torchrun:
      return "torchrun-" + said("TORCHELASTIC_RUN_ID") + "-" + said("MASTER_PORT") + "-" +
             said("TORCHELASTIC_RESTART_COUNT");
    case Launcher::Mpirun:
      return "mpirun-" + said("PMIX_NAMESPACE");
    case Launcher::Srun:
      return "srun-" + said("SLURM_JOB_ID") + "-" + said("SLURM_STEP_ID");
    case Launcher::Trireme:
      return "unnamed";
    case Launcher::None:
      break;
  }
  return "solo-" + std::to_string(::getpid());
}

bool is_one_host(const Environment& env, const Variables& in) {
  if (env.local_size) return *env.local_size == env.size;
  if (env.launcher != Launcher::Srun) return true;
  std::optional<int> nodes = in.number("SLURM_STEP_NUM_NODES", 1, kSizeMax);
  if (!nodes) nodes = in.number("SLURM_NNODES", 1, kSizeMax);
  return nodes.value_or(2) == 1;
}

}  // namespace

Environment Environment::read(const Lookup& lookup) {
  const Variables in(lookup);
  Environment env;
  env.launcher = launcher_of(in);
  if (env.launcher == Launcher::Trireme && in.text("TRIREME_ELASTIC") == "1") {
    read_worker(env, in);
  } else if (env.launcher != Launcher::None) {
    read_ranks(env, in, names_of(env.launcher));
  }
  env.job = job_of(env.launcher, in);
  env.address = in.text("TRIREME_ADDRESS").value_or("");
  env.wants_checksums = in.number("TRIREME_CHECKSUMS", 0, 1).value_or(0) == 1;
  env.folder = in.text("TRIREME_JOB_FOLDER").value_or("");
  env.store = find_store({.launcher = env.launcher,
                          .size = env.size,
                          .is_one_host = is_one_host(env, in),
                          .job = env.job},
                         in);
  return env;
}

}  // namespace trireme::cluster
