// HostLink is the launcher's side of one host: the ssh process that leads there, and the frames
// sent through it.
//
// Protocol:      it starts ssh, sends this program if the host lacks it, then the order and the
//                files that the agent requests, and forwards what the agent reports about its
//                ranks. On the launching host itself the agent runs without ssh.
// End:           is_over() once ssh is dead and everything was read; failure() then returns the
//                reason if it was not an orderly end. Whatever ends ssh also ends the agent and its
//                ranks, because their standard input closes.
// Bounds:        files are read while they are sent. The caller pumps only while it has room for
//                output. A host that is silent for kSilenceMax, or takes kStartMax to start, is
//                given up.
// Errors:        start() throws when no process can be created. Other failures do not throw; they
//                end the link.
// Thread safety: one thread, which must live as long as the job (see spawn.h).

#pragma once

#include <poll.h>
#include <signal.h>
#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trireme/base/deadline.h"
#include "trireme/base/file/descriptor.h"
#include "trireme/cluster/launch/hosts/protocol/frame.h"
#include "trireme/cluster/launch/hosts/protocol/order.h"
#include "trireme/cluster/launch/output/line_splitter.h"

namespace trireme::cluster::launch::hosts {

class HostLink {
 public:
  // From ssh's start to the agent's first frame, while nothing is transferred.
  static constexpr Duration kStartMax = std::chrono::seconds(60);

  // Called inside pump() for each received message.
  class Listener {
   public:
    virtual ~Listener() = default;
    virtual void on_started(HostLink& link, const RankStart& start) = 0;
    virtual void on_output(const OutputPiece& piece) = 0;
    virtual void on_ended(HostLink& link, RankExit exit) = 0;
    // The agent is ready. All live ranks on the host; later changes are reported one by one.
    virtual void on_living(HostLink& link, const std::vector<RankStart>& living) = 0;
    // A line that ssh or the agent wrote to its standard error.
    virtual void on_words(HostLink& link, std::string_view line) = 0;
  };

  struct Options {
    std::string host{};
    std::vector<std::string> command{};  // ssh and its arguments, or the agent
    std::string program{};               // where the command's first word was found
    bool is_ssh = true;                  // false: the agent is started directly
    bool dies_with_us = true;            // false: an agent of an elastic job
    JobFile self{};                      // this program
    StartOrder order{};
    sigset_t mask{};
  };

  HostLink(Options options, Listener& listener);
  ~HostLink();
  HostLink(const HostLink&) = delete;
  HostLink& operator=(const HostLink&) = delete;

  void start();
  void start_rank(const RankOrder& order) { say(LaunchFrameKind::Start, encode_rank_order(order)); }
  void kill_rank(int rank) {
    say(LaunchFrameKind::Kill, ByteWriter().put(static_cast<std::int32_t>(rank)).bytes());
  }
  // Kills what is left on the host and ends the agent.
  void end();
  void signal(int number);
  void beat();
  // Reduces the time that a silent host is tolerated.
  void hurry(Duration silence_max);
  // Ends the connection now, which ends everything that runs on the host.
  void cut(const std::string& why);

  void add_waits(std::vector<pollfd>& waits, bool has_room) const;
  // Reads and writes without blocking. True if something arrived.
  bool pump(TimePoint now, bool has_room);
  // True for the process of this link.
  bool on_reaped(pid_t pid, int status, TimePoint now);

  const std::string& host() const noexcept { return options_.host; }
  // The index of the host in the job's host list.
  std::size_t number() const noexcept { return static_cast<std::size_t>(options_.order.host); }
  bool is_over() const noexcept { return is_reaped_ && !output_ && !error_; }
  // True once, when the link is over.
  bool take_over() noexcept { return is_over() && !std::exchange(is_told_, true); }
  // Why it ended, if it was not an orderly end.
  std::string failure() const;

 private:
  struct Parcel {
    std::string head{};  // sent first
    Descriptor file{};
    std::optional<std::uint32_t> index{};  // of the order's files; nullopt: raw bytes
    std::uint64_t left = 0;
  };

  void say(LaunchFrameKind kind, ByteView payload = {});
  void send_file(const JobFile& job_file, std::optional<std::uint32_t> index);
  void fill();
  bool pump_input();
  bool pump_output();
  bool pump_error(TimePoint now);
  void hear_shell();
  void hear(const LaunchFrame& frame);
  void on_words(std::string_view line);

  Options options_;
  Listener& listener_;
  pid_t pid_ = 0;
  Descriptor input_, output_, error_;
  std::string pending_;         // bytes that are being sent to the agent
  std::deque<Parcel> parcels_;  // sent after them
  std::string shell_{"\n"};     // output before the agent's first frame
  bool is_shell_ = true;
  bool has_sent_self_ = false;
  LaunchFrameReader frames_;
  output::LineSplitter words_{output::LineSplitter::Options{}};
  std::string last_words_;
  std::string trouble_;  // reported by the agent, or why the connection was cut
  Duration silence_max_ = kSilenceMax;
  Deadline quiet_ = Deadline::never();
  Deadline closing_ = Deadline::never();
  bool is_ready_ = false;
  bool is_reaped_ = false;
  bool is_told_ = false;
  int status_ = 0;
};

}  // namespace trireme::cluster::launch::hosts
