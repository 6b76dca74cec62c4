// Goal:   `trireme checkpoint` lists, inspects and verifies, for people and as JSON, and its exit
//         code shows whether all checkpoints are complete.
// Method: the real command on checkpoints that the test writes, one of them damaged.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/checkpoint/format/stored_bytes.h"
#include "trireme/base/file/file.h"
#include "trireme/base/file/temporary_folder.h"
#include "trireme/checkpoint/format/manifest_text.h"
#include "trireme/cli/checkpoint/rewrite.h"
#include "trireme/cli/commands.h"
#include "trireme/data/preprocessing_record.h"
#include "trireme/net/auth/secret.h"
#include "trireme/testing/code_of.h"
#include "trireme/train/report/progress.h"

namespace trireme::cli {
namespace {

namespace format = checkpoint::format;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

struct Outcome {
  int code = 0;
  std::string out;
};

Outcome run(const std::vector<std::string>& words) {
  ::testing::internal::CaptureStdout();
  Outcome outcome;
  outcome.code = checkpoint_command().run(words);
  outcome.out = ::testing::internal::GetCapturedStdout();
  return outcome;
}

TEST(CheckpointCommand, ListsInspectsAndVerifies) {
  const TemporaryFolder folder("checkpoint-command");
  const auto inner = folder.path() / "checkpoints";
  std::filesystem::create_directory(inner);
  format::store_bytes(inner, 7);
  const auto newest = format::store_bytes(inner, 12);
  const std::string path = folder.path().string();
  EXPECT_THAT(run({"ls", path}).out, AllOf(HasSubstr("step-00000007"), HasSubstr("8.4 MB")));
  EXPECT_THAT(run({"ls", path, "--json"}).out, HasSubstr("\"step\": 12"));
  EXPECT_THAT(run({"inspect", path}).out,
              AllOf(HasSubstr("step 12, 2 tensors"), HasSubstr("(8400953)"), HasSubstr("I32")));
  EXPECT_THAT(run({"inspect", newest.string(), "--json"}).out, HasSubstr("\"pieces\": 2"));
  EXPECT_EQ(run({"verify", path}).code, 0);
  std::filesystem::resize_file(newest / "part-00001.safetensors", 99);
  const Outcome damaged = run({"verify", path});
  EXPECT_EQ(damaged.code, 1);
  EXPECT_THAT(damaged.out, AllOf(HasSubstr("whole"), HasSubstr("part-00001.safetensors has 99")));
  EXPECT_THAT(run({"verify", path, "--json"}).out, HasSubstr("\"is_whole\": false"));
  EXPECT_THAT(run({"ls", path}).out, HasSubstr("damaged"));
}

TEST(CheckpointCommand, AJobsImpossibleProgressIsDamage) {
  const TemporaryFolder folder("checkpoint-command");
  const auto path = format::store_bytes(folder.path(), 7);
  const auto manifest_path = path / format::kManifestName;
  auto manifest = format::parse_manifest(read_file(manifest_path), "manifest");
  for (const std::int64_t step : {7, 8}) {
    manifest.meta = train::Progress{.step = step}.to_json();
    write_file_atomically(manifest_path, format::manifest_text(manifest));
    const Outcome verified = run({"verify", path.string()});
    EXPECT_EQ(verified.code, step == 7 ? 0 : 1);
    EXPECT_THAT(verified.out, HasSubstr(step == 7 ? "whole" : "its progress is of step 8"));
  }
}

// Samples are read into buffers of the sizes that the record of the data states.
TEST(CheckpointCommand, AnImpossibleRecordOfTheDataIsDamage) {
  const TemporaryFolder folder("checkpoint-command");
  const auto path = format::store_bytes(folder.path(), 7);
  const auto manifest_path = path / format::kManifestName;
  auto manifest = format::parse_manifest(read_file(manifest_path), "manifest");
  for (const int width : {4, -4}) {
    const nlohmann::json form{{"input_sizes", {width}},
                              {"input_type", "float32"},
                              {"target_sizes", {1}},
                              {"target_type", "float32"},
                              {"classes", 0}};
    auto meta = nlohmann::json::parse(train::Progress{.step = 7}.to_json());
    meta["data"] = {{"source", form}, {"form", form}};
    const std::string record = meta["data"].dump();
    if (width > 0) {
      EXPECT_NO_THROW(data::check_record(record));
    } else {
      EXPECT_EQ(testing::code_of([&] { data::check_record(record); }), ErrorCode::Corrupt);
    }
    manifest.meta = meta.dump();
    write_file_atomically(manifest_path, format::manifest_text(manifest));
    const Outcome verified = run({"verify", path.string()});
    EXPECT_EQ(verified.code, width > 0 ? 0 : 1) << verified.out;
    EXPECT_THAT(verified.out, HasSubstr(width > 0 ? "whole" : "-4 is not a whole number"));
  }
}

TEST(CheckpointCommand, RefusesWhatIsNone) {
  const TemporaryFolder folder("checkpoint-command");
  EXPECT_EQ(run({"list", folder.path().string()}).code, 2);
  EXPECT_EQ(run({"ls", folder.path().string()}).code, 2);
  EXPECT_EQ(run({"ls", "/no/such/folder"}).code, 2);
  EXPECT_EQ(run({"ls", std::string(300, 'x')}).code, 2);
}

TEST(CheckpointCommand, ReshardsAndCompares) {
  const TemporaryFolder folder("checkpoint-command");
  const std::string path = format::store_bytes(folder.path(), 7).string();
  const std::string to = (folder.path() / "other").string();
  EXPECT_THAT(run({"reshard", path, "--parts", "3", "--to", to}).out,
              AllOf(HasSubstr("step 7 in 3 parts"), HasSubstr("other/step-00000007")));
  const Outcome same = run({"diff", path, to});
  EXPECT_EQ(same.code, 0);
  EXPECT_THAT(same.out, HasSubstr("0 of 2 tensors differ"));
  EXPECT_EQ(run({"reshard", path, "--to", to}).code, 2);  // it already exists
  EXPECT_EQ(run({"reshard", path, "--parts", "0"}).code, 2);
  EXPECT_EQ(run({"diff", path}).code, 2);
  EXPECT_EQ(run({"ls", path, "--parts", "2"}).code, 2);
  EXPECT_EQ(run({"reshard", path, "--parts", "2"}).code, 0);
  EXPECT_THAT(run({"inspect", path, "--json"}).out, HasSubstr("\"step\": 7"));
}

TEST(CheckpointCommand, EncryptsAndDecrypts) {
  const TemporaryFolder folder("checkpoint-command");
  const std::string path = format::store_bytes(folder.path(), 7).string();
  const std::string key = (folder.path() / "key").string(), to = (folder.path() / "to").string();
  net::Secret::generate().save(key);
  const Outcome sealed = run({"reshard", path, "--to", to, "--encrypt", key, "--compress"});
  if (sealed.code != 0) GTEST_SKIP() << "built without zstd";
  EXPECT_THAT(run({"verify", to, "--json"}).out,
              AllOf(HasSubstr("\"is_whole\": true"), HasSubstr("\"is_authenticated\": false")));
  EXPECT_THAT(run({"verify", to, "--key", key}).out, HasSubstr("(authenticated)"));
  EXPECT_EQ(run({"diff", path, to}).code, 2);
  EXPECT_EQ(run({"diff", path, to, "--key", key}).code, 2);  // one of them is not signed
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(run({"diff", path, to, "--key", key, "--allow-unauthenticated"}).code, 0);
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              AllOf(HasSubstr(path + " is not signed"), Not(HasSubstr(to + "/"))));
  const Outcome refused = run({"verify", path, "--key", key});
  EXPECT_EQ(refused.code, 1);
  EXPECT_THAT(refused.out, HasSubstr("is not signed"));
  EXPECT_EQ(run({"reshard", to, "--key", key, "--decrypt", "--expand"}).code, 0);
  EXPECT_EQ(run({"diff", path, to, "--json"}).code, 0);
}

}  // namespace
}  // namespace trireme::cli
