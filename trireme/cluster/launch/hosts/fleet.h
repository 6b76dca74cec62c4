// Fleet is the hosts of a job with the ranks on them, as its launcher has them: a link to each
// host, who runs there, and, in an elastic job, how a host that was lost is found again.
//
// Begin:    the ranks of a job begin once every host is ready; one that cannot take part ends the
// job
//           before anything runs.
// Lost:     the loss of a host ends a job that is not elastic. In one that is, its workers are
// adrift:
//           they may live, and nobody replaces them; the host is tried again (retry.h). Its agent
//           then tells who lives, or is a new one, and everybody who was there is dead. After
//           orphan_timeout they surely are.
// End:      agents of an elastic job are told to end once no worker is left, or at once by kill();
//           others end with their last rank.
// Threads:  one, the launcher's.
// Failure:  begin() throws what making links throws. Later troubles end the job, through Ending.
// Lifetime: what its options point to must outlive it.

#pragma once

#include <poll.h>
#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "trireme/base/deadline.h"
#include "trireme/base/record.h"
#include "trireme/cluster/launch/ending.h"
#include "trireme/cluster/launch/hosts/company.h"
#include "trireme/cluster/launch/hosts/dealing.h"
#include "trireme/cluster/launch/hosts/link.h"
#include "trireme/cluster/launch/hosts/retry.h"
#include "trireme/cluster/launch/job/crew.h"
#include "trireme/cluster/launch/launcher.h"
#include "trireme/cluster/launch/upkeep.h"

namespace trireme::cluster::launch::hosts {

class Fleet final : public Link::Listener, public Upkeep::Workers {
 public:
  struct Options {
    const LauncherOptions* launcher = nullptr;
    Ending* ending = nullptr;
    output::Writer* writer = nullptr;
    std::function<void(std::string_view event, const Record& record)> publish;
    std::function<void()> note;  // who the workers of an elastic job are has changed
  };
  explicit Fleet(Options options);

  // Connects to every host. `upkeep`: of an elastic job. `store`, `feed`: see dispatch.h.
  void begin(Upkeep* upkeep, const std::string& store, const std::string& feed);
  // Those whom a launcher before us had, wherever they are. REQUIRES: begin() follows.
  void take_over(const job::Crew& crew);

  void add_waits(std::vector<pollfd>& waits, bool has_room) const;
  // When something is due, if nothing else happens.
  Deadline next() const;
  // Reads and writes what can be without waiting, and does what is due.
  void pump();
  void on_reaped(pid_t pid, int status);

  void signal(int signal);
  // Whoever lives is killed, and whatever does not end by itself is cut off.
  void kill();
  // Lets go of every host, whatever runs there.
  void clear() { hosts_.clear(); }

  bool is_running() const;
  Company& company() noexcept { return company_; }
  const Company& company() const noexcept { return company_; }
  // The number of the next worker.
  int next_worker() const noexcept { return next_; }

  void on_ready(Link& link) override;
  void on_started(Link& link, const RankStart& start) override;
  void on_output(const OutputPiece& piece) override { company_.hear(piece); }
  void on_ended(Link& link, RankExit exit) override;
  void on_aboard(Link& link, const std::vector<RankStart>& living) override;
  void on_words(Link& link, std::string_view line) override;

  int start_worker(const std::vector<std::string>& arguments) override;
  void kill_workers() override;
  void forget_exits() override { company_.forget_exits(); }
  int living() const override { return company_.living(); }
  int room(int wanted) const override { return room_for(wanted, berths()); }
  void set_size(int size) override { size_ = size; }
  void note_workers() override { options_.note(); }

 private:
  struct Host {
    Link::Options options{};
    std::unique_ptr<Link> link{};
    // Of an elastic job.
    Retry retry{};
    bool is_up = false;                   // its agent told who lives there
    bool is_lost = false;                 // it was up, or should have come to be
    std::string why{};                    // it was lost
    std::string trouble{};                // why it is not back yet
    Deadline adrift = Deadline::never();  // then nobody who was there lives
  };

  std::string noun() const { return upkeep_ != nullptr ? "worker" : "rank"; }
  // Nobody wants the job to end, and it has not ended.
  bool is_going_on() const { return !options_.ending->has_begun() && !is_ended_; }
  std::vector<Berth> berths() const;
  void for_each_link(const std::function<void(Link&)>& act);
  void keep_time();
  void keep_up();
  void start_first();
  void end_agents();
  void try_again(Host& host);
  void welcome(std::size_t number, const RankStart& start);
  void take_end(const RankExit& exit);
  void lose_worker(const Host& host, int worker);
  void end_adrift(Host& host);
  void on_over(Host& host);
  void on_lost(Host& host, const std::string& why);
  void on_unusable(const Host& host, const std::string& why);
  void give_up(Host& host, int left);

  Options options_;
  const JobSpec& spec_;
  Upkeep* upkeep_ = nullptr;  // null: the job is not elastic
  Company company_;
  std::vector<Host> hosts_;
  std::size_t ready_ = 0;
  Deadline beat_ = Deadline::after(kBeatTime);
  Deadline mercy_ = Deadline::never();  // then connections are cut
  bool has_begun_ = false;              // every host was told to go
  // Of an elastic job.
  int next_ = 0;              // the number of the next worker
  int size_;                  // how many begin together
  bool has_started_ = false;  // the first of them
  bool is_ended_ = false;     // nobody is started any more
};

}  // namespace trireme::cluster::launch::hosts
