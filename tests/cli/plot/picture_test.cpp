// Goal:   samples and an evaluation of the newest checkpoint are plotted; existing up-to-date files
//         are not created again.
// Method: a PNG header of 24 bytes; a stand-in for `trireme` that records its arguments.

#include "trireme/cli/plot/picture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trireme/base/error.h"
#include "trireme/base/file/file.h"
#include "trireme/base/file/temporary_folder.h"
#include "trireme/checkpoint/format/folder.h"
#include "trireme/cli/commands.h"
#include "trireme/cli/plot/latest.h"

namespace trireme::cli::plot {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// The beginning of a PNG file of 100 by 50 pixels.
std::string png_head() {
  return std::string("\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x64\0\0\0\x32", 24);
}

TEST(PicturesOfSamples, HaveALabelPerRow) {
  const std::string svg = picture_svg("Samples", bytes_of(png_head()), {"cats", "a < b"});
  EXPECT_THAT(svg,
              AllOf(HasSubstr("width=\"400\" height=\"200\""), HasSubstr("cats"),
                    HasSubstr("a &lt; b"), HasSubstr("base64,iVBORw0KGgo"), HasSubstr("</svg>")));
  EXPECT_THROW(picture_svg("", bytes_of("GIF89a, and some bytes more"), {}), Error);
  EXPECT_THROW(picture_svg("", bytes_of(png_head().substr(0, 23)), {}), Error);
}

class LatestPictures : public ::testing::Test {
 protected:
  void write_job(const std::string& recipe) {
    write_file_atomically(job_.path() / "config.toml", recipe);
    std::filesystem::create_directories(job_.path() / "checkpoints" /
                                        checkpoint::format::folder_name(7));
  }
  std::vector<std::string> asked() {
    std::vector<std::string> seen;
    bring_up_to_date({.job = job_.path()}, [&](const std::vector<std::string>& words) {
      seen = words;
      return code_;
    });
    return seen;
  }

  static bool has_worker() {
    return std::filesystem::exists(
        std::filesystem::read_symlink("/proc/self/exe").replace_filename("trireme-worker"));
  }

  TemporaryFolder job_{"latest"};
  int code_ = 0;
};

TEST_F(LatestPictures, AreOmittedForAnUnreadableJob) {
  write_job("[model]\nkind = \"custom\"\n[data]\nkind = \"idx\"\n");
  ::testing::internal::CaptureStderr();
  EXPECT_THAT(asked(), IsEmpty());
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("curves alone"));
}

TEST_F(LatestPictures, AreCreatedOncePerCheckpoint) {
  if (!has_worker()) GTEST_SKIP() << "NOT TESTED: this build has no worker";
  EXPECT_THAT(asked(), IsEmpty()) << "no job";
  write_job("[model]\nkind = \"mlp\"\n[data]\nkind = \"idx\"\n");
  EXPECT_THAT(asked(), ElementsAre("eval", job_.path().string(), "--save"));
  write_file_atomically(job_.path() / "evaluation.json", "{\"step\": 6}");
  EXPECT_THAT(asked(), ElementsAre("eval", job_.path().string(), "--save"));
  write_file_atomically(job_.path() / "evaluation.json", "{\"step\": 7}");
  EXPECT_THAT(asked(), IsEmpty());
  write_job("[model]\nkind = \"gan\"\n[data]\nkind = \"idx\"\n");
  EXPECT_THAT(asked(), ElementsAre("generate", job_.path().string()));
  write_file_atomically(job_.path() / "samples.json", "{\"step\": 7}");
  EXPECT_THAT(asked(), IsEmpty());
  write_job("[model]\nkind = \"gpt\"\n[data]\nkind = \"text\"\nfile = \"x\"\n");
  EXPECT_THAT(asked(), IsEmpty()) << "texts have none";
}

TEST_F(LatestPictures, AreOmittedIfTheEvaluationFails) {
  if (!has_worker()) GTEST_SKIP() << "NOT TESTED: this build has no worker";
  write_job("[model]\nkind = \"mlp\"\n[data]\nkind = \"idx\"\n");
  code_ = 2;
  ::testing::internal::CaptureStderr();
  asked();
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              HasSubstr("no picture of the confusion matrix: `trireme eval"));
}

TEST_F(LatestPictures, TheCommandShowsSamples) {
  write_file_atomically(job_.path() / "metrics.jsonl", "{\"step\": 1, \"loss\": 3.5}\n");
  write_file_atomically(job_.path() / "samples.png", png_head());
  write_file_atomically(job_.path() / "samples.json", "{\"step\": 7, \"classes\": [\"boots\"]}");
  ::testing::internal::CaptureStdout();
  EXPECT_EQ(plot_command().run({job_.path().string()}), 0);
  EXPECT_THAT(::testing::internal::GetCapturedStdout(), HasSubstr("samples.svg"));
  EXPECT_THAT(read_file(job_.path() / "plots/samples.svg"),
              AllOf(HasSubstr("Samples of step 7"), HasSubstr("boots")));
}

}  // namespace
}  // namespace trireme::cli::plot
