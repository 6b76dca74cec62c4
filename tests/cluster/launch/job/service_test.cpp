// Goal:   reports are written to the right file and sent to every watching client; invalid ones are
//         not.
// Method: the service itself, with callers that record what they are sent.

#include "trireme/cluster/launch/job/service.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trireme/base/error.h"
#include "trireme/base/file/file.h"
#include "trireme/base/file/temporary_folder.h"

namespace trireme::cluster::launch::job {
namespace {

using monitor::Channel;
using monitor::FeedLine;
using ::testing::ElementsAre;

struct Listener final : net::Caller {
  void reply(ByteView) override { ++replies; }
  void fail(const Error& error) override { lines.push_back(error.what()); }
  bool send_item(ByteView payload) override {
    if (is_gone) return false;
    lines.emplace_back(text_of(payload));
    return true;
  }
  void end() override { is_ended = true; }

  std::vector<std::string> lines;
  int replies = 0;
  bool is_gone = false;
  bool is_ended = false;
};

class Service : public ::testing::Test {
 protected:
  Service()
      : service_({.folder = folder_.path(),
                  .on_request =
                      [this](ControlRequest request) { wishes_.push_back(std::move(request)); },
                  .line_max = 100,
                  .recall_max = 3}) {}

  std::shared_ptr<Listener> ask(std::uint16_t method, ByteView payload = {}) {
    auto listener = std::make_shared<Listener>();
    net::Request request;
    request.method = method;
    request.payload = payload;
    request.caller = listener;
    service_.on_request(request);
    return listener;
  }
  void report(const std::vector<FeedLine>& reports) {
    const Bytes payload = encode_reports(reports);
    net::Request request;
    request.method = kReportMethod;
    request.payload = payload;
    service_.on_request(request);
  }
  std::string file(const char* name) { return read_file(folder_.path() / name); }

  TemporaryFolder folder_{"job-service-test"};
  std::vector<ControlRequest> wishes_;
  JobService service_;
};

TEST_F(Service, ReportsAreEncodedAndDecoded) {
  for (const std::vector<FeedLine>& reports :
       {std::vector<FeedLine>{},
        std::vector<FeedLine>{{Channel::Metrics, "{}"}, {Channel::Events, ""}}}) {
    const auto decoded = decode_reports(encode_reports(reports));
    ASSERT_EQ(decoded.size(), reports.size());
    for (std::size_t i = 0; i < reports.size(); ++i) {
      EXPECT_EQ(decoded[i].channel, reports[i].channel);
      EXPECT_EQ(decoded[i].json, reports[i].json);
    }
  }
  EXPECT_THROW(decode_reports(bytes_of("\x07")), Error);
  EXPECT_THROW(decode_reports(bytes_of(std::string_view("\0\xff\xff\xff\xff", 5))), Error);
}

TEST_F(Service, EventsAndMetricsGoToTheirFiles) {
  report({{Channel::Events, R"({"event":"a"})"}, {Channel::Metrics, R"({"loss":1})"}});
  EXPECT_EQ(file("events.jsonl"), "{\"event\":\"a\"}\n");
  EXPECT_EQ(file("metrics.jsonl"), "{\"loss\":1}\n");
}

TEST_F(Service, InvalidLinesAreRefusedAndCounted) {
  report({{Channel::Events, "no json"},
          {Channel::Events, "{\n}"},
          {Channel::Events, ""},
          {Channel::Events, "{" + std::string(100, 'x') + "}"}});
  EXPECT_EQ(service_.refused(), 4u);
  EXPECT_EQ(file("events.jsonl"), "");
}

TEST_F(Service, WatchersGetTheLastEventsAndThenAllNewOnes) {
  for (int i = 0; i < 5; ++i) {
    report({{Channel::Events, "{" + std::to_string(i) + "}"}, {Channel::Metrics, "{}"}});
  }
  const auto watcher = ask(kWatchMethod);
  EXPECT_THAT(watcher->lines, ElementsAre("{2}", "{3}", "{4}"));
  const auto other = ask(kWatchMethod);
  report({{Channel::Events, "{5}"}});
  EXPECT_EQ(watcher->lines.back(), "{5}");
  other->is_gone = true;
  report({{Channel::Events, "{6}"}});
  EXPECT_EQ(other->lines.back(), "{5}");
  EXPECT_EQ(watcher->lines.back(), "{6}");
  service_.end();
  EXPECT_TRUE(watcher->is_ended);
  EXPECT_FALSE(other->is_ended) << "the watcher that disconnected was removed";
}

TEST_F(Service, StopRequestsAreForwarded) {
  const std::byte ask_byte{0};
  const std::byte kill_byte{1};
  EXPECT_EQ(ask(kStopMethod, ByteView(&ask_byte, 1))->replies, 1);
  EXPECT_EQ(ask(kStopMethod, ByteView(&kill_byte, 1))->replies, 1);
  ASSERT_EQ(wishes_.size(), 2u);
  EXPECT_EQ(wishes_[0].kind, ControlRequest::Kind::Stop);
  EXPECT_EQ(wishes_[1].kind, ControlRequest::Kind::Kill);
  const auto scaler = ask(kScaleMethod, ByteWriter().put(std::int32_t{7}).bytes());
  const auto joiner = ask(kJoinMethod);
  ASSERT_EQ(wishes_.size(), 4u);
  EXPECT_EQ(wishes_[2].kind, ControlRequest::Kind::Scale);
  EXPECT_EQ(wishes_[2].count, 7);
  EXPECT_EQ(wishes_[3].kind, ControlRequest::Kind::Join);
  EXPECT_EQ(scaler->replies + joiner->replies, 0)
      << "the launcher replies once it has granted the request";
  EXPECT_THROW(ask(kStopMethod), Error);
  EXPECT_THROW(ask(0x02ff), Error);
}

}  // namespace
}  // namespace trireme::cluster::launch::job
