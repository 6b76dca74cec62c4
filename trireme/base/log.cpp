#include "trireme/base/log.h"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <mutex>
#include <string>

namespace trireme {
namespace {

// A stalled reader blocks the writer for at most this long, once; then lines are dropped until the
// reader continues.
constexpr int kPatienceMs = 1000;

// Prevents SIGPIPE from killing the process when the pipe has no readers, independent of the
// program's own SIGPIPE handling.
class WithoutSigpipe {
 public:
  WithoutSigpipe() {
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~WithoutSigpipe() {
    const timespec at_once{};
    if (!was_pending_) sigtimedwait(&pipe_, nullptr, &at_once);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  WithoutSigpipe(const WithoutSigpipe&) = delete;
  WithoutSigpipe& operator=(const WithoutSigpipe&) = delete;

 private:
  bool was_pending_ = false;
  sigset_t pipe_;
  sigset_t before_;
};

// Writes lines to a descriptor and drops lines that it cannot write. If a line was only partly
// written, the next one begins with a line break.
class LineWriter {
 public:
  explicit LineWriter(int descriptor) : descriptor_(descriptor) {}

  void write(std::string line) {
    const std::lock_guard lock(mutex_);
    if (is_torn_) line.insert(0, 1, '\n');
    line += '\n';
    const WithoutSigpipe guard;
    const std::size_t written = write_all(line);
    is_stalled_ = written < line.size();
    // After a partial line, the next line must start on a new line.
    if (written > 0) is_torn_ = is_stalled_;
  }

 private:
  // Writes pieces of at most PIPE_BUF, each after a poll, so that no write can block forever.
  std::size_t write_all(std::string_view line) {
    std::size_t done = 0;
    while (done < line.size() && is_writable()) {
      const std::size_t piece = std::min<std::size_t>(line.size() - done, PIPE_BUF);
      const ssize_t count = ::write(descriptor_, line.data() + done, piece);
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) break;
      done += static_cast<std::size_t>(count);
    }
    return done;
  }

  bool is_writable() {
    pollfd entry{.fd = descriptor_, .events = POLLOUT, .revents = 0};
    int ready = 0;
    do {
      ready = ::poll(&entry, 1, is_stalled_ ? 0 : kPatienceMs);
    } while (ready < 0 && errno == EINTR);
    return ready == 1 && (entry.revents & POLLOUT) != 0;
  }

  const int descriptor_;
  std::mutex mutex_;
  bool is_torn_ = false;
  bool is_stalled_ = false;
};

class TextLog final : public LogSink {
 public:
  explicit TextLog(int descriptor) : out_(descriptor) {}

  void write(LogLevel level, std::string_view event, const Record& record) noexcept override try {
    std::string line = time_of_day();
    line += ' ';
    line += name_of(level);
    line += ' ';
    line += event;
    const std::string fields = record.to_text();
    if (!fields.empty()) line += ' ' + fields;
    // Event texts are fixed strings; replacing line breaks guarantees that each event stays on one
    // line.
    std::replace(line.begin(), line.end(), '\n', ' ');
    out_.write(std::move(line));
  } catch (...) {
  }

 private:
  static std::string time_of_day() {
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    std::tm local{};
    localtime_r(&now.tv_sec, &local);
    std::array<char, 32> buffer;
    const std::size_t size = std::strftime(buffer.data(), buffer.size(), "%H:%M:%S", &local);
    const std::string fraction = std::to_string(1000 + now.tv_nsec / 1'000'000);
    return std::string(buffer.data(), size) + '.' + fraction.substr(1);
  }

  LineWriter out_;
};

}  // namespace

std::string_view name_of(LogLevel level) noexcept {
  switch (level) {
    case LogLevel::Debug:
      return "debug";
    case LogLevel::Info:
      return "info";
    case LogLevel::Warn:
      return "warn";
    case LogLevel::Error:
      return "error";
  }
  return "unknown";
}

void Log::debug(std::string_view event, const Record& record) const {
  write(LogLevel::Debug, event, record);
}

void Log::info(std::string_view event, const Record& record) const {
  write(LogLevel::Info, event, record);
}

void Log::warn(std::string_view event, const Record& record) const {
  write(LogLevel::Warn, event, record);
}

void Log::error(std::string_view event, const Record& record) const {
  write(LogLevel::Error, event, record);
}

void Log::write(LogLevel level, std::string_view event, const Record& record) const {
  if (sink_ != nullptr && level >= least_) sink_->write(level, event, record);
}

std::shared_ptr<LogSink> text_log(int descriptor) {
  return std::make_shared<TextLog>(descriptor);
}

}  // namespace trireme
