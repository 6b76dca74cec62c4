// A small configuration that uses every feature, for the tests in this folder.

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "trireme/base/config/fields.h"
#include "trireme/base/config/schema.h"

namespace trireme::config {

enum class Backend { Auto, Shm, Tcp };

struct LimitConfig {
  ByteSize memory = ByteSize{64 << 20};
  std::optional<int> files;

  bool operator==(const LimitConfig&) const = default;
  static void describe(Fields<LimitConfig>& f) {
    f.add("memory", &LimitConfig::memory)
        .at_least(ByteSize{1 << 20})
        .help("the most memory a worker uses");
    f.add("files", &LimitConfig::files).range(1, 1000).help("the most files a worker opens");
  }
};

struct RunConfig {
  int ranks = 1;
  Duration grace = std::chrono::seconds(5);
  Backend backend = Backend::Auto;
  std::optional<std::string> name;
  std::vector<int> cores;
  std::vector<std::string> tags = {"a", "b"};
  double rate = 0.1;
  float scale = 0.1f;
  bool is_verbose = false;
  LimitConfig limit;

  bool operator==(const RunConfig&) const = default;
  static void describe(Fields<RunConfig>& f) {
    f.add("ranks", &RunConfig::ranks).range(1, 4096).help("worker processes to start");
    f.add("grace", &RunConfig::grace)
        .at_most(std::chrono::hours(1))
        .help("between asking a worker to end and killing it");
    f.add("backend", &RunConfig::backend)
        .names({{"auto", Backend::Auto}, {"shm", Backend::Shm}, {"tcp", Backend::Tcp}})
        .help("how ranks talk");
    f.add("name", &RunConfig::name).help("of the job");
    f.add("cores", &RunConfig::cores).at_least(0).help("to run on | all where empty");
    f.add("tags", &RunConfig::tags).help("for people");
    f.add("rate", &RunConfig::rate).unit("1/step").help("of learning");
    f.add("scale", &RunConfig::scale).help("of the loss");
    f.add("verbose", &RunConfig::is_verbose).help("say more");
    f.nest("limit", &RunConfig::limit);
    f.require([](const RunConfig& c) {
      return c.backend == Backend::Tcp && c.ranks == 1 ? "tcp requires at least two ranks" : "";
    });
  }
};

struct MlpConfig {
  int hidden_size = 16;
  bool operator==(const MlpConfig&) const = default;
  static void describe(Fields<MlpConfig>& f) {
    f.add("hidden_size", &MlpConfig::hidden_size)
        .synonyms({"width", "dim"})
        .at_least(1)
        .help("neurons a layer");
  }
};

struct GptConfig {
  int hidden_size = 32;
  int num_heads = 4;
  bool operator==(const GptConfig&) const = default;
  static void describe(Fields<GptConfig>& f) {
    f.add("hidden_size", &GptConfig::hidden_size)
        .synonyms({"width", "dim"})
        .at_least(1)
        .help("of the residual stream");
    f.add("num_heads", &GptConfig::num_heads).at_least(1).help("of attention");
  }
};

struct TopConfig {
  std::int64_t seed = 0;
  static void describe(Fields<TopConfig>& f) { f.add("seed", &TopConfig::seed).help("of all"); }
};

inline Schema sample_schema() {
  Schema schema;
  schema.section("run", "How workers are started.").fields<RunConfig>();
  schema.section("model", "What is trained.")
      .kind<MlpConfig>("mlp", "Layers of neurons.")
      .kind<GptConfig>("gpt", "A decoder-only transformer.");
  schema.section("", "What concerns everything.").fields<TopConfig>();
  return schema;
}

}  // namespace trireme::config
