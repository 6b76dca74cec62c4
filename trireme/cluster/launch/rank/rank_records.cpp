#include "trireme/cluster/launch/rank/rank_records.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "trireme/base/clock.h"
#include "trireme/base/terminal.h"
#include "trireme/cluster/launch/ending.h"

namespace trireme::cluster::launch {
namespace {

constexpr int kRestReadsMax = 64;

void set_non_blocking(const Descriptor& file) {
  fcntl(file.get(), F_SETFL, fcntl(file.get(), F_GETFL) | O_NONBLOCK);
}

}  // namespace

void RankRecords::open(int rank, bool is_continued) {
  Descriptor log = output::open_log(options_.folder, rank, is_continued);
  entries_[rank].log = std::move(log);
}

void RankRecords::add_stream(int rank, int target, Descriptor pipe) {
  if (pipe) set_non_blocking(pipe);
  Entry& entry = entries_.at(rank);
  output::RankStream::Options options{
      .rank = rank,
      .pipe = std::move(pipe),
      .target = target,
      .prefix = output::prefix_of(rank, terminal_at(target).has_color),
      .is_terminal = isatty(target) == 1,
      .tail = &entry.tail,
      .log = entry.log.get()};
  if (options_.envelope) {
    options.target = STDOUT_FILENO;
    options.envelope = [rank, target, wrap = options_.envelope](std::string_view bytes) {
      return wrap(rank, target, bytes);
    };
  }
  entry.streams.try_emplace(target, std::move(options));
}

void RankRecords::add_waits(std::vector<pollfd>& waits) const {
  for (const auto& [rank, entry] : entries_) {
    for (const auto& [target, stream] : entry.streams) {
      if (!stream.is_open()) continue;
      waits.push_back({.fd = stream.descriptor(), .events = POLLIN, .revents = 0});
    }
  }
}

void RankRecords::pump(std::span<const pollfd> waits) {
  std::vector<int> readable;
  for (const pollfd& wait : waits) {
    if (wait.revents != 0) readable.push_back(wait.fd);
  }
  std::ranges::sort(readable);
  for (auto& [rank, entry] : entries_) {
    for (auto& [target, stream] : entry.streams) {
      if (!has_room()) return;
      if (!stream.is_open() || !std::ranges::binary_search(readable, stream.descriptor())) continue;
      has_output_ |= stream.pump(steady_clock().now(), *options_.writer);
    }
  }
}

void RankRecords::read_rest(int rank) {
  if (options_.writer == nullptr) return;
  for (auto& [target, stream] : entries_.at(rank).streams) {
    for (int i = 0; i < kRestReadsMax; ++i) {
      if (!stream.pump(steady_clock().now(), *options_.writer)) break;
    }
  }
}

void RankRecords::feed(int rank, int target, std::string_view bytes) {
  const auto found = entries_.find(rank);
  if (found == entries_.end()) return;
  const auto stream = found->second.streams.find(target);
  if (stream == found->second.streams.end()) return;
  stream->second.feed(bytes, steady_clock().now(), *options_.writer);
}

void RankRecords::drain(const Turn& turn, const std::function<bool()>& is_enough) {
  Deadline quiet = Deadline::after(Ending::kQuietTime);
  while (has_open_pipes()) {
    has_output_ = false;
    turn(quiet);
    if (has_output_ || !has_room()) quiet = Deadline::after(Ending::kQuietTime);
    if (quiet.is_past() || is_enough()) break;
  }
}

int RankRecords::finish() {
  int error = 0;
  for (auto& [rank, entry] : entries_) {
    for (auto& [target, stream] : entry.streams) {
      stream.finish(*options_.writer);
      if (error == 0) error = stream.log_error();
    }
  }
  return error;
}

void RankRecords::forget_exit(int rank) {
  forgotten_.push_back(rank);
  std::erase_if(exits_, [&](const RankExit& exit) { return exit.rank == rank; });
}

void RankRecords::forget_exits() {
  for (const RankExit& exit : exits_) forgotten_.push_back(exit.rank);
  exits_.clear();
}

std::vector<int> RankRecords::release_forgotten() {
  std::vector<int> released;
  for (auto rank = forgotten_.begin();
       rank != forgotten_.end() && forgotten_.size() > options_.forgotten_max;) {
    const auto found = entries_.find(*rank);
    if (found != entries_.end() && is_open(found->second)) {
      ++rank;
      continue;
    }
    if (found != entries_.end()) {
      // Streams that have a pipe were finished when it was closed.
      for (auto& [target, stream] : found->second.streams) {
        if (options_.writer != nullptr) stream.finish(*options_.writer);
      }
      entries_.erase(found);
    }
    released.push_back(*rank);
    rank = forgotten_.erase(rank);
  }
  return released;
}

bool RankRecords::is_open(const Entry& entry) {
  return std::ranges::any_of(entry.streams,
                             [](const auto& stream) { return stream.second.is_open(); });
}

bool RankRecords::has_open_pipes() const {
  return std::ranges::any_of(entries_, [](const auto& entry) { return is_open(entry.second); });
}

}  // namespace trireme::cluster::launch
