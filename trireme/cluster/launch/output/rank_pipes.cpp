#include "trireme/cluster/launch/output/rank_pipes.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "trireme/base/error.h"

namespace trireme::cluster::launch::output {

PipeEnds make_pipe(int flags) {
  int ends[2];
  if (pipe2(ends, flags | O_CLOEXEC) != 0) throw system_error("pipe", errno);
  return {.out = Descriptor(ends[0]), .in = Descriptor(ends[1])};
}

PipeEnds RankPipes::make(int rank, int target) const {
  if (!are_named_) return make_pipe(0);
  const std::filesystem::path path = path_of(rank, target);
  if (mkfifo(path.c_str(), 0600) != 0) throw system_error("mkfifo " + path.string(), errno);
  Descriptor out = open_reader(rank, target);
  Descriptor in(open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  if (!in) throw system_error("cannot open " + path.string(), errno);
  return {.out = std::move(out), .in = std::move(in)};
}

Descriptor RankPipes::open_reader(int rank, int target) const {
  const std::filesystem::path path = path_of(rank, target);
  Descriptor out(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW));
  if (!out) throw system_error("cannot open " + path.string(), errno);
  return out;
}

void RankPipes::remove(int rank) const {
  for (const int target : {STDOUT_FILENO, STDERR_FILENO}) unlink(path_of(rank, target).c_str());
}

std::filesystem::path RankPipes::path_of(int rank, int target) const {
  const char* ending = target == STDOUT_FILENO ? ".out" : ".err";
  return folder_ / ("worker-" + std::to_string(rank) + ending);
}

}  // namespace trireme::cluster::launch::output
