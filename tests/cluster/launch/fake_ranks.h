// FakeRanks records which ranks a job's policy starts and kills; a test decides how they end.

#pragma once

#include <string>
#include <utility>
#include <vector>

#include "trireme/base/error.h"
#include "trireme/base/file/temporary_folder.h"
#include "trireme/cluster/launch/job_policy.h"
#include "trireme/cluster/launch/rendezvous/rendezvous.h"

namespace trireme::cluster::launch {

class FakeRanks final : public RankControl {
 public:
  bool is_ready() const override { return ready; }
  int start_rank(int size, const std::vector<std::string>& arguments) override {
    if (can_start <= 0) throw Error(ErrorCode::Exhausted, "no more processes");
    --can_start;
    started.push_back({.rank = next_rank, .size = size, .arguments = arguments});
    alive.push_back(next_rank);
    return next_rank++;
  }
  void kill_rank(int rank, const std::string& why) override {
    killed.push_back(std::to_string(rank) + ": " + why);
  }
  void signal(int signal) override { signals.push_back(signal); }
  int living() const override { return static_cast<int>(alive.size()); }
  int room(int wanted) const override { return std::min(wanted, room_max); }
  void take_over(const job::WorkerList& list) override {
    next_rank = list.next;
    for (const job::WorkerEntry& member : list.members) alive.push_back(member.worker);
    for (const job::WorkerEntry& member : list.members) listener->on_found(member.worker);
  }
  job::WorkerList worker_list() const override {
    job::WorkerList list{.next = next_rank};
    for (const int rank : alive) list.members.push_back({.worker = rank});
    return list;
  }

  void end_rank(RankExit exit) {
    std::erase(alive, exit.rank);
    listener->on_ended(exit, "");
  }

  HostListener* listener = nullptr;
  bool ready = true;
  int can_start = 1000;
  int room_max = 1000;
  int next_rank = 0;
  std::vector<RankOrder> started;
  std::vector<int> alive;
  std::vector<std::string> killed;
  std::vector<int> signals;
};

// A job whose policy is under test.
struct PolicyJob {
  explicit PolicyJob(JobSpec wanted)
      : spec(std::move(wanted)),
        folder(job::Folder::create(root.path(), "demo")),
        ending({.grace = std::chrono::seconds(1),
                .writer = &writer,
                .announce = [this](const std::string& why) { announced.push_back(why); },
                .send = [](int) {}}),
        rendezvous({.spec = &spec, .folder = &folder, .ending = &ending, .publish = publish()}) {
    make_policy();
  }
  // As a launcher that takes over does.
  void make_policy() {
    policy = JobPolicy::make({.spec = &spec,
                              .folder = &folder,
                              .ranks = &ranks,
                              .records = &records,
                              .rendezvous = &rendezvous,
                              .ending = &ending,
                              .publish = publish(),
                              .note = [] {}});
    ranks.listener = policy.get();
  }
  std::function<void(std::string_view, const Record&)> publish() {
    return [this](std::string_view event, const Record& record) {
      events.push_back(std::string(event) + " " + record.to_json());
    };
  }

  TemporaryFolder root{"policy-test"};
  JobSpec spec;
  job::Folder folder;
  output::Writer writer;
  std::vector<std::string> announced;
  std::vector<std::string> events;
  Ending ending;
  Rendezvous rendezvous;
  FakeRanks ranks;
  RankRecords records{{}};
  std::unique_ptr<JobPolicy> policy;
};

}  // namespace trireme::cluster::launch
