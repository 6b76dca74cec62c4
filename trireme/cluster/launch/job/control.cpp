#include "trireme/cluster/launch/job/control.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <future>
#include <mutex>

#include "trireme/base/clock.h"
#include "trireme/base/error.h"
#include "trireme/cluster/launch/job/service.h"
#include "trireme/cluster/store_service.h"
#include "trireme/net/secret_credentials.h"
#include "trireme/net/server.h"

namespace trireme::cluster::launch::job {
namespace {

using namespace std::chrono_literals;
using monitor::Report;

constexpr auto kEndTime = 500ms;

}  // namespace

namespace {

Report report_of(std::string_view event, const Record& record) {
  Record whole{{"time", wall_seconds()}, {"from", "launcher"}, {"event", event}};
  for (const auto& field : record.fields()) whole.add(field);
  return {.channel = monitor::Channel::Events, .json = whole.to_json()};
}

// What the server logs, such as strangers that it turned away, is an event of the job.
class EventSink final : public LogSink {
 public:
  void write(LogLevel level, std::string_view event, const Record& record) noexcept override {
    try {
      Record whole{{"level", name_of(level)}};
      for (const auto& field : record.fields()) whole.add(field);
      post(report_of(event, whole));
    } catch (const std::exception&) {
      // A line of a log is not worth a job.
    }
  }
  void post(Report report) {
    const std::lock_guard lock(mutex_);
    if (server_ == nullptr) return;
    server_->post([service = service_, report = std::move(report)] { service->publish(report); });
  }
  void attach(net::Server* server, std::shared_ptr<JobService> service) {
    const std::lock_guard lock(mutex_);
    server_ = server;
    service_ = std::move(service);
  }

 private:
  std::mutex mutex_;
  net::Server* server_ = nullptr;
  std::shared_ptr<JobService> service_;
};

}  // namespace

struct Control::State {
  Descriptor wishes_in, wishes_out;  // a pipe of bytes: 0 end, 1 kill
  std::shared_ptr<EventSink> sink = std::make_shared<EventSink>();
  std::shared_ptr<JobService> service;
  std::unique_ptr<net::Server> server;
};

Control::Control(const Folder& folder, const std::filesystem::path& output)
    : state_(std::make_unique<State>()) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) throw system_error("pipe", errno);
  state_->wishes_out = Descriptor(ends[0]);
  state_->wishes_in = Descriptor(ends[1]);
  const int wishes = ends[1];
  state_->service = std::make_shared<JobService>(JobService::Options{
      .folder = output.empty() ? folder.path() : output,
      .on_stop =
          [wishes](bool is_kill) {
            const char wish = is_kill ? 1 : 0;
            // A full pipe already holds more wishes than anybody needs.
            [[maybe_unused]] const ssize_t size = write(wishes, &wish, 1);
          },
  });
  net::Server::Options options;
  options.address = net::Address::unix_socket(folder.socket().string());
  options.credentials = std::make_shared<net::SecretCredentials>(
      net::Secret::from_file(folder.secret()),
      net::Identity{.name = "launcher", .role = "coordinator"});
  options.log = Log(state_->sink, LogLevel::Info);
  state_->server = std::make_unique<net::Server>(
      std::move(options),
      net::Server::Services{{kStoreServiceNumber, std::make_shared<StoreService>()},
                            {kJobServiceNumber, state_->service}});
  state_->sink->attach(state_->server.get(), state_->service);
}

Control::~Control() {
  // In order behind everything published, so nothing of it is lost.
  auto ended = std::make_shared<std::promise<void>>();
  state_->server->post([service = state_->service, ended] {
    service->end();
    ended->set_value();
  });
  ended->get_future().wait_for(kEndTime);
  state_->sink->attach(nullptr, nullptr);
}

void Control::publish(std::string_view event, const Record& record) {
  state_->sink->post(report_of(event, record));
}

int Control::descriptor() const noexcept {
  return state_->wishes_out.get();
}

std::optional<int> Control::take_stop() {
  char wish = 0;
  if (read(state_->wishes_out.get(), &wish, 1) != 1) return std::nullopt;
  return wish == 0 ? SIGTERM : SIGKILL;
}

}  // namespace trireme::cluster::launch::job
