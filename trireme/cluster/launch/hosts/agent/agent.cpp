#include "trireme/cluster/launch/hosts/agent/agent.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "trireme/base/bytes.h"
#include "trireme/base/error.h"
#include "trireme/base/exit_status.h"
#include "trireme/base/hash/sha256.h"
#include "trireme/cluster/launch/host/process_tree.h"
#include "trireme/cluster/launch/host/room.h"
#include "trireme/cluster/launch/hosts/agent/handover.h"
#include "trireme/cluster/launch/hosts/agent/intake.h"
#include "trireme/cluster/launch/job/root.h"
#include "trireme/cluster/launch/launcher.h"
#include "trireme/cluster/launch/local_host.h"
#include "trireme/cluster/launch/output/writer.h"
#include "trireme/cluster/launch/rank/program.h"
#include "trireme/cluster/launch/watch/front.h"
#include "trireme/cluster/launch/watch/run_or_sweep.h"
#include "trireme/net/address.h"
#include "trireme/net/auth/secret.h"

namespace trireme::cluster::launch::hosts {
namespace {

using namespace std::chrono_literals;

constexpr Duration kLastWordsTime = 300ms;
constexpr Duration kDrainTime = 30s;
constexpr Duration kHandoverTime = 5s;
constexpr std::size_t kExitsMax = 32;
constexpr int kNotStarted = 127 << 8;  // in the format of wait(2)

void set_non_blocking(const Descriptor& file) {
  fcntl(file.get(), F_SETFL, fcntl(file.get(), F_GETFL) | O_NONBLOCK);
}

// Where other ranks reach those on this host.
std::string address_of(const StartOrder& order) {
  if (!order.interface.empty()) return net::host_address(order.interface);
  return net::address_towards(net::Address::parse(order.feed).host);
}

Ranks::Options ranks_options(const LauncherOptions& options, const StartOrder& order) {
  return {.spec = options.spec,
          .job = order.job,
          .folder = options.folder->path(),
          .mask = options.signals->mask_before(),
          .orphan_timeout = order.orphan_timeout > Duration::zero()
                                ? std::optional(order.orphan_timeout)
                                : std::nullopt,
          .part = RanksPart{.first = order.first,
                            .address = address_of(order),
                            .envelope = [](int rank, int target, std::string_view bytes) {
                              return encode_frame(LaunchFrameKind::Output,
                                                  encode_output(rank, target, bytes));
                            }}};
}

class Agent final : private RankListener {
 public:
  Agent(const LauncherOptions& options, const StartOrder& order, LaunchFrameReader frames)
      : options_(options),
        order_(order),
        frames_(std::move(frames)),
        input_(dup(STDIN_FILENO)),
        local_({.ranks = ranks_options(options, order),
                .reaped = [this](pid_t pid, int status) { local_.on_reaped(pid, status); }}) {
    set_non_blocking(input_);
    set_writer(std::make_unique<output::Writer>(Descriptor(dup(STDOUT_FILENO))));
    // No other launcher will ever look for ranks that end with this one.
    if (order.orphan_timeout > Duration::zero()) handover_.emplace(options.folder->path());
  }

  int run() {
    try {
      local_.begin(*this, order_.store, order_.feed);
      tell_all();
    } catch (const Error& error) {
      say(LaunchFrameKind::Trouble, bytes_of(error.message()));
      is_lost_ = true;
    }
    hear_launcher();
    while (!is_lost_ && !is_ended_) turn(Deadline::never());
    end();
    return is_lost_ ? kExitFailure : 0;
  }

 private:
  void set_writer(std::unique_ptr<output::Writer> writer) {
    local_.records().set_writer(writer.get());
    writer_ = std::move(writer);
  }

  void say(LaunchFrameKind kind, ByteView payload = {}) {
    if (writer_) writer_->push(STDOUT_FILENO, encode_frame(kind, payload));
  }

  // For a launcher that does not know this agent yet, or missed events while it was disconnected.
  void tell_all() {
    for (const RankExit& exit : local_.records().exits()) {
      say(LaunchFrameKind::Ended, encode_exit(exit));
    }
    std::vector<RankStart> living;
    for (const job::WorkerEntry& member : local_.ranks().worker_list().members) {
      living.push_back({.rank = member.worker, .pid = member.pid});
    }
    say(LaunchFrameKind::Living, encode_starts(living));
  }

  // The launcher is gone. The workers of an elastic job continue for a while.
  void detach() {
    input_.reset();
    giver_.reset();
    set_writer(nullptr);
    frames_ = {};
    heard_ = Deadline::never();
    launcher_by_ = Deadline::after(order_.orphan_timeout);
  }

  void attach(LauncherConnection wire) {
    input_ = std::move(wire.input);
    set_non_blocking(input_);
    giver_ = std::move(wire.giver);
    set_writer(std::make_unique<output::Writer>(std::move(wire.output)));
    frames_ = {};
    frames_.feed(wire.rest);
    local_.ranks().set_feed(wire.feed);
    heard_ = Deadline::after(kSilenceMax);
    launcher_by_ = Deadline::never();
    tell_all();
  }

  void turn(Deadline deadline) {
    std::vector<pollfd> waits;
    for (const int file : {is_lost_ ? -1 : options_.front, is_lost_ ? -1 : input_.get(),
                           options_.signals->descriptor(), writer_ ? writer_->event() : -1,
                           handover_ ? handover_->descriptor() : -1, giver_.get()}) {
      waits.push_back({.fd = file, .events = POLLIN, .revents = 0});
    }
    deadline = min(deadline, local_.add_waits(waits, writer_ && writer_->has_room()));
    deadline = min(min(deadline, beat_), min(heard_, launcher_by_));
    poll(waits.data(), waits.size(), deadline.poll_timeout());
    if (writer_) writer_->clear_event();
    hear_front();
    hear_launcher();
    while (const auto signal = options_.signals->next()) on_signal(*signal);
    if (writer_ && writer_->error() != 0) detach();
    local_.pump(waits);
    host::reap_children([this](pid_t pid, int status) { local_.on_reaped(pid, status); });
    if (beat_.is_past()) {
      beat_ = Deadline::after(kBeatTime);
      say(LaunchFrameKind::Beat);
    }
    if (handover_) hear_newcomers();
    if (launcher_by_.is_past()) is_lost_ = true;
  }

  void hear_newcomers() {
    char nothing = 0;
    if (giver_ && recv(giver_.get(), &nothing, 1, MSG_DONTWAIT) == 0) detach();
    // The last connection is the one from the live launcher.
    while (auto wire = handover_->take()) attach(*std::move(wire));
  }

  void hear_front() {
    FrontMessage message;
    ssize_t size = 0;
    while ((size = recv(options_.front, &message, sizeof(message), MSG_DONTWAIT)) > 0) {
      if (message.pid == 0) on_signal(message.signal);
    }
    if (size != 0 || is_lost_) return;
    say(LaunchFrameKind::Trouble, bytes_of("the process that ssh had started there was killed"));
    is_lost_ = true;
  }

  void hear_launcher() {
    std::array<char, 4096> buffer;
    while (!is_lost_ && writer_) {
      const ssize_t size = read(input_.get(), buffer.data(), buffer.size());
      if (size > 0) {
        frames_.feed({buffer.data(), static_cast<std::size_t>(size)});
        heard_ = Deadline::after(kSilenceMax);
      } else if (size < 0 && errno == EINTR) {
        continue;
      } else {
        const bool is_gone = size == 0 || errno != EAGAIN || heard_.is_past();
        if (!is_gone) break;
        // The last frames may have said that the job is over.
        obey();
        detach();
      }
    }
    if (!obey()) detach();
  }

  // Handles the received frames. Returns false if they are malformed; true also once the job is
  // over.
  bool obey() {
    try {
      while (const auto frame = frames_.next()) {
        ByteReader in(frame->payload);
        if (frame->kind == LaunchFrameKind::Signal) local_.ranks().signal(in.get<std::int32_t>());
        if (frame->kind == LaunchFrameKind::Start) start(decode_rank_order(frame->payload));
        if (frame->kind == LaunchFrameKind::Kill) {
          local_.ranks().kill_rank(in.get<std::int32_t>(), "by its launcher");
        }
        if (frame->kind == LaunchFrameKind::End) is_ended_ = true;
      }
      return true;
    } catch (const Error&) {
      return false;
    }
  }

  void start(const RankOrder& order) {
    if (is_ended_) return;
    try {
      local_.ranks().start(order);
    } catch (const Error& error) {
      say(LaunchFrameKind::Ended,
          encode_exit({.rank = order.rank, .status = kNotStarted, .not_started = error.message()}));
    }
  }

  // From another process than the launcher, which escalates signals itself.
  void on_signal(int signal) {
    if (signal != SIGCHLD) local_.ranks().signal(signal == SIGTSTP ? SIGSTOP : signal);
  }

  void on_started(int rank, const Record& /*where*/) override {
    say(LaunchFrameKind::Started, encode_start({.rank = rank, .pid = local_.ranks().pid(rank)}));
  }

  void on_ended(const RankExit& exit, const std::string& /*failure*/) override {
    // A rank that ends because everything here is killed did not fail by itself.
    if (is_lost_) return;
    say(LaunchFrameKind::Ended, encode_exit(exit));
    // The kept exits are reported again after a lost connection.
    const std::vector<RankExit>& kept = local_.records().exits();
    if (kept.size() > kExitsMax) local_.records().forget_exit(kept.front().rank);
  }

  // Kills every process of the job on this host, and then forwards the output of the dead.
  void end() {
    handover_.reset();
    local_.end();
    if (is_lost_) return drain_writer(Deadline::after(kLastWordsTime));
    local_.records().drain([this](Deadline deadline) { turn(deadline); },
                           [this] { return is_lost_ || !writer_; });
    drain_writer(Deadline::after(kDrainTime));
  }

  void drain_writer(Deadline patience) {
    while (writer_ && !writer_->is_drained() && writer_->error() == 0 && !patience.is_past()) {
      turn(patience);
    }
  }

  LauncherOptions options_;
  const StartOrder& order_;
  LaunchFrameReader frames_;
  Descriptor input_;
  std::unique_ptr<output::Writer> writer_;  // null: the launcher is not connected
  LocalHost local_;
  std::optional<Handover> handover_;  // elastic jobs only
  Descriptor giver_;                  // of the connection that was handed over
  Deadline beat_ = Deadline::after(kBeatTime);
  Deadline heard_ = Deadline::after(kSilenceMax);
  Deadline launcher_by_ = Deadline::never();  // after that no launcher is expected any more
  bool is_lost_ = false;                      // everything here has to be killed
  bool is_ended_ = false;                     // the launcher ended the job
};

// Adds the variables from the launcher's environment to this host's environment.
void take_environment(const StartOrder& order) {
  for (const std::string& variable : order.environment) {
    const std::size_t equal = variable.find('=');
    if (equal == std::string::npos) continue;
    setenv(variable.substr(0, equal).c_str(), variable.substr(equal + 1).c_str(), 1);
  }
}

JobSpec spec_of(const StartOrder& order) {
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

// The agents of one host in an elastic job must find each other, so the folder's name is fixed.
std::string folder_name(const StartOrder& order) {
  constexpr std::size_t kMarkSize = 12;
  const std::string mark = to_hex(sha256(bytes_of(order.secret))).substr(0, kMarkSize);
  return "host-" + mark + "-" + std::to_string(order.host);
}

void expect_room(const JobSpec& spec) {
  const std::string mistake = host::mistake_in_size(
      host::Room::measure(),
      {.ranks = spec.ranks, .memory_each = spec.memory_each, .threads_each = spec.threads_each});
  if (!mistake.empty()) throw Error(ErrorCode::InvalidInput, mistake);
}

// Hands the connection over to the agent that already runs here. False: there is none.
bool hand_over(const std::filesystem::path& folder, const StartOrder& order, Intake& intake) {
  const LauncherConnection wire{.input = Descriptor(dup(STDIN_FILENO)),
                                .output = Descriptor(dup(STDOUT_FILENO)),
                                .feed = order.feed,
                                .rest = std::string(intake.frames().rest())};
  return Handover::give(folder, wire, Deadline::after(kHandoverTime));
}

}  // namespace

int run_agent() {
  signal(SIGPIPE, SIG_IGN);
  Intake intake(STDIN_FILENO, STDOUT_FILENO);
  try {
    const StartOrder order = intake.take();
    if (chdir(order.folder.c_str()) != 0) {
      std::fprintf(stderr, "%s does not exist here; ranks start in the home folder\n",
                   order.folder.c_str());
    }
    take_environment(order);
    const JobSpec spec = spec_of(order);
    const std::string name = folder_name(order);
    if (!job::is_watched(job::own_root() / name)) expect_room(spec);
    address_of(order);
    if (hand_over(job::own_root() / name, order, intake)) return 0;
    host::SignalQueue signals(
        {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT});
    const job::Folder folder = job::Folder::create(job::own_root(), name);
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
