// Goal:   a dict of tensors in an archive is read by name; a file that is not such an archive, or
//         is damaged, is rejected with its name.
// Method: archives that LibTorch writes; changes single bytes of their pickle. (load_into_test
//         reads archives that Python writes.)

#include "trireme/checkpoint/state_dict.h"

#include <gtest/gtest.h>
#include <torch/script.h>
#include <torch/serialize.h>
#include <torch/torch.h>

#include "trireme/base/error.h"
#include "trireme/base/file/file.h"
#include "trireme/base/file/temporary_folder.h"
#include "trireme/checkpoint/tensor_source.h"

namespace trireme::checkpoint {
namespace {

std::string archive_of(const c10::IValue& value) {
  const std::vector<char> bytes = torch::pickle_save(value);
  return {bytes.begin(), bytes.end()};
}

c10::IValue two_tensors() {
  c10::Dict<std::string, at::Tensor> dict;
  dict.insert("long", torch::arange(5));
  dict.insert("empty", torch::zeros({0, 3}, at::kHalf));
  return dict;
}

ErrorCode code_of(const std::filesystem::path& path) {
  try {
    const StateDict dict(path);
    for (const std::string& name : dict.names()) dict.read(name);
  } catch (const Error& error) {
    return error.code();
  }
  return ErrorCode::Misuse;
}

TEST(StateDict, ReadsTensorsByName) {
  const TemporaryFolder folder("state-dict");
  const auto path = folder.path() / "two.pt";
  write_file_atomically(path, archive_of(two_tensors()));
  const StateDict dict(path);
  EXPECT_EQ(dict.names(), (std::vector<std::string>{"empty", "long"}));
  EXPECT_TRUE(dict.read("long").equal(torch::arange(5)));
  EXPECT_TRUE(dict.read("empty").equal(torch::zeros({0, 3}, at::kHalf)));
  EXPECT_THROW(dict.read("other"), Error);
}

// expand() creates tensors in which one stored element represents very many. Comparing two such
// tensors would take practically forever.
TEST(StateDict, RefusesTensorsOutOfProportionToTheFile) {
  const TemporaryFolder folder("state-dict");
  const auto path = folder.path() / "expanded.pt";
  for (const bool is_large : {false, true}) {
    const at::Tensor tensor =
        torch::ones({1, 1}).expand({is_large ? std::int64_t{1} << 40 : 100, 3});
    c10::Dict<std::string, at::Tensor> dict;
    dict.insert("w", tensor);
    write_file_atomically(path, archive_of(dict));
    EXPECT_EQ(code_of(path), is_large ? ErrorCode::Corrupt : ErrorCode::Misuse);
    torch::serialize::OutputArchive module;
    module.write("w", tensor);
    module.save_to(path.string());
    EXPECT_EQ(code_of(path), is_large ? ErrorCode::Corrupt : ErrorCode::Misuse);
    if (is_large) continue;
    EXPECT_TRUE(open_tensors(path).read("w").equal(tensor));
  }
}

// Loading it as PyTorch does would call its __setstate__, which throws here.
TEST(StateDict, RunsNoCodeOfAnArchive) {
  const TemporaryFolder folder("state-dict");
  const auto path = folder.path() / "script.pt";
  for (const bool is_nested : {false, true}) {
    torch::jit::Module script("Evil");
    script.register_parameter("w", torch::ones({2}), /*is_buffer=*/false);
    script.define(R"(
      def __getstate__(self) -> Tuple[Tensor, int]:
        return (self.w, 1)
      def __setstate__(self, state: Tuple[Tensor, int]) -> None:
        assert False, "code of the file ran"
    )");
    torch::jit::Module outer("Outer");
    outer.register_module("inner", script);
    (is_nested ? outer : script).save(path.string());
    EXPECT_THROW(torch::jit::load(path.string()), std::exception);
    EXPECT_EQ(code_of(path), ErrorCode::InvalidInput);
  }
}

TEST(StateDict, RefusesFilesThatAreNoArchive) {
  const TemporaryFolder folder("state-dict");
  const auto path = folder.path() / "none.pt";
  write_file_atomically(path, "not an archive");
  EXPECT_EQ(code_of(path), ErrorCode::Corrupt);
  write_file_atomically(path, archive_of(torch::arange(5)));
  EXPECT_EQ(code_of(path), ErrorCode::InvalidInput);
}

}  // namespace
}  // namespace trireme::checkpoint
