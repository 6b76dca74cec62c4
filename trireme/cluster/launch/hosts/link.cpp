#include "trireme/cluster/launch/hosts/link.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "trireme/base/error.h"
#include "trireme/cluster/launch/hosts/protocol/bootstrap.h"
#include "trireme/cluster/launch/rank/spawn.h"

namespace trireme::cluster::launch::hosts {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kPieceSize = std::size_t{64} << 10;
constexpr std::size_t kPendingMax = std::size_t{256} << 10;
// Limit for what a login shell prints before the agent starts.
constexpr std::size_t kShellMax = std::size_t{1} << 20;
// How long a pipe may stay open after ssh is dead: another process that shares ssh's connection may
// hold it.
constexpr Duration kCloseTime = 500ms;

struct Ends {
  Descriptor ours, theirs;
};

Ends make_pipe(bool is_read_by_us) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw system_error("pipe", errno);
  const int ours = ends[is_read_by_us ? 0 : 1];
  fcntl(ours, F_SETFL, fcntl(ours, F_GETFL) | O_NONBLOCK);
  return {.ours = Descriptor(ours), .theirs = Descriptor(ends[is_read_by_us ? 1 : 0])};
}

enum class ReadState { Some, Nothing, End };

ReadState read_some(Descriptor& file, std::string& text) {
  std::array<char, kPieceSize> buffer;
  const ssize_t size = read(file.get(), buffer.data(), buffer.size());
  if (size > 0) {
    text.assign(buffer.data(), static_cast<std::size_t>(size));
    return ReadState::Some;
  }
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return ReadState::Nothing;
  file.reset();
  return ReadState::End;
}

}  // namespace

HostLink::HostLink(Options options, Listener& listener)
    : options_(std::move(options)), listener_(listener), is_shell_(options_.is_ssh) {}

HostLink::~HostLink() {
  if (pid_ > 0 && !is_reaped_) kill(pid_, SIGKILL);
}

void HostLink::start() {
  Ends input = make_pipe(false);
  Ends output = make_pipe(true);
  Ends error = make_pipe(true);
  pid_ = spawn({.rank = -1,
                .program = options_.program,
                .arguments = options_.command,
                .environment = own_environment(),
                .processors = {},
                .input = input.theirs.get(),
                .output = output.theirs.get(),
                .error = error.theirs.get(),
                .trouble = error.theirs.get(),
                .mask = options_.mask,
                .files_max = std::nullopt,
                .dies_with_us = options_.dies_with_us});
  input_ = std::move(input.ours);
  output_ = std::move(output.ours);
  error_ = std::move(error.ours);
  quiet_ = Deadline::after(kStartMax);
}

void HostLink::say(LaunchFrameKind kind, ByteView payload) {
  std::string frame = encode_frame(kind, payload);
  if (parcels_.empty()) {
    pending_ += frame;
  } else {
    // After the files that are being sent.
    parcels_.push_back({.head = std::move(frame)});
  }
}

void HostLink::signal(int number) {
  say(LaunchFrameKind::Signal, ByteWriter().put(static_cast<std::int32_t>(number)).bytes());
  pump_input();
}

void HostLink::end() {
  say(LaunchFrameKind::End);
  pump_input();
}

void HostLink::beat() {
  // Files that are being sent serve as heartbeats.
  if (!is_shell_ && pending_.empty() && parcels_.empty()) say(LaunchFrameKind::Beat);
}

void HostLink::cut(const std::string& why) {
  if (trouble_.empty()) trouble_ = why;
  input_.reset();
  if (pid_ > 0 && !is_reaped_) kill(pid_, SIGKILL);
}

void HostLink::send_file(const JobFile& job_file, std::optional<std::uint32_t> index) {
  // The file of this program may have been replaced on disk meanwhile.
  const char* path = index ? job_file.path.c_str() : "/proc/self/exe";
  Descriptor file(open(path, O_RDONLY | O_CLOEXEC));
  if (!file) return cut("cannot read " + job_file.path.string());
  parcels_.push_back({.head = {}, .file = std::move(file), .index = index, .left = job_file.size});
}

// Moves the next bytes of the queued parcels into the send buffer.
void HostLink::fill() {
  while (pending_.size() < kPendingMax && !parcels_.empty()) {
    Parcel& parcel = parcels_.front();
    pending_ += std::exchange(parcel.head, {});
    if (!parcel.file) {
      parcels_.pop_front();
      continue;
    }
    std::array<std::byte, kPieceSize> buffer;
    const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(parcel.left, kPieceSize));
    const ssize_t size = read(parcel.file.get(), buffer.data(), wanted);
    if (size < 0 || (size == 0 && wanted > 0)) return cut("a file changed while it was copied");
    const ByteView piece = ByteView(buffer).first(static_cast<std::size_t>(size));
    parcel.left -= piece.size();
    if (parcel.index) {
      ByteWriter out;
      out.put(*parcel.index).append(piece);
      pending_ += encode_frame(LaunchFrameKind::JobFile, out.bytes());
      if (parcel.left == 0 && !piece.empty()) continue;  // an empty piece ends the file
    } else {
      pending_ += text_of(piece);
    }
    if (parcel.left == 0) parcels_.pop_front();
  }
}

void HostLink::add_waits(std::vector<pollfd>& waits, bool has_room) const {
  if (output_ && has_room) waits.push_back({.fd = output_.get(), .events = POLLIN, .revents = 0});
  if (error_) waits.push_back({.fd = error_.get(), .events = POLLIN, .revents = 0});
  const bool has_words = !pending_.empty() || !parcels_.empty();
  if (input_ && has_words) {
    waits.push_back({.fd = input_.get(), .events = POLLOUT, .revents = 0});
  }
}

bool HostLink::pump(TimePoint now, bool has_room) {
  const bool has_files = !parcels_.empty();
  const bool has_said = pump_input();
  const bool has_heard = has_room && pump_output();
  pump_error(now);
  const Duration patience = is_ready_ ? silence_max_ : kStartMax;
  // Sent data may get no farther than ssh, so sending is no proof that the host is alive; only
  // files take time without an answer.
  if (has_heard || (has_said && has_files)) {
    quiet_ = Deadline::at(now + patience);
  } else if (has_room && quiet_.is_past() && !is_reaped_) {
    quiet_ = Deadline::never();
    cut("it has sent nothing for " + std::to_string(patience / 1s) + " s");
  }
  if (is_reaped_ && closing_.is_past()) {
    output_.reset();
    error_.reset();
  }
  return has_said || has_heard;
}

void HostLink::hurry(Duration silence_max) {
  if (silence_max >= silence_max_) return;
  silence_max_ = silence_max;
  if (is_ready_) quiet_ = min(quiet_, Deadline::after(silence_max));
}

bool HostLink::pump_input() {
  bool has_moved = false;
  while (input_) {
    fill();
    if (pending_.empty() || !input_) break;
    const ssize_t size = write(input_.get(), pending_.data(), pending_.size());
    if (size > 0) {
      pending_.erase(0, static_cast<std::size_t>(size));
      has_moved = true;
    } else if (errno != EINTR) {
      // The end of ssh itself is reported separately.
      if (errno != EAGAIN) input_.reset();
      break;
    }
  }
  return has_moved;
}

bool HostLink::pump_output() {
  if (!output_) return false;
  std::string text;
  if (read_some(output_, text) != ReadState::Some) return false;
  try {
    if (is_shell_) {
      shell_ += text;
      hear_shell();
    } else {
      frames_.feed(text);
    }
    while (!is_shell_) {
      const auto frame = frames_.next();
      if (!frame) break;
      hear(*frame);
    }
  } catch (const Error& error) {
    cut(error.message());
    output_.reset();
  }
  return true;
}

void HostLink::hear_shell() {
  const std::size_t here = shell_.find(kHere);
  if (here != std::string::npos) {
    is_shell_ = false;
    frames_.feed(std::string_view(shell_).substr(here + kHere.size()));
    shell_.clear();
    return;
  }
  if (!has_sent_self_ && shell_.find(kWant) != std::string::npos) {
    has_sent_self_ = true;
    send_file(options_.self, std::nullopt);
  }
  if (shell_.size() > kShellMax) {
    throw Error(ErrorCode::Protocol, "its login shell writes too much output");
  }
}

void HostLink::hear(const LaunchFrame& frame) {
  switch (frame.kind) {
    case LaunchFrameKind::Hello:
      return say(LaunchFrameKind::Order, options_.order.encode());
    case LaunchFrameKind::Want:
      for (const std::uint32_t index : decode_indexes(frame.payload)) {
        if (index >= options_.order.job_file.size()) {
          throw Error(ErrorCode::Protocol, "it requested a file that does not exist");
        }
        send_file(options_.order.job_file[index], index);
      }
      return;
    case LaunchFrameKind::Trouble:
      trouble_ = text_of(frame.payload);
      return;
    case LaunchFrameKind::Started:
      return listener_.on_started(*this, decode_start(frame.payload));
    case LaunchFrameKind::Output:
      return listener_.on_output(decode_output(frame.payload));
    case LaunchFrameKind::Ended:
      return listener_.on_ended(*this, decode_exit(frame.payload));
    case LaunchFrameKind::Living:
      is_ready_ = true;
      last_words_.clear();  // earlier output does not explain later failures
      return listener_.on_living(*this, decode_starts(frame.payload));
    case LaunchFrameKind::Beat:
      return;
    case LaunchFrameKind::Start:
    case LaunchFrameKind::Kill:
    case LaunchFrameKind::End:
    case LaunchFrameKind::Order:
    case LaunchFrameKind::JobFile:
    case LaunchFrameKind::Signal:
      break;
  }
  throw Error(ErrorCode::Protocol, "an agent sent a frame that only a launcher sends");
}

bool HostLink::pump_error(TimePoint now) {
  if (!error_) return false;
  std::string text;
  const auto sink = [this](std::string_view line) { on_words(line); };
  const ReadState state = read_some(error_, text);
  if (state == ReadState::Some) words_.feed(text, now, sink);
  if (state == ReadState::End) words_.finish(sink);
  return state == ReadState::Some;
}

void HostLink::on_words(std::string_view line) {
  constexpr std::string_view kOurs = "trireme: ";
  if (line.starts_with(kOurs)) line.remove_prefix(kOurs.size());
  // ssh ends its lines with \r\n.
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (line.empty()) return;
  last_words_ = line;
  listener_.on_words(*this, line);
}

bool HostLink::on_reaped(pid_t pid, int status, TimePoint now) {
  if (pid != pid_ || is_reaped_) return false;
  is_reaped_ = true;
  status_ = status;
  closing_ = Deadline::at(now + kCloseTime);
  input_.reset();
  return true;
}

std::string HostLink::failure() const {
  if (!trouble_.empty()) return trouble_;
  const std::string who = options_.is_ssh ? options_.command.front() : "its agent";
  if (is_reaped_ && WIFSIGNALED(status_)) {
    return who + " was killed by signal " + std::to_string(WTERMSIG(status_));
  }
  if (!last_words_.empty()) return last_words_;
  if (!is_reaped_) return "the connection ended";
  return who + " ended with exit code " + std::to_string(WEXITSTATUS(status_));
}

}  // namespace trireme::cluster::launch::hosts
