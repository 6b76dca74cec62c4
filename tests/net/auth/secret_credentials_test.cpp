// Goal:   only two ends with the same secret complete a handshake, each learns the identity of the
//         other, and recorded, reflected or altered messages are useless to an attacker.
// Method: two Handshakes exchange messages in memory; every byte of every message is flipped once.

#include "trireme/net/auth/secret_credentials.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>

#include "trireme/base/error.h"
#include "trireme/net/auth/credentials.h"

namespace trireme::net {
namespace {

const Secret kSecret = Secret::from_hex(std::string(64, '7'));
const Secret kOtherSecret = Secret::from_hex(std::string(63, '7') + "8");
const SecretCredentials kServerSide(kSecret, "launcher");
const SecretCredentials kClientSide(kSecret, "rank 3");

// The error code of feeding `input`, or nothing if it is accepted.
std::optional<ErrorCode> outcome(Handshake& handshake, ByteView input) {
  try {
    handshake.feed(input);
    return std::nullopt;
  } catch (const Error& error) {
    return error.code();
  }
}

// One valid exchange, message by message.
struct RecordedHandshake {
  std::unique_ptr<Handshake> client = kClientSide.begin(Side::Client, "to train");
  std::unique_ptr<Handshake> server = kServerSide.begin(Side::Server);
  Bytes hello = client->take_output();
  Bytes proof;
  Bytes answer;
  Bytes welcome;

  RecordedHandshake() {
    server->feed(hello);
    proof = server->take_output();
    client->feed(proof);
    answer = client->take_output();
    server->feed(answer);
    welcome = server->take_output();
    EXPECT_FALSE(client->is_done()) << "before it is told";
    client->feed(welcome);
  }
};

TEST(SecretCredentials, BothEndsLearnTheIdentityOfTheOther) {
  RecordedHandshake exchange;
  ASSERT_TRUE(exchange.client->is_done());
  ASSERT_TRUE(exchange.server->is_done());
  EXPECT_EQ(exchange.client->peer().name, "launcher");
  EXPECT_EQ(exchange.client->peer().purpose, "");
  EXPECT_EQ(exchange.server->peer().name, "rank 3");
  EXPECT_EQ(exchange.server->peer().purpose, "to train");
  EXPECT_EQ(exchange.hello.size(), SecretCredentials::kHelloSize);
  EXPECT_EQ(exchange.proof.size(), SecretCredentials::kProofSize);
  EXPECT_EQ(exchange.answer.size(), SecretCredentials::kAnswerSize);
  EXPECT_EQ(exchange.welcome.size(), SecretCredentials::kWelcomeSize);
}

TEST(SecretCredentials, AcceptsPiecesOfAnySizeAndKeepsTheRest) {
  for (std::size_t step : {1, 2, 36, 37, 38, 161, 199}) {
    const auto client = kClientSide.begin(Side::Client);
    const auto server = kServerSide.begin(Side::Server);
    const auto pump = [&](Handshake& from, Handshake& to, std::string_view extra) {
      Bytes bytes = from.take_output();
      const std::size_t size = bytes.size();
      const ByteView more = bytes_of(extra);
      bytes.insert(bytes.end(), more.begin(), more.end());
      std::size_t used = 0;
      for (std::size_t at = 0; at < bytes.size(); at += step) {
        used += to.feed(ByteView(bytes).subspan(at, std::min(step, bytes.size() - at)));
      }
      EXPECT_EQ(used, size) << step;
    };
    pump(*client, *server, "");
    pump(*server, *client, "");
    pump(*client, *server, "first frame");
    pump(*server, *client, "first frame");
    EXPECT_TRUE(client->is_done());
    EXPECT_TRUE(server->is_done());
    EXPECT_EQ(server->feed(bytes_of("first frame")), 0u);
  }
}

TEST(SecretCredentials, IdentitiesOfEverySizeArrive) {
  for (std::size_t size : {0, 1, 63, 64}) {
    const Identity self{.name = std::string(size, 'n'), .purpose = std::string(64 - size, 'p')};
    const auto client = SecretCredentials(kSecret, self.name).begin(Side::Client, self.purpose);
    const auto server = kServerSide.begin(Side::Server);
    server->feed(client->take_output());
    client->feed(server->take_output());
    server->feed(client->take_output());
    EXPECT_EQ(server->peer().name, self.name);
    EXPECT_EQ(server->peer().purpose, self.purpose);
  }
  EXPECT_THROW(SecretCredentials(kSecret, std::string(65, 'n')), Error);
  EXPECT_THROW(kClientSide.begin(Side::Client, std::string(65, 'p')), Error);
}

TEST(SecretCredentials, AClientRevealsNothingToAServerWithAnotherSecret) {
  const auto client = SecretCredentials(kOtherSecret, "rank 3").begin(Side::Client);
  const auto server = kServerSide.begin(Side::Server);
  const Bytes hello = client->take_output();
  EXPECT_EQ(text_of(hello).find("rank 3"), std::string::npos);
  server->feed(hello);
  EXPECT_EQ(outcome(*client, server->take_output()), ErrorCode::Unauthenticated);
  EXPECT_TRUE(client->take_output().empty());
  EXPECT_FALSE(client->is_done());
  EXPECT_THROW(client->peer(), Error);
}

TEST(SecretCredentials, AServerRefusesAnAnswerMadeWithAnotherSecret) {
  // A stranger that runs the correct protocol with another secret.
  const SecretCredentials stranger(kOtherSecret, "rank 3");
  const auto client = stranger.begin(Side::Client);
  const auto accomplice = stranger.begin(Side::Server);
  const auto server = kServerSide.begin(Side::Server);
  const Bytes hello = client->take_output();
  server->feed(hello);
  accomplice->feed(hello);
  client->feed(accomplice->take_output());
  EXPECT_EQ(outcome(*server, client->take_output()), ErrorCode::Unauthenticated);
  EXPECT_FALSE(server->is_done());
  EXPECT_EQ(server->feed(bytes_of("more")), 0u) << "a failed handshake stays failed";
  EXPECT_FALSE(server->is_done());
}

TEST(SecretCredentials, ReplayedClientMessagesAreRefused) {
  RecordedHandshake recorded;
  const auto server = kServerSide.begin(Side::Server);
  EXPECT_EQ(outcome(*server, recorded.hello), std::nullopt);
  EXPECT_NE(server->take_output(), recorded.proof) << "the server's nonce must be fresh";
  EXPECT_EQ(outcome(*server, recorded.answer), ErrorCode::Unauthenticated);
}

TEST(SecretCredentials, ReplayedServerMessagesAreRefused) {
  RecordedHandshake recorded;
  const auto client = kClientSide.begin(Side::Client);
  EXPECT_NE(client->take_output(), recorded.hello);
  EXPECT_EQ(outcome(*client, recorded.proof), ErrorCode::Unauthenticated);
}

TEST(SecretCredentials, ReflectedMessagesAreRefused) {
  // The server receives its own proof, cut to the size of an answer, and the client its own hello.
  const auto client = kClientSide.begin(Side::Client);
  const auto server = kServerSide.begin(Side::Server);
  const Bytes hello = client->take_output();
  server->feed(hello);
  const Bytes proof = server->take_output();
  const ByteView identity_and_mac = ByteView(proof).last(SecretCredentials::kAnswerSize);
  EXPECT_EQ(outcome(*server, identity_and_mac), ErrorCode::Unauthenticated);

  Bytes reflected = hello;
  reflected.resize(SecretCredentials::kProofSize);
  EXPECT_EQ(outcome(*client, reflected), ErrorCode::Unauthenticated);
}

TEST(SecretCredentials, EveryAlteredByteIsRefused) {
  RecordedHandshake honest;
  for (std::size_t at = 0; at < honest.proof.size(); ++at) {
    const auto client = kClientSide.begin(Side::Client);
    const auto server = kServerSide.begin(Side::Server);
    server->feed(client->take_output());
    Bytes proof = server->take_output();
    proof[at] ^= std::byte{1};
    EXPECT_NE(outcome(*client, proof), std::nullopt) << "byte " << at;
    EXPECT_TRUE(client->take_output().empty());
  }
  {
    const auto client = kClientSide.begin(Side::Client);
    const auto server = kServerSide.begin(Side::Server);
    server->feed(client->take_output());
    client->feed(server->take_output());
    EXPECT_EQ(outcome(*client, bytes_of("w")), ErrorCode::Protocol) << "the welcome";
  }
  for (std::size_t at = 0; at < honest.answer.size(); ++at) {
    const auto client = kClientSide.begin(Side::Client);
    const auto server = kServerSide.begin(Side::Server);
    server->feed(client->take_output());
    client->feed(server->take_output());
    Bytes answer = client->take_output();
    answer[at] ^= std::byte{1};
    EXPECT_EQ(outcome(*server, answer), ErrorCode::Unauthenticated) << "byte " << at;
  }
}

TEST(SecretCredentials, GarbageIsRefusedAtItsFirstWrongByte) {
  for (Side side : {Side::Client, Side::Server}) {
    EXPECT_EQ(outcome(*kServerSide.begin(side), bytes_of("G")), ErrorCode::Protocol);
    EXPECT_EQ(outcome(*kServerSide.begin(side), bytes_of("TRX")), ErrorCode::Protocol);
    EXPECT_EQ(outcome(*kServerSide.begin(side), bytes_of("TRH")), std::nullopt);
  }
}

TEST(SecretCredentials, AnotherVersionIsDistinguishedFromGarbage) {
  RecordedHandshake honest;
  const auto server = kServerSide.begin(Side::Server);
  honest.hello[4] = std::byte{2};
  EXPECT_EQ(outcome(*server, honest.hello), ErrorCode::Protocol);
  Bytes verdict = server->take_output();
  ASSERT_EQ(verdict.size(), 5u) << "the version, and nothing that only a member may know";

  verdict[4] = std::byte{9};
  const auto client = kClientSide.begin(Side::Client);
  try {
    client->feed(verdict);
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Protocol);
    EXPECT_NE(error.message().find("version 9"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace trireme::net
