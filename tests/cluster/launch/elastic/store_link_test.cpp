// Goal:   the wanted number is written to the store, however late the store starts, and the last
//         one counts; the members and the announced workers are read.
// Method: a store's server at a job's socket, started after the number was set.

#include "trireme/cluster/launch/elastic/store_link.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <optional>
#include <set>

#include "trireme/base/file/temporary_folder.h"
#include "trireme/cluster/membership/epoch.h"
#include "trireme/cluster/membership/records.h"
#include "trireme/cluster/store/remote_store.h"
#include "trireme/cluster/store/store_service.h"
#include "trireme/net/auth/secret_credentials.h"
#include "trireme/net/server.h"

namespace trireme::cluster::launch {
namespace {

using namespace std::chrono_literals;

TEST(StoreLink, WritesTheLatestNumberOnceTheStoreAnswers) {
  const TemporaryFolder folder("link-test");
  const auto path = folder.path() / "secret";
  std::ofstream(path) << std::string(64, 'a') << "\n";
  std::filesystem::permissions(path, std::filesystem::perms::owner_read);
  StoreLink link({.folder = folder.path(), .silence_max = 4s});
  link.set_wanted(3);
  link.set_wanted(4);
  EXPECT_FALSE(link.is_idle());
  const net::Secret secret = net::Secret::from_file(path);
  net::Server::Options options;
  options.address = net::Address::unix_socket((folder.path() / "store.sock").string());
  options.credentials = std::make_shared<net::SecretCredentials>(secret, "server");
  const net::Server server(options, {{kStoreServiceNumber, std::make_shared<StoreService>()}});
  const Deadline deadline = Deadline::after(20s);
  while (!link.is_idle() && !deadline.is_past()) usleep(1000);
  const net::SecretCredentials credentials(secret, "rank");
  RemoteStore store({.address = options.address, .credentials = &credentials}, deadline);
  EXPECT_EQ(store.get("wanted", deadline), to_bytes("4"));
  EXPECT_EQ(link.members(), std::set<int>{});
  for (int number : {2, 1}) {
    std::vector<membership::EpochMember> entries{{.worker = 0, .place = 0},
                                                 {.worker = number, .place = 1}};
    for (membership::EpochMember& entry : entries) {
      entry.about.rank = entry.worker;
      entry.about.size = 3;
    }
    const membership::Epoch epoch(static_cast<std::uint64_t>(number), entries);
    store.set("epoch/" + std::to_string(number), encode(epoch), deadline);
  }
  // A refusal of a worker that found all members dead is no epoch.
  store.set("epoch/3", membership::encode(membership::Refusal{.worker = 7, .text = "no"}),
            deadline);
  for (const char* key : {"worker/0000003", "well/0000004"}) {
    store.set(key, to_bytes("record"), deadline);
  }
  const TimePoint written = steady_clock().now();
  std::optional<Announced> announced;
  do {
    usleep(1000);
    announced = link.announced();
  } while ((!announced || announced->as_of < written) && !deadline.is_past());
  ASSERT_TRUE(announced);
  EXPECT_EQ(announced->workers, std::set<int>{3});
  const std::set<int> newest{0, 2};
  while (link.members() != newest && !deadline.is_past()) usleep(1000);
  EXPECT_EQ(link.members(), newest);
  link.forget_members();
  EXPECT_EQ(link.members(), std::set<int>{});
  link.clear_event();
  link.confirm_members();
  // Epoch 1 may still arrive from the watch, and sets the event, too.
  std::optional<std::set<int>> confirmed;
  while (!(confirmed = link.take_confirmed())) {
    pollfd wait{.fd = link.event(), .events = POLLIN, .revents = 0};
    ASSERT_EQ(poll(&wait, 1, deadline.poll_timeout()), 1);
    link.clear_event();
  }
  EXPECT_EQ(confirmed, newest);
  EXPECT_EQ(link.take_confirmed(), std::nullopt);
  EXPECT_EQ(link.members(), newest);
}

}  // namespace
}  // namespace trireme::cluster::launch
