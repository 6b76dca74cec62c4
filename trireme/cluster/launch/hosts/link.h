// Link is the launcher's end of one host: the ssh that leads there, and what is said through it.
//
// Meaning:  it starts ssh, sends this program where it is missing, then the order and the files
//           that the agent wants, and hands on what the agent tells of its ranks. The host itself
//           has the agent without ssh.
// End:      is_over() once ssh is dead and all that came was read; failure() then says why, where
//           that was no good end. Whatever ends ssh ends the agent and its ranks: they see the end
//           of their standard input.
// Bounds:   files are read as they are sent. The caller pumps only while it has room for output.
//           A host that says nothing for kSilenceMax, or takes kStartMax to begin, is given up.
// Threads:  one, which must live as long as the job (see spawn.h).
// Failure:  start() throws when no process can be made. Nothing else throws: it ends the link.

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
#include "trireme/base/descriptor.h"
#include "trireme/cluster/launch/hosts/frame.h"
#include "trireme/cluster/launch/hosts/order.h"
#include "trireme/cluster/launch/output/line_splitter.h"

namespace trireme::cluster::launch::hosts {

class Link {
 public:
  // From ssh's start to the agent's first word, while nothing moves.
  static constexpr Duration kStartMax = std::chrono::seconds(60);

  // Told what comes, inside pump().
  class Listener {
   public:
    virtual ~Listener() = default;
    virtual void on_ready(Link& link) = 0;
    virtual void on_started(Link& link, const RankStart& start) = 0;
    virtual void on_output(const OutputPiece& piece) = 0;
    virtual void on_ended(Link& link, RankExit exit) = 0;
    // Of an elastic job: all that live there; what comes after is told one by one.
    virtual void on_aboard(Link& link, const std::vector<RankStart>& living) = 0;
    // A line that ssh or the agent wrote to its standard error.
    virtual void on_words(Link& link, std::string_view line) = 0;
  };

  struct Options {
    std::string host{};
    std::vector<std::string> command{};  // ssh and its arguments, or the agent
    std::string program{};               // where the command's first word was found
    bool is_ssh = true;                  // false: the agent speaks at once
    bool dies_with_us = true;            // false: an agent of an elastic job
    Cargo self{};                        // this program
    Order order{};
    sigset_t mask{};
  };

  Link(Options options, Listener& listener);
  ~Link();
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  void start();
  void go() { say(FrameKind::Go); }
  // Of an elastic job: one more worker, and that all is over.
  void start_worker(const WorkerOrder& order) { say(FrameKind::Start, encode_worker_order(order)); }
  void end();
  void signal(int number);
  void beat();
  // Less patience from now on with a host that says nothing.
  void hurry(Duration silence_max);
  // Ends the connection now; what runs on the host ends because of it.
  void cut(const std::string& why);

  void add_waits(std::vector<pollfd>& waits, bool has_room) const;
  // Reads and writes what can be without waiting. True when something came.
  bool pump(TimePoint now, bool has_room);
  // True for the process of this link.
  bool on_reaped(pid_t pid, int status, TimePoint now);

  const std::string& host() const noexcept { return options_.host; }
  // Which of the job's hosts it is, in the order of the list.
  std::size_t number() const noexcept { return static_cast<std::size_t>(options_.order.host); }
  int first() const noexcept { return options_.order.first; }
  int ranks() const noexcept { return options_.order.ranks; }
  bool is_ready() const noexcept { return is_ready_; }
  bool is_over() const noexcept { return is_reaped_ && !output_ && !error_; }
  // True once, when it has come to be over.
  bool take_over() noexcept { return is_over() && !std::exchange(is_told_, true); }
  // Why it ended, if it should not have.
  std::string failure() const;

 private:
  struct Parcel {
    std::string head{};  // sent first
    Descriptor file{};
    std::optional<std::uint32_t> index{};  // of the order's files; nothing: bare bytes
    std::uint64_t left = 0;
  };

  void say(FrameKind kind, ByteView payload = {});
  void send_file(const Cargo& cargo, std::optional<std::uint32_t> index);
  void fill();
  bool pump_input();
  bool pump_output();
  bool pump_error(TimePoint now);
  void hear_shell();
  void hear(const Frame& frame);
  void on_words(std::string_view line);

  Options options_;
  Listener& listener_;
  pid_t pid_ = 0;
  Descriptor input_, output_, error_;
  std::string pending_;         // bytes on their way to the agent
  std::deque<Parcel> parcels_;  // and what follows them
  std::string shell_{"\n"};     // what came before the agent
  bool is_shell_ = true;
  bool has_sent_self_ = false;
  FrameReader frames_;
  output::LineSplitter words_{output::LineSplitter::Options{}};
  std::string last_words_;
  std::string trouble_;  // what the agent said, or why we cut it
  Duration silence_max_ = kSilenceMax;
  Deadline quiet_ = Deadline::never();
  Deadline closing_ = Deadline::never();
  bool is_ready_ = false;
  bool is_reaped_ = false;
  bool is_told_ = false;
  int status_ = 0;
};

}  // namespace trireme::cluster::launch::hosts
