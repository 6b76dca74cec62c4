#include "trireme/cluster/launch/launcher.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "trireme/base/clock.h"
#include "trireme/base/error.h"
#include "trireme/base/exit_status.h"
#include "trireme/cluster/launch/ending.h"
#include "trireme/cluster/launch/host/process_tree.h"
#include "trireme/cluster/launch/hosts/fleet.h"
#include "trireme/cluster/launch/hosts/portable.h"
#include "trireme/cluster/launch/job/card.h"
#include "trireme/cluster/launch/job/control.h"
#include "trireme/cluster/launch/job_policy.h"
#include "trireme/cluster/launch/local_host.h"
#include "trireme/cluster/launch/output/writer.h"
#include "trireme/cluster/launch/rank/report.h"
#include "trireme/cluster/launch/rendezvous/rendezvous.h"
#include "trireme/cluster/launch/watch/run_or_sweep.h"

namespace trireme::cluster::launch {
namespace {

using namespace std::chrono_literals;

constexpr Duration kLookTime = 100ms;  // interval for polling processes whose end is not reported

// When the job was started, possibly by an earlier launcher.
double begun(const LauncherOptions& options) {
  const auto card = options.is_successor ? job::Card::load(options.folder->card()) : std::nullopt;
  return card ? card->started : wall_seconds();
}

class JobLauncher {
 public:
  explicit JobLauncher(const LauncherOptions& options)
      : options_(options),
        spec_(*options.spec),
        started_(begun(options)),
        ending_({.grace = spec_.grace,
                 .orphan_timeout = spec_.orphan_timeout(),
                 .writer = &writer_,
                 .announce = [this](const std::string& why) { announce_end(why); },
                 .send = [this](int signal) { send(signal); }}),
        rendezvous_({.spec = &spec_,
                     .folder = options.folder,
                     .ending = &ending_,
                     .publish = [this](auto event, const auto& record) { publish(event, record); },
                     .mask = options.signals->mask_before()}),
        hosts_(make_hosts()),
        policy_(JobPolicy::make(
            {.spec = &spec_,
             .folder = options.folder,
             .ranks = &hosts_->ranks(),
             .records = &hosts_->records(),
             .rendezvous = &rendezvous_,
             .ending = &ending_,
             .publish = [this](auto event, const auto& record) { publish(event, record); },
             .note = [this] { note_ranks(); }})) {}

  int run() {
    try {
      begin();
      while (!is_over()) turn(Deadline::never());
    } catch (const Error& error) {
      ending_.on_error(error);
    }
    end();
    return ending_.code().value_or(0);
  }

 private:
  void say(const std::string& text) const { ending_.say(text); }
  void publish(std::string_view event, const Record& record) {
    if (control_) control_->publish(event, record);
  }

  std::unique_ptr<JobHosts> make_hosts() {
    if (spec_.hosts) {
      return std::make_unique<hosts::Fleet>(hosts::Fleet::Options{
          .launcher = &options_,
          .ending = &ending_,
          .writer = &writer_,
          .publish = [this](auto event, const auto& record) { publish(event, record); }});
    }
    auto local = std::make_unique<LocalHost>(
        LocalHost::Options{.ranks = {.spec = &spec_,
                                     .job = options_.folder->name(),
                                     .folder = options_.folder->path(),
                                     .mask = options_.signals->mask_before(),
                                     .writer = &writer_,
                                     .warn = [this](const std::string& text) { say(text); },
                                     .orphan_timeout = spec_.orphan_timeout()},
                           .front = options_.front_pid,
                           .reaped = [this](pid_t pid, int status) { on_reaped(pid, status); }});
    local_ = local.get();
    return local;
  }

  void begin() {
    const std::string address = spec_.hosts ? hosts::meeting_address(*spec_.hosts) : "";
    control_ = std::make_unique<job::Control>(
        *options_.folder,
        job::Control::Options{
            .output = spec_.output, .is_continued = options_.is_successor, .remote = address});
    if (!options_.is_successor) save_card("running");
    rendezvous_.begin(address, options_.is_successor);
    const std::string& own = rendezvous_.store();
    const std::string feed = control_->remote_address();
    hosts_->begin(*policy_, own.empty() ? feed : own, feed);
    policy_->begin(options_.is_successor);
    if (options_.is_successor) {
      // First the ends that the front reported, then those that the earlier launcher had seen
      // without recording them.
      hear_front();
      if (local_ != nullptr) local_->look_for_ends();
      note_ranks();
    } else {
      publish_start();
    }
    policy_->supervise();
  }

  void publish_start() {
    Record record{{"job", options_.folder->name()}, {"ranks", spec_.ranks}};
    if (spec_.hosts) record.add({"hosts", static_cast<int>(spec_.hosts->list.size())});
    publish("job started", record.add({"command", spec_.command_line()}));
  }

  bool is_over() const {
    if (ending_.is_abandoned()) return true;
    return (ending_.has_begun() || policy_->is_over()) && hosts_->ranks().living() == 0;
  }

  // For `trireme jobs`.
  void note_ranks() {
    try {
      save_card(ending_.has_begun() ? "ending" : "running");
    } catch (const Error&) {
      // A full disk must not end a running job.
    }
  }

  void save_card(const std::string& state) {
    job::Card{.name = options_.folder->name(),
              .ranks = spec_.ranks,
              .is_elastic = spec_.elastic.has_value(),
              .living = hosts_->ranks().living(),
              .wanted = policy_->wanted(),
              .state = state,
              .command = spec_.command_line(),
              .started = started_,
              .front = options_.front_pid,
              .launcher = getpid(),
              .workers = pids(),
              .output = spec_.output_shown()}
        .save(options_.folder->card());
  }

  // The processes of this host.
  std::string pids() const {
    std::string text;
    for (const job::WorkerEntry& member : hosts_->ranks().worker_list().members) {
      if (member.pid == 0) continue;
      text += (text.empty() ? "" : " ") + std::to_string(member.worker) + "=" +
              std::to_string(member.pid);
    }
    return text;
  }

  // The front reports the ends of processes that were taken over, as long as it lives. After that
  // they must be polled.
  bool must_look() const { return options_.is_successor && ending_.is_alone(); }

  // Waits for an event or the deadline, and handles the events.
  void turn(Deadline deadline) {
    std::vector<pollfd> waits;
    for (const int file :
         {ending_.is_alone() ? -1 : options_.front, options_.signals->descriptor(),
          control_ ? control_->descriptor() : -1, writer_.event(), policy_->event()}) {
      waits.push_back({.fd = file, .events = POLLIN, .revents = 0});
    }
    deadline = min(deadline, hosts_->add_waits(waits, writer_.has_room()));
    if (must_look()) deadline = min(deadline, Deadline::after(kLookTime));
    deadline = min(deadline, min(ending_.next(), policy_->next()));
    poll(waits.data(), waits.size(), deadline.poll_timeout());
    writer_.clear_event();
    hear_front();
    while (const auto signal = options_.signals->next()) on_signal(*signal);
    while (const auto request = control_ ? control_->take_request() : std::nullopt) {
      on_request(*request);
    }
    if (writer_.error() != 0) ending_.on_output_lost();
    host::reap_children([this](pid_t pid, int status) { on_reaped(pid, status); });
    if (must_look()) {
      if (local_ != nullptr) local_->look_for_ends();
      rendezvous_.look_for_end();
    }
    hosts_->pump(waits);
    policy_->supervise();
    if (ending_.next().is_past()) ending_.on_time();
  }

  void hear_front() {
    if (ending_.is_alone()) return;
    FrontMessage message;
    ssize_t size = -1;
    while ((size = recv(options_.front, &message, sizeof(message), MSG_DONTWAIT)) > 0) {
      if (message.pid == 0) {
        on_signal(message.signal);
      } else if ((local_ != nullptr && local_->has(message.pid, message.start)) ||
                 rendezvous_.has(message.pid, message.start)) {
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
        return hosts_->ranks().signal(signal);
      case SIGCONT:
        hosts_->ranks().signal(signal);
        return policy_->set_paused(false);
      case SIGTSTP:
        policy_->set_paused(true);
        return hosts_->ranks().signal(SIGSTOP);
      default:
        return ending_.on_signal(signal);
    }
  }

  void on_request(const job::ControlRequest& request) {
    switch (request.kind) {
      case job::ControlRequest::Kind::Stop:
        return ending_.on_stop(SIGTERM);
      case job::ControlRequest::Kind::Kill:
        return ending_.on_stop(SIGKILL);
      case job::ControlRequest::Kind::Scale:
      case job::ControlRequest::Kind::Join:
        return policy_->on_request(request);
    }
  }

  void announce_end(const std::string& why) {
    publish("job ending", {{"why", why}});
    note_ranks();
  }

  void send(int signal) {
    if (signal == SIGKILL) return hosts_->end();
    hosts_->ranks().signal(signal);
  }

  void on_reaped(pid_t pid, int status) {
    if (!rendezvous_.on_reaped(pid)) hosts_->on_reaped(pid, status);
  }

  void end() {
    policy_->end();
    rendezvous_.end();
    hosts_->end();
    while (hosts_->is_running()) turn(Deadline::never());
    kill_rest();
    const Deadline patience = ending_.last_words();
    hosts_->records().drain([&](Deadline deadline) { turn(min(deadline, patience)); },
                            [&] { return patience.is_past() || ending_.is_hurried(); });
    if (const int log_error = hosts_->records().finish(); log_error != 0) {
      say("a log in " + spec_.output.string() + " is not complete: " + std::strerror(log_error));
    }
    report();
    drain_writer(patience);
    if (writer_.error() != 0) ending_.on_output_lost();
    drain_writer(patience);
    publish("job ended", {{"code", ending_.code().value_or(0)}});
    control_.reset();
  }

  void kill_rest() {
    const std::size_t left =
        host::kill_descendants(Deadline::after(host::kKillTime),
                               [this](pid_t pid, int status) { on_reaped(pid, status); });
    if (left > 0) say(std::to_string(left) + " processes of the job could not be killed");
    if (must_look()) job::kill_strays(options_.folder->path(), Deadline::after(host::kKillTime));
    if (const std::string keys = rendezvous_.leave(); !keys.empty()) say(keys);
  }

  void report() {
    const RankRecords& records = hosts_->records();
    const std::vector<RankExit>& exits = records.exits();
    const auto tail_of = [&](int rank) -> const output::Tail& { return records.tail(rank); };
    writer_.push(STDERR_FILENO, report_failure(exits, tail_of, spec_.noun()));
    if (const auto culprit = blame(exits)) ending_.set_code(exit_code_of(exits[*culprit]));
    // A job that ended early has failed, also if no rank is to blame.
    if (ending_.has_begun()) ending_.set_code(kExitFailure);
  }

  void drain_writer(Deadline patience) {
    while (!writer_.is_drained() && !ending_.is_hurried() && !patience.is_past()) turn(patience);
  }

  LauncherOptions options_;
  const JobSpec& spec_;
  const double started_;
  output::Writer writer_;
  Ending ending_;
  std::unique_ptr<job::Control> control_;
  Rendezvous rendezvous_;
  LocalHost* local_ = nullptr;  // the hosts, if it is only this one
  std::unique_ptr<JobHosts> hosts_;
  std::unique_ptr<JobPolicy> policy_;
};

}  // namespace

int run_launcher(const LauncherOptions& options) noexcept {
  return run_or_sweep(*options.folder, [&] { return JobLauncher(options).run(); });
}

}  // namespace trireme::cluster::launch
