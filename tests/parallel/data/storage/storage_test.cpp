// Goal:   with every kind of storage, parameters become views of its memory and keep their values,
//         each element is updated by one rank (or by all, if replicated), and published values
//         reach every rank.
// Method: two ranks as threads; each writes its rank into its shards and publishes them.

#include "trireme/parallel/data/storage/storage.h"

#include <gtest/gtest.h>

#include "tests/parallel/data/part_parameters.h"
#include "trireme/comm/connect_threads.h"
#include "trireme/optim/rule/sgd.h"
#include "trireme/parallel/data/storage/shard_updater.h"
#include "trireme/testing/rank_threads.h"

namespace trireme::parallel::data {
namespace {

constexpr int kRanks = 2;

struct StorageCase {
  StorageKind kind;
  const char* name;
};

class StorageOf : public ::testing::TestWithParam<StorageCase> {
 protected:
  // Runs `body` on every rank with a storage whose parameters are initially 3.
  void run(const std::function<void(Storage&, std::vector<Parameter>&, const Placement&)>& body) {
    const Blueprint names = Blueprint::draw({}, 1);
    const auto groups = comm::connect_threads(kRanks, {.timeout = std::chrono::seconds(30)});
    testing::run_rank_threads(kRanks, [&](int rank) {
      const c10::NoGradGuard no_grad;
      const comm::Group& group = groups[static_cast<std::size_t>(rank)];
      const Placement where{.all = group, .host = group};
      std::vector<Parameter> parameters = part_parameters(3);
      const auto storage =
          Storage::make(GetParam().kind, {.plan = part_plan(parameters), .state_count = 1},
                        parameters, where, names.storage_names());
      storage->fill(parameters, where);
      storage->attach(parameters, where, false);
      body(*storage, parameters, where);
      group.barrier().wait();
    });
  }
};

TEST_P(StorageOf, ParametersKeepTheirValues) {
  run([](Storage& storage, std::vector<Parameter>& parameters, const Placement& where) {
    storage.publish_all(where);
    storage.finish();
    storage.gather();
    for (const Parameter& parameter : parameters) {
      EXPECT_TRUE(parameter.tensor.eq(3).all().item<bool>()) << parameter.name;
    }
  });
}

TEST_P(StorageOf, PublishedShardsReachEveryRank) {
  run([](Storage& storage, std::vector<Parameter>& parameters, const Placement& where) {
    storage.gather();
    const StorageLayout& layout = storage.layout();
    const bool is_replicated = GetParam().kind == StorageKind::Replicated;
    for (std::size_t b = 0; b < layout.plan.buckets.size(); ++b) {
      layout.values.at(b, layout.own[b]).fill_(is_replicated ? 0 : where.host.rank());
    }
    storage.publish_all(where);
    storage.finish();
    storage.gather();
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      const ElementRange range = layout.plan.range_of[i];
      for (std::int64_t e = 0; e < range.count(); ++e) {
        const ElementRange first = storage.shard(layout.plan.bucket_of[i], 0, kRanks);
        const bool is_first = range.begin + e < first.end;
        EXPECT_EQ(parameters[i].tensor[e].item<float>(), is_replicated || is_first ? 0 : 1);
      }
    }
  });
}

// The update of each rank's shard reaches every element exactly once.
TEST_P(StorageOf, EveryElementIsUpdatedOnce) {
  run([](Storage& storage, std::vector<Parameter>& parameters, const Placement& where) {
    storage.gather();
    const ModelPlan model(parameters, nullptr);
    ShardUpdater updater({.parameters = &parameters,
                          .groups = &model.groups(),
                          .optimizer = std::make_shared<optim::Sgd>(optim::SgdConfig{})});
    updater.set_used({true, false, true});
    StorageLayout& layout = storage.layout();
    if (!layout.reduced.memory.defined()) {
      layout.reduced = {torch::zeros({layout.plan.count}), false, {}};
    }
    const ShardUpdater::Shard own{.rank = where.host.rank(), .ranks = where.host.size()};
    for (std::size_t b = 0; b < layout.plan.buckets.size(); ++b) {
      layout.reduced.at(b, layout.own[b]).fill_(1);
      updater.update(storage, b, own, {.learning_rate = 0.5});
    }
    storage.publish_all(where);
    storage.finish();
    storage.gather();
    EXPECT_TRUE(parameters[0].tensor.eq(2.5).all().item<bool>());
    EXPECT_TRUE(parameters[1].tensor.eq(3).all().item<bool>()) << "no rank used it";
    EXPECT_TRUE(parameters[2].tensor.eq(2.5).all().item<bool>());
  });
}

INSTANTIATE_TEST_SUITE_P(All, StorageOf,
                         ::testing::Values(StorageCase{StorageKind::Replicated, "replicated"},
                                           StorageCase{StorageKind::Shared, "shared"},
                                           StorageCase{StorageKind::Sharded, "sharded"},
                                           StorageCase{StorageKind::Gathered, "gathered"}),
                         [](const auto& of) { return of.param.name; });

}  // namespace
}  // namespace trireme::parallel::data
