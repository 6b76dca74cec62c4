// Goal:   pickles are read as the values that Python wrote; truncated, damaged or invented input is
//         Corrupt, wherever the damage is.
// Method: bytes of Python's own pickle (pickletools shows their meaning), every prefix of them,
//         every byte replaced, and random bytes.

#include "trireme/checkpoint/format/pickle.h"

#include <gtest/gtest.h>
#include <malloc.h>

#include "trireme/base/error.h"
#include "trireme/base/random.h"

namespace trireme::checkpoint::format {
namespace {

using Kind = PickleValue::Kind;

// pickle.dumps(OrderedDict([("a", [1, -2, 300]), ("b", (True, None, 0.5, 2**40))]), protocol=2)
Bytes of_python() {
  return from_hex(
      "800263636f6c6c656374696f6e730a4f726465726564446963740a71002952710128580100000061"
      "71025d7103284b014afeffffff4d2c0165580100000062710428884e473fe00000000000008a0600"
      "0000000001747105752e");
}

TEST(Pickle, ReadsPicklesOfPython) {
  const Pickle pickle(of_python());
  const PickleValue& root = pickle.root();
  ASSERT_TRUE(root.is_dict());
  ASSERT_EQ(root.items.size(), 4u);
  const PickleValue* a = root.find("a");
  ASSERT_NE(a, nullptr);
  ASSERT_EQ(a->items.size(), 3u);
  EXPECT_EQ(a->items[0]->integer, 1);
  EXPECT_EQ(a->items[1]->integer, -2);
  EXPECT_EQ(a->items[2]->integer, 300);
  const PickleValue* b = root.find("b");
  ASSERT_NE(b, nullptr);
  ASSERT_EQ(b->items.size(), 4u);
  EXPECT_EQ(b->items[0]->kind, Kind::Bool);
  EXPECT_EQ(b->items[0]->integer, 1);
  EXPECT_EQ(b->items[1]->kind, Kind::None);
  EXPECT_EQ(b->items[2]->real, 0.5);
  EXPECT_EQ(b->items[3]->integer, std::int64_t{1} << 40);
  EXPECT_EQ(root.find("c"), nullptr);
}

TEST(Pickle, TruncatedPicklesAreCorrupt) {
  const Bytes whole = of_python();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    try {
      const Pickle pickle(ByteView(whole).first(size));
      ADD_FAILURE() << size;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::Corrupt) << size;
    }
  }
}

TEST(Pickle, DamagedPicklesAreAnErrorOrAnotherValue) {
  const Bytes whole = of_python();
  Random random(3);
  int refused = 0;
  for (int i = 0; i < 20000; ++i) {
    Bytes damaged = whole;
    for (std::uint64_t n = 1 + random.below(3); n > 0; --n) {
      damaged[random.below(damaged.size())] = static_cast<std::byte>(random.below(256));
    }
    try {
      const Pickle pickle(damaged);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::Corrupt);
      ++refused;
    }
  }
  EXPECT_GT(refused, 1000);
}

// Memory that a pickle of these bytes uses, per byte of input.
std::size_t memory_of(const std::string& text) {
  const auto used = [] {
    const auto about = ::mallinfo2();
    return about.uordblks + about.hblkhd;
  };
  const std::size_t before = used();
  const Pickle pickle(bytes_of(text));
  return (used() - before) / text.size();
}

// Stores the two values in the pickle's memo as 0 and 1, without leaving them on the stack.
std::string remembering(const std::string& zero, const std::string& one) {
  return zero + "q" + '\0' + "0" + one + "q\x01" + "0";
}

std::string repeated(const std::string& text, int count) {
  std::string all;
  for (int i = 0; i < count; ++i) all += text;
  return all;
}

// Very short operations refer to one long name or list repeatedly. (A sanitizer's own allocator
// reports nothing, so the test then passes.)
TEST(Pickle, MemoryIsBoundedByTheInput) {
  const std::string recall_both = std::string("h") + '\0' + "h\x01";
  const std::string half(1000, 'm');
  for (const std::string& text :
       {// Calls of a name of 20 kB, with an argument list of 5000.
        remembering("c" + std::string(20000, 'm') + "\nb\n", "(" + std::string(5000, 'N') + "t") +
            repeated(recall_both + "R0", 5000) + "N.",
        // Names composed of two texts of 1 kB.
        remembering("X" + std::string("\xe8\x03\0\0", 4) + half,
                    "X" + std::string("\xe8\x03\0\0", 4) + half) +
            repeated(recall_both + "\x93" + "0", 20000) + "N.",
        // The largest values that operations of one byte create.
        std::string(100000, 'N') + ".", std::string(100000, ']') + ".",
        "N" + repeated("\x85", 100000) + ".", repeated("N\x94", 50000) + ".",
        "]" + repeated("Na", 50000) + ".", repeated("](Ne", 30000) + "."}) {
    EXPECT_LT(memory_of(text), kPickleMemory) << text.substr(0, 8);
  }
}

}  // namespace
}  // namespace trireme::checkpoint::format
