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
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "trireme/base/bytes.h"
#include "trireme/base/error.h"
#include "trireme/base/exit_status.h"
#include "trireme/base/hash/sha256.h"
#include "trireme/cluster/launch/escalation.h"
#include "trireme/cluster/launch/front.h"
#include "trireme/cluster/launch/host/cgroup.h"
#include "trireme/cluster/launch/host/process_tree.h"
#include "trireme/cluster/launch/host/processors.h"
#include "trireme/cluster/launch/host/room.h"
#include "trireme/cluster/launch/hosts/handover.h"
#include "trireme/cluster/launch/hosts/intake.h"
#include "trireme/cluster/launch/job/root.h"
#include "trireme/cluster/launch/launcher.h"
#include "trireme/cluster/launch/output/writer.h"
#include "trireme/cluster/launch/program.h"
#include "trireme/cluster/launch/ranks.h"
#include "trireme/cluster/launch/run_or_sweep.h"
#include "trireme/net/address.h"
#include "trireme/net/auth/secret.h"

namespace trireme::cluster::launch::hosts {
namespace {

using namespace std::chrono_literals;

constexpr auto kReapTime = 10s;
constexpr Duration kLastWordsTime = 300ms;
constexpr Duration kDrainTime = 30s;
constexpr Duration kHandoverTime = 5s;
constexpr std::size_t kExitsMax = 32;
constexpr int kNotStarted = 127 << 8;  // in the format of wait(2)

void set_non_blocking(const Descriptor& file) {
  fcntl(file.get(), F_SETFL, fcntl(file.get(), F_GETFL) | O_NONBLOCK);
}

// Where other ranks reach those on this host.
std::string address_of(const Order& order) {
  if (!order.interface.empty()) return net::host_address(order.interface);
  return net::address_towards(net::Address::parse(order.feed).host);
}

Ranks::Options ranks_of(const LauncherOptions& options, const Order& order) {
  const JobSpec& spec = *options.spec;
  return {
      .spec = &spec,
      .job = order.job,
      .folder = options.folder->path(),
      .cores = host::plan_cores({.processors = host::allowed_processors(),
                                 .quota = host::Cgroup().processor_quota().value_or(0),
                                 .ranks = spec.ranks,
                                 .bind = spec.bind,
                                 .threads = threads_wanted(own_environment())}),
      .mask = options.signals->mask_before(),
      .store = order.store,
      .part = RanksPart{
          .first = order.first,
          .size = order.size,
          .address = address_of(order),
          .feed = order.feed,
          .orphan_timeout = order.is_elastic() ? std::optional(order.orphan_timeout) : std::nullopt,
          .envelope = [](int rank, int target, std::string_view bytes) {
            return encode_frame(FrameKind::Output, encode_output(rank, target, bytes));
          }}};
}

class Agent {
 public:
  Agent(const LauncherOptions& options, const Order& order, FrameReader frames)
      : options_(options),
        order_(order),
        frames_(std::move(frames)),
        escalation_(order.grace),
        input_(dup(STDIN_FILENO)),
        writer_(std::make_unique<output::Writer>(Descriptor(dup(STDOUT_FILENO)))),
        ranks_(ranks_of(options, order)) {
    if (order.is_elastic()) handover_.emplace(options.folder->path());
  }

  int run() {
    set_non_blocking(input_);
    try {
      begin();
    } catch (const Error& error) {
      say(FrameKind::Trouble, bytes_of(error.message()));
      is_lost_ = true;
    }
    hear_launcher();
    while (!is_over()) turn(Deadline::never());
    end();
    return is_lost_ ? kExitFailure : 0;
  }

 private:
  void begin() {
    if (order_.is_elastic()) {
      ranks_.prepare();
      return tell_all();
    }
    ranks_.start();
    for (int i = 0; i < order_.ranks; ++i) tell_started(order_.first + i);
  }

  bool is_over() const {
    return is_lost_ || is_ended_ || (!order_.is_elastic() && ranks_.alive() == 0);
  }

  // The launcher is connected.
  bool is_attached() const { return writer_ != nullptr; }
  bool has_room() const { return writer_ && writer_->has_room(); }

  void say(FrameKind kind, ByteView payload = {}) {
    if (writer_) writer_->push(STDOUT_FILENO, encode_frame(kind, payload));
  }

  void tell_started(int rank) {
    say(FrameKind::Started, encode_start({.rank = rank, .pid = ranks_.pid(rank)}));
  }

  // For a launcher that does not know this agent yet, or missed events while it was disconnected.
  void tell_all() {
    for (const RankExit& exit : ranks_.exits()) say(FrameKind::Ended, encode_exit(exit));
    std::vector<RankStart> living;
    for (const job::WorkerEntry& member : ranks_.worker_list()) {
      living.push_back({.rank = member.worker, .pid = member.pid});
    }
    say(FrameKind::Aboard, encode_starts(living));
  }

  // The launcher is gone. The workers of an elastic job continue for a while.
  void detach() {
    if (!order_.is_elastic()) {
      is_lost_ = true;
      return;
    }
    input_.reset();
    giver_.reset();
    writer_.reset();
    frames_ = {};
    heard_ = Deadline::never();
    orphaned_ = Deadline::after(order_.orphan_timeout);
  }

  void attach(Wire wire) {
    input_ = std::move(wire.input);
    set_non_blocking(input_);
    giver_ = std::move(wire.giver);
    writer_ = std::make_unique<output::Writer>(std::move(wire.output));
    frames_ = {};
    frames_.feed(wire.rest);
    ranks_.set_feed(wire.feed);
    heard_ = Deadline::after(kSilenceMax);
    orphaned_ = Deadline::never();
    tell_all();
  }

  void turn(Deadline deadline) {
    std::vector<pollfd> waits;
    for (const int file : {is_lost_ ? -1 : options_.front, is_lost_ ? -1 : input_.get(),
                           options_.signals->descriptor(), writer_ ? writer_->event() : -1,
                           handover_ ? handover_->descriptor() : -1, giver_.get()}) {
      waits.push_back({.fd = file, .events = POLLIN, .revents = 0});
    }
    for (const output::RankStream& stream : ranks_.streams()) {
      if (!has_room() || !stream.is_open()) continue;
      waits.push_back({.fd = stream.descriptor(), .events = POLLIN, .revents = 0});
    }
    const Deadline first =
        min(min(deadline, escalation_.next()), min(min(beat_, heard_), orphaned_));
    poll(waits.data(), waits.size(), first.poll_timeout());
    if (writer_) writer_->clear_event();
    hear_front();
    hear_launcher();
    while (const auto signal = options_.signals->next()) on_signal(*signal);
    if (writer_ && writer_->error() != 0) detach();
    for (output::RankStream& stream : ranks_.streams()) {
      if (has_room() && stream.is_open()) {
        has_output_ |= stream.pump(steady_clock().now(), *writer_);
      }
    }
    host::reap_children([this](pid_t pid, int status) { on_reaped(pid, status); });
    ranks_.release_forgotten();
    if (escalation_.next().is_past()) send(escalation_.tick(steady_clock().now()));
    if (beat_.is_past()) {
      beat_ = Deadline::after(kBeatTime);
      say(FrameKind::Beat);
    }
    if (handover_) hear_newcomers();
    if (orphaned_.is_past()) is_lost_ = true;
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
    say(FrameKind::Trouble, bytes_of("the process that ssh had started there was killed"));
    is_lost_ = true;
  }

  void hear_launcher() {
    std::array<char, 4096> buffer;
    while (!is_lost_ && is_attached()) {
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
        if (frame->kind == FrameKind::Signal) {
          on_signal(ByteReader(frame->payload).get<std::int32_t>());
        }
        if (frame->kind == FrameKind::Start) start(decode_worker_order(frame->payload));
        if (frame->kind == FrameKind::Kill) {
          ranks_.kill_one(ByteReader(frame->payload).get<std::int32_t>(), "by its launcher");
        }
        if (frame->kind == FrameKind::End) is_ended_ = true;
      }
      return true;
    } catch (const Error&) {
      return false;
    }
  }

  void start(const WorkerOrder& wanted) {
    if (is_ended_) return;
    try {
      ranks_.set_size(wanted.size);
      ranks_.start_as(wanted.worker, wanted.arguments);
      tell_started(wanted.worker);
    } catch (const Error& error) {
      say(FrameKind::Ended,
          encode_exit(
              {.rank = wanted.worker, .status = kNotStarted, .not_started = error.message()}));
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
        // The launcher of an elastic job escalates signals itself, and may start other workers
        // afterwards.
        if (order_.is_elastic()) return send(signal);
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
    // A rank that ends because everything here is killed did not fail by itself.
    if (exit == nullptr || is_lost_) return;
    if (order_.is_elastic()) {
      host::kill_group(getpid(), pid);
      // The launcher reports the end together with the failure that the worker wrote.
      if (writer_) ranks_.read_rest(exit->rank, *writer_);
    }
    say(FrameKind::Ended, encode_exit(*exit));
    if (!order_.is_elastic()) return;
    // The kept exits are reported again after a lost connection.
    if (ranks_.exits().size() > kExitsMax) ranks_.forget(ranks_.exits().front().rank);
  }

  void kill_all() {
    host::kill_descendants(Deadline::after(kReapTime),
                           [this](pid_t pid, int status) { on_reaped(pid, status); });
  }

  // Kills every process of the job on this host, and then forwards the output of the dead.
  void end() {
    handover_.reset();
    ranks_.signal(SIGKILL);
    kill_all();
    if (is_lost_) return drain(Deadline::after(kLastWordsTime));
    const auto is_open = [](const output::RankStream& stream) { return stream.is_open(); };
    Deadline quiet = Deadline::after(kLastWordsTime);
    while (std::any_of(ranks_.streams().begin(), ranks_.streams().end(), is_open)) {
      has_output_ = false;
      turn(quiet);
      if (has_output_ || !has_room()) quiet = Deadline::after(kLastWordsTime);
      if (quiet.is_past() || is_lost_ || !is_attached()) break;
    }
    drain(Deadline::after(kDrainTime));
  }

  void drain(Deadline patience) {
    while (writer_ && !writer_->is_drained() && writer_->error() == 0 && !patience.is_past()) {
      turn(patience);
    }
  }

  LauncherOptions options_;
  const Order& order_;
  FrameReader frames_;
  host::OomWatch oom_watch_;
  Escalation escalation_;
  Descriptor input_;
  std::unique_ptr<output::Writer> writer_;  // null: the launcher is not connected
  Ranks ranks_;
  std::optional<Handover> handover_;  // elastic jobs only
  Descriptor giver_;                  // of the connection that was handed over
  Deadline beat_ = Deadline::after(kBeatTime);
  Deadline heard_ = Deadline::after(kSilenceMax);
  Deadline orphaned_ = Deadline::never();  // after that no launcher is expected any more
  bool is_lost_ = false;                   // everything here has to be killed
  bool is_ended_ = false;                  // the launcher ended the job
  bool has_output_ = false;
};

// Adds the variables from the launcher's environment to this host's environment.
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

// The agents of an elastic job must find each other, so the folder's name is fixed; other agents
// each have their own folder.
std::string folder_name(const Order& order) {
  if (!order.is_elastic()) return {};
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
bool hand_over(const std::filesystem::path& folder, const Order& order, Intake& intake) {
  const Wire wire{.input = Descriptor(dup(STDIN_FILENO)),
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
    const Order order = intake.take();
    if (chdir(order.folder.c_str()) != 0) {
      std::fprintf(stderr, "%s does not exist here; ranks start in the home folder\n",
                   order.folder.c_str());
    }
    take_environment(order);
    const JobSpec spec = spec_of(order);
    const std::string name = folder_name(order);
    if (name.empty() || !job::is_watched(job::own_root() / name)) expect_room(spec);
    address_of(order);
    intake.wait_go();
    if (!name.empty() && hand_over(job::own_root() / name, order, intake)) return 0;
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
