#include "trireme/cluster/launch/hosts/launcher.h"

#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "trireme/base/error.h"
#include "trireme/base/exit_status.h"
#include "trireme/base/file.h"
#include "trireme/cluster/launch/ending.h"
#include "trireme/cluster/launch/host/process_tree.h"
#include "trireme/cluster/launch/hosts/bootstrap.h"
#include "trireme/cluster/launch/hosts/link.h"
#include "trireme/cluster/launch/hosts/portable.h"
#include "trireme/cluster/launch/job/card.h"
#include "trireme/cluster/launch/job/control.h"
#include "trireme/cluster/launch/output/rank_stream.h"
#include "trireme/cluster/launch/program.h"
#include "trireme/cluster/launch/report.h"
#include "trireme/cluster/launch/run_or_sweep.h"

namespace trireme::cluster::launch::hosts {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

constexpr auto kKillTime = 10s;
// How long agents have to see their ranks dead before the connection is cut.
constexpr Duration kMercyTime = 3s;

// Every rank comes with two connections, every host with three pipes.
void make_room_for_connections() {
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) != 0) return;
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
}

std::string without_newline(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

class Launcher final : public Link::Listener {
 public:
  explicit Launcher(const LauncherOptions& options)
      : options_(options),
        spec_(*options.spec),
        hosts_(*spec_.hosts),
        started_(wall_seconds()),
        ending_({.grace = spec_.grace,
                 .writer = &writer_,
                 .announce = [this](const std::string& why) { announce_end(why); },
                 .send = [this](int signal) { send(signal); }}) {}

  int run() {
    try {
      control_ = std::make_unique<job::Control>(
          *options_.folder,
          job::Control::Options{.output = spec_.output, .remote = meeting_address(hosts_)});
      begin();
      while (is_running()) turn(Deadline::never());
    } catch (const Error& error) {
      ending_.on_error(error);
    }
    end();
    return ending_.code().value_or(0);
  }

  void on_ready(Link&) override {
    if (++ready_ < links_.size() || ending_.has_begun()) return;
    has_begun_ = true;
    for (const auto& link : links_) link->go();
  }

  void on_started(Link& link, const RankStart& start) override {
    control_->publish("rank started",
                      {{"rank", start.rank}, {"pid", start.pid}, {"host", link.host()}});
  }

  void on_output(const OutputPiece& piece) override {
    const auto found = streams_.find({piece.rank, piece.target});
    if (found == streams_.end()) throw Error(ErrorCode::Protocol, "output of no rank of ours");
    found->second.feed(piece.bytes, steady_clock().now(), writer_);
  }

  void on_ended(Link& link, RankExit exit) override {
    const bool is_one = exit.rank >= link.first() && exit.rank < link.first() + link.ranks();
    if (!is_one || has_ended_[static_cast<std::size_t>(exit.rank)]) {
      throw Error(ErrorCode::Protocol, "the end of no rank of its own");
    }
    exit.host = link.host();
    // Its agent was asked to end by somebody else.
    if (!ending_.has_begun()) exit.signal_sent = 0;
    take_end(std::move(exit));
  }

  void on_words(Link& link, std::string_view line) override {
    say(link.host() + ": " + std::string(line));
  }

 private:
  void say(const std::string& text) const { ending_.say(text); }

  void begin() {
    make_room_for_connections();
    save_card("running");
    open_streams();
    const Cargo self = describe_self();
    Order order = common_order();
    const std::string ssh = needs_ssh() ? find_program(hosts_.ssh.front()).string() : "";
    for (const HostRanks& host : hosts_.list) {
      order.ranks = host.ranks;
      links_.push_back(std::make_unique<Link>(link_to(host, ssh, self, order), *this));
      order.first += host.ranks;
    }
    for (const auto& link : links_) link->start();
    control_->publish("job started", {{"job", options_.folder->name()},
                                      {"ranks", spec_.ranks},
                                      {"hosts", static_cast<int>(hosts_.list.size())},
                                      {"command", spec_.command_line()}});
  }

  bool needs_ssh() const {
    return std::ranges::any_of(hosts_.list, [](const auto& h) { return !is_this_host(h.name); });
  }

  Cargo describe_self() const {
    if (!needs_ssh()) return {};
    Cargo self = Cargo::of("/proc/self/exe");
    self.path = fs::read_symlink("/proc/self/exe");
    return self;
  }

  Link::Options link_to(const HostRanks& host, const std::string& ssh, const Cargo& self,
                        const Order& order) const {
    Link::Options link{.host = host.name,
                       .command = {"trireme", "agent"},
                       .program = "/proc/self/exe",
                       .is_ssh = !is_this_host(host.name),
                       .self = self,
                       .order = order,
                       .mask = options_.signals->mask_before()};
    if (!link.is_ssh) return link;
    link.program = ssh;
    link.command = hosts_.ssh;
    const std::string line = bootstrap_line(self);
    link.command.push_back(host.name);
    if (!hosts_.has_login_shell) link.command.insert(link.command.end(), {"/bin/sh", "-c"});
    link.command.push_back(line);
    return link;
  }

  Order common_order() const {
    Order order;
    order.job = options_.folder->name();
    order.secret = without_newline(read_file(options_.folder->secret()));
    order.size = spec_.ranks;
    order.command = spec_.command;
    order.program = spec_.program.string();
    order.folder = fs::current_path().string();
    order.environment = portable(own_environment());
    order.store = control_->remote_address();
    order.interface = hosts_.interface;
    order.bind = spec_.bind;
    order.grace = spec_.grace;
    order.memory_each = spec_.memory_each;
    order.threads_each = spec_.threads_each;
    if (!is_of_the_system(spec_.program)) order.cargo.push_back(Cargo::of(spec_.program));
    for (const fs::path& file : hosts_.files) order.cargo.push_back(Cargo::of(file));
    return order;
  }

  void open_streams() {
    has_ended_.assign(static_cast<std::size_t>(spec_.ranks), false);
    tails_.resize(static_cast<std::size_t>(spec_.ranks));
    for (int rank = 0; rank < spec_.ranks; ++rank) {
      logs_.push_back(output::open_log(spec_.output, rank, false));
      for (const int target : {STDOUT_FILENO, STDERR_FILENO}) {
        streams_.try_emplace({rank, target},
                             output::RankStream::Options{
                                 .rank = rank,
                                 .pipe = {},
                                 .target = target,
                                 .prefix = output::prefix_of(rank, output::wants_colour(target)),
                                 .is_terminal = isatty(target) == 1,
                                 .tail = &tails_[static_cast<std::size_t>(rank)],
                                 .log = logs_.back().get()});
      }
    }
  }

  void save_card(const std::string& state) {
    job::Card{.name = options_.folder->name(),
              .ranks = spec_.ranks,
              .living = spec_.ranks - static_cast<int>(exits_.size()),
              .wanted = spec_.ranks,
              .state = state,
              .command = spec_.command_line(),
              .started = started_,
              .front = options_.front_pid,
              .launcher = getpid(),
              .output = spec_.output.string()}
        .save(options_.folder->card());
  }

  bool is_running() const {
    return std::ranges::any_of(links_, [](const auto& link) { return !link->is_over(); });
  }

  // Waits until something happens, or the deadline, and acts on it.
  void turn(Deadline deadline) {
    std::vector<pollfd> waits;
    for (const int file :
         {ending_.is_abandoned() ? -1 : options_.front, options_.signals->descriptor(),
          control_->descriptor(), writer_.event()}) {
      waits.push_back({.fd = file, .events = POLLIN, .revents = 0});
    }
    const bool has_room = writer_.has_room();
    deadline = min(min(deadline, ending_.next()), min(beat_, mercy_));
    for (const auto& link : links_) link->add_waits(waits, has_room);
    poll(waits.data(), waits.size(), deadline.poll_timeout());
    writer_.clear_event();
    hear_front();
    while (const auto signal = options_.signals->next()) on_signal(*signal);
    while (const auto wish = control_->take_wish()) on_wish(*wish);
    if (writer_.error() != 0) ending_.on_output_lost();
    host::reap_children([this](pid_t pid, int status) { on_reaped(pid, status); });
    for (const auto& link : links_) {
      link->pump(steady_clock().now(), writer_.has_room());
      if (link->take_over()) on_over(*link);
    }
    keep_time();
  }

  void keep_time() {
    if (beat_.is_past()) {
      beat_ = Deadline::after(kBeatTime);
      for (const auto& link : links_) link->beat();
    }
    if (ending_.next().is_past()) ending_.on_time();
    if (mercy_.is_past()) {
      mercy_ = Deadline::never();
      for (const auto& link : links_) link->cut("it did not end in time");
    }
  }

  void hear_front() {
    FrontMessage message;
    ssize_t size = 0;
    while ((size = recv(options_.front, &message, sizeof(message), MSG_DONTWAIT)) > 0) {
      if (message.pid == 0) on_signal(message.signal);
    }
    if (size != 0 || ending_.is_abandoned()) return;
    ending_.on_abandoned();
    send(SIGKILL);
  }

  void on_signal(int signal) {
    if (signal == SIGCHLD) return;
    if (signal == SIGUSR1 || signal == SIGUSR2 || signal == SIGCONT || signal == SIGTSTP) {
      for (const auto& link : links_) link->signal(signal);
      return;
    }
    ending_.on_signal(signal);
  }

  void on_wish(const job::Wish& wish) {
    if (wish.kind == job::Wish::Kind::Stop) return ending_.on_stop(SIGTERM);
    if (wish.kind == job::Wish::Kind::Kill) return ending_.on_stop(SIGKILL);
    if (!wish.caller) return;
    wish.caller->fail(Error(ErrorCode::InvalidInput, "a job on several hosts is not elastic"));
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
    for (const auto& link : links_) link->signal(signal);
    // An agent that has no ranks yet only waits for us to go.
    if (signal == SIGKILL || !has_begun_) mercy_ = min(mercy_, Deadline::after(kMercyTime));
  }

  void on_reaped(pid_t pid, int status) {
    for (const auto& link : links_) {
      if (link->on_reaped(pid, status, steady_clock().now())) return;
    }
  }

  // A host is gone: as it should, or with its ranks.
  void on_over(Link& link) {
    std::vector<int> lost;
    for (int rank = link.first(); rank < link.first() + link.ranks(); ++rank) {
      if (!has_ended_[static_cast<std::size_t>(rank)]) lost.push_back(rank);
    }
    if (lost.empty()) return;
    const std::string why = link.failure();
    if (!has_begun_) return on_unusable(link, why);
    control_->publish("host lost", {{"host", link.host()}, {"why", why}});
    for (const int rank : lost) {
      RankExit exit{.rank = rank, .status = SIGKILL, .host = link.host(), .lost = why};
      // Where somebody wanted the end, nobody is to blame for it.
      if (ending_.is_told()) exit.signal_sent = SIGKILL;
      take_end(std::move(exit));
    }
  }

  void on_unusable(Link& link, const std::string& why) {
    for (int rank = link.first(); rank < link.first() + link.ranks(); ++rank) {
      has_ended_[static_cast<std::size_t>(rank)] = true;
    }
    if (ending_.has_begun()) return;
    say("host " + link.host() + " cannot take part: " + why);
    ending_.begin("host " + link.host() + " cannot take part", kExitFailure);
  }

  void take_end(RankExit exit) {
    has_ended_[static_cast<std::size_t>(exit.rank)] = true;
    const bool has_failed = !exit.is_success() && !exit.is_ours();
    control_->publish(has_failed ? "rank failed" : "rank ended",
                      {{"rank", exit.rank}, {"host", exit.host}, {"how", describe(exit)}});
    const bool is_success = exit.is_success();
    const std::string why = "rank " + std::to_string(exit.rank) + " failed";
    exits_.push_back(std::move(exit));
    if (is_success || ending_.has_begun()) return;
    ending_.begin(why);
  }

  void end() {
    links_.clear();
    const std::size_t left = host::kill_descendants(Deadline::after(kKillTime), [](pid_t, int) {});
    if (left > 0) say(std::to_string(left) + " processes of the job could not be killed");
    for (auto& [key, stream] : streams_) stream.end(writer_);
    const auto tail_of = [this](int rank) -> const output::Tail& {
      return tails_[static_cast<std::size_t>(rank)];
    };
    writer_.push(STDERR_FILENO, report_failure(exits_, tail_of));
    if (const auto culprit = blame(exits_); culprit) {
      ending_.set_code(exit_code_of(exits_[*culprit]));
    }
    const Deadline patience = ending_.last_words();
    if (!control_) return drain_without_control();
    while (!writer_.is_drained() && !ending_.is_hurried() && !patience.is_past()) turn(patience);
    control_->publish("job ended", {{"code", ending_.code().value_or(0)}});
    control_.reset();
  }

  void drain_without_control() {
    const Deadline patience = Deadline::after(kMercyTime);
    while (!writer_.is_drained() && !patience.is_past()) {
      pollfd wait{.fd = writer_.event(), .events = POLLIN, .revents = 0};
      poll(&wait, 1, patience.poll_timeout());
      writer_.clear_event();
    }
  }

  LauncherOptions options_;
  const JobSpec& spec_;
  const Hosts& hosts_;
  const double started_;
  output::Writer writer_;
  Ending ending_;
  std::vector<output::Tail> tails_;  // by rank; streams point into it
  std::vector<Descriptor> logs_;
  std::map<std::pair<int, int>, output::RankStream> streams_;
  std::unique_ptr<job::Control> control_;
  std::vector<std::unique_ptr<Link>> links_;
  std::vector<bool> has_ended_;
  std::vector<RankExit> exits_;
  std::size_t ready_ = 0;
  Deadline beat_ = Deadline::after(kBeatTime);
  Deadline mercy_ = Deadline::never();  // then connections are cut
  bool has_begun_ = false;              // every host has its ranks
};

}  // namespace

int run_launcher(const LauncherOptions& options) noexcept {
  return run_or_sweep(*options.folder, [&] { return Launcher(options).run(); });
}

}  // namespace trireme::cluster::launch::hosts
