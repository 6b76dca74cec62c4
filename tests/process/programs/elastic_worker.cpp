// A worker of an elastic job without training: it announces itself (worker/<number>, bound to its
// session), leaves when fewer workers are wanted, and is done when the file in its first argument
// exists. It ends by itself when no process watches the job any more.

#include <poll.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "trireme/base/error.h"
#include "trireme/cluster/environment.h"
#include "trireme/cluster/launch/job/job_watch.h"
#include "trireme/cluster/membership/epoch.h"
#include "trireme/cluster/store/job_store.h"

namespace {

using namespace trireme;
using namespace std::chrono_literals;

// Whether this worker is one of those that should stay.
bool is_wanted(cluster::Store& store, const std::string& own) {
  const Deadline deadline = Deadline::after(20s);
  const auto wanted = store.get("wanted", deadline);
  if (!wanted) return true;
  int older = 0;
  for (const auto& other : store.list("worker/", deadline)) {
    older += std::stoi(other.key.substr(7)) < std::stoi(own.substr(7)) ? 1 : 0;
  }
  return older < std::stoi(std::string(text_of(*wanted)));
}

// The workers that started together agree on the first epoch; these workers never create another.
void agree(cluster::Store& store, const cluster::Environment& environment) {
  if (environment.rank >= environment.size) return;
  std::vector<cluster::membership::EpochMember> entries;
  for (int i = 0; i < environment.size; ++i) {
    entries.push_back({.worker = i, .place = i});
    entries.back().about.rank = i;
    entries.back().about.size = environment.size;
  }
  const Bytes epoch = encode(cluster::membership::Epoch(1, std::move(entries)));
  store.compare_and_set("epoch/1", std::nullopt, epoch, Deadline::after(20s));
}

int work(const std::string& done) {
  const auto environment = cluster::Environment::read(cluster::process_environment);
  cluster::JobStore store(environment, cluster::process_environment, {}, Deadline::after(20s));
  const auto watch = cluster::launch::job::JobWatch::of(environment, [] {
    std::puts("no process watches");
    _exit(75);
  });
  const std::string key = "worker/" + std::to_string(environment.rank);
  store.store().set(key, bytes_of("here"), Deadline::after(20s), cluster::Lifetime::Session);
  agree(store.store(), environment);
  const auto begun = store.store().add("begun", 1, Deadline::after(20s));
  std::printf("worker %d pid %d begun %d\n", environment.rank, getpid(), static_cast<int>(begun));
  std::fflush(stdout);
  // A worker that has just joined may still read the previous wanted number.
  bool was_wanted = false;
  while (!std::filesystem::exists(done)) {
    const bool is_wanted_now = is_wanted(store.store(), key);
    was_wanted |= is_wanted_now;
    if (was_wanted && !is_wanted_now) {
      std::printf("worker %d leaves\n", environment.rank);
      return 0;
    }
    poll(nullptr, 0, 10);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return work(argc > 1 ? argv[1] : "");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
