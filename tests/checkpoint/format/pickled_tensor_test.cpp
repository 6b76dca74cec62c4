// Goal:   a pickle's tensor is located only if its properties are possible; impossible shapes are
//         not treated as tensors.
// Method: pickles composed of the operations that torch.save writes, with other numbers.

#include "trireme/checkpoint/format/pickled_tensor.h"

#include <gtest/gtest.h>

#include "trireme/base/error.h"

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

TEST(PickledTensor, LocatesATensor) {
  const auto found = read(tensor(2, {3, 4}, {4, 1}, "BFloat16"));
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->record, "data/3");
  EXPECT_EQ(found->dtype, StoredDType::BF16);
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
TEST(PickledTensor, ARepeatedNameIsReportedOnce) {
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

std::string module_of(const std::string& entries, const std::string& type = "Net") {
  return "c__torch__\n" + type + "\n)\x81}(" + entries + "ub";
}

TEST(PickledTensor, ModulesHaveTensorsWithTheNamesOfAStateDict) {
  const std::string inner = module_of(text("weight") + tensor(1, {1}, {1}) + text("on") + "\x88");
  const std::string all = module_of(text("0") + inner + text("bias") + tensor(2, {1}, {1})) + ".";
  const Pickle read(bytes_of(all));
  ASSERT_TRUE(is_script_module(read.root()));
  const auto tensors = tensors_in_module(read.root(), all.size());
  ASSERT_EQ(tensors.size(), 2U);
  EXPECT_EQ(pickled_tensor(*tensors.at("0.weight"))->offset, 1);
  EXPECT_EQ(pickled_tensor(*tensors.at("bias"))->offset, 2);
  EXPECT_FALSE(is_script_module(Pickle(bytes_of("c__main__\nNet\n)\x81}b.")).root()));
}

ErrorCode code_of_module(const std::string& value) {
  const Pickle read(bytes_of(value + "."));
  try {
    tensors_in_module(read.root(), value.size());
  } catch (const Error& error) {
    return error.code();
  }
  return ErrorCode::Misuse;
}

TEST(PickledTensor, ModulesThatCannotBeReadWithoutTheirCodeAreRefused) {
  EXPECT_EQ(code_of_module(module_of("")), ErrorCode::Misuse);
  EXPECT_EQ(code_of_module("c__torch__\nEvil\n)\x81)b"), ErrorCode::InvalidInput);
  EXPECT_EQ(code_of_module(module_of(text("inner") + "c__torch__\nEvil\n)\x81)b")),
            ErrorCode::InvalidInput);
}

// Each module contains the previous one twice: there are 2^60 paths to the first one.
TEST(PickledTensor, ModulesThatContainEachOtherOverAndOverAreCorrupt) {
  std::string value = module_of("");
  for (int i = 0; i < 60; ++i) {
    value = value + "q\x01" + "0" + module_of(text("a") + "h\x01" + text("b") + "h\x01");
  }
  EXPECT_EQ(code_of_module(value), ErrorCode::Corrupt);
  const std::string of_itself = "c__torch__\nNet\n)\x81q\x01}(" + text("a") + "h\x01ub";
  EXPECT_EQ(code_of_module(of_itself), ErrorCode::Corrupt);
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
