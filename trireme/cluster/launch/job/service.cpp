#include "trireme/cluster/launch/job/service.h"

#include <utility>

#include "trireme/base/bytes.h"
#include "trireme/base/error.h"

namespace trireme::cluster::launch::job {
namespace {

monitor::RotatingFile::Beginning beginning(bool is_continued) {
  return is_continued ? monitor::RotatingFile::Beginning::Continued
                      : monitor::RotatingFile::Beginning::Anew;
}

}  // namespace

Bytes encode_reports(std::span<const monitor::FeedLine> reports) {
  ByteWriter out;
  for (const monitor::FeedLine& report : reports) {
    out.put(static_cast<std::uint8_t>(report.channel)).put_text(report.json);
  }
  return std::move(out).take();
}

std::vector<monitor::FeedLine> decode_reports(ByteView payload) {
  std::vector<monitor::FeedLine> reports;
  ByteReader in(payload);
  while (in.remaining() > 0) {
    const auto channel = in.get<std::uint8_t>();
    if (channel > 1) {
      throw Error(ErrorCode::Protocol, "no channel " + std::to_string(channel) + " of reports");
    }
    reports.push_back({.channel = static_cast<monitor::Channel>(channel), .json = in.get_text()});
  }
  return reports;
}

JobService::JobService(Options options)
    : options_(std::move(options)),
      events_(options_.folder / "events.jsonl", beginning(options_.is_continued)),
      metrics_(options_.folder / "metrics.jsonl", beginning(options_.is_continued)) {}

void JobService::on_request(const net::Request& request) {
  switch (request.method) {
    case kReportMethod:
      for (const monitor::FeedLine& report : decode_reports(request.payload)) publish(report);
      if (request.caller) request.caller->reply({});
      return;
    case kWatchMethod:
      if (request.caller) watch(request.caller);
      return;
    case kStopMethod: {
      const bool is_kill = ByteReader(request.payload).get<std::uint8_t>() != 0;
      ask({.kind = is_kill ? ControlRequest::Kind::Kill : ControlRequest::Kind::Stop});
      if (request.caller) request.caller->reply({});
      return;
    }
    case kScaleMethod:
      ask({.kind = ControlRequest::Kind::Scale,
           .count = ByteReader(request.payload).get<std::int32_t>(),
           .caller = request.caller});
      return;
    case kJoinMethod:
      ask({.kind = ControlRequest::Kind::Join, .caller = request.caller});
      return;
    default:
      throw Error(ErrorCode::Unsupported, "a job has no method " + std::to_string(request.method));
  }
}

void JobService::ask(ControlRequest request) {
  if (options_.on_request) options_.on_request(std::move(request));
}

void JobService::watch(std::shared_ptr<net::Caller> watcher) {
  for (const std::string& line : recent_) {
    if (!watcher->send_item(bytes_of(line))) return;
  }
  watchers_.push_back(std::move(watcher));
}

void JobService::publish(const monitor::FeedLine& report) {
  const std::string& line = report.json;
  const bool is_line = line.size() <= options_.line_max && line.starts_with('{') &&
                       line.ends_with('}') && line.find('\n') == std::string::npos;
  if (!is_line) {
    ++refused_;
    return;
  }
  if (report.channel == monitor::Channel::Metrics) {
    metrics_.append(line);
    return;
  }
  events_.append(line);
  recent_.push_back(line);
  if (recent_.size() > options_.recall_max) recent_.pop_front();
  std::erase_if(watchers_,
                [&](const auto& watcher) { return !watcher->send_item(bytes_of(line)); });
}

void JobService::end() {
  for (const auto& watcher : watchers_) watcher->end();
  watchers_.clear();
}

}  // namespace trireme::cluster::launch::job
