#include "trireme/cluster/launch/output/rank_stream.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <string_view>
#include <utility>

#include "trireme/base/error.h"
#include "trireme/cluster/launch/rank/rank_exit.h"

namespace trireme::cluster::launch::output {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kReadSize = std::size_t{64} << 10;
constexpr Duration kRedrawPeriod = 500ms;

LineSplitter::Options splitting(bool is_terminal) {
  LineSplitter::Options options;
  if (is_terminal) options.redraw_period = kRedrawPeriod;
  return options;
}

}  // namespace

RankStream::RankStream(Options options)
    : options_(std::move(options)), splitter_(splitting(options_.is_terminal)) {}

LineSplitter::Sink RankStream::into(std::string& text) {
  return [this, &text](std::string_view line) {
    if (options_.tail != nullptr && line.starts_with(kFailureMark)) {
      line.remove_prefix(kFailureMark.size());
      options_.tail->add_failure(line);
      return;
    }
    text.append(options_.prefix).append(line).append("\n");
    if (options_.tail != nullptr) options_.tail->add(line);
  };
}

bool RankStream::pump(TimePoint now, Writer& writer) {
  if (!is_open()) return false;
  std::array<char, kReadSize> buffer;
  const ssize_t size = read(descriptor(), buffer.data(), buffer.size());
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return false;
  if (size <= 0) {
    finish(writer);
    return true;
  }
  feed({buffer.data(), static_cast<std::size_t>(size)}, now, writer);
  return true;
}

void RankStream::feed(std::string_view bytes, TimePoint now, Writer& writer) {
  write_log(bytes);
  if (options_.envelope) return writer.push(options_.target, options_.envelope(bytes));
  std::string text;
  splitter_.feed(bytes, now, into(text));
  writer.push(options_.target, std::move(text));
}

void RankStream::finish(Writer& writer) {
  std::string text;
  splitter_.finish(into(text));
  writer.push(options_.target, std::move(text));
  options_.pipe.reset();
}

void RankStream::write_log(std::string_view bytes) {
  while (options_.log >= 0 && !bytes.empty()) {
    const ssize_t size = write(options_.log, bytes.data(), bytes.size());
    if (size >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(size));
    } else if (errno != EINTR) {
      log_error_ = errno;
      options_.log = -1;
    }
  }
}

Descriptor open_log(const std::filesystem::path& folder, int rank, bool is_continued) {
  if (folder.empty()) return Descriptor();
  const auto path = folder / ("rank-" + std::to_string(rank) + ".log");
  constexpr int kFlags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW;
  Descriptor log(open(path.c_str(), kFlags | (is_continued ? 0 : O_TRUNC), 0600));
  if (!log) throw system_error("cannot write " + path.string(), errno);
  return log;
}

std::string prefix_of(int rank, bool is_coloured) {
  const std::string number = "[" + std::to_string(rank) + "]";
  if (!is_coloured) return number + " ";
  // Cyan, yellow, green, magenta, blue, red: readable on dark and light backgrounds.
  constexpr std::array<int, 6> kColours{36, 33, 32, 35, 34, 31};
  const int colour = kColours[static_cast<std::size_t>(rank) % kColours.size()];
  return "\x1b[" + std::to_string(colour) + "m" + number + "\x1b[0m ";
}

}  // namespace trireme::cluster::launch::output
