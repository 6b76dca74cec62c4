// Goal:   a configuration returns its structs, records the origin of each value, and is written as
//         text that reads back as an equal configuration.
// Method: configurations read from text; random ones written and read again.

#include "trireme/base/config/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/base/config/sample_config.h"
#include "trireme/base/config/reader.h"
#include "trireme/base/error.h"
#include "trireme/base/random.h"

namespace trireme::config {
namespace {

using ::testing::HasSubstr;

Config read(const std::string& text, const std::vector<std::string>& overrides = {}) {
  return read_config(sample_schema(), {.files = {{"job.toml", text}}, .overrides = overrides});
}

TEST(Config, ReturnsItsStructs) {
  const Config config = read("[model]\nkind = 'gpt'\n");
  EXPECT_EQ(config.get<RunConfig>("run"), RunConfig{});
  EXPECT_EQ(config.kind("model"), "gpt");
  EXPECT_NE(config.find<GptConfig>("model"), nullptr);
  EXPECT_EQ(config.find<MlpConfig>("model"), nullptr);
  EXPECT_THROW(config.get<MlpConfig>("model"), Error);
  EXPECT_THROW(config.get<RunConfig>("absent"), Error);
  EXPECT_THROW(config.kind("run"), Error);
}

TEST(Config, RecordsTheOriginOfValues) {
  const Config config = read("seed = 5\n[run]\nranks = 3\n", {"run.rate=0.5", "model.kind=mlp"});
  EXPECT_EQ(config.setting("seed")->origin, "job.toml:1");
  EXPECT_EQ(config.setting("run.ranks")->origin, "job.toml:3");
  EXPECT_EQ(config.setting("run.rate")->origin, "override \"run.rate=0.5\"");
  EXPECT_EQ(config.setting("model.kind")->origin, "override \"model.kind=mlp\"");
  EXPECT_TRUE(config.setting("run.rate")->is_override);
  EXPECT_TRUE(config.setting("model.kind")->is_override);
  EXPECT_FALSE(config.setting("run.ranks")->is_override);
  EXPECT_TRUE(config.setting("run.grace")->is_default());
  EXPECT_FALSE(config.setting("run.ranks")->is_default());
  EXPECT_EQ(config.setting("run.ranks")->default_value, Value{std::int64_t{1}});
  EXPECT_EQ(config.setting("absent"), nullptr);
}

TEST(Config, ExplainsSettingsAndTheirOrigin) {
  const Config config = read("[run]\nranks = 3\n");
  EXPECT_EQ(config.explain("run.ranks"),
            "run.ranks = 3\n  from:    job.toml:2\n  default: 1\n  type:    integer, 1 to 4096\n"
            "  worker processes to start\n");
  EXPECT_THAT(config.explain("run.rate"), HasSubstr("in 1/step"));
  EXPECT_THAT(config.explain("run.name"), HasSubstr("is not set"));
  try {
    config.explain("run.rnks");
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::NotFound);
    EXPECT_THAT(error.message(), HasSubstr("did you mean run.ranks?"));
  }
}

TEST(Config, IsWrittenWithEverySetting) {
  EXPECT_EQ(read("").to_toml(),
            "seed = 0\n"
            "\n[run]\n"
            "ranks = 1\ngrace = \"5 s\"\nbackend = \"auto\"\ncores = []\ntags = [\"a\", \"b\"]\n"
            "rate = 0.1\nscale = 0.1\nverbose = false\nlimit.memory = \"64 MiB\"\n"
            "\n[model]\n"
            "kind = \"mlp\"\nhidden_size = 16\n");
}

std::string random_text(Random& random) {
  static const std::vector<std::string> kPieces{"a", "\"", "\\", "\n", "\t",   "ü",    "漢", "🚣",
                                                "'", "#",  "=",  "]",  "\x01", "\x7f", " "};
  std::string text;
  for (auto i = random.below(8); i > 0; --i) text += kPieces[random.below(kPieces.size())];
  return text;
}

// An override for each setting, with random values within the setting's range.
std::vector<std::string> random_overrides(Random& random) {
  const auto number = [&](std::uint64_t bound) { return std::to_string(random.below(bound)); };
  std::vector<std::string> all{
      "seed=-" + number(std::uint64_t{1} << 62),
      "run.ranks=" + std::to_string(2 + random.below(4000)),
      "run.grace=" + number(3'600'000'000'000) + " ns",
      "run.limit.memory=" + number(1000) + "1 MiB",
      "run.tags=[" + quote_toml(random_text(random)) + "," + quote_toml(random_text(random)) + "]",
      "run.rate=" + to_toml({random.normal() * 1e-5}),
      "run.scale=" + to_toml({random.normal()}),
      "run.cores=" + number(9) + "," + number(9)};
  if (random.below(2) == 0) all.push_back("run.name=" + quote_toml(random_text(random)));
  if (random.below(2) == 0) all.push_back("model.kind=gpt");
  if (random.below(2) == 0) all.push_back("run.limit.files=" + std::to_string(1 + random.below(9)));
  return all;
}

TEST(Config, ReadsBackEqual) {
  Random random(1);
  for (int i = 0; i < 200; ++i) {
    const Config config = read("", random_overrides(random));
    const std::string text = config.to_toml();
    const Config again = read(text);
    ASSERT_EQ(again.get<RunConfig>("run"), config.get<RunConfig>("run")) << text;
    ASSERT_EQ(again.get<TopConfig>("").seed, config.get<TopConfig>("").seed);
    ASSERT_EQ(again.kind("model"), config.kind("model"));
    ASSERT_EQ(again.to_toml(), text);
  }
}

TEST(Config, OutlivesItsSchema) {
  auto schema = std::make_unique<Schema>(sample_schema());
  const Config config = read_config(*schema, {});
  schema.reset();
  EXPECT_EQ(config.get<RunConfig>("run").ranks, 1);
  EXPECT_EQ(config.setting("run.ranks")->help, "worker processes to start");
  EXPECT_FALSE(config.to_toml().empty());
}

}  // namespace
}  // namespace trireme::config
