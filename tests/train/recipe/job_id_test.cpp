// Goal:   with a key, weights of others are refused wherever they come from: by model.load, and as
//         the checkpoint of another job in this job's folder; a job that is moved or copied goes
//         on.
// Method: tiny jobs in this process whose checkpoints are exchanged.

#include "trireme/train/recipe/job_id.h"

#include <gmock/gmock.h>

#include "tests/train/trainer_fixture.h"
#include "trireme/net/auth/secret.h"

namespace trireme::train {
namespace {

using ::testing::HasSubstr;

class JobIdTest : public TrainerTest {
 protected:
  JobIdTest() {
    net::Secret::generate().save(at("key"));
    net::Secret::generate().save(at("other key"));
  }

  Words with_key(Words more = {}, const std::string& name = "key") const {
    more.push_back("checkpoint.key_file=" + at(name).string());
    more.push_back("train.steps=" + std::to_string(steps_));
    return more;
  }
  std::string refusal(const std::string& folder, const Words& words, bool is_resumed = false) {
    try {
      run(folder, words, is_resumed);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::InvalidInput) << error.what();
      return error.message();
    }
    return "nothing was refused";
  }

  int steps_ = 3;
};

TEST_F(JobIdTest, LoadedWeightsAreAuthenticated) {
  const Ended signed_job = run("signed", with_key());
  // As `trireme checkpoint export` or anybody else may have put it there.
  write_file_atomically(at("signed") / "model.safetensors", "must not be read");
  run("plain", {"train.steps=3"});
  steps_ = 0;
  for (const fs::path& from : {at("signed"), checkpoint_at("signed", 3)}) {
    const Ended loaded = run("loaded", with_key({"model.load=" + from.string()}));
    for (const auto& [name, value] : loaded.weights) {
      EXPECT_TRUE(value.equal(signed_job.weights.at(name))) << name;
    }
    EXPECT_THAT(refusal("wrong", with_key({"model.load=" + from.string()}, "other key")),
                HasSubstr("is signed with the key"));
  }
  for (const fs::path& from : {at("plain"), checkpoint_at("plain", 3)}) {
    const Words words = with_key({"model.load=" + from.string()});
    EXPECT_THAT(refusal("unsigned", words), HasSubstr("is not signed"));
    Words trusting = words;
    trusting.emplace_back("checkpoint.allow_unauthenticated=true");
    ::testing::internal::CaptureStderr();
    EXPECT_NO_THROW(run("trusting", trusting));
    EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("is not signed with the key"));
  }
}

TEST_F(JobIdTest, UnsignedCheckpointsAreResumedWhereTheUserAllowsItAndNamed) {
  is_reported_ = true;
  run("plain", {"train.steps=3"});
  steps_ = 5;
  EXPECT_THAT(refusal("plain", with_key(), true), HasSubstr("to the command line"));
  run("plain", with_key({"checkpoint.allow_unauthenticated=true"}), true);
  EXPECT_THAT(said("plain", "screen"),
              HasSubstr(checkpoint_at("plain", 3).string() + " is not signed with the key"));
}

TEST_F(JobIdTest, ACheckpointOfAnotherJobIsRefused) {
  for (const int ranks : {1, 2}) {
    const std::string a = "a" + std::to_string(ranks), b = "b" + std::to_string(ranks);
    steps_ = 3;
    run(a, with_key(), false, ranks);
    run(b, with_key(), false, ranks);
    const std::string id = read_job_id(at(a));
    EXPECT_EQ(id.size(), 16u);
    EXPECT_NE(id, read_job_id(at(b)));
    fs::remove_all(checkpoint_at(a, 3));
    fs::copy(checkpoint_at(b, 3), checkpoint_at(a, 3), fs::copy_options::recursive);
    steps_ = 5;
    const std::string why = refusal(a, with_key(), true);
    EXPECT_THAT(why, HasSubstr(checkpoint_at(a, 3).string() + " was written by another job"));
    EXPECT_THAT(why, HasSubstr("delete " + (at(a) / "job_id").string()));
    // As the message says.
    fs::remove(at(a) / "job_id");
    EXPECT_EQ(run(a, with_key(), true, ranks).progress.step, 5);
    EXPECT_EQ(read_job_id(at(a)), read_job_id(at(b)));
  }
}

TEST_F(JobIdTest, ACheckpointOfAnotherJobIsRefusedThoughTheIdWasEditedOrDeleted) {
  for (const char* job : {"a", "b"}) {
    for (steps_ = 3; steps_ <= 5; steps_ += 2) run(job, with_key(), steps_ == 5);
  }
  const std::string id = read_job_id(at("b"));
  fs::remove_all(checkpoint_at("a", 5));
  fs::copy(checkpoint_at("b", 5), checkpoint_at("a", 5), fs::copy_options::recursive);
  steps_ = 7;
  write_job_id(at("a"), id);
  EXPECT_THAT(refusal("a", with_key(), true),
              HasSubstr(checkpoint_at("a", 3).string() + " was written by another job"));
  fs::remove(at("a") / "job_id");
  EXPECT_THAT(refusal("a", with_key(), true),
              HasSubstr(checkpoint_at("a", 3).string() + " and " + checkpoint_at("a", 5).string() +
                        " belong to two jobs"));
  // As the message says.
  fs::remove_all(checkpoint_at("a", 3));
  EXPECT_EQ(run("a", with_key(), true).progress.step, 7);
  EXPECT_EQ(read_job_id(at("a")), id);
}

TEST_F(JobIdTest, AJobThatIsMovedOrCopiedGoesOn) {
  run("first", with_key());
  const std::string id = read_job_id(at("first"));
  fs::copy(at("first"), at("copy"), fs::copy_options::recursive);
  fs::rename(at("first"), at("moved"));
  steps_ = 5;
  for (const char* job : {"copy", "moved"}) {
    EXPECT_EQ(run(job, with_key(), true).progress.step, 5);
    EXPECT_EQ(read_job_id(at(job)), id);
  }
}

TEST_F(JobIdTest, AFileThatHoldsNoIdIsNamed) {
  EXPECT_EQ(read_job_id(at("none")), "");
  fs::create_directories(at("bad"));
  for (const char* text : {"", "0123456789abcdeg\n", "0123456789abcdef0\n"}) {
    write_file_atomically(at("bad") / "job_id", text);
    EXPECT_THROW(read_job_id(at("bad")), Error) << text;
  }
  write_job_id(at("bad"), "0123456789abcdef");
  EXPECT_EQ(read_job_id(at("bad")), "0123456789abcdef");
}

}  // namespace
}  // namespace trireme::train
