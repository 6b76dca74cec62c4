// Goal:   a StepBook accepts a job that used every sample once, and reports lost or repeated
//         samples.
// Method: the reports of a job of three steps, first correct, then with each type of error.

#include "tests/soak/step_book.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trireme::soak {
namespace {

using monitor::StepLine;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::int64_t kSampleCount = 20;

// Two workers over passes of 20 samples: 8, 8, and the 4 that end the pass.
std::vector<StepLine> lines() {
  std::vector<StepLine> all;
  for (const int worker : {0, 1}) {
    all.push_back({.is_begin = true, .worker = worker});
    all.push_back({.worker = worker, .step = 1, .samples = 8, .cursor = 8, .loss = 3});
    all.push_back({.worker = worker, .step = 2, .samples = 8, .cursor = 16, .loss = 2});
    all.push_back({.worker = worker, .step = 3, .samples = 4, .pass = 1, .loss = 1});
  }
  return all;
}

StepBook book_of(const std::vector<StepLine>& lines) {
  StepBook book;
  for (const StepLine& line : lines) book.add(line);
  return book;
}

std::vector<std::string> mistakes_in(const std::vector<StepLine>& spoilt) {
  const StepBook right = book_of(lines());
  return book_of(spoilt).mistakes(3, kSampleCount, &right);
}

TEST(StepBook, AcceptsACorrectJob) {
  EXPECT_THAT(mistakes_in(lines()), IsEmpty());
  // Worker 1 joined later, and worker 0 left before the end.
  std::vector<StepLine> some = lines();
  some.erase(some.begin() + 5);
  some.erase(some.begin() + 3);
  EXPECT_THAT(mistakes_in(some), IsEmpty());
  EXPECT_EQ(book_of(some).last(), 3);
  EXPECT_TRUE(book_of(some).has_begun(1));
  EXPECT_FALSE(book_of(some).has_begun(2));
}

TEST(StepBook, FindsAMissingStep) {
  const std::vector<StepLine> all = lines();
  EXPECT_THAT(mistakes_in({all[1]}), ElementsAre(HasSubstr("nobody made step 2")));
}

TEST(StepBook, FindsARepeatedStep) {
  std::vector<StepLine> all = lines();
  all.push_back(all.back());
  EXPECT_THAT(mistakes_in(all), ElementsAre(HasSubstr("made step 3 after step 3")));
}

TEST(StepBook, FindsWorkersWithDifferentResults) {
  std::vector<StepLine> all = lines();
  all.back().cursor = 8;
  EXPECT_THAT(mistakes_in(all), ElementsAre(HasSubstr("step 3 differs")));
}

TEST(StepBook, FindsMissingSamples) {
  std::vector<StepLine> all = lines();
  for (StepLine& line : all) {
    if (line.step == 2) line.cursor = 17;
  }
  EXPECT_THAT(mistakes_in(all), ElementsAre(HasSubstr("after step 2 16 samples"),
                                            HasSubstr("is not the undisturbed job's")));
}

TEST(StepBook, FindsReplacedSamplesByTheirLoss) {
  std::vector<StepLine> all = lines();
  for (StepLine& line : all) {
    if (line.step == 2) line.loss *= 1 + 1e-7;
  }
  EXPECT_THAT(mistakes_in(all), ElementsAre(HasSubstr("is not the undisturbed job's")));
  for (StepLine& line : all) {
    if (line.step == 2) line.loss = 2 * (1 + 1e-14);
  }
  EXPECT_THAT(mistakes_in(all), IsEmpty());
}

TEST(StepBook, FindsStepsBeyondTheLast) {
  std::vector<StepLine> all = lines();
  all.push_back({.worker = 1, .step = 4, .samples = 8, .pass = 1, .cursor = 8});
  EXPECT_THAT(mistakes_in(all).front(), HasSubstr("beyond"));
}

}  // namespace
}  // namespace trireme::soak
