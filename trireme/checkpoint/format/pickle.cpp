#include "trireme/checkpoint/format/pickle.h"

#include <algorithm>
#include <bit>
#include <map>
#include <optional>

#include "trireme/base/error.h"

namespace trireme::checkpoint::format {
namespace {

using Kind = PickleValue::Kind;

constexpr std::uint64_t kLengthMax = std::uint64_t{1} << 40;
constexpr std::size_t kNameMax = 1000;

// Python's machine: a stack of values, marks in it, and a memory of numbered values.
class Machine {
 public:
  Machine(ByteView bytes, std::deque<PickleValue>& values)
      : in_(bytes), size_(bytes.size()), values_(values) {}

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
                                        std::to_string(size_ - in_.remaining()));
  }

  template <class T>
  T get() {
    if (in_.remaining() < sizeof(T)) corrupt("the end");
    return in_.get<T>();
  }
  std::string get_text(std::uint64_t size) {
    if (size > kLengthMax || in_.remaining() < size) corrupt("the end of a text");
    return std::string(text_of(in_.take(size)));
  }
  std::string get_line() {
    std::string line;
    for (char c = get<char>(); c != '\n'; c = get<char>()) line += c;
    return line;
  }

  PickleValue& make(Kind kind) {
    values_.push_back({.kind = kind});
    stack_.push_back(&values_.back());
    return values_.back();
  }
  void push_integer(std::int64_t value) { make(Kind::Integer).integer = value; }
  void push_text(std::string text) { make(Kind::Text).text = std::move(text); }
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

  // Two's complement, least byte first, of at most 8 bytes.
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
  // Greatest byte first.
  double get_real() {
    std::uint64_t bits = 0;
    for (int i = 0; i < 8; ++i) bits = bits << 8 | get<std::uint8_t>();
    return std::bit_cast<double>(bits);
  }

  // Values that stand for themselves.
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
        const std::string module = get_line();
        make(Kind::Name).text = module + " " + get_line();
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

  // Values made of others.
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
        pop();  // what the object is further told of itself
        return true;
      case 'Q': {
        const PickleValue* to = pop();
        make(Kind::Reference).items.push_back(to);
        return true;
      }
      case '\x93': {
        const std::vector<PickleValue*> names = pop_last(2);
        if (names[0]->text.size() + names[1]->text.size() > kNameMax) corrupt("a long name");
        make(Kind::Name).text = names[0]->text + " " + names[1]->text;
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
    for (std::size_t i = 0; i < items.size(); i += 2) {
      dict.entries.emplace_back(items[i], items[i + 1]);
    }
    return true;
  }
  bool call() {
    const std::vector<PickleValue*> both = pop_last(2);
    if (both[0]->kind != Kind::Name || both[1]->kind != Kind::List) corrupt("a call of no name");
    PickleValue& made = make(Kind::Call);
    made.text = both[0]->text;
    made.items.push_back(both[1]);  // not a copy: many calls may have the same ones
    return true;
  }

  ByteReader in_;
  std::size_t size_;
  std::deque<PickleValue>& values_;
  std::vector<PickleValue*> stack_;
  std::vector<std::size_t> marks_;
  std::map<std::uint64_t, PickleValue*> memory_;
};

}  // namespace

bool PickleValue::is_dict() const noexcept {
  return kind == Kind::Dict || (kind == Kind::Call && text == "collections OrderedDict");
}

const PickleValue* PickleValue::find(std::string_view key) const noexcept {
  const PickleValue* found = nullptr;
  for (const auto& [name, value] : entries) {
    if (name->kind == Kind::Text && name->text == key) found = value;
  }
  return found;
}

Pickle::Pickle(ByteView bytes) : root_(Machine(bytes, values_).run()) {}

}  // namespace trireme::checkpoint::format
