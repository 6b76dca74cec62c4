// Goal:   no bytes crash either side of the handshake, and only unmodified messages complete it: a
//         peer that changes a single bit of a message is rejected.
// Method: the first byte selects the side, the number of unmodified messages that come first, the
//         size of the pieces, and whether the rest is sent as it is or XORed with the
//         correct message.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>

#include "trireme/base/error.h"
#include "trireme/net/auth/secret_credentials.h"

using trireme::Bytes;
using trireme::ByteView;
using trireme::Error;
using trireme::ErrorCode;
using trireme::net::Handshake;
using trireme::net::Secret;
using trireme::net::SecretCredentials;
using trireme::net::Side;

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

// Returns false if the bytes were rejected.
bool feed(Handshake& handshake, ByteView bytes, std::size_t piece) {
  try {
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
      const std::size_t size = std::min(piece, bytes.size() - at);
      require(handshake.feed(bytes.subspan(at, size)) <= size);
    }
    return true;
  } catch (const Error& error) {
    require(error.code() == ErrorCode::Protocol || error.code() == ErrorCode::Unauthenticated);
    return false;
  }
}

struct Choice {
  Side side;
  int honest;  // unmodified messages of the partner that arrive before
  bool is_overlaid;
  std::size_t piece;
};

Choice choose(std::uint8_t byte) {
  return {.side = (byte & 1) != 0 ? Side::Server : Side::Client,
          .honest = (byte >> 1) & 1,
          .is_overlaid = (byte & 4) != 0,
          .piece = static_cast<std::size_t>(byte >> 3) + 1};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const Choice choice = choose(data[0]);
  const ByteView input = std::as_bytes(std::span(data + 1, size - 1));
  static const Secret secret = Secret::from_hex(std::string(64, '5'));
  static const SecretCredentials credentials(secret, "name");
  const Side other = choice.side == Side::Server ? Side::Client : Side::Server;
  const auto tested = credentials.begin(choice.side, "purpose");
  const auto partner = credentials.begin(other, "purpose");

  // The client speaks first, so a tested client has already sent its hello.
  if (choice.side == Side::Client) partner->feed(tested->take_output());
  for (int i = 0; i < choice.honest; ++i) {
    tested->feed(partner->take_output());
    partner->feed(tested->take_output());
  }
  Bytes message(input.begin(), input.end());
  bool is_honest = false;
  if (choice.is_overlaid) {
    message = partner->take_output();
    is_honest = true;
    for (std::size_t i = 0; i < std::min(message.size(), input.size()); ++i) {
      message[i] ^= input[i];
      is_honest = is_honest && input[i] == std::byte{0};
    }
  }
  const bool is_accepted = feed(*tested, message, choice.piece);
  if (choice.is_overlaid && choice.honest == 1) require(is_accepted == is_honest);
  // Only the last message completes the handshake: the server's welcome, and the client's answer.
  const bool is_welcome = choice.side == Side::Client && choice.honest == 1;
  if (tested->is_done()) require(is_honest || is_welcome);
  if (!tested->is_done()) return 0;
  require(tested->peer().name == "name" && tested->peer().purpose == "purpose");
  return 0;
}
