#include "trireme/cluster/launch/launcher.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "trireme/base/clock.h"
#include "trireme/base/error.h"
#include "trireme/base/exit_status.h"
#include "trireme/cluster/launch/ending.h"
#include "trireme/cluster/launch/etcd_share.h"
#include "trireme/cluster/launch/host/cgroup.h"
#include "trireme/cluster/launch/host/process_tree.h"
#include "trireme/cluster/launch/host/processors.h"
#include "trireme/cluster/launch/job/card.h"
#include "trireme/cluster/launch/job/control.h"
#include "trireme/cluster/launch/job/worker_list.h"
#include "trireme/cluster/launch/output/writer.h"
#include "trireme/cluster/launch/ranks.h"
#include "trireme/cluster/launch/report.h"
#include "trireme/cluster/launch/run_or_sweep.h"
#include "trireme/cluster/launch/upkeep.h"

namespace trireme::cluster::launch {
namespace {

using namespace std::chrono_literals;

constexpr Duration kLookTime = 100ms;  // interval for polling processes whose end is not reported

host::CorePlan distribute_cores(const JobSpec& spec) {
  return host::plan_cores({.processors = host::allowed_processors(),
                           .quota = host::Cgroup().processor_quota().value_or(0),
                           .ranks = spec.ranks,
                           .bind = spec.bind,
                           .threads = threads_wanted(own_environment())});
}

// When the job was started, possibly by an earlier launcher.
double begun(const LauncherOptions& options) {
  const auto card = options.is_successor ? job::Card::load(options.folder->card()) : std::nullopt;
  return card ? card->started : wall_seconds();
}

class Launcher final : private Upkeep::Workers {
 public:
  explicit Launcher(const LauncherOptions& options)
      : options_(options),
        spec_(*options.spec),
        started_(begun(options)),
        etcd_(spec_, *options.folder),
        cores_(distribute_cores(spec_)),
        ending_({.grace = spec_.grace,
                 .orphan_timeout = spec_.orphan_timeout(),
                 .writer = &writer_,
                 .announce = [this](const std::string& why) { announce_end(why); },
                 .send = [this](int signal) { send(signal); }}),
        ranks_({.spec = &spec_,
                .job = options.folder->name(),
                .folder = options.folder->path(),
                .cores = cores_,
                .mask = options.signals->mask_before(),
                .store = etcd_.text()}) {
    if (!spec_.elastic) return;
    upkeep_.emplace(Upkeep::Options{
        .spec = &spec_,
        .folder = options.folder,
        .etcd = &etcd_,
        .workers = this,
        .ending = &ending_,
        .publish = [this](auto event, const auto& record) { control_->publish(event, record); },
        .mask = options.signals->mask_before()});
  }

  int run() {
    control_ = std::make_unique<job::Control>(
        *options_.folder,
        job::Control::Options{.output = spec_.output, .is_continued = options_.is_successor});
    try {
      begin();
      while (is_running() && !ending_.is_abandoned()) turn(next_decision());
    } catch (const Error& error) {
      ending_.on_error(error);
    }
    end();
    return ending_.code().value_or(0);
  }

 private:
  void say(const std::string& text) const { ending_.say(text); }

  void begin() {
    if (options_.is_successor) return take_over();
    save_card("running");
    warn_of_oversubscription();
    if (upkeep_) {
      upkeep_->begin();
    } else {
      etcd_.clear();
    }
    ranks_.start();
    save_card("running");
    publish_start();
    note_workers();
  }

  // Takes over the workers of a launcher that was killed.
  void take_over() {
    const auto worker_list = job::WorkerList::load(worker_list_path());
    if (!worker_list)
      throw Error(ErrorCode::Corrupt, "the previous launcher left no list of its workers");
    upkeep_->take_over(*worker_list);
    ranks_.adopt(*worker_list);
    for (const job::WorkerEntry& member : worker_list->members) {
      upkeep_->supervision().on_started(member.worker, steady_clock().now());
    }
    control_->publish("launcher replaced", {{"pid", getpid()}, {"workers", ranks_.alive()}});
    // First the ends that the front reported, then those that the earlier launcher had seen without
    // recording them.
    hear_front();
    note_vanished();
    note_workers();
  }

  // The front reports the ends of workers that were taken over, as long as it lives. After that
  // they must be polled, and their exit status is unknown.
  bool must_look() const { return options_.is_successor && ending_.is_alone(); }

  void note_vanished() {
    for (const job::WorkerEntry& member : ranks_.worker_list()) {
      const auto process = host::find_process(member.pid);
      const bool is_there = process && process->start == member.start;
      const bool is_strange_zombie = is_there && process->is_zombie && process->parent != getpid();
      if (is_there && !(is_strange_zombie && must_look())) continue;
      on_reaped(member.pid, SIGKILL);
    }
    if (must_look()) upkeep_->look_at_coordinator();
  }

  std::filesystem::path worker_list_path() const { return options_.folder->path() / "crew.json"; }

  // For the launcher that takes over if this one is killed, and for `trireme jobs`.
  void note_workers() override {
    if (!upkeep_) return;
    try {
      upkeep_->worker_list(ranks_.next(), ranks_.worker_list()).save(worker_list_path());
      save_card(ending_.has_begun() ? "ending" : "running");
    } catch (const Error&) {
      // A full disk must not end a running job.
    }
  }

  void save_card(const std::string& state) {
    job::Card{.name = options_.folder->name(),
              .ranks = spec_.ranks,
              .is_elastic = upkeep_.has_value(),
              .living = ranks_.alive(),
              .wanted = upkeep_ ? upkeep_->supervision().wanted() : spec_.ranks,
              .state = state,
              .command = spec_.command_line(),
              .started = started_,
              .front = options_.front_pid,
              .launcher = getpid(),
              .workers = pids(),
              .output = spec_.output_shown()}
        .save(options_.folder->card());
  }

  std::string pids() const {
    std::string text;
    for (const job::WorkerEntry& member : ranks_.worker_list()) {
      text += (text.empty() ? "" : " ") + std::to_string(member.worker) + "=" +
              std::to_string(member.pid);
    }
    return text;
  }

  void publish_start() {
    control_->publish("job started", {{"job", options_.folder->name()},
                                      {"ranks", spec_.ranks},
                                      {"command", spec_.command_line()}});
    for (int rank = 0; rank < spec_.ranks; ++rank) {
      publish_started(rank);
      if (upkeep_) upkeep_->supervision().on_started(rank, steady_clock().now());
    }
  }

  void publish_started(int rank) {
    const auto index = static_cast<std::size_t>(ranks_.share(rank));
    const host::CoreShare& share = cores_.shares[index];
    control_->publish(noun() + " started", {{noun(), rank},
                                            {"pid", ranks_.pid(rank)},
                                            {"processors", host::to_text(share.processors)},
                                            {"bound", cores_.is_bound},
                                            {"threads", share.threads}});
  }

  std::string noun() const { return upkeep_ ? "worker" : "rank"; }

  bool is_running() const {
    if (ranks_.alive() > 0) return true;
    return upkeep_ && !ending_.has_begun() && !upkeep_->supervision().is_over();
  }

  Deadline next_decision() const { return upkeep_ ? upkeep_->next() : Deadline::never(); }

  int start_worker(const std::vector<std::string>& arguments) override {
    const int worker = ranks_.start_more(arguments);
    publish_started(worker);
    return worker;
  }
  void kill_workers() override { ranks_.signal(SIGKILL); }
  void kill_worker(int worker, const std::string& why) override { ranks_.kill_one(worker, why); }
  int living() const override { return ranks_.alive(); }
  void set_size(int size) override { ranks_.set_size(size); }
  void forget_exits() override {
    std::vector<int> gone;
    for (const RankExit& exit : ranks_.exits()) gone.push_back(exit.rank);
    for (const int rank : gone) ranks_.forget(rank);
  }

  void on_request(const job::ControlRequest& request) {
    switch (request.kind) {
      case job::ControlRequest::Kind::Stop:
        return ending_.on_stop(SIGTERM);
      case job::ControlRequest::Kind::Kill:
        return ending_.on_stop(SIGKILL);
      case job::ControlRequest::Kind::Scale:
      case job::ControlRequest::Kind::Join:
        break;
    }
    if (upkeep_) return upkeep_->on_request(request);
    if (!request.caller) return;
    request.caller->fail(
        Error(ErrorCode::InvalidInput,
              "job " + options_.folder->name() + " is not elastic; start it with --elastic"));
  }

  void warn_of_oversubscription() {
    if (!cores_.is_oversubscribed()) return;
    const int threads = cores_.shares.front().threads;
    say("warning: " + std::to_string(spec_.ranks) + " ranks with " + std::to_string(threads) +
        (threads == 1 ? " thread" : " threads") + " each share " + plain_number(cores_.available) +
        (cores_.available == 1 ? " core" : " cores") + "; they will wait for each other");
  }

  // Waits for an event or the deadline, and handles the events.
  void turn(Deadline deadline) {
    std::vector<pollfd> waits;
    for (const int file :
         {ending_.is_alone() ? -1 : options_.front, options_.signals->descriptor(),
          control_->descriptor(), writer_.event(), upkeep_ ? upkeep_->event() : -1}) {
      waits.push_back({.fd = file, .events = POLLIN, .revents = 0});
    }
    const std::size_t fixed = waits.size();
    const bool has_room = writer_.has_room();
    std::vector<output::RankStream*> open;
    for (output::RankStream& stream : ranks_.streams()) {
      if (!has_room || !stream.is_open()) continue;
      open.push_back(&stream);
      waits.push_back({.fd = stream.descriptor(), .events = POLLIN, .revents = 0});
    }
    if (must_look()) deadline = min(deadline, Deadline::after(kLookTime));
    poll(waits.data(), waits.size(), min(deadline, ending_.next()).poll_timeout());
    writer_.clear_event();
    if (upkeep_) upkeep_->clear_event();
    hear_front();
    while (const auto signal = options_.signals->next()) on_signal(*signal);
    while (const auto request = control_->take_request()) on_request(*request);
    if (writer_.error() != 0) ending_.on_output_lost();
    for (std::size_t i = 0; i < open.size() && writer_.has_room(); ++i) {
      if (waits[fixed + i].revents == 0) continue;
      has_output_ |= open[i]->pump(steady_clock().now(), writer_);
    }
    reap();
    if (must_look()) note_vanished();
    if (upkeep_ && !is_ended_) {
      upkeep_->supervise();
      ranks_.release_forgotten();
    }
    if (ending_.next().is_past()) ending_.on_time();
  }

  void hear_front() {
    if (ending_.is_alone()) return;
    FrontMessage message;
    ssize_t size = -1;
    while ((size = recv(options_.front, &message, sizeof(message), MSG_DONTWAIT)) > 0) {
      if (message.pid == 0) {
        on_signal(message.signal);
      } else if (ranks_.has(message.pid, message.start) ||
                 (upkeep_ && upkeep_->has_coordinator(message.pid, message.start))) {
        on_reaped(message.pid, message.status);
      }
    }
    if (size == 0) ending_.on_front_lost();
  }

  void on_signal(int signal) {
    switch (signal) {
      case SIGCHLD:
        return;
      case SIGUSR1:
      case SIGUSR2:
      case SIGCONT:
        ranks_.signal(signal);
        return;
      case SIGTSTP:
        ranks_.signal(SIGSTOP);
        return;
      default:
        break;
    }
    ending_.on_signal(signal);
  }

  void announce_end(const std::string& why) {
    control_->publish("job ending", {{"why", why}});
    try {
      save_card("ending");
    } catch (const Error&) {
      // A full disk must not keep a job from ending.
    }
  }

  void send(int signal) {
    ranks_.signal(signal);
    if (signal == SIGKILL) kill_all();
  }

  void reap() {
    host::reap_children([this](pid_t pid, int status) { on_reaped(pid, status); });
  }

  void on_reaped(pid_t pid, int status) {
    if (upkeep_ && upkeep_->on_reaped(pid)) return;
    const RankExit* exit = ranks_.on_reaped(pid, status, oom_watch_);
    if (exit == nullptr) return;
    if (upkeep_) {
      host::kill_group(ending_.is_alone() ? getpid() : options_.front_pid, pid);
      const RankExit seen = *exit;
      ranks_.read_rest(seen.rank, writer_);
      return upkeep_->on_ended(seen, ranks_.tail(seen.rank).failure());
    }
    const bool has_failed = !exit->is_success() && !exit->is_ours();
    control_->publish(has_failed ? "rank failed" : "rank ended",
                      {{"rank", exit->rank}, {"how", describe(*exit)}});
    if (exit->is_success() || ending_.has_begun()) return;
    ending_.begin("rank " + std::to_string(exit->rank) + " failed");
  }

  void kill_all() {
    const std::size_t left =
        host::kill_descendants(Deadline::after(host::kKillTime),
                               [this](pid_t pid, int status) { on_reaped(pid, status); });
    if (left > 0) say(std::to_string(left) + " processes of the job could not be killed");
  }

  void end() {
    is_ended_ = true;
    if (upkeep_) upkeep_->end();
    ranks_.signal(SIGKILL);
    kill_all();
    end_adopted();
    if (must_look()) job::kill_strays(options_.folder->path(), Deadline::after(host::kKillTime));
    if (const std::string left = etcd_.leave(); !left.empty()) say(left);
    const Deadline patience = ending_.last_words();
    drain_ranks(patience);
    say_lost_logs();
    const auto tail_of = [this](int rank) -> const output::Tail& { return ranks_.tail(rank); };
    writer_.push(STDERR_FILENO, report_failure(ranks_.exits(), tail_of, noun()));
    if (const auto culprit = blame(ranks_.exits()); culprit) {
      ending_.set_code(exit_code_of(ranks_.exits()[*culprit]));
    }
    drain_writer(patience);
    if (writer_.error() != 0) ending_.on_output_lost();
    drain_writer(patience);
    control_->publish("job ended", {{"code", ending_.code().value_or(0)}});
    control_.reset();
  }

  // Workers that were taken over are children of the front, or of no process of this job.
  void end_adopted() {
    const Deadline deadline = Deadline::after(host::kKillTime);
    while (ranks_.alive() > 0 && !ending_.is_abandoned() && !deadline.is_past()) turn(deadline);
  }

  void drain_writer(Deadline patience) {
    while (!writer_.is_drained() && !ending_.is_hurried() && !patience.is_past()) turn(patience);
  }

  void say_lost_logs() {
    for (const output::RankStream& stream : ranks_.streams()) {
      if (stream.log_error() == 0) continue;
      say(std::string("a log in ") + spec_.output.string() +
          " is not complete: " + std::strerror(stream.log_error()));
      return;
    }
  }

  // Reads the remaining output of dead ranks from their pipes.
  void drain_ranks(Deadline patience) {
    const auto is_open = [](const output::RankStream& stream) { return stream.is_open(); };
    Deadline quiet = Deadline::after(Ending::kQuietTime);
    while (std::any_of(ranks_.streams().begin(), ranks_.streams().end(), is_open)) {
      has_output_ = false;
      turn(min(quiet, patience));
      if (has_output_ || !writer_.has_room()) quiet = Deadline::after(Ending::kQuietTime);
      if (quiet.is_past() || patience.is_past() || ending_.is_hurried()) break;
    }
    for (output::RankStream& stream : ranks_.streams()) stream.finish(writer_);
  }

  LauncherOptions options_;
  const JobSpec& spec_;
  const double started_;
  const EtcdShare etcd_;
  host::OomWatch oom_watch_;
  host::CorePlan cores_;
  output::Writer writer_;
  Ending ending_;
  Ranks ranks_;
  std::unique_ptr<job::Control> control_;
  std::optional<Upkeep> upkeep_;  // elastic jobs only
  bool is_ended_ = false;         // no more workers are started
  bool has_output_ = false;
};

}  // namespace

int run_launcher(const LauncherOptions& options) noexcept {
  return run_or_sweep(*options.folder, [&] { return Launcher(options).run(); });
}

}  // namespace trireme::cluster::launch
