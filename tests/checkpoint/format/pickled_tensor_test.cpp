// Goal:   a pickle's tensor is located only if its properties are possible; impossible shapes are
//         not treated as tensors.
// Method: pickles composed of the operations that torch.save writes, with other numbers.

#include "trireme/checkpoint/format/pickled_tensor.h"

#include <gtest/gtest.h>

namespace trireme::checkpoint::format {
namespace {

std::string text(const std::string& value) {
  return "\x8c" + std::string(1, static_cast<char>(value.size())) + value;
}

// A long integer of 8 bytes.
std::string number(std::int64_t value) {
  std::string bytes = "\x8a\x08";
  for (int i = 0; i < 8; ++i) bytes += static_cast<char>(value >> (8 * i));
  return bytes;
}

std::string numbers(const std::vector<std::int64_t>& values) {
  std::string all = "(";
  for (const std::int64_t value : values) all += number(value);
  return all + "t";
}

std::string tensor(std::int64_t offset, const std::vector<std::int64_t>& sizes,
                   const std::vector<std::int64_t>& strides, const std::string& type = "Float",
                   const std::string& record = "3") {
  return "ctorch._utils\n_rebuild_tensor_v2\n((" + text("storage") + "ctorch\n" + type +
         "Storage\n" + text(record) + text("cpu") + number(9) + "tQ" + number(offset) +
         numbers(sizes) + numbers(strides) + "\x89)tR";
}

std::optional<PickledTensor> read(const std::string& value) {
  const Pickle pickle(bytes_of(value + "."));
  return pickled_tensor(pickle.root());
}

TEST(PickledTensor, SaysWhereATensorLies) {
  const auto found = read(tensor(2, {3, 4}, {4, 1}, "BFloat16"));
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->record, "data/3");
  EXPECT_EQ(found->dtype, DType::BF16);
  EXPECT_EQ(found->sizes, (std::vector<std::int64_t>{3, 4}));
  EXPECT_EQ(found->extent(), 2 + 12);
  EXPECT_EQ(read(tensor(5, {0, 4}, {4, 1}))->extent(), 5);
  EXPECT_TRUE(read("ctorch._utils\n_rebuild_parameter\n(" + tensor(0, {1}, {1}) + "tR"));
  const Pickle inside(
      bytes_of("}" + text("model") + "}" + text("w") + tensor(0, {1}, {1}) + "ss."));
  EXPECT_TRUE(pickled_tensor(*tensor_dict(inside.root()).find("w")).has_value());
}

// A dict whose two-byte operations refer to one name of 100 kB and two tensors repeatedly. Copying
// or comparing the name each time would take time that grows with the square of the size.
TEST(PickledTensor, ANameThatIsUsedAgainAndAgainIsGivenOnce) {
  const auto remembered = [](const std::string& value, char number) {
    return value + "q" + number + "0";
  };
  const std::string name(100000, 'w');
  std::string pickle = remembered(tensor(1, {1}, {1}), 1) + remembered(tensor(2, {1}, {1}), 2) +
                       remembered(std::string("X\xa0\x86\x01\0", 5) + name, 3) + "}(";
  for (int i = 0; i < 50000; ++i) pickle += "h\x03h\x01";
  pickle += "h\x03h\x02" + text("v") + "h\x01" + text("v") + "h\x02" + text("v") + "N" + "u.";
  const Pickle read(bytes_of(pickle));
  const auto all = tensors_in(read.root());
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].name, name);
  EXPECT_EQ(pickled_tensor(*all[0].value)->offset, 2) << "the last one counts";
  EXPECT_EQ(all[1].name, "v");
  EXPECT_EQ(pickled_tensor(*all[2].value)->offset, 2);
}

TEST(PickledTensor, WhatCannotBeIsNone) {
  const std::int64_t huge = std::int64_t{1} << 62;
  EXPECT_FALSE(read(tensor(-1, {3}, {1})));
  EXPECT_FALSE(read(tensor(0, {-3}, {1})));
  EXPECT_FALSE(read(tensor(0, {3}, {1, 1})));
  EXPECT_FALSE(read(tensor(0, {3}, {1}, "Other")));
  EXPECT_FALSE(read(tensor(0, std::vector<std::int64_t>(65, 1), std::vector<std::int64_t>(65, 1))));
  EXPECT_FALSE(read("ctorch._utils\n_rebuild_parameter\n)R"));
  EXPECT_FALSE(read("N"));
  // A reader has to compare these shapes with the available memory, but their extent overflows.
  EXPECT_EQ(read(tensor(huge, {3}, {huge}))->extent(), std::nullopt);
  EXPECT_EQ(read(tensor(0, {huge, huge}, {0, 0}))->extent(), std::nullopt);
}

}  // namespace
}  // namespace trireme::checkpoint::format
