// Goal:   a Listener is private, replaces only dead sockets, and leaves nothing behind.
// Method: paths in a temporary folder in each state; both IP families; two listeners created at the
//         same time.

#include "trireme/net/listener.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "trireme/base/error.h"
#include "trireme/base/file/file.h"
#include "trireme/base/file/temporary_folder.h"
#include "trireme/testing/code_of.h"
#include "trireme/testing/rank_processes.h"

namespace trireme::net {
namespace {

using namespace std::chrono_literals;
using trireme::testing::code_of;

class ListenerAtPath : public ::testing::Test {
 protected:
  const TemporaryFolder folder_{"listener-test"};
  const std::string path_ = (folder_.path() / "ctl").string();
  const Address address_ = Address::unix_socket(path_);

  bool can_connect() const {
    try {
      return connect(resolve(address_).front(), Deadline::after(1s)).is_open();
    } catch (const Error&) {
      return false;
    }
  }

  // Creates what a killed process leaves: a socket file without a listener.
  void leave_dead_socket() const { leave_dead_socket(address_); }
  static void leave_dead_socket(const Address& address) {
    const Socket socket = make_socket(AF_UNIX);
    const SocketAddress where = resolve(address).front();
    ASSERT_EQ(
        bind(socket.descriptor(), reinterpret_cast<const sockaddr*>(&where.storage), where.size),
        0);
  }

  std::string refusal() const {
    try {
      Listener listener(address_);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::Io);
      return error.message();
    }
    return "none";
  }
};

TEST_F(ListenerAtPath, IsPrivateAndRemovedWithItsOwner) {
  {
    Listener listener(address_);
    struct stat info{};
    ASSERT_EQ(stat(path_.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 07777, 0600u);
    EXPECT_TRUE(can_connect());
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
}

// A socket address holds at most 107 bytes of a path.
TEST_F(ListenerAtPath, ALongPathIsReachedThroughItsFolder) {
  const std::filesystem::path deep = folder_.path() / std::string(120, 'd') / std::string(200, 'e');
  const Address address = Address::unix_socket((deep / "ctl").string());
  EXPECT_EQ(code_of([&] { resolve(address); }), ErrorCode::Unreachable)
      << "a client gets this error if the folder is missing";
  EXPECT_EQ(code_of([&] { Listener listener(address); }), ErrorCode::Io);
  std::filesystem::create_directories(deep);
  leave_dead_socket(address);
  {
    Listener listener(address);
    EXPECT_EQ(listener.address(), address);
    EXPECT_TRUE(connect(resolve(address).front(), Deadline::after(10s)).is_open());
    EXPECT_EQ(code_of([&] { Listener other(address); }), ErrorCode::Io)
        << "a live socket is at this path";
    EXPECT_TRUE(std::filesystem::is_socket(deep / "ctl"));
  }
  EXPECT_TRUE(std::filesystem::is_empty(deep));
}

TEST_F(ListenerAtPath, ReplacesADeadSocket) {
  leave_dead_socket();
  ASSERT_TRUE(std::filesystem::exists(path_));
  EXPECT_FALSE(can_connect());
  Listener listener(address_);
  EXPECT_TRUE(can_connect());
}

TEST_F(ListenerAtPath, DoesNotReplaceALiveSocket) {
  Listener living(address_);
  EXPECT_NE(refusal().find("a live process listens there"), std::string::npos);
  EXPECT_TRUE(can_connect());
}

TEST_F(ListenerAtPath, DoesNotReplaceAFileThatIsNotASocket) {
  write_file_atomically(path_, "precious");
  EXPECT_NE(refusal().find("no socket"), std::string::npos);
  EXPECT_EQ(read_file(path_), "precious");
}

TEST_F(ListenerAtPath, DoesNotRemoveItsSuccessorsSocket) {
  auto first = std::make_unique<Listener>(address_);
  ASSERT_EQ(unlink(path_.c_str()), 0);
  Listener second(address_);
  first.reset();
  EXPECT_TRUE(can_connect());
}

TEST_F(ListenerAtPath, OfManyListenersExactlyOneSucceeds) {
  for (int round = 0; round < 20; ++round) {
    leave_dead_socket();
    std::atomic<int> ready = 0;
    std::atomic<int> won = 0;
    std::vector<std::unique_ptr<Listener>> listeners(4);
    std::vector<std::thread> threads;
    for (auto& slot : listeners) {
      threads.emplace_back([&] {
        ++ready;
        while (ready < 4) std::this_thread::yield();
        try {
          slot = std::make_unique<Listener>(address_);
          ++won;
        } catch (const Error&) {
        }
      });
    }
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(won, 1);
    EXPECT_TRUE(can_connect());
  }
}

TEST_F(ListenerAtPath, AMissingFolderIsReported) {
  const std::string path = (folder_.path() / "missing" / "ctl").string();
  try {
    Listener listener(Address::unix_socket(path));
    FAIL() << "listens";
  } catch (const Error& error) {
    EXPECT_NE(error.message().find("missing"), std::string::npos) << error.what();
  }
}

void expect_listens(const Address& address) {
  Listener listener(address);
  EXPECT_NE(listener.address().port, 0);
  EXPECT_EQ(listener.address().host, address.host);
  EXPECT_EQ(listener.accept().error, EAGAIN);
  const Socket client = connect(resolve(listener.address()).front(), Deadline::after(5s));
  ASSERT_TRUE(wait_ready(listener.socket(), POLLIN, Deadline::after(5s)));
  EXPECT_TRUE(listener.accept().socket.is_open());
  EXPECT_THROW(Listener again(listener.address()), Error);
}

TEST(ListenerOnTcp, ListensOnIpv4) {
  expect_listens(Address::tcp("127.0.0.1", 0));
}

bool has_ipv6() {
  try {
    Listener probe(Address::tcp("::1", 0));
    return true;
  } catch (const Error&) {
    return false;
  }
}

TEST(ListenerOnTcp, ListensOnIpv6) {
  if (!has_ipv6()) GTEST_SKIP() << "NO IPv6 HERE, NOT TESTED";
  expect_listens(Address::tcp("::1", 0));
}

bool can_reach(const Address& address) {
  try {
    return connect(resolve(address).front(), Deadline::after(5s)).is_open();
  } catch (const Error&) {
    return false;
  }
}

TEST(ListenerOnTcp, TheUnspecifiedIpv6AddressServesBothFamilies) {
  const Listener listener(Address::tcp("::", 0));
  EXPECT_TRUE(can_reach(Address::tcp("127.0.0.1", listener.address().port)));
  if (listener.address().host != "::" || !has_ipv6()) {
    GTEST_SKIP() << "NO IPv6 HERE, NOT TESTED";
  }
  EXPECT_TRUE(can_reach(Address::tcp("::1", listener.address().port)));
}

// Makes this process behave as on a kernel without IPv6. Returns false if that is not permitted.
bool forgo_ipv6() {
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_socket, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[0])),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_INET6, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EAFNOSUPPORT),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{.len = std::size(filter), .filter = filter};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

TEST(ListenerOnTcp, WithoutIpv6TheUnspecifiedAddressServesIpv4) {
  testing::RankProcesses ranks({.count = 1}, [](testing::RankChannel& channel) {
    if (!forgo_ipv6()) return channel.say("may not");
    const Listener listener(Address::tcp("::", 0));
    const bool works = can_reach(Address::tcp("127.0.0.1", listener.address().port));
    channel.say(listener.address().host + (works ? " works" : " does not"));
  });
  const std::string said = ranks.hear(0, Deadline::after(20s));
  if (said == "may not") GTEST_SKIP() << "NO SECCOMP HERE, NOT TESTED";
  EXPECT_EQ(said, "0.0.0.0 works");
}

TEST(ListenerOnTcp, AnAddressOfAnotherHostIsRefused) {
  try {
    Listener listener(Address::tcp("192.0.2.1", 0));
    FAIL() << "listens";
  } catch (const Error& error) {
    EXPECT_NE(error.message().find("tcp://192.0.2.1:0"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace trireme::net
