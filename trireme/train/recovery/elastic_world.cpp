#include "trireme/train/recovery/elastic_world.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <thread>
#include <utility>

#include "trireme/base/bytes.h"
#include "trireme/base/entropy.h"
#include "trireme/base/error.h"
#include "trireme/base/log.h"
#include "trireme/parallel/kinds.h"
#include "trireme/train/recipe/config.h"

namespace trireme::train {
namespace {

using cluster::membership::Epoch;
using cluster::membership::EpochMember;

constexpr auto kStoreMax = std::chrono::seconds(60);
constexpr auto kJoinMax = std::chrono::hours(24);  // a running job may admit workers much later
constexpr auto kGroupMax = std::chrono::seconds(60);

constexpr auto kLookPeriod = std::chrono::milliseconds(50);
constexpr auto kLookMax = std::chrono::milliseconds(500);
constexpr const char* kEndKey = "ended";
constexpr const char* kJobIdKey = "job-id";

// False if the store does not answer.
bool is_over(cluster::Store& store) {
  try {
    return store.get(kEndKey, Deadline::after(kLookMax)).has_value();
  } catch (const Error&) {
    return false;
  }
}

// With train.logical_ranks the number of micro-batches is fixed. Additional workers would have no
// work and therefore wait.
ElasticConfig limits_of(const config::Config& config, int first_size) {
  ElasticConfig limits = config.get<ElasticConfig>(kElasticSection);
  const int micro_batches = config.get<TrainConfig>("train").logical_ranks;
  if (micro_batches > 0) limits.most = std::min(limits.most, micro_batches);
  if (first_size > limits.most) {
    throw Error(ErrorCode::InvalidInput,
                std::to_string(first_size) + " workers were started, but elastic.max_workers and " +
                    "train.logical_ranks allow only " + std::to_string(limits.most) +
                    ". Start fewer workers, or raise these settings");
  }
  return limits;
}

Bytes encode(const parallel::StepStatus& step_status, std::uint64_t settled, bool has_arena) {
  ByteWriter out;
  out.put(step_status.step).put(static_cast<std::uint8_t>(step_status.phase)).put(settled);
  out.put(static_cast<std::uint8_t>(has_arena ? 1 : 0));
  out.put(step_status.prepared.step)
      .put(static_cast<std::uint32_t>(step_status.prepared.figures.size()));
  for (const double figure : step_status.prepared.figures) out.put(figure);
  return std::move(out).take();
}

// The first worker that arrives draws the id, and the others read it.
std::string job_id_in(cluster::Store& store) {
  const std::string drawn = secure_random_hex(8);
  const auto result =
      store.compare_and_set(kJobIdKey, std::nullopt, bytes_of(drawn), Deadline::after(kStoreMax));
  return std::string(trireme::text_of(result.current.value()));
}

std::string lease_over(const std::string& cause) {
  return cause + ": this worker's lease has expired, and the other workers may have continued";
}

}  // namespace

std::unique_ptr<ElasticWorld> ElasticWorld::of_environment(const Job& job, Faults* faults,
                                                           End end) {
  const auto environment = cluster::Environment::read(cluster::process_environment);
  if (!environment.is_elastic) return nullptr;
  const auto& sync = job.config.get<parallel::SyncConfig>(parallel::kSyncSection);
  return std::unique_ptr<ElasticWorld>(
      new ElasticWorld(environment, {.limits = limits_of(job.config, environment.size),
                                     .timeouts = {sync.timeout},
                                     .job_hash = recipe_hash(job.config),
                                     .liveness = job.liveness,
                                     .faults = faults,
                                     .end = std::move(end)}));
}

std::unique_ptr<ElasticWorld> ElasticWorld::of_environment(const ElasticConfig& limits,
                                                           const std::string& job_hash, End end) {
  const auto environment = cluster::Environment::read(cluster::process_environment);
  if (!environment.is_elastic) return nullptr;
  return std::unique_ptr<ElasticWorld>(
      new ElasticWorld(environment, {.limits = limits,
                                     .job_hash = job_hash,
                                     .liveness = std::make_shared<Liveness>(),
                                     .end = std::move(end)}));
}

ElasticWorld::ElasticWorld(const cluster::Environment& environment, const Options& options)
    : worker_(environment.rank),
      config_(options.limits),
      orphan_timeout_(environment.orphan_timeout),
      timeouts_(options.timeouts),
      liveness_(options.liveness),
      store_(environment, cluster::process_environment, Log(), Deadline::after(kStoreMax)),
      assembly_({.worker = worker_,
                 .store = &store_.store(),
                 .operation_timeout = timeouts_.collective,
                 .is_spread = config_.is_spread,
                 .credentials = store_.credentials(),
                 .address = environment.address,
                 .checksums = environment.wants_checksums,
                 .log = Log(text_log(STDERR_FILENO), LogLevel::Warn),
                 .faults = options.faults,
                 .liveness = liveness_,
                 .on_late = [self = std::weak_ptr(self_)](
                                std::optional<int> named,
                                const std::string& cause) -> std::optional<int> {
                   const auto world = self.lock();
                   return world ? (*world)->membership_.evict_late(named, cause) : std::nullopt;
                 }}),
      membership_({.worker = worker_,
                   .first_size = environment.size,
                   .least = std::min(config_.least, environment.size),
                   .most = config_.most,
                   .job_hash = options.job_hash,
                   .heartbeat = {.interval = {}, .timeout = config_.heartbeat},
                   .liveness = liveness_,
                   .stall = {.minimum = config_.stall_minimum,
                             .factor = config_.stall_factor,
                             .step_max = timeouts_.step(),
                             .phase_max = timeouts_.phase()},
                   .on_stuck = options.end,
                   .store = &store_.store(),
                   .faults = options.faults,
                   .on_lease_over =
                       [end = options.end](const std::string& cause) { end(lease_over(cause)); }}),
      job_watch_(cluster::launch::job::JobWatch::of(
          environment, [end = options.end] { end("the launcher of this job is dead"); })) {
  membership_.on_gone([this](const cluster::membership::WorkerEnd& gone) {
    assembly_.lose(gone.worker, gone.cause);
  });
}

void ElasticWorld::announce_end() {
  store_.store().set(kEndKey, bytes_of("1"), Deadline::after(kStoreMax));
}

bool ElasticWorld::is_end_announced() {
  return is_over(store_.store());
}

ElasticWorld::~ElasticWorld() {
  self_.reset();
}

void ElasticWorld::join(const std::atomic<bool>& is_stop_wanted,
                        const std::function<void()>& give_up) {
  std::atomic<bool> is_in = false;
  std::thread watch([&] {
    while (!is_in) {
      if (is_stop_wanted || is_over(store_.store())) give_up();
      std::this_thread::sleep_for(kLookPeriod);
    }
  });
  try {
    job_id_ = job_id_in(store_.store());
    membership_.join(Deadline::after(kJoinMax));
  } catch (...) {
    is_in = true;
    watch.join();
    throw;
  }
  is_in = true;
  watch.join();
  const Epoch& epoch = membership_.epoch();
  std::set<int> having;
  // The members that admitted this worker already have the arena.
  if (is_new()) {
    for (const EpochMember& entry : epoch.members()) {
      if (!entry.is_new) having.insert(entry.worker);
    }
  }
  try {
    group_ = group_of(epoch, having);
    has_group_ = true;
  } catch (const Error& error) {
    // The members of this epoch continue with the next one, and so does this worker.
    if (error.code() != ErrorCode::PeerLost) throw;
  }
}

// A member that does not arrive before the deadline counts as lost, as in any collective.
comm::Group ElasticWorld::group_of(const Epoch& epoch, const std::set<int>& having) {
  const Liveness::Waiting waiting(liveness_.get());
  try {
    return assembly_.group_of(epoch, having, Deadline::after(kGroupMax));
  } catch (const Error& error) {
    if (error.code() != ErrorCode::Deadline) throw;
    const std::optional<int> lost = membership_.evict_late(error.peer(), error.message());
    if (!lost) throw;
    throw Error(ErrorCode::PeerLost, error.message()).with_peer(*lost).with_rank(worker_);
  }
}

// A worker that cannot reach the members that decide on epochs must not continue as a survivor,
// because the others may have continued without it.
cluster::membership::Next ElasticWorld::agree_on_next(
    ByteView report, const cluster::membership::NextOptions& options) {
  try {
    // A member may still be writing a file, or the store may be unavailable for some time.
    const Duration longest = std::max<Duration>(orphan_timeout_ + kStoreMax, timeouts_.files());
    while (true) {
      try {
        return membership_.next(report, options, Deadline::after(longest));
      } catch (const Error& error) {
        if (error.code() != ErrorCode::Deadline) throw;
        if (!membership_.evict_late(std::nullopt, error.message())) throw;
      }
    }
  } catch (const Error& error) {
    const bool is_over = error.code() == ErrorCode::PeerLost &&
                         cluster::is_gone(store_.store(), Deadline::after(kLookMax));
    if (!is_over) throw;
    throw Error(ErrorCode::Unreachable, lease_over(error.message())).with_rank(worker_);
  }
}

void ElasticWorld::wait_for_more(Deadline deadline) {
  const Liveness::Waiting waiting(liveness_.get());
  membership_.wait_for_more(deadline);
}

ElasticWorld::Turnover ElasticWorld::next(const parallel::StepStatus& step_status,
                                          const cluster::membership::NextOptions& options) {
  const auto next = agree_on_next(encode(step_status, settled_, assembly_.has_arena()), options);
  Turnover turnover{.statuses = {}, .gone = next.gone};
  std::set<int> having;
  std::uint64_t settled = next.epoch.number();
  for (const auto& [worker, report] : next.reports) {
    ByteReader in(report);
    parallel::StepStatus said;
    said.step = in.get<std::int64_t>();
    said.phase = static_cast<parallel::StepStatus::Phase>(in.get<std::uint8_t>());
    settled = std::min(settled, in.get<std::uint64_t>());
    if (in.get<std::uint8_t>() != 0) having.insert(worker);
    said.prepared.step = in.get<std::int64_t>();
    for (auto left = in.get<std::uint32_t>(); left > 0; --left) {
      said.prepared.figures.push_back(in.get<double>());
    }
    turnover.statuses.emplace(worker, said);
  }
  group_ = group_of(next.epoch, having);
  has_group_ = true;
  assembly_.forget(settled);
  return turnover;
}

void ElasticWorld::doubt(int worker) {
  membership_.doubt(worker, "worker " + std::to_string(worker_) + " takes it for dead");
}

std::vector<int> ElasticWorld::places() const {
  std::vector<int> all;
  for (const EpochMember& entry : membership_.epoch().members()) all.push_back(entry.place);
  return all;
}

std::vector<int> ElasticWorld::workers() const {
  std::vector<int> all;
  for (const EpochMember& entry : membership_.epoch().members()) all.push_back(entry.worker);
  return all;
}

bool ElasticWorld::is_new() const {
  const Epoch& epoch = membership_.epoch();
  const auto rank = epoch.rank_of(worker_);
  return rank && epoch.member(*rank).is_new;
}

}  // namespace trireme::train
