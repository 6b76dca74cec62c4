#include "trireme/cluster/launch/job/remote.h"

#include <poll.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <utility>

#include "trireme/base/bytes.h"
#include "trireme/base/error.h"
#include "trireme/base/text/nearest.h"
#include "trireme/cluster/launch/job/coordinator.h"
#include "trireme/cluster/launch/job/folder.h"
#include "trireme/cluster/launch/job/root.h"
#include "trireme/cluster/launch/job/service.h"
#include "trireme/net/auth/secret_credentials.h"
#include "trireme/net/client.h"

namespace trireme::cluster::launch::job {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

constexpr auto kConnectTime = 2s;
constexpr auto kSendTime = 5s;
constexpr auto kQuietTime = 200ms;

net::Address control_of(const fs::path& folder) {
  return net::Address::unix_socket((folder / "control.sock").string());
}

net::Client connect_to(const fs::path& folder, const net::Address& address, std::string name,
                       Deadline deadline) {
  const net::SecretCredentials credentials(net::Secret::from_file(folder / "secret"),
                                           std::move(name));
  return net::Client({.address = address, .credentials = &credentials}, deadline);
}

net::Client connect_to(const fs::path& folder, std::string name, Deadline deadline) {
  return connect_to(folder, control_of(folder), std::move(name), deadline);
}

}  // namespace

std::vector<RunningJob> running_jobs() {
  std::vector<RunningJob> jobs;
  for (const fs::path& root : known_roots()) {
    for (const fs::path& folder : living(root)) {
      if (auto card = Card::load(folder / "card.json")) jobs.push_back({folder, std::move(*card)});
    }
  }
  std::sort(jobs.begin(), jobs.end(),
            [](const RunningJob& a, const RunningJob& b) { return a.card.name < b.card.name; });
  return jobs;
}

RunningJob find_job(std::string_view name) {
  std::vector<std::string> names;
  for (RunningJob& job : running_jobs()) {
    if (job.card.name == name) return std::move(job);
    names.push_back(job.card.name);
  }
  std::string message = "no job named '" + std::string(name) + "' is running";
  if (const auto near = nearest(name, names)) message += "; did you mean " + *near + "?";
  throw Error(ErrorCode::NotFound, message);
}

void stop_job(const RunningJob& job, bool is_kill, Deadline deadline) {
  if (!is_watched(job.folder)) {
    // Its coordinator would end the job after a while; without a coordinator the job is swept now.
    take_over(job.folder, deadline).reset();
    sweep(job.folder.parent_path());
  } else {
    net::Client client =
        connect_to(job.folder, "stop", min(deadline, Deadline::after(kConnectTime)));
    const std::byte request{static_cast<unsigned char>(is_kill)};
    client.call(kStopMethod, ByteView(&request, 1), deadline);
  }
  while (is_alive(job.folder)) {
    if (deadline.is_past()) {
      throw Error(ErrorCode::Deadline, "job " + job.card.name + " is still ending; try --kill");
    }
    poll(nullptr, 0, 5);
  }
}

namespace {

std::int32_t ask_for_workers(const RunningJob& job, std::uint16_t method, ByteView payload,
                             Deadline deadline) {
  if (!job.card.is_elastic) {
    throw Error(ErrorCode::InvalidInput,
                "job " + job.card.name + " is not elastic; start it with --elastic");
  }
  net::Client client =
      connect_to(job.folder, "scale", min(deadline, Deadline::after(kConnectTime)));
  return ByteReader(client.call(method, payload, deadline)).get<std::int32_t>();
}

}  // namespace

void scale_job(const RunningJob& job, int workers, Deadline deadline) {
  const Bytes payload = ByteWriter().put(static_cast<std::int32_t>(workers)).bytes();
  ask_for_workers(job, kScaleMethod, payload, deadline);
}

int join_job(const RunningJob& job, Deadline deadline) {
  return ask_for_workers(job, kJoinMethod, {}, deadline);
}

void watch_job(const RunningJob& job, const std::function<bool(std::string_view)>& sink,
               const std::function<void()>& on_quiet) {
  net::Client client = connect_to(job.folder, "watch", Deadline::after(kConnectTime));
  net::ReplyStream events = client.open(kWatchMethod, {}, Deadline::after(kConnectTime));
  while (true) {
    try {
      const auto line = events.next(on_quiet ? Deadline::after(kQuietTime) : Deadline::never());
      if (!line || !sink(text_of(*line))) return;
    } catch (const Error& error) {
      // The launcher closes the socket when the job is over; the stream's end may not arrive.
      if (error.code() == ErrorCode::PeerLost) return;
      if (error.code() != ErrorCode::Deadline) throw;
      on_quiet();
    }
  }
}

std::unique_ptr<monitor::Feed> rank_feed(Deadline deadline) {
  const char* job = std::getenv("TRIREME_JOB_FOLDER");
  const char* secret = std::getenv("TRIREME_SECRET_FILE");
  const char* rank = std::getenv("TRIREME_RANK");
  if (job == nullptr || secret == nullptr || rank == nullptr) return nullptr;
  const fs::path folder(job);
  const int number = std::atoi(rank);
  // In a job on several hosts the launcher may be on another host.
  const char* feed = std::getenv("TRIREME_FEED");
  const net::Address address =
      feed != nullptr && *feed != '\0' ? net::Address::parse(feed) : control_of(folder);
  auto client = std::make_shared<net::Client>(
      connect_to(folder, address, "rank " + std::to_string(number), deadline));
  monitor::Feed::Options options;
  options.always = {{"rank", number}};
  options.send = [client](std::span<const monitor::FeedLine> batch) {
    client->post(kReportMethod, encode_reports(batch), Deadline::after(kSendTime));
  };
  return std::make_unique<monitor::Feed>(std::move(options));
}

}  // namespace trireme::cluster::launch::job
