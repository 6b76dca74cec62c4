#include "trireme/cluster/launch/hosts/agent.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "trireme/base/error.h"
#include "trireme/base/exit_status.h"
#include "trireme/cluster/launch/escalation.h"
#include "trireme/cluster/launch/front.h"
#include "trireme/cluster/launch/host/cgroup.h"
#include "trireme/cluster/launch/host/process_tree.h"
#include "trireme/cluster/launch/host/processors.h"
#include "trireme/cluster/launch/host/room.h"
#include "trireme/cluster/launch/hosts/intake.h"
#include "trireme/cluster/launch/job/root.h"
#include "trireme/cluster/launch/launcher.h"
#include "trireme/cluster/launch/output/writer.h"
#include "trireme/cluster/launch/program.h"
#include "trireme/cluster/launch/ranks.h"
#include "trireme/cluster/launch/run_or_sweep.h"
#include "trireme/net/address.h"
#include "trireme/net/secret.h"

namespace trireme::cluster::launch::hosts {
namespace {

using namespace std::chrono_literals;

constexpr auto kReapTime = 10s;
constexpr Duration kLastWordsTime = 300ms;
constexpr Duration kDrainTime = 30s;

// Where other ranks reach those of this host.
std::string address_of(const Order& order) {
  if (!order.interface.empty()) return net::host_address(order.interface);
  return net::address_towards(net::Address::parse(order.store).host);
}

Ranks::Options ranks_of(const LauncherOptions& options, const Order& order) {
  const JobSpec& spec = *options.spec;
  return {.spec = &spec,
          .job = order.job,
          .folder = options.folder->path(),
          .cores = host::plan_cores({.processors = host::allowed_processors(),
                                     .quota = host::Cgroup().processor_quota().value_or(0),
                                     .ranks = spec.ranks,
                                     .bind = spec.bind,
                                     .threads = threads_wanted(own_environment())}),
          .mask = options.signals->mask_before(),
          .store = order.store,
          .part = RanksPart{.first = order.first,
                            .size = order.size,
                            .address = address_of(order),
                            .envelope = [](int rank, int target, std::string_view bytes) {
                              return encode_frame(FrameKind::Output,
                                                  encode_output(rank, target, bytes));
                            }}};
}

class Agent {
 public:
  Agent(const LauncherOptions& options, const Order& order, FrameReader frames)
      : options_(options),
        order_(order),
        frames_(std::move(frames)),
        escalation_(order.grace),
        ranks_(ranks_of(options, order)) {}

  int run() {
    fcntl(STDIN_FILENO, F_SETFL, fcntl(STDIN_FILENO, F_GETFL) | O_NONBLOCK);
    try {
      ranks_.start();
      for (int i = 0; i < order_.ranks; ++i) {
        const int rank = order_.first + i;
        say(FrameKind::Started, encode_start({.rank = rank, .pid = ranks_.pid(rank)}));
      }
    } catch (const Error& error) {
      say(FrameKind::Trouble, bytes_of(error.message()));
      is_lost_ = true;
    }
    hear_launcher();
    while (ranks_.alive() > 0 && !is_lost_) turn(Deadline::never());
    end();
    return is_lost_ ? kExitFailure : 0;
  }

 private:
  void say(FrameKind kind, ByteView payload = {}) {
    writer_.push(STDOUT_FILENO, encode_frame(kind, payload));
  }

  void turn(Deadline deadline) {
    std::vector<pollfd> waits;
    for (const int file : {is_lost_ ? -1 : options_.front, is_lost_ ? -1 : STDIN_FILENO,
                           options_.signals->descriptor(), writer_.event()}) {
      waits.push_back({.fd = file, .events = POLLIN, .revents = 0});
    }
    const bool has_room = writer_.has_room();
    for (const output::RankStream& stream : ranks_.streams()) {
      if (!has_room || !stream.is_open()) continue;
      waits.push_back({.fd = stream.descriptor(), .events = POLLIN, .revents = 0});
    }
    const Deadline first = min(min(deadline, escalation_.next()), min(beat_, heard_));
    poll(waits.data(), waits.size(), first.poll_timeout());
    writer_.clear_event();
    hear_front();
    hear_launcher();
    while (const auto signal = options_.signals->next()) on_signal(*signal);
    if (writer_.error() != 0) is_lost_ = true;
    for (output::RankStream& stream : ranks_.streams()) {
      if (writer_.has_room() && stream.is_open()) {
        has_output_ |= stream.pump(steady_clock().now(), writer_);
      }
    }
    host::reap_children([this](pid_t pid, int status) { on_reaped(pid, status); });
    if (escalation_.next().is_past()) send(escalation_.tick(steady_clock().now()));
    if (beat_.is_past()) {
      beat_ = Deadline::after(kBeatTime);
      say(FrameKind::Beat);
    }
  }

  void hear_front() {
    FrontMessage message;
    ssize_t size = 0;
    while ((size = recv(options_.front, &message, sizeof(message), MSG_DONTWAIT)) > 0) {
      if (message.pid == 0) on_signal(message.signal);
    }
    if (size != 0 || is_lost_) return;
    say(FrameKind::Trouble, bytes_of("the process that ssh had started there was killed"));
    is_lost_ = true;
  }

  void hear_launcher() {
    std::array<char, 4096> buffer;
    while (!is_lost_) {
      const ssize_t size = read(STDIN_FILENO, buffer.data(), buffer.size());
      if (size > 0) {
        frames_.feed({buffer.data(), static_cast<std::size_t>(size)});
        heard_ = Deadline::after(kSilenceMax);
      } else if (size < 0 && errno == EINTR) {
        continue;
      } else {
        is_lost_ = size == 0 || errno != EAGAIN || heard_.is_past();
        break;
      }
    }
    try {
      while (const auto frame = frames_.next()) {
        if (frame->kind != FrameKind::Signal) continue;
        on_signal(ByteReader(frame->payload).get<std::int32_t>());
      }
    } catch (const Error&) {
      is_lost_ = true;
    }
  }

  void on_signal(int signal) {
    switch (signal) {
      case SIGCHLD:
        return;
      case SIGUSR1:
      case SIGUSR2:
      case SIGCONT:
        return ranks_.signal(signal);
      case SIGTSTP:
        return ranks_.signal(SIGSTOP);
      default:
        return send(escalation_.ask(signal, steady_clock().now()));
    }
  }

  void send(std::optional<int> signal) {
    if (!signal) return;
    ranks_.signal(*signal);
    if (*signal == SIGKILL) kill_all();
  }

  void on_reaped(pid_t pid, int status) {
    const RankExit* exit = ranks_.on_reaped(pid, status, oom_watch_);
    // Whoever ends because all is lost ends for no reason of its own.
    if (exit != nullptr && !is_lost_) say(FrameKind::Ended, encode_exit(*exit));
  }

  void kill_all() {
    host::kill_descendants(Deadline::after(kReapTime),
                           [this](pid_t pid, int status) { on_reaped(pid, status); });
  }

  // Nothing of the job may be left here; then what the dead have written is handed on.
  void end() {
    ranks_.signal(SIGKILL);
    kill_all();
    if (is_lost_) return drain(Deadline::after(kLastWordsTime));
    const auto is_open = [](const output::RankStream& stream) { return stream.is_open(); };
    Deadline quiet = Deadline::after(kLastWordsTime);
    while (std::any_of(ranks_.streams().begin(), ranks_.streams().end(), is_open)) {
      has_output_ = false;
      turn(quiet);
      if (has_output_ || !writer_.has_room()) quiet = Deadline::after(kLastWordsTime);
      if (quiet.is_past() || is_lost_) break;
    }
    drain(Deadline::after(kDrainTime));
  }

  void drain(Deadline patience) {
    while (!writer_.is_drained() && writer_.error() == 0 && !patience.is_past()) turn(patience);
  }

  LauncherOptions options_;
  const Order& order_;
  FrameReader frames_;
  host::OomWatch oom_watch_;
  Escalation escalation_;
  output::Writer writer_;
  Ranks ranks_;
  Deadline beat_ = Deadline::after(kBeatTime);
  Deadline heard_ = Deadline::after(kSilenceMax);
  bool is_lost_ = false;  // the launcher, or the process that ssh started
  bool has_output_ = false;
};

// What the launcher's environment said, on top of this host's own.
void take_environment(const Order& order) {
  for (const std::string& variable : order.environment) {
    const std::size_t equal = variable.find('=');
    if (equal == std::string::npos) continue;
    setenv(variable.substr(0, equal).c_str(), variable.substr(equal + 1).c_str(), 1);
  }
}

JobSpec spec_of(const Order& order) {
  JobSpec spec;
  spec.command = order.command;
  spec.program = find_program(order.program);
  spec.ranks = order.ranks;
  spec.grace = order.grace;
  spec.bind = order.bind;
  spec.memory_each = order.memory_each;
  spec.threads_each = order.threads_each;
  return spec;
}

}  // namespace

int run_agent() {
  signal(SIGPIPE, SIG_IGN);
  Intake intake(STDIN_FILENO, STDOUT_FILENO);
  try {
    const Order order = intake.take();
    if (chdir(order.folder.c_str()) != 0) {
      std::fprintf(stderr, "there is no %s here; ranks begin in the home folder\n",
                   order.folder.c_str());
    }
    take_environment(order);
    const JobSpec spec = spec_of(order);
    const std::string mistake = host::mistake_in_size(
        host::Room::measure(),
        {.ranks = spec.ranks, .memory_each = spec.memory_each, .threads_each = spec.threads_each});
    if (!mistake.empty()) throw Error(ErrorCode::InvalidInput, mistake);
    address_of(order);
    intake.wait_go();
    host::SignalQueue signals(
        {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT});
    const job::Folder folder = job::Folder::create(job::own_root(), "");
    net::Secret::from_hex(order.secret).save(folder.secret());
    return run_watched(spec, folder, signals, [&](const LauncherOptions& options) {
      return run_or_sweep(*options.folder,
                          [&] { return Agent(options, order, intake.frames()).run(); });
    });
  } catch (const std::exception& thrown) {
    intake.tell_trouble(as_error(thrown).message());
    return kExitFailure;
  }
}

}  // namespace trireme::cluster::launch::hosts
