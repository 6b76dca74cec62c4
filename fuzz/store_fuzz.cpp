// Goal:   no bytes crash the readers of a store's messages, epochs and members, and no order of
//         requests violates the invariants of its state machine.
// Method: the first byte selects the format of the rest. An accepted message or epoch is encoded
//         again and compared. As a script, a few bytes each are one request of one of three
//         sessions over four keys, with opened and ended sessions; the invariants are checked after
//         each request.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>

#include "trireme/base/error.h"
#include "trireme/cluster/membership/epoch.h"
#include "trireme/cluster/roster.h"
#include "trireme/cluster/store/store_message.h"
#include "trireme/cluster/store/store_state.h"

using namespace trireme;
using namespace trireme::cluster;

namespace {

constexpr StoreBounds kSmall{.keys_max = 3,
                             .key_size_max = 8,
                             .value_size_max = 6,
                             .bytes_max = 20,
                             .reply_size_max = 100,
                             .slots_max = 4,
                             .watches_max = 2,
                             .watch_items_max = 5};

void require(bool condition) {
  if (!condition) std::abort();
}

void check_codec(ByteView bytes, const std::function<Bytes(ByteView)>& decode_and_encode) {
  try {
    require(std::ranges::equal(decode_and_encode(bytes), bytes));
  } catch (const Error& error) {
    require(error.code() == ErrorCode::Protocol);
  }
}

// Any accepted epoch can be encoded; its bytes may differ, because texts may be in any order.
void check_epoch(ByteView bytes) {
  try {
    const Bytes once = encode(membership::decode_epoch(bytes));
    require(std::ranges::equal(encode(membership::decode_epoch(once)), once));
  } catch (const Error& error) {
    require(error.code() == ErrorCode::Protocol);
  }
}

class Script {
 public:
  explicit Script(ByteView bytes) : in_(bytes) {}

  void run() {
    while (in_.remaining() >= 5) {
      step();
      check();
    }
    for (StoreSessionId session = 1; session <= last_session_; ++session) {
      state_.end(session);
      require(state_.map().plan_end(session).empty());
    }
    require(state_.waiter_count() == 0 && state_.watch_count() == 0);
  }

 private:
  std::uint8_t byte() { return in_.get<std::uint8_t>(); }

  void step() {
    const std::uint8_t action = byte();
    const StoreSessionId session = 1 + action % 3 + base_;
    if (action >= 250) {
      state_.end(session);
      base_ = last_session_;  // ids are never reused
      return;
    }
    if (!state_.is_open(session) && session > last_session_) {
      for (StoreSessionId id = last_session_ + 1; id <= session; ++id) state_.open(id);
      last_session_ = session;
    }
    StoreRequest request;
    const std::uint8_t verb = byte();
    request.verb = static_cast<StoreVerb>(verb % kStoreVerbCount);
    request.lifetime = verb >= 128 ? Lifetime::Session : Lifetime::Job;
    request.slot = byte() % 6;
    const std::uint8_t key = byte();
    request.key = std::string("kkkkkkkkkk").substr(0, key % 11) + static_cast<char>('a' + key % 4);
    if (key >= 200) request.key.clear();
    const std::uint8_t value = byte();
    if (value % 3 != 0) request.value = share(bytes_of(std::string(value % 8, '1')));
    if (value % 5 == 0) request.expected = share(bytes_of(std::string(value % 4, '1')));
    request.delta = value - 128;
    request.watch = value % 4;
    request.taken = value % 7;
    state_.apply(session, request);
  }

  void check() {
    const StoreMap& map = state_.map();
    require(map.size() <= kSmall.keys_max && map.byte_size() <= kSmall.bytes_max);
    require(state_.watch_count() <= kSmall.watches_max * last_session_);
    require(state_.waiter_count() <= kSmall.slots_max * last_session_);
    for (const StoreState::Delivery& delivery : state_.take_deliveries()) {
      require(delivery.session >= 1 && delivery.session <= last_session_);
      require(delivery.reply.items.size() <= kSmall.watch_items_max + kSmall.keys_max);
    }
  }

  ByteReader in_;
  std::uint64_t revision_ = 0;
  StoreState state_{kSmall, [this](std::span<const StoreMap::Change> changes) {
                      for (const StoreMap::Change& change : changes) {
                        require(change.revision == ++revision_);
                      }
                    }};
  StoreSessionId base_ = 0;
  StoreSessionId last_session_ = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const ByteView bytes = std::as_bytes(std::span(data, size)).subspan(1);
  switch (data[0] % 5) {
    case 0:
      check_codec(bytes, [](ByteView in) { return encode(decode_store_request(in)); });
      break;
    case 1:
      check_codec(bytes, [](ByteView in) { return encode(decode_store_reply(in)); });
      break;
    case 2:
      check_epoch(bytes);
      break;
    case 3:
      try {
        encode(decode_member(bytes));
      } catch (const Error& error) {
        require(error.code() == ErrorCode::Protocol);
      }
      break;
    default:
      Script(bytes).run();
  }
  return 0;
}
