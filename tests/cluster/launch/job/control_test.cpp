// Goal:   a running job can be listed, watched, reported to and stopped through its folder, and
//         only by clients that know its secret.
// Method: a Control in this process and its clients, over the real socket.

#include "trireme/cluster/launch/job/control.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <future>

#include "trireme/base/error.h"
#include "trireme/base/file/file.h"
#include "trireme/base/file/temporary_folder.h"
#include "trireme/cluster/launch/job/remote.h"
#include "trireme/cluster/launch/job/root.h"
#include "trireme/net/auth/secret_credentials.h"
#include "trireme/net/client.h"
#include "trireme/testing/scoped_variable.h"

namespace trireme::cluster::launch::job {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using trireme::testing::ScopedVariable;

class ControlSocket : public ::testing::Test {
 protected:
  ControlSocket() {
    folder_ = std::make_unique<Folder>(Folder::create(own_root(), "demo"));
    control_ = std::make_unique<Control>(*folder_, Control::Options{});
    Card{.name = "demo",
         .ranks = 2,
         .state = "running",
         .command = "x",
         .started = 1,
         .front = getpid(),
         .launcher = getpid(),
         .output = ""}
        .save(folder_->card());
  }
  ~ControlSocket() override {
    control_.reset();
    folder_->remove();
  }

  TemporaryFolder runtime_{"control-test"};
  const ScopedVariable variable_{"XDG_RUNTIME_DIR", runtime_.path()};
  std::unique_ptr<Folder> folder_;
  std::unique_ptr<Control> control_;
};

TEST_F(ControlSocket, TheJobIsListedAndFoundByName) {
  const auto jobs = running_jobs();
  const auto demo = std::find_if(jobs.begin(), jobs.end(), [&](const RunningJob& job) {
    return job.folder == folder_->path();
  });
  ASSERT_NE(demo, jobs.end());
  EXPECT_EQ(demo->card.ranks, 2);
  EXPECT_EQ(find_job("demo").folder, folder_->path());
  try {
    find_job("dmeo");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::NotFound);
    EXPECT_THAT(error.message(), HasSubstr("did you mean demo"));
  }
}

TEST_F(ControlSocket, EventsReachWatchersAndTheEventFile) {
  control_->publish("job started", {{"ranks", 2}});
  std::promise<void> seen;
  std::vector<std::string> lines;
  auto watching = std::async(std::launch::async, [&] {
    watch_job(find_job("demo"), [&](std::string_view line) {
      lines.emplace_back(line);
      if (lines.size() == 2) seen.set_value();
      return true;
    });
  });
  const ScopedVariable job("TRIREME_JOB_FOLDER", folder_->path());
  const ScopedVariable secret("TRIREME_SECRET_FILE", folder_->secret());
  const ScopedVariable rank("TRIREME_RANK", "1");
  {
    const auto feed = rank_feed(Deadline::after(5s));
    ASSERT_NE(feed, nullptr);
    feed->report(monitor::Channel::Events, {{"event", "hello"}});
    feed->report(monitor::Channel::Metrics, {{"loss", 0.5}});
    EXPECT_TRUE(feed->flush(Deadline::after(5s)));
  }
  ASSERT_EQ(seen.get_future().wait_for(10s), std::future_status::ready);
  control_.reset();
  ASSERT_EQ(watching.wait_for(10s), std::future_status::ready) << "the stream ends with the job";
  watching.get();
  EXPECT_THAT(lines[0], HasSubstr(R"("from":"launcher","event":"job started","ranks":2)"));
  EXPECT_THAT(lines[1], HasSubstr(R"("rank":1,"event":"hello")"));
  EXPECT_THAT(read_file(folder_->path() / "events.jsonl"), HasSubstr(lines[1]));
  EXPECT_THAT(read_file(folder_->path() / "metrics.jsonl"), HasSubstr(R"("loss":0.5)"));
}

TEST_F(ControlSocket, RanksOfOtherHostsMayOnlyReport) {
  EXPECT_EQ(control_->remote_address(), "");
  control_.reset();
  control_ = std::make_unique<Control>(*folder_, Control::Options{.remote = "127.0.0.1"});
  const std::string there = control_->remote_address();
  ASSERT_THAT(there, HasSubstr("tcp://127.0.0.1:"));
  const ScopedVariable job("TRIREME_JOB_FOLDER", folder_->path());
  const ScopedVariable secret("TRIREME_SECRET_FILE", folder_->secret());
  const ScopedVariable rank("TRIREME_RANK", "1");
  const ScopedVariable address("TRIREME_FEED", there);
  const auto feed = rank_feed(Deadline::after(5s));
  feed->report(monitor::Channel::Events, {{"event", "hello"}});
  EXPECT_TRUE(feed->flush(Deadline::after(5s)));
  const Deadline deadline = Deadline::after(5s);
  const auto events = [&] { return read_file(folder_->path() / "events.jsonl"); };
  while (events().empty() && !deadline.is_past()) usleep(1000);
  EXPECT_THAT(events(), HasSubstr(R"("rank":1,"event":"hello")"));

  const net::SecretCredentials ours(net::Secret::from_file(folder_->secret()), "rank 1");
  net::Client client({.address = net::Address::parse(there), .credentials = &ours},
                     Deadline::after(5s));
  EXPECT_THROW(client.call(kStopMethod, Bytes(1), Deadline::after(5s)), Error);
}

TEST_F(ControlSocket, AStopIsRequestedOnce) {
  EXPECT_FALSE(control_->take_request());
  for (bool is_kill : {false, true}) {
    auto stopping = std::async(std::launch::async, [&] {
      EXPECT_THROW(stop_job(find_job("demo"), is_kill, Deadline::after(300ms)), Error)
          << "the job still runs, so the wait must end at its deadline";
    });
    pollfd request{.fd = control_->descriptor(), .events = POLLIN, .revents = 0};
    ASSERT_EQ(poll(&request, 1, 10'000), 1);
    const auto taken = control_->take_request();
    ASSERT_TRUE(taken);
    EXPECT_EQ(taken->kind, is_kill ? ControlRequest::Kind::Kill : ControlRequest::Kind::Stop);
    EXPECT_FALSE(control_->take_request());
    stopping.get();
  }
}

TEST_F(ControlSocket, AClientWithoutTheSecretIsRefused) {
  const net::SecretCredentials wrong(net::Secret::generate(), "x");
  const auto address = net::Address::unix_socket(folder_->socket().string());
  EXPECT_THROW(net::Client({.address = address, .credentials = &wrong}, Deadline::after(5s)),
               Error);
  const Deadline deadline = Deadline::after(5s);
  const auto events = [&] { return read_file(folder_->path() / "events.jsonl"); };
  while (events().empty() && !deadline.is_past()) usleep(1000);
  EXPECT_THAT(events(), HasSubstr("\"event\":\"stranger turned away\",\"level\":\"warn\""));
}

TEST_F(ControlSocket, OutsideAJobRankFeedIsNull) {
  const ScopedVariable job("TRIREME_JOB_FOLDER", std::nullopt);
  EXPECT_EQ(rank_feed(Deadline::after(1s)), nullptr);
}

}  // namespace
}  // namespace trireme::cluster::launch::job
