#include "trireme/net/auth/secret_credentials.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>
#include <utility>

#include "trireme/base/check.h"
#include "trireme/base/entropy.h"
#include "trireme/base/error.h"
#include "trireme/base/hash/sha256.h"

namespace trireme::net {
namespace {

constexpr std::string_view kHelloMagic = "TRH";
constexpr char kVersion = 1;
constexpr std::size_t kPreambleSize = 5;  // magic, a zero, version
constexpr std::size_t kNonceSize = 32;
constexpr std::size_t kTextSize = 1 + SecretCredentials::kIdentityTextMax;
constexpr std::size_t kIdentitySize = 2 * kTextSize;
constexpr std::size_t kMacSize = sizeof(Sha256Digest);
constexpr std::byte kWelcome{'W'};

static_assert(SecretCredentials::kHelloSize == kPreambleSize + kNonceSize);
static_assert(SecretCredentials::kProofSize ==
              kPreambleSize + kNonceSize + kIdentitySize + kMacSize);
static_assert(SecretCredentials::kAnswerSize == kIdentitySize + kMacSize);

// Distinct labels of equal length, so that no message of one side is a valid message of the other.
constexpr std::string_view kServerLabel = "trireme handshake: server proof ";
constexpr std::string_view kClientLabel = "trireme handshake: client answer";
static_assert(kServerLabel.size() == kClientLabel.size());

std::array<std::byte, kPreambleSize> preamble() {
  std::array<std::byte, kPreambleSize> out{};
  std::memcpy(out.data(), kHelloMagic.data(), kHelloMagic.size());
  out[kPreambleSize - 1] = static_cast<std::byte>(kVersion);
  return out;
}

// Writes a length byte and 64 bytes, zero beyond the length.
void put_field(ByteWriter& out, std::string_view text) {
  std::array<std::byte, kTextSize> field{};
  field[0] = static_cast<std::byte>(text.size());
  std::memcpy(field.data() + 1, text.data(), text.size());
  out.append(field);
}

Bytes encode_identity(const Identity& identity) {
  ByteWriter out;
  put_field(out, identity.name);
  put_field(out, identity.purpose);
  return std::move(out).take();
}

// The fields are already authenticated, so a malformed one comes from a faulty member of the job.
std::string get_field(ByteReader& in) {
  const auto size = in.get<std::uint8_t>();
  const ByteView field = in.take(SecretCredentials::kIdentityTextMax);
  if (size > field.size()) throw Error(ErrorCode::Protocol, "identity with an overlong text");
  return std::string(text_of(field.first(size)));
}

Identity decode_identity(ByteView bytes) {
  ByteReader in(bytes);
  Identity out;
  out.name = get_field(in);
  out.purpose = get_field(in);
  return out;
}

// The state that both sides need: the message being received, the nonces, and the secret.
class SecretHandshake : public Handshake {
 public:
  SecretHandshake(const Secret& secret, const Identity& self)
      : secret_(secret), self_(encode_identity(self)) {}

  Bytes take_output() override { return std::exchange(output_, {}); }

  std::size_t feed(ByteView input) override {
    std::size_t used = 0;
    while (wanted_ > 0) {
      const std::size_t size = std::min(wanted_ - message_.size(), input.size() - used);
      const ByteView piece = input.subspan(used, size);
      message_.insert(message_.end(), piece.begin(), piece.end());
      used += size;
      check_early(message_);
      if (message_.size() < wanted_) break;
      // If the handler throws, no more bytes are accepted: a failed handshake stays failed.
      wanted_ = 0;
      const Bytes whole = std::exchange(message_, {});
      wanted_ = on_message(whole);
    }
    return used;
  }

  bool is_done() const override { return is_done_; }
  const Identity& peer() const override {
    TRIREME_CHECK(is_done_, "the handshake is not over");
    return peer_;
  }

 protected:
  // Refuses invalid data at its first wrong byte, without waiting for a complete message.
  virtual void check_early(ByteView message) = 0;
  // Returns the size of the next message; 0 if there is none.
  virtual std::size_t on_message(ByteView message) = 0;

  void check_preamble(ByteView message) {
    const auto expected = preamble();
    const std::size_t size = std::min(message.size(), kPreambleSize - 1);
    if (!std::equal(expected.begin(), expected.begin() + static_cast<std::ptrdiff_t>(size),
                    message.begin())) {
      throw Error(ErrorCode::Protocol, "the other end does not speak Trireme's handshake");
    }
    if (message.size() < kPreambleSize) return;
    if (const auto version = message[kPreambleSize - 1]; version != expected[kPreambleSize - 1]) {
      on_other_version();
      throw Error(ErrorCode::Protocol,
                  "the other end speaks version " + std::to_string(std::to_integer<int>(version)) +
                      " of the handshake and this one version " + std::to_string(kVersion) +
                      "; run the same build everywhere");
    }
  }
  virtual void on_other_version() {}

  Sha256Digest mac(std::string_view label, ByteView client_identity) const {
    ByteWriter transcript;
    transcript.append(bytes_of(label)).append(preamble());
    transcript.append(client_nonce_).append(server_nonce_);
    transcript.append(server_identity_).append(client_identity);
    return hmac_sha256(secret_.bytes(), transcript.bytes());
  }

  void finish(ByteView peer_identity) {
    peer_ = decode_identity(peer_identity);
    is_done_ = true;
  }

  const Secret secret_;
  const Bytes self_;
  Bytes client_nonce_;
  Bytes server_nonce_;
  Bytes server_identity_;
  Bytes output_;
  std::size_t wanted_ = 0;

 private:
  Bytes message_;
  Identity peer_;
  bool is_done_ = false;
};

class ClientHandshake final : public SecretHandshake {
 public:
  ClientHandshake(const Secret& secret, const Identity& self) : SecretHandshake(secret, self) {
    client_nonce_ = secure_random(kNonceSize);
    output_ = std::move(ByteWriter().append(preamble()).append(client_nonce_)).take();
    wanted_ = SecretCredentials::kProofSize;
  }

 private:
  void check_early(ByteView message) override {
    if (server_nonce_.empty()) check_preamble(message);
  }

  std::size_t on_message(ByteView message) override {
    return server_nonce_.empty() ? on_proof(message) : on_welcome(message);
  }

  std::size_t on_proof(ByteView message) {
    ByteReader in(message.subspan(kPreambleSize));
    const ByteView nonce = in.take(kNonceSize);
    const ByteView identity = in.take(kIdentitySize);
    server_nonce_.assign(nonce.begin(), nonce.end());
    server_identity_.assign(identity.begin(), identity.end());
    if (!equal_in_constant_time(mac(kServerLabel, {}), in.take(kMacSize))) {
      throw Error(ErrorCode::Unauthenticated,
                  "the server does not know this job's secret; is it a server of another job?");
    }
    output_ = std::move(ByteWriter().append(self_).append(mac(kClientLabel, self_))).take();
    return SecretCredentials::kWelcomeSize;
  }

  std::size_t on_welcome(ByteView message) {
    if (message[0] != kWelcome) {
      throw Error(ErrorCode::Protocol, "the server's welcome is none");
    }
    finish(server_identity_);
    return 0;
  }
};

class ServerHandshake final : public SecretHandshake {
 public:
  ServerHandshake(const Secret& secret, const Identity& self) : SecretHandshake(secret, self) {
    server_identity_ = self_;
    wanted_ = SecretCredentials::kHelloSize;
  }

 private:
  void check_early(ByteView message) override {
    if (client_nonce_.empty()) check_preamble(message);
  }

  void on_other_version() override {
    const auto ours = preamble();
    output_.assign(ours.begin(), ours.end());
  }

  std::size_t on_message(ByteView message) override {
    return client_nonce_.empty() ? on_hello(message) : on_answer(message);
  }

  std::size_t on_hello(ByteView message) {
    const ByteView nonce = message.subspan(kPreambleSize);
    client_nonce_.assign(nonce.begin(), nonce.end());
    server_nonce_ = secure_random(kNonceSize);
    output_ = std::move(ByteWriter()
                            .append(preamble())
                            .append(server_nonce_)
                            .append(self_)
                            .append(mac(kServerLabel, {})))
                  .take();
    return SecretCredentials::kAnswerSize;
  }

  std::size_t on_answer(ByteView message) {
    const ByteView identity = message.first(kIdentitySize);
    if (!equal_in_constant_time(mac(kClientLabel, identity), message.subspan(kIdentitySize))) {
      throw Error(ErrorCode::Unauthenticated, "the client does not know this job's secret");
    }
    finish(identity);
    output_.push_back(kWelcome);
    return 0;
  }
};

}  // namespace

SecretCredentials::SecretCredentials(Secret secret, std::string name)
    : secret_(std::move(secret)), name_(std::move(name)) {
  TRIREME_CHECK(name_.size() <= kIdentityTextMax, "a name of ", name_.size(), " bytes: ", name_);
}

std::unique_ptr<Handshake> SecretCredentials::begin(Side side, std::string_view purpose) const {
  TRIREME_CHECK(purpose.size() <= kIdentityTextMax, "a purpose of ", purpose.size(), " bytes");
  const Identity self{.name = name_, .purpose = std::string(purpose)};
  if (side == Side::Client) return std::make_unique<ClientHandshake>(secret_, self);
  return std::make_unique<ServerHandshake>(secret_, self);
}

}  // namespace trireme::net
