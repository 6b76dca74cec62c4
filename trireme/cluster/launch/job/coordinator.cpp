#include "trireme/cluster/launch/job/coordinator.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <memory>
#include <string>

#include "trireme/base/error.h"
#include "trireme/base/file/file.h"
#include "trireme/cluster/launch/host/process_tree.h"
#include "trireme/cluster/launch/host/signals.h"
#include "trireme/cluster/launch/job/folder.h"
#include "trireme/cluster/store/store_log.h"
#include "trireme/cluster/store/store_service.h"
#include "trireme/net/auth/secret_credentials.h"
#include "trireme/net/server.h"

namespace trireme::cluster::launch::job {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

constexpr auto kTakeOverTime = 10s;
constexpr const char* kAddressFile = "store.address";
constexpr int kPause = 1;          // milliseconds, while the previous coordinator dies
constexpr Duration kLookMax = 1s;  // between two checks of the job

struct Holder {
  pid_t pid = 0;
  unsigned long long start = 0;
};

std::optional<Holder> read_holder(const Descriptor& file) {
  char text[64] = {};
  if (pread(file.get(), text, sizeof(text) - 1, 0) <= 0) return std::nullopt;
  Holder holder;
  if (std::sscanf(text, "%d %llu\n", &holder.pid, &holder.start) != 2) return std::nullopt;
  return holder.pid > 1 ? std::optional(holder) : std::nullopt;
}

void write_holder(const Descriptor& file) {
  const auto self = host::find_process(getpid());
  char text[64];
  const int size = std::snprintf(text, sizeof(text), "%d %llu\n", getpid(), self ? self->start : 0);
  if (ftruncate(file.get(), 0) != 0 ||
      pwrite(file.get(), text, static_cast<std::size_t>(size), 0) != size) {
    throw system_error("cannot write the coordinator's name", errno);
  }
}

// Kills exactly that process, not a process that has reused its pid.
void kill_holder(const Holder& holder, Deadline deadline) {
  const Descriptor handle(static_cast<int>(syscall(SYS_pidfd_open, holder.pid, 0)));
  if (!handle) return;
  const auto now = host::find_process(holder.pid);
  if (!now || now->start != holder.start) return;
  syscall(SYS_pidfd_send_signal, handle.get(), SIGKILL, nullptr, 0);
  pollfd death{.fd = handle.get(), .events = POLLIN, .revents = 0};
  poll(&death, 1, deadline.poll_timeout());
}

// The same address as the previous coordinator, because the workers already use it.
net::Address address_of(const CoordinatorOptions& options) {
  if (options.listen.empty()) {
    return net::Address::unix_socket((options.folder / "store.sock").string());
  }
  return net::Address::parse(store_address_of(options.folder).value_or(options.listen));
}

std::unique_ptr<net::Server> serve(const CoordinatorOptions& coordinator,
                                   std::shared_ptr<StoreService> store) {
  const fs::path& folder = coordinator.folder;
  net::Server::Options options;
  options.address = address_of(coordinator);
  options.credentials = std::make_shared<net::SecretCredentials>(
      net::Secret::from_file(folder / "secret"), "coordinator");
  auto server = std::make_unique<net::Server>(
      std::move(options), net::Server::Services{{kStoreServiceNumber, std::move(store)}});
  if (!coordinator.listen.empty()) {
    write_file_atomically(folder / kAddressFile, server->address().to_text());
  }
  return server;
}

// Waits until the coordinator should end. True: no process watches the job any more.
bool wait_for_end(const CoordinatorOptions& options, host::SignalQueue& signals) {
  const Duration period = std::min<Duration>(kLookMax, options.orphan_timeout / 4);
  const auto pause = static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(period).count());
  TimePoint watched = steady_clock().now();
  while (true) {
    pollfd wait{.fd = signals.descriptor(), .events = POLLIN, .revents = 0};
    poll(&wait, 1, pause);
    while (const auto signal = signals.next()) {
      if (*signal == SIGTERM) return false;
    }
    if (access((options.folder / "lock").c_str(), F_OK) != 0) return false;
    const TimePoint now = steady_clock().now();
    if (is_watched(options.folder)) watched = now;
    if (now - watched >= options.orphan_timeout) return true;
  }
}

}  // namespace

Descriptor take_over(const fs::path& folder, Deadline deadline) {
  const fs::path path = folder / kCoordinatorFile;
  Descriptor file(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file) throw system_error("cannot open " + path.string(), errno);
  while (!try_lock(file)) {
    // A process that has just taken the lock may not have written its pid yet.
    if (const auto holder = read_holder(file)) kill_holder(*holder, deadline);
    if (deadline.is_past()) {
      throw Error(ErrorCode::Deadline, "the previous coordinator does not exit");
    }
    poll(nullptr, 0, kPause);
  }
  return file;
}

std::optional<std::string> store_address_of(const fs::path& folder) {
  const fs::path path = folder / kAddressFile;
  std::error_code error;
  if (!fs::exists(path, error)) return std::nullopt;
  return read_file(path);
}

std::optional<pid_t> coordinator_of(const fs::path& folder) {
  const Descriptor file(open((folder / kCoordinatorFile).c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  if (!file || !is_locked(file)) return std::nullopt;
  const auto holder = read_holder(file);
  return holder ? std::optional(holder->pid) : std::nullopt;
}

int run_coordinator(const CoordinatorOptions& options) {
  // Its own process group, so that it receives neither a terminal's signals nor those sent to the
  // job.
  setpgid(0, 0);
  signal(SIGPIPE, SIG_IGN);
  host::SignalQueue signals({SIGINT, SIGTERM, SIGHUP});
  Descriptor right = take_over(options.folder, Deadline::after(kTakeOverTime));
  write_holder(right);
  bool is_unwatched = false;
  {
    StoreLog log(options.folder / "store.log");
    const auto store = std::make_shared<StoreService>(StoreBounds{}, log.journal());
    log.replay([&](const StoreMap::Change& change) { store->learn(change); });
    store->advance(log.first_revision());
    const auto server = serve(options, store);
    is_unwatched = wait_for_end(options, signals);
  }
  right.reset();
  if (is_unwatched) sweep_quietly(options.folder.parent_path());
  return 0;
}

}  // namespace trireme::cluster::launch::job
