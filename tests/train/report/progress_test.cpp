// Goal:   a progress reads back as it was written, and what is none is refused; command words and
//         laps are what they look like.
// Method: round trips with extreme values; broken texts.

#include "trireme/train/report/progress.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "trireme/base/error.h"
#include "trireme/train/recipe/worker_words.h"
#include "trireme/train/report/step_times.h"

namespace trireme::train {
namespace {

ErrorCode code_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    return error.code();
  }
  ADD_FAILURE() << "nothing was thrown";
  return ErrorCode::Misuse;
}

TEST(Progress, ReadsBackAsWritten) {
  Progress progress{.step = std::int64_t{1} << 60,
                    .updates = 17,
                    .position = {.epoch = 3, .cursor = 977},
                    .returned = {{.epoch = 3, .samples = {.begin = 5, .end = 9}},
                                 {.epoch = 3, .samples = {.begin = 20, .end = 21}}},
                    .samples = 123456789012,
                    .planned = 41,
                    .loss_scale = 65536,
                    .loss_scale_good_steps = 1999,
                    .metric = "f1",
                    .best = 0.1,
                    .best_step = 5,
                    .evaluations_since_best = 2,
                    .plateau = {.factor = 0.25, .best = 0.5, .bad = 3, .cooling = 4},
                    .recipe = "[train]\nglobal_batch_size = 1 # \"quoted\" \\ µ\n",
                    .job_hash = "0123456789abcdef"};
  const Progress read = Progress::from_json(progress.to_json());
  EXPECT_EQ(read.step, progress.step);
  EXPECT_EQ(read.updates, 17);
  EXPECT_EQ(read.position.epoch, 3);
  EXPECT_EQ(read.position.cursor, 977);
  EXPECT_EQ(read.returned, progress.returned);
  EXPECT_EQ(read.samples, 123456789012);
  EXPECT_EQ(read.planned, 41);
  EXPECT_EQ(read.loss_scale, 65536);
  EXPECT_EQ(read.loss_scale_good_steps, 1999);
  EXPECT_EQ(read.metric, "f1");
  EXPECT_EQ(read.best, 0.1);
  EXPECT_EQ(read.best_step, 5);
  EXPECT_EQ(read.evaluations_since_best, 2);
  EXPECT_EQ(read.plateau.factor, 0.25);
  EXPECT_EQ(read.plateau.best, 0.5);
  EXPECT_EQ(read.plateau.bad, 3);
  EXPECT_EQ(read.plateau.cooling, 4);
  EXPECT_EQ(read.recipe, progress.recipe);
  EXPECT_EQ(read.job_hash, progress.job_hash);
}

TEST(Progress, ABeginningHasNoBest) {
  const Progress read = Progress::from_json(Progress{}.to_json());
  EXPECT_TRUE(std::isnan(read.best));
  EXPECT_EQ(read.best_step, -1);
  EXPECT_EQ(read.step, 0);
}

TEST(Progress, AnInfiniteBestReadsBack) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const double best : {kInfinity, -kInfinity}) {
    EXPECT_EQ(Progress::from_json(Progress{.best = best}.to_json()).best, best);
  }
  Progress progress;
  progress.best = kInfinity;
  progress.best_step = 3;
  progress.evaluations_since_best = 2;
  progress.forget_best();
  EXPECT_EQ(progress.to_json(), Progress{}.to_json());
}

TEST(Progress, RefusesWhatIsNone) {
  for (const char* text : {"", "{}", "[]", "nonsense", R"({"step": "three"})"}) {
    EXPECT_EQ(code_of([&] { Progress::from_json(text); }), ErrorCode::Corrupt) << text;
  }
}

// As JSON, with one value replaced.
std::string with_value(const std::string& name, const char* value) {
  const Progress whole{.step = 30,
                       .updates = 29,
                       .returned = {{.epoch = 0, .samples = {.begin = 5, .end = 9}}},
                       .best_step = 20};
  auto json = nlohmann::json::parse(whole.to_json());
  json[nlohmann::json::json_pointer("/" + name)] = nlohmann::json::parse(value);
  return json.dump();
}

TEST(Progress, RefusesWhatNoJobCanReach) {
  EXPECT_EQ(Progress::from_json(with_value("step", "31")).step, 31);
  const std::pair<const char*, std::vector<const char*>> wrong[] = {
      {"step", {"-7", "\"x\"", "1.5", "1e300", "null", "9223372036854775807"}},
      {"updates", {"-3", "31"}},
      {"epoch", {"-1", "9223372036854775807"}},
      {"cursor", {"-5", "9223372036854775807"}},
      {"samples", {"-1"}},
      {"seconds", {"-1"}},
      {"planned", {"-1"}},
      {"loss_scale", {"-1", "\"inf\""}},
      {"loss_scale_good_steps", {"-1"}},
      {"best_step", {"-2", "31"}},
      {"evaluations_since_best", {"-1", "4294967296"}},
      {"plateau/bad", {"-1"}},
      {"plateau/factor", {"-1", "\"x\""}},
      {"precision/seen", {"-1"}},
      {"returned", {"[[0,-100,-90]]", "[[0,9,5]]", "[[-1,5,9]]", "[[0,5]]", "[7]", "3"}}};
  for (const auto& [name, values] : wrong) {
    for (const char* value : values) {
      EXPECT_EQ(code_of([&] { Progress::from_json(with_value(name, value)); }), ErrorCode::Corrupt)
          << name << " = " << value;
    }
  }
}

TEST(Progress, IsOfTheStepOfItsCheckpoint) {
  const std::string meta = Progress{.step = 30}.to_json();
  EXPECT_EQ(Progress::from_meta(meta, 30).step, 30);
  EXPECT_EQ(code_of([&] { Progress::from_meta(meta, 31); }), ErrorCode::Corrupt);
}

WorkerWords words_of(const std::vector<std::string>& words) {
  return WorkerWords(words);
}

TEST(WorkerWords, AreACommandOptionsAndFlags) {
  const WorkerWords words =
      words_of({"train", "--recipe", "a.toml", "--resume", "--set", "train.global_batch_size=3",
                "--set", "optim.lr=-1", "--temperature", "1e-2"});
  EXPECT_EQ(words.command(), "train");
  EXPECT_EQ(words.text("--recipe"), "a.toml");
  EXPECT_TRUE(words.has("--resume"));
  EXPECT_FALSE(words.has("--json"));
  EXPECT_EQ(words.overrides(),
            (std::vector<std::string>{"train.global_batch_size=3", "optim.lr=-1"}));
  EXPECT_EQ(words.number("--temperature", 1, 0, 1), 0.01);
  EXPECT_EQ(words.number("--top-p", 7, 0, 1), 7);
  EXPECT_EQ(words.integer("--top-k", 7), 7);
  EXPECT_EQ(words_of({"eval", "--seed", "9007199254740993"}).integer("--seed", 1),
            9007199254740993);
  EXPECT_EQ(words.text("--prompt", "otherwise"), "otherwise");
  EXPECT_EQ(words_of({}).command(), "");
  EXPECT_TRUE(words.list("--with").empty());
  EXPECT_EQ(words_of({"eval", "--with", "a,b c,d"}).list("--with"),
            (std::vector<std::string>{"a", "b c", "d"}));
  EXPECT_EQ(words_of({"generate", "--prompt", "--- hear"}).text("--prompt"), "--- hear");
}

TEST(WorkerWords, SayWhatIsWrong) {
  EXPECT_EQ(code_of([] { words_of({"train", "stray"}); }), ErrorCode::InvalidInput);
  EXPECT_EQ(code_of([] { words_of({"train", "--resmue"}); }), ErrorCode::InvalidInput);
  EXPECT_EQ(code_of([] { words_of({"train", "--set"}); }), ErrorCode::InvalidInput);
  EXPECT_EQ(code_of([] { words_of({"train"}).text("--recipe"); }), ErrorCode::InvalidInput);
  EXPECT_EQ(code_of([] { words_of({"train", "--recipe", "--resume"}).text("--recipe"); }),
            ErrorCode::InvalidInput);
  for (const char* number : {"", "x", "1x", "1 "}) {
    EXPECT_EQ(code_of([&] { words_of({"eval", "--count", number}).number("--count", 1, 0, 9); }),
              ErrorCode::InvalidInput)
        << number;
  }
  for (const char* number : {"", "x", "1.5", "1e3", "-1", "nan", "99999999999999999999"}) {
    EXPECT_EQ(code_of([&] { words_of({"eval", "--count", number}).integer("--count", 1); }),
              ErrorCode::InvalidInput)
        << number;
  }
  for (const char* number : {"nan", "inf", "-0.1", "1.1"}) {
    EXPECT_EQ(code_of([&] { words_of({"eval", "--top-p", number}).number("--top-p", 1, 0, 1); }),
              ErrorCode::InvalidInput)
        << number;
  }
}

TEST(Stopwatch, LapsAddUpToTheWhole) {
  Stopwatch whole;
  Stopwatch parts;
  double sum = 0;
  for (int i = 0; i < 1000; ++i) {
    const double lap = parts.lap();
    EXPECT_GE(lap, 0);
    sum += lap;
  }
  // `parts` began after `whole` and ended before it.
  EXPECT_LE(sum, whole.lap());
  EXPECT_GT(sum, 0);
}

}  // namespace
}  // namespace trireme::train
