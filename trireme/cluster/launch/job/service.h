// JobService is the part of a job's control socket that is not the store: ranks report events and
// metrics to it, users watch those, and users stop the job.
//
//   Report  (post)     pairs of channel and JSON line
//   Watch   (stream)   the last events, then each new one; ends with the job
//   Stop    (request)  1 byte: 0 asks the ranks to end (SIGTERM), 1 kills them; empty answer
//   Scale   (request)  the wanted number of workers (int32); answered once it is accepted
//   Join    (request)  start one more worker; the answer is its number (int32)
//
// Bounds:        a line has at most `line_max` bytes and no newline; others are refused and
//                counted. Files rotate at 8 MiB; the last `recall_max` events are kept for clients
//                that watch later.
// Thread safety: the server's loop thread only, as every net::Service.

#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "trireme/monitor/feed.h"
#include "trireme/monitor/rotating_file.h"
#include "trireme/net/service.h"

namespace trireme::cluster::launch::job {

inline constexpr std::uint8_t kJobServiceNumber = 2;
inline constexpr std::uint16_t kReportMethod = 0x0200;
inline constexpr std::uint16_t kWatchMethod = 0x0201;
inline constexpr std::uint16_t kStopMethod = 0x0202;
inline constexpr std::uint16_t kScaleMethod = 0x0203;
inline constexpr std::uint16_t kJoinMethod = 0x0204;

// A user's request to the launcher. The code that grants Scale and Join answers them.
struct ControlRequest {
  enum class Kind { Stop, Kill, Scale, Join };
  Kind kind = Kind::Stop;
  int count = 0;                          // Scale
  std::shared_ptr<net::Caller> caller{};  // Scale, Join
};

Bytes encode_reports(std::span<const monitor::FeedLine> reports);
// Throws Protocol.
std::vector<monitor::FeedLine> decode_reports(ByteView payload);

class JobService final : public net::Service {
 public:
  struct Options {
    std::filesystem::path folder;  // for events.jsonl and metrics.jsonl
    std::function<void(ControlRequest)> on_request;
    std::size_t line_max = std::size_t{64} << 10;
    std::size_t recall_max = 256;
    bool is_continued = false;  // continue the files of an earlier launcher
  };

  // Throws Io if the files cannot be created.
  explicit JobService(Options options);

  void on_request(const net::Request& request) override;

  void publish(const monitor::FeedLine& report);
  // The job is over: ends every stream.
  void end();

  std::uint64_t refused() const noexcept { return refused_; }

 private:
  void ask(ControlRequest request);
  void watch(std::shared_ptr<net::Caller> watcher);

  Options options_;
  monitor::RotatingFile events_;
  monitor::RotatingFile metrics_;
  std::deque<std::string> recent_;
  std::vector<std::shared_ptr<net::Caller>> watchers_;
  std::uint64_t refused_ = 0;
};

}  // namespace trireme::cluster::launch::job
