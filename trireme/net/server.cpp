#include "trireme/net/server.h"

#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>

#include "trireme/base/check.h"
#include "trireme/base/error.h"
#include "trireme/base/file/descriptor.h"
#include "trireme/net/auth/doorkeeper.h"
#include "trireme/net/session.h"

namespace trireme::net {
namespace {

constexpr std::uint64_t kWakeTag = 1;
constexpr std::size_t kTasksMax = std::size_t{1} << 16;
constexpr std::size_t kEventsAtOnce = 256;
constexpr std::size_t kScratchSize = std::size_t{64} << 10;

Descriptor checked(int descriptor, std::string_view what) {
  if (descriptor < 0) throw system_error(what, errno);
  return Descriptor(descriptor);
}

ServiceTable table_of(Server::Services services) {
  ServiceTable out;
  for (auto& [number, service] : services) {
    TRIREME_CHECK(service != nullptr, "service ", int{number}, " is null");
    TRIREME_CHECK(out[number] == nullptr, "service ", int{number}, " is given twice");
    out[number] = std::move(service);
  }
  return out;
}

// Starts a thread that blocks all signals.
std::thread start_quietly(std::function<void()> body) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread out;
  try {
    out = std::thread(std::move(body));
  } catch (...) {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return out;
}

}  // namespace

class Server::Loop {
 public:
  Loop(Options options, Services services);
  ~Loop();

  const Address& address() const noexcept { return doorkeeper_.address(); }
  ServerCounters counters() const;
  void post(std::function<void()> task);

 private:
  using Sessions = std::unordered_map<SessionId, std::unique_ptr<Session>>;

  void run();
  void run_tasks();
  void wake() noexcept;
  bool handle(const epoll_event& event);
  void welcome(Doorkeeper::Guest guest);
  void on_session(SessionId id, std::uint32_t events);
  void settle(Sessions::iterator session, Session::State state);
  void end_session(SessionId id);

  const Options options_;
  const ServiceTable services_;
  const Descriptor epoll_;
  const Descriptor wake_;
  Doorkeeper doorkeeper_;
  Sessions sessions_;
  std::array<std::byte, kScratchSize> scratch_;
  std::atomic<std::uint64_t> sessions_accepted_ = 0;
  std::atomic<std::uint64_t> sessions_cut_ = 0;

  std::mutex tasks_mutex_;
  std::vector<std::function<void()>> tasks_;
  std::size_t tasks_begun_ = 0;  // taken from tasks_ and not yet run
  std::atomic<bool> is_stopping_ = false;
  std::thread thread_;
};

Server::Loop::Loop(Options options, Services services)
    : options_(std::move(options)),
      services_(table_of(std::move(services))),
      epoll_(checked(::epoll_create1(EPOLL_CLOEXEC), "epoll_create1")),
      wake_(checked(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "eventfd")),
      doorkeeper_(options_.address,
                  {.credentials = options_.credentials,
                   .handshake_timeout = options_.handshake_timeout,
                   .grace = options_.stranger_grace,
                   .strangers_max = options_.strangers_max},
                  epoll_.get(), options_.log) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = kWakeTag;
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, wake_.get(), &event) != 0) {
    throw system_error("epoll_ctl", errno);
  }
  thread_ = start_quietly([this] { run(); });
}

Server::Loop::~Loop() {
  is_stopping_ = true;
  wake();
  thread_.join();
}

void Server::Loop::run() {
  std::array<epoll_event, kEventsAtOnce> events;
  while (!is_stopping_) {
    const int count = ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()),
                                   doorkeeper_.next_deadline().poll_timeout());
    // Accept new connections last, so that existing and authenticating connections are served
    // first.
    bool somebody_knocks = false;
    for (int i = 0; i < count; ++i) somebody_knocks |= !handle(events[static_cast<std::size_t>(i)]);
    try {
      if (somebody_knocks) doorkeeper_.on_listener();
      doorkeeper_.on_time();
    } catch (const std::exception& error) {
      options_.log.error("a newcomer could not be received", {{"error", error.what()}});
    }
  }
  while (!sessions_.empty()) end_session(sessions_.begin()->first);
}

// Returns false for the listener's own event.
bool Server::Loop::handle(const epoll_event& event) {
  const std::uint64_t tag = event.data.u64;
  if (tag == Doorkeeper::kListenerTag) return false;
  try {
    if (tag == kWakeTag) {
      run_tasks();
    } else if (doorkeeper_.has_stranger(tag)) {
      const bool has_room = sessions_.size() < options_.sessions_max;
      if (auto guest = doorkeeper_.on_stranger(tag, has_room)) welcome(std::move(*guest));
    } else {
      on_session(tag, event.events);
    }
  } catch (const std::exception& error) {
    options_.log.error("the server met an unexpected error", {{"error", error.what()}});
    end_session(tag);
  }
  return true;
}

void Server::Loop::welcome(Doorkeeper::Guest guest) {
  ++sessions_accepted_;
  auto outbox = std::make_shared<Outbox>(std::move(guest.socket),
                                         Outbox::Options{.epoll = epoll_.get(),
                                                         .tag = guest.id,
                                                         .output_max = options_.output_max,
                                                         .payload_max = options_.payload_max});
  const auto [session, is_new] = sessions_.emplace(
      guest.id, std::make_unique<Session>(guest.id, std::move(guest.identity), std::move(outbox),
                                          services_, options_.payload_max, options_.log));
  settle(session, session->second->start(guest.rest));
}

void Server::Loop::on_session(SessionId id, std::uint32_t events) {
  // Ignore an event of a session that ended while this batch was handled.
  const auto session = sessions_.find(id);
  if (session != sessions_.end()) settle(session, session->second->on_event(events, scratch_));
}

void Server::Loop::settle(Sessions::iterator session, Session::State state) {
  if (state == Session::State::Open) return;
  if (state == Session::State::Cut) {
    ++sessions_cut_;
    options_.log.warn("session cut", {{"name", session->second->identity().name},
                                      {"why", session->second->reason()}});
  }
  end_session(session->first);
}

void Server::Loop::end_session(SessionId id) {
  if (sessions_.erase(id) == 0) return;
  for (const auto& service : services_) {
    if (!service) continue;
    try {
      service->on_session_end(id);
    } catch (const std::exception& error) {
      options_.log.error("a service failed to end a session", {{"error", error.what()}});
    }
  }
}

void Server::Loop::run_tasks() {
  std::uint64_t count = 0;
  (void)!::read(wake_.get(), &count, sizeof(count));
  std::vector<std::function<void()>> tasks;
  {
    const std::lock_guard lock(tasks_mutex_);
    tasks.swap(tasks_);
    tasks_begun_ = tasks.size();
  }
  for (const auto& task : tasks) {
    try {
      task();
    } catch (const std::exception& error) {
      options_.log.error("a posted task failed", {{"error", error.what()}});
    }
    const std::lock_guard lock(tasks_mutex_);
    --tasks_begun_;
  }
}

void Server::Loop::post(std::function<void()> task) {
  {
    const std::lock_guard lock(tasks_mutex_);
    if (tasks_begun_ + tasks_.size() >= kTasksMax) {
      throw Error(ErrorCode::Exhausted, std::to_string(kTasksMax) + " tasks wait for the server");
    }
    tasks_.push_back(std::move(task));
    if (tasks_.size() > 1) return;
  }
  wake();
}

void Server::Loop::wake() noexcept {
  const std::uint64_t one = 1;
  (void)!::write(wake_.get(), &one, sizeof(one));
}

ServerCounters Server::Loop::counters() const {
  const Doorkeeper::Counters& door = doorkeeper_.counters();
  return {.sessions_accepted = sessions_accepted_,
          .strangers_refused = door.refused,
          .strangers_timed_out = door.timed_out,
          .strangers_crowded_out = door.crowded_out,
          .sessions_cut = sessions_cut_,
          .connections = door.connections};
}

Server::Server(Options options, Services services) {
  TRIREME_CHECK(options.credentials != nullptr, "a server needs credentials");
  TRIREME_CHECK(options.strangers_max > 0, "a server that receives no stranger gets no member");
  loop_ = std::make_unique<Loop>(std::move(options), std::move(services));
}

Server::~Server() = default;

const Address& Server::address() const noexcept {
  return loop_->address();
}

ServerCounters Server::counters() const {
  return loop_->counters();
}

void Server::post(std::function<void()> task) {
  loop_->post(std::move(task));
}

}  // namespace trireme::net
