#include "trireme/cluster/launch/hosts/launcher.h"

#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "trireme/base/clock.h"
#include "trireme/base/error.h"
#include "trireme/cluster/launch/ending.h"
#include "trireme/cluster/launch/etcd_share.h"
#include "trireme/cluster/launch/host/process_tree.h"
#include "trireme/cluster/launch/hosts/fleet.h"
#include "trireme/cluster/launch/hosts/portable.h"
#include "trireme/cluster/launch/job/card.h"
#include "trireme/cluster/launch/job/control.h"
#include "trireme/cluster/launch/job/worker_list.h"
#include "trireme/cluster/launch/report.h"
#include "trireme/cluster/launch/run_or_sweep.h"
#include "trireme/cluster/launch/upkeep.h"

namespace trireme::cluster::launch::hosts {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

constexpr auto kLastWordsMax = 3s;
constexpr Duration kLookTime = 100ms;

// When the job was started, possibly by an earlier launcher.
double begun(const LauncherOptions& options) {
  const auto card = options.is_successor ? job::Card::load(options.folder->card()) : std::nullopt;
  return card ? card->started : wall_seconds();
}

// Every rank has two connections, every host three pipes.
void make_room_for_connections() {
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) != 0) return;
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
}

class Launcher {
 public:
  explicit Launcher(const LauncherOptions& options)
      : options_(options),
        spec_(*options.spec),
        started_(begun(options)),
        etcd_(spec_, *options.folder),
        ending_({.grace = spec_.grace,
                 .orphan_timeout = spec_.orphan_timeout(),
                 .writer = &writer_,
                 .announce = [this](const std::string& why) { announce_end(why); },
                 .send = [this](int signal) { send(signal); }}),
        fleet_({.launcher = &options_,
                .ending = &ending_,
                .writer = &writer_,
                .publish = [this](auto event, const auto& record) { publish(event, record); },
                .note = [this] { note_workers(); }}) {}

  int run() {
    try {
      begin();
      while (fleet_.is_running()) turn(upkeep_ ? upkeep_->next() : Deadline::never());
    } catch (const Error& error) {
      ending_.on_error(error);
    }
    end();
    return ending_.code().value_or(0);
  }

 private:
  void say(const std::string& text) const { ending_.say(text); }
  void publish(std::string_view event, const Record& record) { control_->publish(event, record); }

  void begin() {
    make_room_for_connections();
    const std::string address = meeting_address(*spec_.hosts);
    control_ = std::make_unique<job::Control>(
        *options_.folder,
        job::Control::Options{
            .output = spec_.output, .is_continued = options_.is_successor, .remote = address});
    if (!options_.is_successor) save_card("running");
    if (spec_.elastic) begin_upkeep(address);
    const std::string feed = control_->remote_address();
    fleet_.begin(upkeep_ ? &*upkeep_ : nullptr, upkeep_ ? upkeep_->store() : feed, feed);
    if (options_.is_successor) return;
    publish("job started", {{"job", options_.folder->name()},
                            {"ranks", spec_.ranks},
                            {"hosts", static_cast<int>(spec_.hosts->list.size())},
                            {"command", spec_.command_line()}});
  }

  void begin_upkeep(const std::string& address) {
    upkeep_.emplace(Upkeep::Options{
        .spec = &spec_,
        .folder = options_.folder,
        .etcd = &etcd_,
        .workers = &fleet_,
        .ending = &ending_,
        .publish = [this](auto event, const auto& record) { publish(event, record); },
        .mask = options_.signals->mask_before(),
        .listen = address});
    if (!options_.is_successor) {
      upkeep_->begin();
      return note_workers();
    }
    // The agents of the launcher that was killed are still running, and report which workers are
    // alive.
    const auto worker_list = job::WorkerList::load(worker_list_path());
    if (!worker_list)
      throw Error(ErrorCode::Corrupt, "the previous launcher left no list of its workers");
    upkeep_->take_over(*worker_list);
    fleet_.take_over(*worker_list);
    publish("launcher replaced",
            {{"pid", getpid()}, {"workers", static_cast<int>(worker_list->members.size())}});
  }

  fs::path worker_list_path() const { return options_.folder->path() / "crew.json"; }

  // For the launcher that takes over if this one is killed, and for `trireme jobs`.
  void note_workers() {
    try {
      upkeep_->worker_list(fleet_.next_worker(), fleet_.hosted_ranks().worker_list())
          .save(worker_list_path());
      save_card(ending_.has_begun() ? "ending" : "running");
    } catch (const Error&) {
      // A full disk must not end a running job.
    }
  }

  void save_card(const std::string& state) {
    job::Card{.name = options_.folder->name(),
              .ranks = spec_.ranks,
              .is_elastic = spec_.elastic.has_value(),
              .living = fleet_.living(),
              .wanted = upkeep_ ? upkeep_->supervision().wanted() : spec_.ranks,
              .state = state,
              .command = spec_.command_line(),
              .started = started_,
              .front = options_.front_pid,
              .launcher = getpid(),
              .output = spec_.output_shown()}
        .save(options_.folder->card());
  }

  // Waits for an event or the deadline, and handles the events.
  void turn(Deadline deadline) {
    std::vector<pollfd> waits;
    for (const int file :
         {ending_.is_alone() ? -1 : options_.front, options_.signals->descriptor(),
          control_->descriptor(), writer_.event(), upkeep_ ? upkeep_->event() : -1}) {
      waits.push_back({.fd = file, .events = POLLIN, .revents = 0});
    }
    fleet_.add_waits(waits, writer_.has_room());
    // The end of a coordinator that was taken over is no longer reported.
    const bool must_look = options_.is_successor && ending_.is_alone() && upkeep_;
    if (must_look) deadline = min(deadline, Deadline::after(kLookTime));
    deadline = min(deadline, min(ending_.next(), fleet_.next()));
    poll(waits.data(), waits.size(), deadline.poll_timeout());
    writer_.clear_event();
    if (upkeep_) upkeep_->clear_event();
    hear_front();
    while (const auto signal = options_.signals->next()) on_signal(*signal);
    while (const auto request = control_->take_request()) on_request(*request);
    if (writer_.error() != 0) ending_.on_output_lost();
    host::reap_children([this](pid_t pid, int status) { on_reaped(pid, status); });
    if (must_look) upkeep_->look_at_coordinator();
    fleet_.pump();
    if (ending_.next().is_past()) ending_.on_time();
  }

  void hear_front() {
    if (ending_.is_alone()) return;
    FrontMessage message;
    ssize_t size = -1;
    while ((size = recv(options_.front, &message, sizeof(message), MSG_DONTWAIT)) > 0) {
      if (message.pid == 0) {
        on_signal(message.signal);
      } else if (upkeep_ && upkeep_->has_coordinator(message.pid, message.start)) {
        upkeep_->on_reaped(message.pid);
      }
    }
    if (size != 0) return;
    ending_.on_front_lost();
    if (ending_.is_abandoned()) send(SIGKILL);
  }

  void on_signal(int signal) {
    if (signal == SIGCHLD) return;
    if (signal == SIGUSR1 || signal == SIGUSR2 || signal == SIGCONT || signal == SIGTSTP) {
      return fleet_.signal(signal);
    }
    ending_.on_signal(signal);
  }

  void on_request(const job::ControlRequest& request) {
    if (request.kind == job::ControlRequest::Kind::Stop) return ending_.on_stop(SIGTERM);
    if (request.kind == job::ControlRequest::Kind::Kill) return ending_.on_stop(SIGKILL);
    if (upkeep_) return upkeep_->on_request(request);
    if (!request.caller) return;
    request.caller->fail(
        Error(ErrorCode::InvalidInput,
              "job " + options_.folder->name() + " is not elastic; start it with --elastic"));
  }

  void announce_end(const std::string& why) {
    publish("job ending", {{"why", why}});
    try {
      save_card("ending");
    } catch (const Error&) {
      // A full disk must not keep a job from ending.
    }
  }

  void send(int signal) {
    fleet_.signal(signal);
    if (signal == SIGKILL) fleet_.kill();
  }

  void on_reaped(pid_t pid, int status) {
    if (upkeep_ && upkeep_->on_reaped(pid)) return;
    fleet_.on_reaped(pid, status);
  }

  void end() {
    if (upkeep_) upkeep_->end();
    fleet_.clear();
    const std::size_t left =
        host::kill_descendants(Deadline::after(host::kKillTime), [](pid_t, int) {});
    if (left > 0) say(std::to_string(left) + " processes of the job could not be killed");
    if (const std::string keys = etcd_.leave(); !keys.empty()) say(keys);
    HostedRanks& hosted_ranks = fleet_.hosted_ranks();
    hosted_ranks.finish();
    const auto tail_of = [&](int rank) -> const output::Tail& { return hosted_ranks.tail(rank); };
    writer_.push(STDERR_FILENO,
                 report_failure(hosted_ranks.exits(), tail_of, spec_.elastic ? "worker" : "rank"));
    if (const auto culprit = blame(hosted_ranks.exits()); culprit) {
      ending_.set_code(exit_code_of(hosted_ranks.exits()[*culprit]));
    }
    const Deadline patience = ending_.last_words();
    if (!control_) return drain_without_control();
    while (!writer_.is_drained() && !ending_.is_hurried() && !patience.is_past()) turn(patience);
    publish("job ended", {{"code", ending_.code().value_or(0)}});
    control_.reset();
  }

  void drain_without_control() {
    const Deadline patience = Deadline::after(kLastWordsMax);
    while (!writer_.is_drained() && !patience.is_past()) {
      pollfd wait{.fd = writer_.event(), .events = POLLIN, .revents = 0};
      poll(&wait, 1, patience.poll_timeout());
      writer_.clear_event();
    }
  }

  LauncherOptions options_;
  const JobSpec& spec_;
  const double started_;
  const EtcdShare etcd_;
  output::Writer writer_;
  Ending ending_;
  std::unique_ptr<job::Control> control_;
  Fleet fleet_;
  std::optional<Upkeep> upkeep_;  // elastic jobs only
};

}  // namespace

int run_launcher(const LauncherOptions& options) noexcept {
  return run_or_sweep(*options.folder, [&] { return Launcher(options).run(); });
}

}  // namespace trireme::cluster::launch::hosts
