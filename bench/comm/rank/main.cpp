// trireme-bench-comm: the ranks of `trireme bench comm`. Rank 0 prints a record in JSON per size.
// Every result is checked before and after the timing.

#include <cstdio>
#include <future>
#include <memory>

#include "bench/comm/options.h"
#include "bench/comm/rank/bound.h"
#include "bench/comm/rank/exercise.h"
#include "bench/comm/rank/measure.h"
#include "bench/comm/record.h"
#include "trireme/cluster/world.h"
#include "trireme/comm/connect.h"
#include "trireme/comm/connect_threads.h"
#include "trireme/net/address.h"

namespace trireme::bench {
namespace {

// Checks on every rank; returns true on all ranks if the result is correct on all ranks.
bool is_right(const comm::Group& group, Exercise& exercise) {
  const auto wrong = exercise.check();
  if (wrong) {
    std::fprintf(stderr, "rank %d: %s of %zu bytes is WRONG: %s\n", group.rank(),
                 std::string(comm::name_of(exercise.options().op)).c_str(), exercise.bytes(),
                 wrong->c_str());
  }
  std::vector<std::int32_t> right{wrong ? 0 : 1};
  group.all_reduce(comm::span(right), comm::ReduceOp::Min).wait();
  return right[0] == 1;
}

// If two bounds have the same name, the faster one counts.
void add_bound(CommRecord& record, const std::string& name, double seconds) {
  if (seconds <= 0) return;
  for (BoundRecord& bound : record.bounds) {
    if (bound.name != name) continue;
    bound.seconds = std::min(bound.seconds, seconds);
    return;
  }
  record.bounds.push_back({name, seconds});
}

CommRecord run_case(const comm::Group& group, const Options& options, std::size_t bytes,
                    const std::string& host) {
  Exercise exercise(group, {.op = operation_named(options.op),
                            .bytes = bytes,
                            .type = type_named(options.type),
                            .is_symmetric = options.is_symmetric});
  bool right = is_right(group, exercise);
  const auto bounds = make_bounds(group, exercise, host);
  const Timing timing = measure(group, exercise, bounds, options.seconds);
  right &= is_right(group, exercise);
  CommRecord record{options};
  record.ranks = group.size();
  record.bytes = exercise.bytes();
  record.seconds = timing.p50;
  record.p99 = timing.p99;
  record.is_verified = right;
  if (options.wire > 0) {
    add_bound(record, "the wire",
              8 * static_cast<double>(exercise.bytes_received()) / options.wire);
  }
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    add_bound(record, bounds[i].name, timing.bounds[i]);
  }
  return record;
}

void run_rank(const comm::Group& group, const Options& options, const std::string& host) {
  for (std::size_t bytes : options.sizes) {
    const CommRecord record = run_case(group, options, bytes, host);
    if (group.rank() != 0) continue;
    std::puts(to_json(record).c_str());
    std::fflush(stdout);
  }
}

void run_threads(const Options& options) {
  const std::vector<comm::Group> groups = comm::connect_threads(options.ranks);
  std::vector<std::future<void>> ranks;
  for (const comm::Group& group : groups) {
    ranks.push_back(std::async(std::launch::async, [&options, &group] {
      comm::guarded(group, [&] { run_rank(group, options, "127.0.0.1"); });
    }));
  }
  for (std::future<void>& rank : ranks) rank.get();
}

void run_process(const Options& options) {
  cluster::World world = cluster::World::join();
  const comm::Group group =
      comm::connect(world, {.transport = comm::transport_named(options.backend),
                            .algorithm = comm::algorithm_named(options.algorithm),
                            .streams = options.streams,
                            .interface = options.interface});
  const bool is_one_host = world.roster().hosts().size() == 1 && options.interface.empty();
  const std::string host = is_one_host ? "127.0.0.1" : net::host_address(options.interface);
  comm::guarded(group, [&] { run_rank(group, options, host); });
}

// A record itself reports an incorrect result.
int run(const Options& options) {
  options.check();
  options.backend == "thread" ? run_threads(options) : run_process(options);
  return 0;
}

}  // namespace
}  // namespace trireme::bench

int main(int argc, char** argv) {
  using namespace trireme;
  cli::Command command("run -n 2 trireme-bench-comm", "Measure collectives between ranks",
                       "trireme run -n 2 build/trireme-bench-comm --op all_reduce --symmetric");
  const auto options = std::make_shared<bench::Options>();
  bench::add_case_options(command, options);
  bench::add_worker_options(command, options);
  command.action([options] { return bench::run(*options); });
  return command.run(std::vector<std::string>(argv + 1, argv + argc));
}
