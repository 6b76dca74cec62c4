// Pickle parses the output of Python's pickle into values: numbers, text, lists, dicts, and calls,
// which are recorded but never executed. It runs no code, so files from untrusted sources are safe
// to read.
//
// Operations:    those that torch.save uses, protocols 2 to 5. An object becomes a Call: the name
//                of the Python function, its arguments, the items that were added to it, and the
//                state that it would be restored from (BUILD).
// Errors:        Corrupt, with the position, for bytes that are not such a pickle.
// Hostile input: uses at most kPickleMemory bytes of memory per byte of input: an operation creates
//                at most one value, and texts are views of the input, never copies. Nothing is read
//                past the end of the input.
// Thread safety: pure.

#pragma once

#include <cstdint>
#include <deque>
#include <string_view>
#include <vector>

#include "trireme/base/bytes.h"

namespace trireme::checkpoint::format {

inline constexpr std::size_t kPickleMemory = 200;

struct PickleValue {
  enum class Kind { None, Bool, Integer, Real, Text, List, Dict, Name, Call, Reference };

  Kind kind = Kind::None;
  std::int64_t integer = 0;  // Bool and Integer
  double real = 0;
  std::string_view text{};             // Text and bytes; Name and Call: "_rebuild_tensor_v2"
  std::string_view module{};           // Name and Call: "torch._utils"
  const PickleValue* inner = nullptr;  // Call: the list of its arguments; Reference: its target
  const PickleValue* state = nullptr;  // Call: what BUILD restores it from; null if there is none
  // List and tuple: the elements. Dict and Call: key, value, key, value.
  std::vector<const PickleValue*> items{};

  // The arguments of a call of this function; null if the value is not such a call.
  const PickleValue* arguments_of(std::string_view from, std::string_view name) const noexcept;
  // Whether the value is a dict of any type.
  bool is_dict() const noexcept;
  // The value of this key in a dict; null if the key is missing.
  const PickleValue* find(std::string_view key) const noexcept;
};

class Pickle {
 public:
  explicit Pickle(ByteView bytes);  // keeps a copy of the bytes
  Pickle(const Pickle&) = delete;
  Pickle& operator=(const Pickle&) = delete;

  const PickleValue& root() const noexcept { return *root_; }

 private:
  Bytes bytes_;
  std::deque<PickleValue> values_;
  const PickleValue* root_ = nullptr;
};

}  // namespace trireme::checkpoint::format
