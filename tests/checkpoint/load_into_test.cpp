// Goal:   weights are loaded into a module by name, strictly or not, renamed or transposed, from
//         every type of file: Trireme's, Python's safetensors, torch::save, Python's torch.save.
//         Python's safetensors also opens Trireme's files.
// Method: small modules; one run of Python, which reads Trireme's files and writes its own.

#include "trireme/checkpoint/load_into.h"
#include "tests/folders.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include "trireme/base/error.h"
#include "trireme/base/file/temporary_folder.h"
#include "trireme/checkpoint/saver.h"
#include "trireme/checkpoint/tensor_source.h"
#include "trireme/testing/command_process.h"

namespace trireme::checkpoint {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

torch::nn::Sequential linear() {
  return torch::nn::Sequential(torch::nn::Linear(3, 2));
}

TensorReader source_of(std::map<std::string, at::Tensor> tensors) {
  TensorReader source{.label = "weights", .names = {}, .read = {}};
  for (const auto& [name, tensor] : tensors) source.names.push_back(name);
  source.read = [tensors](const std::string& name) { return tensors.at(name); };
  return source;
}

TEST(LoadInto, StrictListsAllMismatchesAndLoadsNothing) {
  auto module = linear();
  const at::Tensor before = module->named_parameters()["0.weight"].detach().clone();
  const auto source = source_of({{"0.weight", torch::ones({2, 3})}, {"extra", torch::ones({1})}});
  try {
    load_into(*module, source);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Mismatch);
    EXPECT_THAT(error.message(), HasSubstr("missing in the file: 0.bias"));
    EXPECT_THAT(error.message(), HasSubstr("unknown to the model: extra"));
  }
  EXPECT_TRUE(at::equal(module->named_parameters()["0.weight"], before));
}

TEST(LoadInto, NonStrictLoadsMatchingTensorsAndReportsTheRest) {
  auto module = linear();
  const auto source = source_of({{"0.weight", torch::ones({2, 3}, at::kDouble)},
                                 {"0.bias", torch::ones({5})},
                                 {"extra", torch::ones({1})}});
  const LoadReport report = load_into(*module, source, {.is_strict = false});
  EXPECT_THAT(report.loaded, ElementsAre("0.weight"));
  EXPECT_THAT(report.unexpected, ElementsAre("extra"));
  EXPECT_THAT(report.mismatched, ElementsAre("0.bias [5] in the file, [2] in the model"));
  EXPECT_THAT(report.missing, IsEmpty());
  EXPECT_TRUE(at::equal(module->named_parameters()["0.weight"], torch::ones({2, 3})));
}

TEST(LoadInto, LoadsRenamedTransposedAndPrefixedTensors) {
  auto module = linear();
  const at::Tensor weight = torch::randn({3, 2});
  const auto source = source_of(
      {{"model/h.w", weight}, {"model/h.b", torch::ones({2})}, {"optim/h.w", torch::ones({9})}});
  load_into(*module, source,
            {.renames = {{"h.w", "0.weight", true}, {"h.b", "0.bias", false}}, .prefix = "model/"});
  EXPECT_TRUE(at::equal(module->named_parameters()["0.weight"], weight.t()));
}

TEST(LoadInto, LoadsArchivesOfTorchSave) {
  const TemporaryFolder folder("load");
  const std::string path = (folder.path() / "module.pt").string();
  torch::nn::ModuleList nested(linear(), torch::nn::BatchNorm1d(2));
  torch::save(nested, path);
  torch::nn::ModuleList other(linear(), torch::nn::BatchNorm1d(2));
  const LoadReport report = load_into(*other, open_tensors(path));
  EXPECT_EQ(report.loaded.size(), 7u);
  EXPECT_TRUE(
      at::equal(other->named_parameters()["0.0.weight"], nested->named_parameters()["0.0.weight"]));
  std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
  EXPECT_THROW(open_tensors(path), Error);
  EXPECT_THROW(open_tensors(folder.path() / "none.pt"), Error);
}

TEST(LoadInto, PythonAndTriremeReadEachOthersFiles) {
  const TemporaryFolder folder("load");
  State state;
  const std::pair<const char*, at::ScalarType> types[] = {
      {"bf", at::kBFloat16}, {"bool", at::kBool}, {"half", at::kHalf}, {"long", at::kLong}};
  for (const auto& [name, type] : types) state.add(name, torch::ones({7}, type));
  state.add("empty", torch::ones({0, 3}));
  state.pieces.push_back({.name = "z", .shard = {{10}}, .begin = 0, .data = torch::ones({4})});
  state.pieces.push_back({.name = "z", .shard = {{10}}, .begin = 4, .data = torch::ones({6})});
  Saver saver({.folder = folder.path()});
  saver.save(state, 4);
  saver.wait();
  write_safetensors(folder.path() / "single.safetensors",
                    {{"w", torch::arange(4.0).view({2, 2}).t()}});
  testing::CommandProcess python(
      {.command = {python_program(), source_folder() + "/tests/checkpoint/python_files.py",
                   folder.path().string()}});
  const int code = python.wait_exit(Deadline::after(100s));
  if (code == 77) GTEST_SKIP() << "no safetensors beside this torch (scripts/setup.sh all)";
  ASSERT_EQ(code, 0) << python.error();
  EXPECT_EQ(python.out(),
            "bf bfloat16 [7] 7.0\nbool bool [7] 7.0\nempty float32 [0, 3] 0.0\n"
            "half float16 [7] 7.0\nlong int64 [7] 7.0\nz@0 float32 [4] 4.0\nz@4 float32 [6] 6.0\n"
            "[0.0, 2.0, 1.0, 3.0]\n");
  for (const char* name :
       {"python.safetensors", "dict.pt", "nested.pt", "ordered.pt", "views.pt"}) {
    SCOPED_TRACE(name);
    auto module = linear();
    EXPECT_EQ(load_into(*module, open_tensors(folder.path() / name)).loaded.size(), 2u);
    EXPECT_TRUE(at::equal(module->named_parameters()["0.weight"], torch::arange(6.0).view({2, 3})));
    EXPECT_TRUE(at::equal(module->named_parameters()["0.bias"], torch::tensor({7.0f, 8.0f})));
  }
  const TensorReader zeros = open_tensors(folder.path() / "zeros.pt");
  EXPECT_EQ(zeros.read("0.weight").numel(), 250000);
  for (const char* name : {"bomb.pt", "script.pt"}) {
    try {
      open_tensors(folder.path() / name).read("0.weight");
      FAIL() << name << ": a small file used much memory";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::Corrupt);
      EXPECT_THAT(error.message(), HasSubstr("is larger than the file"));
    }
  }
}

}  // namespace
}  // namespace trireme::checkpoint
