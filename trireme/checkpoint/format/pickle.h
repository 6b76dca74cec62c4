// Pickle reads what Python's pickle wrote, as values: numbers, text, lists, dicts, and calls that
// are named and never made. It runs nothing, so a file from anybody may be read.
//
// Known:   the operations that torch.save uses, protocols 2 to 5. An object is a Call: the name of
//          what Python would call, its arguments, and the items that were put into it; further
//          state (BUILD) is dropped.
// Failure: Corrupt for bytes that are no such pickle, with the place.
// Hostile: memory stays within a small multiple of the input; nothing is read past its end.
// Threads: pure.

#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trireme/base/bytes.h"

namespace trireme::checkpoint::format {

struct PickleValue {
  enum class Kind { None, Bool, Integer, Real, Text, List, Dict, Name, Call, Reference };

  Kind kind = Kind::None;
  std::int64_t integer = 0;  // Bool and Integer
  double real = 0;
  std::string text{};  // Text and bytes; Name and Call: "torch._utils _rebuild_tensor_v2"
  // List and tuple: what is in it. Call: one, the list of its arguments. Reference: one, what it
  // refers to.
  std::vector<const PickleValue*> items{};
  std::vector<std::pair<const PickleValue*, const PickleValue*>> entries{};  // Dict, and Call

  // A dict of any kind.
  bool is_dict() const noexcept;
  // Of a dict: the value under this name; null where there is none.
  const PickleValue* find(std::string_view key) const noexcept;
};

class Pickle {
 public:
  explicit Pickle(ByteView bytes);
  Pickle(const Pickle&) = delete;
  Pickle& operator=(const Pickle&) = delete;

  const PickleValue& root() const noexcept { return *root_; }

 private:
  std::deque<PickleValue> values_;
  const PickleValue* root_ = nullptr;
};

}  // namespace trireme::checkpoint::format
