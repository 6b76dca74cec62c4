// RankRecords is what a launcher keeps of each rank: its log, its last output and how it ended. The
// ranks may run on this host, where their output is read from pipes, or on others.
//
// Forgotten:     an exit that was handled can be forgotten. The record of such a rank is released
//                once its pipes are closed, except for the last `forgotten_max` ones, whose output
//                may still be in flight. So memory is bounded by the number of live ranks.
// Errors:        open() throws Io if the rank's log cannot be opened. Writing to a log stops after
//                an error; finish() returns it.
// Thread safety: one thread.

#pragma once

#include <poll.h>

#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trireme/base/deadline.h"
#include "trireme/base/file/descriptor.h"
#include "trireme/cluster/launch/output/rank_stream.h"
#include "trireme/cluster/launch/output/tail.h"
#include "trireme/cluster/launch/output/writer.h"
#include "trireme/cluster/launch/rank/rank_exit.h"

namespace trireme::cluster::launch {

class RankRecords {
 public:
  // The loop handles the events until the deadline.
  using Turn = std::function<void(Deadline)>;

  struct Options {
    std::filesystem::path folder{};  // for the logs; empty: no logs
    output::Writer* writer = nullptr;
    std::size_t forgotten_max = 0;
    // Wraps what a rank wrote to one of its two streams for writing to this process's standard
    // output, if another process splits it into lines.
    std::function<std::string(int rank, int target, std::string_view bytes)> envelope{};
  };
  explicit RankRecords(Options options) : options_(std::move(options)) {}

  // Null: output is not read meanwhile.
  void set_writer(output::Writer* writer) { options_.writer = writer; }
  // `is_continued`: an earlier launcher had started the rank.
  void open(int rank, bool is_continued);
  // `target`: 1 or 2. Without a pipe, the output comes through feed().
  void add_stream(int rank, int target, Descriptor pipe = {});
  void release(int rank) { entries_.erase(rank); }

  void add_waits(std::vector<pollfd>& waits) const;
  // Reads once from each readable pipe, while the writer has room; `waits`: after poll(2).
  void pump(std::span<const pollfd> waits);
  // Reads what a dead rank has left in its pipes, so that the failure which it reported is known. A
  // process that it had started may still write: the number of reads is limited.
  void read_rest(int rank);
  // Dropped if the rank is not known.
  void feed(int rank, int target, std::string_view bytes);
  // Reads the remaining output of dead ranks, until none has come for a moment or `is_enough`.
  void drain(const Turn& turn, const std::function<bool()>& is_enough);
  // Writes out last lines that had no newline. Returns the error of the first log file that could
  // not be written (errno), or 0.
  int finish();
  const output::Tail& tail(int rank) const { return entries_.at(rank).tail; }

  void add_exit(RankExit exit) { exits_.push_back(std::move(exit)); }
  // In the order in which the ends were seen.
  const std::vector<RankExit>& exits() const noexcept { return exits_; }
  // These ends no longer count as the job's failure.
  void forget_exit(int rank);
  void forget_exits();
  // Returns the ranks whose records were released.
  std::vector<int> release_forgotten();

 private:
  struct Entry {
    output::Tail tail{};
    Descriptor log{};
    std::map<int, output::RankStream> streams{};  // by target; they point to the other two
  };

  static bool is_open(const Entry& entry);
  bool has_room() const { return options_.writer != nullptr && options_.writer->has_room(); }
  bool has_open_pipes() const;

  Options options_;
  std::map<int, Entry> entries_;
  std::vector<RankExit> exits_;
  std::deque<int> forgotten_;
  bool has_output_ = false;
};

}  // namespace trireme::cluster::launch
