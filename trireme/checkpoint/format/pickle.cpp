#include "trireme/checkpoint/format/pickle.h"

#include <algorithm>
#include <bit>
#include <map>

#include "trireme/base/error.h"

namespace trireme::checkpoint::format {
namespace {

using Kind = PickleValue::Kind;

// Python's pickle machine: a stack of values, marks on it, and a memo of numbered values.
class Machine {
 public:
  Machine(ByteView bytes, std::deque<PickleValue>& values)
      : bytes_(bytes), in_(bytes), values_(values) {}

  const PickleValue* run() {
    while (true) {
      const char operation = static_cast<char>(get<std::uint8_t>());
      if (operation == '.') return pop();
      if (!push_value(operation) && !use_memory(operation) && !gather(operation)) {
        corrupt("operation " + std::to_string(static_cast<unsigned char>(operation)));
      }
    }
  }

 private:
  [[noreturn]] void corrupt(const std::string& what) const {
    throw Error(ErrorCode::Corrupt, "no pickle that can be read here: " + what + " before byte " +
                                        std::to_string(bytes_.size() - in_.remaining()));
  }

  template <class T>
  T get() {
    if (in_.remaining() < sizeof(T)) corrupt("the end");
    return in_.get<T>();
  }
  std::string_view get_text(std::uint64_t size) {
    if (in_.remaining() < size) corrupt("the end of a text");
    return text_of(in_.take(size));
  }
  std::string_view get_line() {
    const std::string_view rest = text_of(bytes_.last(in_.remaining()));
    const std::size_t size = rest.find('\n');
    if (size == std::string_view::npos) corrupt("the end of a line");
    return get_text(size + 1).substr(0, size);
  }

  PickleValue& make(Kind kind) {
    values_.push_back({.kind = kind});
    stack_.push_back(&values_.back());
    return values_.back();
  }
  void push_integer(std::int64_t value) { make(Kind::Integer).integer = value; }
  void push_text(std::string_view text) { make(Kind::Text).text = text; }
  void push_name(std::string_view module, std::string_view name) {
    PickleValue& value = make(Kind::Name);
    value.module = module;
    value.text = name;
  }
  void push_bool(bool value) { make(Kind::Bool).integer = value ? 1 : 0; }

  PickleValue* pop() {
    const std::size_t least = marks_.empty() ? 0 : marks_.back();
    if (stack_.size() <= least) corrupt("an empty stack");
    PickleValue* value = stack_.back();
    stack_.pop_back();
    return value;
  }
  std::vector<PickleValue*> pop_to_mark() {
    if (marks_.empty()) corrupt("no mark");
    const auto begin = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
    std::vector<PickleValue*> taken(begin, stack_.end());
    stack_.erase(begin, stack_.end());
    marks_.pop_back();
    return taken;
  }
  std::vector<PickleValue*> pop_last(std::size_t count) {
    std::vector<PickleValue*> taken(count);
    for (std::size_t i = count; i > 0; --i) taken[i - 1] = pop();
    return taken;
  }
  PickleValue& top(Kind kind, Kind other) {
    PickleValue* value = pop();
    stack_.push_back(value);
    if (value->kind != kind && value->kind != other) corrupt("a value of another kind");
    return *value;
  }

  // Two's complement, little-endian, at most 8 bytes.
  std::int64_t get_long() {
    const auto count = get<std::uint8_t>();
    if (count > 8) corrupt("a number that is too large");
    std::uint64_t value = 0;
    for (unsigned i = 0; i < count; ++i) {
      value |= std::uint64_t{get<std::uint8_t>()} << (8 * i);
    }
    if (count > 0 && count < 8 && (value >> (8 * count - 1) & 1) != 0) {
      value |= ~std::uint64_t{0} << (8 * count);
    }
    return static_cast<std::int64_t>(value);
  }
  // Big-endian.
  double get_real() {
    std::uint64_t bits = 0;
    for (int i = 0; i < 8; ++i) bits = bits << 8 | get<std::uint8_t>();
    return std::bit_cast<double>(bits);
  }

  // Operations that push a literal value.
  bool push_value(char operation) {
    switch (operation) {
      case '\x80':  // protocol
        get<std::uint8_t>();
        return true;
      case '\x95':  // frame
        get<std::uint64_t>();
        return true;
      case 'N':
        make(Kind::None);
        return true;
      case '\x88':
      case '\x89':
        push_bool(operation == '\x88');
        return true;
      case 'J':
        push_integer(get<std::int32_t>());
        return true;
      case 'K':
        push_integer(get<std::uint8_t>());
        return true;
      case 'M':
        push_integer(get<std::uint16_t>());
        return true;
      case '\x8a':
        push_integer(get_long());
        return true;
      case 'G':
        make(Kind::Real).real = get_real();
        return true;
      case 'X':
      case 'T':
      case 'B':
        push_text(get_text(get<std::uint32_t>()));
        return true;
      case '\x8c':
      case 'U':
      case 'C':
        push_text(get_text(get<std::uint8_t>()));
        return true;
      case '\x8d':
      case '\x8e':
        push_text(get_text(get<std::uint64_t>()));
        return true;
      case '}':
        make(Kind::Dict);
        return true;
      case ']':
      case ')':
        make(Kind::List);
        return true;
      case 'c': {
        const std::string_view module = get_line();
        push_name(module, get_line());
        return true;
      }
      default:
        return false;
    }
  }

  bool use_memory(char operation) {
    switch (operation) {
      case 'q':
        return remember(get<std::uint8_t>());
      case 'r':
        return remember(get<std::uint32_t>());
      case '\x94':
        return remember(memory_.size());
      case 'h':
        return recall(get<std::uint8_t>());
      case 'j':
        return recall(get<std::uint32_t>());
      case '(':
        marks_.push_back(stack_.size());
        return true;
      case '0':
        pop();
        return true;
      case '1':
        pop_to_mark();
        return true;
      case '2':
        return push_again();
      default:
        return false;
    }
  }
  bool push_again() {
    PickleValue* value = pop();
    stack_.insert(stack_.end(), 2, value);
    return true;
  }
  bool remember(std::uint64_t number) {
    PickleValue* value = pop();
    stack_.push_back(value);
    memory_[number] = value;
    return true;
  }
  bool recall(std::uint64_t number) {
    const auto found = memory_.find(number);
    if (found == memory_.end()) corrupt("nothing remembered as " + std::to_string(number));
    stack_.push_back(found->second);
    return true;
  }

  // Operations that combine other values.
  bool gather(char operation) {
    switch (operation) {
      case 't':
        return make_list(pop_to_mark());
      case '\x85':
      case '\x86':
      case '\x87':
        return make_list(pop_last(static_cast<std::size_t>(operation - '\x84')));
      case 'a':
        return append(pop_last(1));
      case 'e':
        return append(pop_to_mark());
      case 's':
        return set(pop_last(2));
      case 'u':
        return set(pop_to_mark());
      case 'R':
      case '\x81':
        return call();
      case 'b':
        return build();
      case 'Q': {
        const PickleValue* to = pop();
        make(Kind::Reference).inner = to;
        return true;
      }
      case '\x93': {
        const std::vector<PickleValue*> names = pop_last(2);
        if (names[0]->kind != Kind::Text || names[1]->kind != Kind::Text) corrupt("no name");
        push_name(names[0]->text, names[1]->text);
        return true;
      }
      default:
        return false;
    }
  }
  bool make_list(const std::vector<PickleValue*>& items) {
    make(Kind::List).items.assign(items.begin(), items.end());
    return true;
  }
  bool append(const std::vector<PickleValue*>& items) {
    PickleValue& list = top(Kind::List, Kind::List);
    list.items.insert(list.items.end(), items.begin(), items.end());
    return true;
  }
  bool set(const std::vector<PickleValue*>& items) {
    if (items.size() % 2 != 0) corrupt("a key without a value");
    PickleValue& dict = top(Kind::Dict, Kind::Call);
    dict.items.insert(dict.items.end(), items.begin(), items.end());
    return true;
  }
  bool call() {
    const std::vector<PickleValue*> both = pop_last(2);
    if (both[0]->kind != Kind::Name || both[1]->kind != Kind::List) corrupt("a call of no name");
    PickleValue& made = make(Kind::Call);
    made.module = both[0]->module;
    made.text = both[0]->text;
    made.inner = both[1];  // shared, not copied: many calls may have the same arguments
    return true;
  }

  // Only an object has a state; what else Python would do with one is not needed.
  bool build() {
    const PickleValue* state = pop();
    PickleValue* object = pop();
    stack_.push_back(object);
    if (object->kind == Kind::Call) object->state = state;
    return true;
  }

  ByteView bytes_;
  ByteReader in_;
  std::deque<PickleValue>& values_;
  std::vector<PickleValue*> stack_;
  std::vector<std::size_t> marks_;
  std::map<std::uint64_t, PickleValue*> memory_;
};

}  // namespace

const PickleValue* PickleValue::arguments_of(std::string_view from,
                                             std::string_view name) const noexcept {
  return kind == Kind::Call && module == from && text == name ? inner : nullptr;
}

bool PickleValue::is_dict() const noexcept {
  return kind == Kind::Dict || arguments_of("collections", "OrderedDict") != nullptr;
}

const PickleValue* PickleValue::find(std::string_view key) const noexcept {
  if (!is_dict()) return nullptr;
  const PickleValue* found = nullptr;
  for (std::size_t i = 0; i + 1 < items.size(); i += 2) {
    if (items[i]->kind == Kind::Text && items[i]->text == key) found = items[i + 1];
  }
  return found;
}

Pickle::Pickle(ByteView bytes)
    : bytes_(bytes.begin(), bytes.end()), root_(Machine(bytes_, values_).run()) {}

}  // namespace trireme::checkpoint::format
