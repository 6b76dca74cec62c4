#include "trireme/cluster/launch/job/control.h"

#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <deque>
#include <future>
#include <mutex>

#include "trireme/base/clock.h"
#include "trireme/base/error.h"
#include "trireme/base/file/event_descriptor.h"
#include "trireme/cluster/launch/job/service.h"
#include "trireme/cluster/store/store_service.h"
#include "trireme/net/auth/secret_credentials.h"
#include "trireme/net/server.h"

namespace trireme::cluster::launch::job {
namespace {

using namespace std::chrono_literals;
using monitor::FeedLine;

constexpr auto kEndTime = 500ms;

}  // namespace

namespace {

std::shared_ptr<const net::Credentials> credentials_of(const Folder& folder) {
  return std::make_shared<net::SecretCredentials>(net::Secret::from_file(folder.secret()),
                                                  "launcher");
}

FeedLine report_of(std::string_view event, const Record& record) {
  Record whole{{"time", wall_seconds()}, {"from", "launcher"}, {"event", event}};
  for (const auto& field : record.fields()) whole.add(field);
  return {.channel = monitor::Channel::Events, .json = whole.to_json()};
}

// What the server logs, such as refused connections, becomes an event of the job.
class EventSink final : public LogSink {
 public:
  void write(LogLevel level, std::string_view event, const Record& record) noexcept override {
    try {
      Record whole{{"level", name_of(level)}};
      for (const auto& field : record.fields()) whole.add(field);
      post(report_of(event, whole));
    } catch (const std::exception&) {
      // A lost log line must not end the job.
    }
  }
  void post(FeedLine report) {
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

// Accepts the reports of ranks on other hosts.
class ReportRelay final : public net::Service {
 public:
  explicit ReportRelay(std::shared_ptr<EventSink> sink) : sink_(std::move(sink)) {}

  void on_request(const net::Request& request) override {
    if (request.method != kReportMethod) {
      throw Error(ErrorCode::Unsupported, "only reports are accepted here");
    }
    for (FeedLine& report : decode_reports(request.payload)) sink_->post(std::move(report));
  }

 private:
  std::shared_ptr<EventSink> sink_;
};

// Passes requests from the server's thread to the launcher's thread.
class Requests {
 public:
  int descriptor() const noexcept { return event_.get(); }
  void push(ControlRequest request) {
    const std::lock_guard lock(mutex_);
    if (queue_.size() >= Control::kRequestsMax) {
      throw Error(ErrorCode::Exhausted, "too many pending requests to this job");
    }
    queue_.push_back(std::move(request));
    event_.set();
  }
  std::optional<ControlRequest> take() {
    const std::lock_guard lock(mutex_);
    if (queue_.empty()) {
      event_.clear();
      return std::nullopt;
    }
    ControlRequest request = std::move(queue_.front());
    queue_.pop_front();
    return request;
  }

 private:
  EventDescriptor event_;
  std::mutex mutex_;
  std::deque<ControlRequest> queue_;
};

struct Control::State {
  std::shared_ptr<Requests> requests = std::make_shared<Requests>();
  std::shared_ptr<EventSink> sink = std::make_shared<EventSink>();
  std::shared_ptr<JobService> service;
  std::unique_ptr<net::Server> server;
  std::unique_ptr<net::Server> remote;  // must end before `server`, to which it forwards reports
};

Control::Control(const Folder& folder, const Options& control) : state_(std::make_unique<State>()) {
  state_->service = std::make_shared<JobService>(JobService::Options{
      .folder = control.output.empty() ? folder.path() : control.output,
      .on_request = [requests = state_->requests](
                        ControlRequest request) { requests->push(std::move(request)); },
      .is_continued = control.is_continued,
  });
  net::Server::Options options;
  options.address = net::Address::unix_socket(folder.socket().string());
  options.credentials = credentials_of(folder);
  options.log = Log(state_->sink, LogLevel::Info);
  state_->server = std::make_unique<net::Server>(
      std::move(options),
      net::Server::Services{{kStoreServiceNumber, std::make_shared<StoreService>()},
                            {kJobServiceNumber, state_->service}});
  state_->sink->attach(state_->server.get(), state_->service);
  if (control.remote.empty()) return;
  net::Server::Options remote;
  remote.address = net::Address::tcp(control.remote, 0);
  remote.credentials = credentials_of(folder);
  remote.log = Log(state_->sink, LogLevel::Info);
  state_->remote = std::make_unique<net::Server>(
      std::move(remote),
      net::Server::Services{{kStoreServiceNumber, std::make_shared<StoreService>()},
                            {kJobServiceNumber, std::make_shared<ReportRelay>(state_->sink)}});
}

Control::~Control() {
  state_->remote.reset();
  // Queued after everything published, so that nothing is lost.
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

std::string Control::remote_address() const {
  return state_->remote ? state_->remote->address().to_text() : std::string();
}

int Control::descriptor() const noexcept {
  return state_->requests->descriptor();
}

std::optional<ControlRequest> Control::take_request() {
  return state_->requests->take();
}

}  // namespace trireme::cluster::launch::job
