#include "trireme/cluster/launch/hosts/agent/intake.h"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>

#include "trireme/base/build_info.h"
#include "trireme/base/error.h"

namespace trireme::cluster::launch::hosts {
namespace {

constexpr std::size_t kReadSize = std::size_t{64} << 10;

void wait_for(int file, short events, Deadline deadline) {
  pollfd wait{.fd = file, .events = events, .revents = 0};
  while (poll(&wait, 1, deadline.poll_timeout()) == 0) {
    if (deadline.is_past()) throw Error(ErrorCode::PeerLost, "the launcher sends nothing any more");
  }
}

}  // namespace

void Intake::say(LaunchFrameKind kind, ByteView payload) const {
  const std::string frame = encode_frame(kind, payload);
  std::string_view rest = frame;
  const Deadline deadline = Deadline::after(kSilenceMax);
  while (!rest.empty()) {
    const ssize_t size = write(output_, rest.data(), rest.size());
    if (size >= 0) {
      rest.remove_prefix(static_cast<std::size_t>(size));
    } else if (errno == EAGAIN) {
      wait_for(output_, POLLOUT, deadline);
    } else if (errno != EINTR) {
      throw Error(ErrorCode::PeerLost, "the launcher is gone");
    }
  }
}

void Intake::tell_trouble(const std::string& why) const noexcept {
  try {
    say(LaunchFrameKind::Trouble, bytes_of(why));
  } catch (const std::exception&) {
    // The launcher is gone.
  }
}

// The next frame that is not a Beat; Beats are answered.
LaunchFrame Intake::next() {
  while (true) {
    if (auto frame = frames_.next()) {
      if (frame->kind != LaunchFrameKind::Beat) return *std::move(frame);
      say(LaunchFrameKind::Beat);
      continue;
    }
    wait_for(input_, POLLIN, Deadline::after(kSilenceMax));
    std::array<char, kReadSize> buffer;
    const ssize_t size = read(input_, buffer.data(), buffer.size());
    if (size == 0) throw Error(ErrorCode::PeerLost, "the launcher is gone");
    if (size > 0) {
      frames_.feed({buffer.data(), static_cast<std::size_t>(size)});
    } else if (errno != EAGAIN && errno != EINTR) {
      throw system_error("reading from the launcher", errno);
    }
  }
}

StartOrder Intake::take() {
  say(LaunchFrameKind::Hello, bytes_of(base::build_info().build_id));
  const LaunchFrame first = next();
  if (first.kind != LaunchFrameKind::Order) {
    throw Error(ErrorCode::Protocol, "expected an order from the launcher");
  }
  StartOrder order = StartOrder::decode(first.payload);
  std::map<std::string, std::filesystem::path> places;
  fetch(order, places);
  const auto here = [&](const std::string& word) {
    const auto found = places.find(word);
    return found == places.end() ? word : found->second.string();
  };
  order.program = here(order.program);
  for (std::string& word : order.command) word = here(word);
  return order;
}

void Intake::fetch(const StartOrder& order, std::map<std::string, std::filesystem::path>& places) {
  if (order.job_file.empty()) return;
  const Cache cache;
  std::vector<std::uint32_t> wanted;
  for (std::uint32_t i = 0; i < order.job_file.size(); ++i) {
    const JobFile& job_file = order.job_file[i];
    if (const auto found = cache.find(job_file)) {
      places[job_file.path.string()] = *found;
    } else {
      wanted.push_back(i);
    }
  }
  if (wanted.empty()) return;
  cache.sweep();
  say(LaunchFrameKind::Want, encode_indexes(wanted));
  for (const std::uint32_t index : wanted) {
    const JobFile& job_file = order.job_file[index];
    Fetch copy(cache, job_file);
    while (true) {
      const LaunchFrame frame = next();
      ByteReader in(frame.payload);
      if (frame.kind != LaunchFrameKind::JobFile || in.get<std::uint32_t>() != index) {
        throw Error(ErrorCode::Protocol, "a piece of " + job_file.path.string() + " was expected");
      }
      if (in.remaining() == 0) break;
      copy.write(in.take(in.remaining()));
    }
    places[job_file.path.string()] = copy.finish();
  }
}

}  // namespace trireme::cluster::launch::hosts
