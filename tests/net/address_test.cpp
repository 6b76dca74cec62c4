// Goal:   addresses survive a round trip through text, and invalid ones are refused with a remedy.
// Method: known texts in both directions; numeric addresses resolved without a network; the host's
//         own interfaces.

#include "trireme/net/address.h"

#include <gtest/gtest.h>
#include <netinet/in.h>

#include <future>
#include <memory>
#include <string>

#include "trireme/base/error.h"
#include "trireme/testing/code_of.h"

namespace trireme::net {
namespace {

TEST(Address, IsParsedAsItWasFormatted) {
  for (const char* text : {"tcp://127.0.0.1:4711", "tcp://[::1]:0", "tcp://node-7.rack_2:65535",
                           "unix:/run/user/0/trireme/j/ctl", "unix:relative"}) {
    EXPECT_EQ(Address::parse(text).to_text(), text);
    EXPECT_EQ(Address::parse(text), Address::parse(Address::parse(text).to_text()));
  }
  const Address v6 = Address::parse("tcp://[::1]:17");
  EXPECT_EQ(v6.host, "::1");
  EXPECT_EQ(v6.port, 17);
  EXPECT_NE(v6, Address::tcp("::1", 18));
}

TEST(Address, RefusesInvalidTexts) {
  for (const char* text :
       {"", "tcp://", "tcp://host", "tcp://host:", "tcp://:1", "tcp://host:65536", "tcp://host:-1",
        "tcp://host:1x", "tcp://::1:80", "tcp://[::1]", "tcp://[::1]80", "tcp://[::1:80",
        "tcp://a b:1", "tcp://a/b:1", "http://host:1", "host:1", "unix:", "tcp://[]:1"}) {
    try {
      Address::parse(text);
      ADD_FAILURE() << "accepted " << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::InvalidInput) << text;
      EXPECT_NE(error.message().find("expected tcp://HOST:PORT"), std::string::npos) << text;
    }
  }
}

TEST(Address, UnixPathsAreBoundedAsInTheKernel) {
  EXPECT_EQ(Address::unix_socket(std::string(107, 'p')).path.size(), 107u);
  EXPECT_EQ(Address::unix_socket(std::string(4000, 'p') + "/name").path.size(), 4005u);
  for (const std::string& path : {std::string(108, 'p'), "/" + std::string(4095, 'p') + "/name"}) {
    try {
      Address::parse("unix:" + path);
      FAIL() << "accepted " << path.size() << " bytes";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::InvalidInput);
      EXPECT_NE(error.message().find("the kernel accepts 4095 and 82"), std::string::npos)
          << error.what();
    }
  }
  Address by_hand;
  by_hand.kind = Address::Kind::Unix;
  by_hand.path = std::string(500, 'p');
  EXPECT_THROW(resolve(by_hand), Error);
}

TEST(Address, ResolvesNumericAddressesOfBothFamilies) {
  const auto v4 = resolve(Address::tcp("127.0.0.1", 80));
  ASSERT_EQ(v4.size(), 1u);
  EXPECT_EQ(host_of(v4[0]), "127.0.0.1");
  EXPECT_EQ(port_of(v4[0]), 80);
  const auto v6 = resolve(Address::tcp("::1", 65535));
  ASSERT_EQ(v6.size(), 1u);
  EXPECT_EQ(host_of(v6[0]), "::1");
  EXPECT_EQ(port_of(v6[0]), 65535);
  const auto mapped = resolve(Address::tcp("::ffff:10.1.2.3", 1));
  ASSERT_EQ(mapped.size(), 1u);
  EXPECT_EQ(host_of(mapped[0]), "10.1.2.3");
  const auto local = resolve(Address::unix_socket("x"));
  ASSERT_EQ(local.size(), 1u);
  EXPECT_EQ(host_of(local[0]), "");
  EXPECT_EQ(port_of(local[0]), 0);
}

TEST(Address, HostNamesMayLookLikeHexadecimalNumbers) {
  for (const char* number :
       {"127.0.0.1", "0.0.0.0", "10.1", "::1", "::", "fd00::c01", "fe80::1%lo"}) {
    EXPECT_TRUE(is_number(number)) << number;
  }
  for (const char* name : {"c01", "a", "a1", "ada", "beef.cafe", "1.2.3.4.5", "node7", "c:1"}) {
    EXPECT_FALSE(is_number(name)) << name;
  }
}

TEST(Address, NamesThatDoNotResolveAreUnreachable) {
  try {
    resolve(Address::tcp("no-such-host.invalid", 1));
    FAIL() << "resolved";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Unreachable);
    EXPECT_NE(error.message().find("no-such-host.invalid"), std::string::npos);
  }
}

// A resolver that waits for an unreachable server until the test releases it.
TEST(Address, AHangingResolverEndsAtTheDeadline) {
  auto gate = std::make_shared<std::promise<void>>();
  auto done = std::make_shared<std::promise<void>>();
  const NameResolver hanging = [gate, done](const Address&) -> std::vector<SocketAddress> {
    gate->get_future().wait();
    done->set_value();
    return {};
  };
  try {
    resolve(Address::tcp("node7", 1), Deadline::after(std::chrono::milliseconds(50)), hanging);
    ADD_FAILURE() << "resolved";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Unreachable);
    EXPECT_NE(error.message().find("in time for the host name 'node7'"), std::string::npos);
  }
  EXPECT_EQ(resolve(Address::tcp("::1", 1), Deadline::after({}), hanging).size(), 1u)
      << "a numeric address needs no resolver";
  gate->set_value();
  done->get_future().wait();
}

TEST(Address, AnExceptionOfTheResolverReachesTheCaller) {
  const NameResolver failing = [](const Address&) -> std::vector<SocketAddress> {
    throw Error(ErrorCode::Io, "no sockets left");
  };
  for (const Deadline deadline : {Deadline::after(std::chrono::seconds(20)), Deadline::never()}) {
    EXPECT_EQ(testing::code_of([&] { resolve(Address::tcp("a", 1), deadline, failing); }),
              ErrorCode::Io);
  }
}

TEST(HostAddress, ComesFromTheInterfaceAndNotFromTheHostName) {
  EXPECT_EQ(host_address("lo"), "127.0.0.1");
  try {
    const std::string host = host_address();
    EXPECT_FALSE(host.starts_with("127.")) << host;
    EXPECT_NE(host, "::1");
    EXPECT_EQ(resolve(Address::tcp(host, 0)).size(), 1u) << "not a number: " << host;
  } catch (const Error& error) {
    // A machine without a network; then the message must say so.
    EXPECT_EQ(error.code(), ErrorCode::NotFound);
    EXPECT_NE(error.message().find("other than loopback"), std::string::npos);
  }
}

TEST(HostAddress, ListsTheExistingInterfaces) {
  try {
    host_address("no-such-interface");
    FAIL() << "found";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::NotFound);
    EXPECT_NE(error.message().find("no-such-interface"), std::string::npos);
    EXPECT_NE(error.message().find("lo (127.0.0.1)"), std::string::npos) << error.what();
  }
}

TEST(Address, OfThisHostIsThatOfTheRouteToAnother) {
  EXPECT_EQ(address_towards("127.0.0.1"), "127.0.0.1");
  EXPECT_EQ(address_towards("127.0.0.2"), "127.0.0.1");
  EXPECT_THROW(address_towards("no-such-host.invalid"), Error);
}

}  // namespace
}  // namespace trireme::net
