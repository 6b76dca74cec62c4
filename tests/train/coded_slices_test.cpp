// Goal:   kinds that cut slices take codecs where something travels: between all ranks without
//         memory in common, and between hosts whose ranks share theirs; what was saved goes on as
//         if it had never been cut; where nothing travels they are refused.
// Method: tiny jobs on threads that believe to be on hosts.

#include "tests/train/hosted_trainer.h"
#include "tests/train/more_words.h"
#include "trireme/codec/zstd/lossless.h"
#include "trireme/testing/code_of.h"

namespace trireme::train {
namespace {

const Hosts kMixed{"a", "b", "a", "b"};
const Hosts kUneven{"a", "a", "b"};
const Hosts kApart{"a", "b", "c"};

struct Sliced {
  Trained trained;
  parallel::Traffic traffic{};  // of rank 0, in all
};

Sliced train_sliced(const config::Config& config, const Hosts& hosts, int steps) {
  at::set_num_threads(1);
  std::vector<Sliced> all(hosts.size());
  comm::run_hosted_ranks(hosts, comm::Transport::Auto,
                         [&](cluster::World&, const comm::Group& group) {
                           Job job = open_job(config, tiny_kinds(), group);
                           Sliced& mine = all[static_cast<std::size_t>(group.rank())];
                           for (int step = 0; step < steps; ++step) {
                             const Outcome outcome = job.step->run(step);
                             mine.trained.losses.push_back(outcome.loss);
                             mine.traffic += outcome.traffic;
                           }
                           job.gradient_sync().model().check();
                           job.gradient_sync().model().settle();
                           mine.trained.weights = weights_of(*job.model);
                           group.barrier().wait();
                         });
  for (const Sliced& other : all) expect_same_bits(other.trained, all[0].trained, "ranks differ");
  return all[0];
}

struct Way {
  std::string kind;
  std::string in_host;
  Hosts hosts;
};

// Slices of all ranks, over the network; then of a host's, with replicas.
const Way kWays[] = {
    {"zero1", "false", kMixed}, {"zero2", "false", kUneven}, {"zero3", "false", kApart},
    {"zero3", "false", kMixed}, {"zero1", "true", kMixed},   {"zero2", "true", kMixed},
    {"zero3", "true", kMixed},  {"shared", "false", kMixed}, {"zero3", "true", kApart}};

Words words_of(const Way& way, const Words& more) {
  return Words{"sync.kind=" + way.kind, "sync.hybrid_shard=" + way.in_host} + more;
}

TEST(CodedSlices, WithoutLossAreAsWithoutACodec) {
  if (!codec::zstd::is_available()) GTEST_SKIP() << "NOT TESTED: this build has no zstd";
  const Words descent{"optim.kind=sgd", "optim.lr=0.1"};
  for (const Way& way : kWays) {
    const Sliced plain = train_sliced(tiny_config("gpt", words_of(way, descent)), way.hosts, 6);
    const Sliced coded = train_sliced(
        tiny_config("gpt", words_of(way, descent + Words{"sync.codec.kind=zstd"})), way.hosts, 6);
    // Sums of floats in another order.
    EXPECT_LT(distance(coded.trained.weights, plain.trained.weights), 1e-5)
        << way.kind << " " << way.in_host;
  }
}

TEST(CodedSlices, EveryCodecLearnsAndSendsLess) {
  const Words wide{"model.hidden_sizes=[64, 64]"};
  for (const Way& way : kWays) {
    for (const std::string codec :
         {"fp16", "int8", "int4", "sign", "top_k", "random_k", "threshold", "powersgd"}) {
      Words words = words_of(way, Words{"sync.codec.kind=" + codec} + wide);
      if (codec.ends_with("_k")) words.emplace_back("sync.codec.ratio=0.1");
      const Sliced found = train_sliced(tiny_config("mlp", words), way.hosts, 40);
      const std::string what = way.kind + " " + way.in_host + " " + codec;
      EXPECT_LT(found.trained.losses.back(), 0.95 * found.trained.losses.front()) << what;
      EXPECT_LT(found.traffic.sent, 0.6 * static_cast<double>(found.traffic.plain)) << what;
      EXPECT_GT(found.traffic.sent, 0) << what;
    }
  }
}

// What is sent as it is in warm-up is counted so.
TEST(CodedSlices, WarmUpIsPlainAndCounts) {
  for (const Way& way : {kWays[0], kWays[4]}) {
    const Words warm{"sync.codec.kind=sign", "sync.codec.warmup=3"};
    const Sliced plain = train_sliced(tiny_config("mlp", words_of(way, {})), way.hosts, 3);
    const Sliced coded = train_sliced(tiny_config("mlp", words_of(way, warm)), way.hosts, 3);
    expect_same_bits(coded.trained, plain.trained, way.kind);
    EXPECT_EQ(coded.traffic.sent, coded.traffic.plain);
    const Sliced longer = train_sliced(tiny_config("mlp", words_of(way, warm)), way.hosts, 6);
    EXPECT_EQ(longer.traffic.plain, 2 * coded.traffic.plain) << way.kind;
    EXPECT_LT(longer.traffic.sent - coded.traffic.sent, coded.traffic.plain / 4);
  }
}

using CodedSlicesTrainer = HostedTrainer;

TEST_F(CodedSlicesTrainer, GoOnWithTheirResiduals) {
  int number = 0;
  for (const Way& way : {kWays[0], kWays[2], kWays[4], kWays[7]}) {
    for (const Words& codec :
         {Words{"sync.codec.kind=int8"}, Words{"sync.codec.kind=powersgd", "sync.codec.rank=1"}}) {
      const std::string name = std::to_string(number++);
      expect_exact_resume(name, words_of(way, codec), way.hosts);
      const auto saved = newest("whole_" + name);
      double most = 0;
      bool has_kept = false;
      for (const std::string& one : saved.names()) {
        has_kept |= one.starts_with("optim/codec.1/");
        if (!one.starts_with("optim/residual.")) continue;
        most = std::max(most, saved.read(one).abs().max().item<double>());
      }
      EXPECT_GT(most, 0) << way.kind << " " << codec[0];
      EXPECT_EQ(has_kept, codec.size() > 1) << way.kind;
    }
  }
}

TEST(CodedSlices, AreRefusedWhereNothingTravels) {
  for (const char* kind : {"shared", "zero1", "zero2", "zero3"}) {
    const Words words{"sync.kind=" + std::string(kind), "sync.codec.kind=int8"};
    const auto error =
        testing::code_of([&] { train_sliced(tiny_config("mlp", words), {"a", "a"}, 1); });
    EXPECT_EQ(error, ErrorCode::InvalidInput) << kind;
    // Nor in an elastic job on one host.
    const auto elastic = testing::code_of([&] {
      open_job(tiny_config("mlp", words), tiny_kinds(), comm::Group::solo(), {.is_elastic = true});
    });
    EXPECT_EQ(elastic, ErrorCode::InvalidInput) << kind;
  }
}

TEST(CodedSlices, ElasticJobsRefuseCodecsWithoutAFixedSize) {
  const auto open = [](const std::string& codec) {
    const Words words{"sync.kind=diloco", "sync.overlap=2", "sync.codec.kind=" + codec};
    open_job(tiny_config("mlp", words), tiny_kinds(), comm::Group::solo(), {.is_elastic = true});
  };
  EXPECT_EQ(testing::code_of([&] { open("threshold"); }), ErrorCode::InvalidInput);
  EXPECT_NO_THROW(open("int8"));
}

}  // namespace
}  // namespace trireme::train
