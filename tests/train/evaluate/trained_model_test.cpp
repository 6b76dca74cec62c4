// Goal:   a trained model is what its checkpoint says, whatever the unsigned config.toml beside it
//         says; unsigned checkpoints are read with a key only where the user allows it, and never
//         in silence; a damaged checkpoint that the user names is an error.
// Method: tiny jobs in this process whose folders are edited as another user could edit them.

#include "trireme/train/evaluate/trained_model.h"

#include <gmock/gmock.h>

#include "tests/train/trainer_fixture.h"
#include "trireme/net/auth/secret.h"

namespace trireme::train {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class TrainedModelTest : public TrainerTest {
 protected:
  TrainedModelTest() { model_ = "gpt"; }

  // Trains it, and writes the config.toml that a worker would; `edits` are made to that alone.
  void train(const std::string& job, const Words& words, const Words& edits = {}) {
    run(job, words);
    Words all = words;
    all.insert(all.end(), edits.begin(), edits.end());
    write_file_atomically(at(job) / "config.toml", tiny_config(model_, all).to_toml());
  }

  struct Opened {
    std::string heads;    // model.num_heads; empty where it was not opened
    std::int64_t step{};  // of the checkpoint
    std::string said{};   // on standard error, or by the error
    ErrorCode code{};     // of the error
  };
  Opened open(const std::string& job, TrainedModelOptions options = {.folder = {}}) const {
    options.folder = at(job);
    Opened opened;
    ::testing::internal::CaptureStderr();
    try {
      const TrainedModel trained = open_trained(options, tiny_kinds());
      opened = {.heads = to_plain(trained.config.setting("model.num_heads")->value),
                .step = trained.step};
    } catch (const Error& error) {
      opened = {.heads = "", .said = error.message(), .code = error.code()};
    }
    opened.said += ::testing::internal::GetCapturedStderr();
    return opened;
  }
};

TEST_F(TrainedModelTest, SettingsAreThoseOfTheCheckpoint) {
  const Words words{"train.steps=2"};
  train("same", words);
  EXPECT_THAT(open("same").said, IsEmpty());
  train("edited", words, {"model.num_heads=4", "eval.batch_size=3"});
  const Opened opened = open("edited");
  EXPECT_EQ(opened.heads, "2");
  EXPECT_THAT(opened.said,
              AllOf(HasSubstr("config.toml differs"), HasSubstr("model.num_heads (2, now 4)"),
                    HasSubstr("override them with key=value")));
  EXPECT_EQ(open("edited", {.folder = {}, .overrides = {"model.num_heads=4"}}).heads, "4");
}

TEST_F(TrainedModelTest, UnsignedCheckpointsAreReadOnlyWhereTheUserAllowsIt) {
  net::Secret::generate().save(at("key"));
  const std::string key = "checkpoint.key_file=" + at("key").string();
  const std::string allowance = "checkpoint.allow_unauthenticated=true";
  train("job", {"train.steps=2", key}, {allowance});
  EXPECT_EQ(open("job").heads, "2");
  train("other", {"train.steps=2"});
  for (const char* part : {"checkpoints", "job_id"}) {
    fs::remove_all(at("job") / part);
    fs::rename(at("other") / part, at("job") / part);
  }
  const Opened refused = open("job", {.folder = {}, .overrides = {key}});
  EXPECT_EQ(refused.code, ErrorCode::InvalidInput);
  EXPECT_THAT(refused.said, AllOf(HasSubstr("is not signed"), HasSubstr("to the command line")));
  const Opened allowed = open("job", {.folder = {}, .overrides = {key, allowance}});
  EXPECT_EQ(allowed.heads, "2");
  EXPECT_THAT(allowed.said, HasSubstr("is not signed with the key"));
}

TEST_F(TrainedModelTest, ADamagedCheckpointThatIsNamedIsAnError) {
  train("job", {"train.steps=4", "checkpoint.every=2", "checkpoint.keep=2"});
  // A byte of the header, which Trireme itself does not need.
  const fs::path part = checkpoint_at("job", 4) / "part-00000.safetensors";
  std::string bytes = read_file(part);
  bytes[9] = '\0';
  write_file_atomically(part, bytes);
  EXPECT_EQ(open("job").step, 2);
  EXPECT_EQ(open("job", {.folder = {}, .step = 2}).step, 2);
  const Opened named = open("job", {.folder = {}, .step = 4});
  EXPECT_EQ(named.code, ErrorCode::Corrupt);
  EXPECT_THAT(named.said, AllOf(HasSubstr(checkpoint_at("job", 4).string() + " is damaged"),
                                HasSubstr("leave --checkpoint out")));
}

}  // namespace
}  // namespace trireme::train
