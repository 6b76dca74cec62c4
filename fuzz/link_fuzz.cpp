// Goal:   whatever a peer sends over a connection between ranks, nothing is written outside the
//         requested memory, received data equals sent data, and the first error is final and names
//         the peer.
// Method: the input is a script of messages with valid headers, of messages with one changed byte,
//         and of the requests that this rank posts, abandons and forgets in between; all of it goes
//         through a Link. A peer may announce a failure of any rank, but the error always names the
//         peer as its source. The same bytes are also parsed as a preface.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <string_view>
#include <vector>

#include <sys/socket.h>

#include "trireme/base/error.h"
#include "trireme/comm/tcp/link.h"
#include "trireme/comm/tcp/preface.h"

using namespace trireme;
using namespace trireme::comm;
using trireme::comm::tcp::Link;
using trireme::comm::tcp::WireHeader;
using trireme::comm::tcp::WireKind;

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

constexpr std::byte kFence{0xa5};
constexpr std::size_t kFenceSize = 16;

// A Link as a Messenger for the Transfers; the script itself never sends.
class OneLink final : public Messenger {
 public:
  explicit OneLink(Bytes bytes)
      : link_(socket(), std::move(bytes),
              {.peer = 1, .checksums = true, .on_announcement = [](std::uint64_t, const Error& e) {
                 require(std::string_view(e.what()).find("rank 1 ") != std::string_view::npos);
               }}) {}

  int rank() const noexcept override { return 0; }
  void send(int, const MessageId&, ByteView, Transfer&) override {}
  void receive(int, const MessageId& id, std::span<std::byte> into, Transfer& transfer) override {
    link_.receive(id, into, transfer);
  }
  void cancel(Transfer& transfer) noexcept override { link_.cancel(transfer); }
  void forget(std::uint64_t group) noexcept override { link_.forget(group); }
  bool awaits(int, std::uint64_t group, std::uint64_t sequence) const override {
    return link_.awaits(group, sequence);
  }
  std::optional<Error> loss(int) const override { return link_.loss(); }
  std::optional<Error> announcement(std::uint64_t) const override { return std::nullopt; }
  void announce(std::uint64_t, std::span<const int>, const Error&) noexcept override {}

  Link& link() { return link_; }

 private:
  // The other end is closed: the Link receives only the bytes that it was constructed with.
  static net::Socket socket() {
    int ends[2];
    require(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) == 0);
    ::close(ends[1]);
    return net::Socket(ends[0]);
  }

  Link link_;
};

struct Asked {
  Asked(OneLink& owner, std::size_t size)
      : memory(size + kFenceSize, kFence), transfer(std::make_unique<Transfer>(owner)) {}
  std::span<std::byte> into() { return std::span(memory).first(memory.size() - kFenceSize); }
  void check() const {
    require(std::all_of(memory.end() - kFenceSize, memory.end(),
                        [](std::byte each) { return each == kFence; }));
    require(!transfer || !transfer->is_done || transfer->size <= memory.size() - kFenceSize);
  }

  Bytes memory;
  std::unique_ptr<Transfer> transfer;
};

// A message of the peer, and the action of this rank before the message is processed.
struct Step {
  std::uint8_t action = 0;
  MessageId id{};
  std::size_t size = 0;
};

Bytes message(ByteReader& in, const Step& step) {
  WireHeader header;
  header.kind = static_cast<WireKind>(step.action / 8 % 5);
  header.group = step.id.group;
  header.sequence = step.id.sequence;
  header.channel = step.id.channel;
  const Bytes payload(step.size, std::byte{static_cast<unsigned char>(step.action)});
  header.size = static_cast<std::uint32_t>(payload.size());
  header.has_checksum = step.action >= 128;
  header.payload_check = tcp::checksum(payload);
  header.header_check = tcp::header_checksum(header);
  Bytes bytes(sizeof(header) + payload.size());
  std::memcpy(bytes.data(), &header, sizeof(header));
  std::copy(payload.begin(), payload.end(), bytes.begin() + sizeof(header));
  if (step.action % 8 == 7 && in.remaining() >= 2) {
    const std::size_t at = in.get<std::uint8_t>() % bytes.size();
    bytes[at] ^= static_cast<std::byte>(in.get<std::uint8_t>());
  }
  return bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto preface = tcp::Preface::from_bytes(text);
  require(!preface || preface->to_bytes() == text);
  ByteReader in(std::as_bytes(std::span(data, size)));
  std::vector<Step> steps;
  Bytes sent;
  while (in.remaining() >= 5 && steps.size() < 64) {
    Step step{.action = in.get<std::uint8_t>()};
    const auto id = in.get<std::uint8_t>();
    step.id = {id % 3u, id / 3 % 3u, id / 9 % 6u};
    step.size = in.get<std::uint16_t>() % 8192;
    in.get<std::uint8_t>();
    steps.push_back(step);
    const Bytes bytes = message(in, step);
    sent.insert(sent.end(), bytes.begin(), bytes.end());
  }
  OneLink owner(std::move(sent));
  std::deque<Asked> asked;
  for (const Step& step : steps) {
    if (step.action % 4 != 0) {
      Asked& one = asked.emplace_back(owner, step.size);
      owner.receive(1, step.id, one.into(), *one.transfer);
    }
    if (step.action % 16 == 9) owner.forget(step.id.group);
    if (step.action % 16 == 5) asked[step.size % asked.size()].transfer.reset();
    const bool was_lost = owner.link().loss().has_value();
    owner.link().move();
    require(!was_lost || owner.link().loss().has_value() || step.action % 16 == 5);
    for (const Asked& each : asked) each.check();
  }
  for (Asked& each : asked) each.transfer.reset();
  return 0;
}
