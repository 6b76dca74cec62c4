// Goal:   pickles are read as the values that Python wrote, and nothing but that: what is cut
// short,
//         damaged or made up is Corrupt, wherever the damage is.
// Method: bytes of Python's own pickle (pickletools shows their meaning), every beginning of them,
//         every byte replaced, and random bytes.

#include "trireme/checkpoint/format/pickle.h"

#include <gtest/gtest.h>

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

TEST(Pickle, ReadsWhatPythonWrote) {
  const Pickle pickle(of_python());
  const PickleValue& root = pickle.root();
  ASSERT_TRUE(root.is_dict());
  ASSERT_EQ(root.entries.size(), 2u);
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

TEST(Pickle, WhatIsCutShortIsCorrupt) {
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

TEST(Pickle, DamageIsAnErrorOrAnotherValueAndNeverMore) {
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

// The same arguments for many calls are not copied for each.
TEST(Pickle, CallsAreCheap) {
  std::string text = "c a\nb\nq";
  text += '\0';
  text += "0(";
  text.append(5000, 'N');
  text +=
      "tq\x01"
      "0";
  for (int i = 0; i < 5000; ++i) {
    text += "h";
    text += '\0';
    text +=
        "h\x01"
        "R0";
  }
  text += "N.";
  const Pickle pickle(bytes_of(text));
  EXPECT_EQ(pickle.root().kind, Kind::None);
}

}  // namespace
}  // namespace trireme::checkpoint::format
