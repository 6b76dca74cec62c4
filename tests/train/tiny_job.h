// Tiny jobs for tests: the built-in models on a few made-up samples, in float32 or float64, on any
// number of ranks that are threads of this process.

#pragma once

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "trireme/base/config/reader.h"
#include "trireme/comm/connect_threads.h"
#include "trireme/data/memory/synthetic_source.h"
#include "trireme/model/kind/cnn.h"
#include "trireme/model/kind/gpt.h"
#include "trireme/model/kind/mlp.h"
#include "trireme/model/wrap.h"
#include "trireme/testing/rank_threads.h"
#include "trireme/train/job.h"

namespace trireme::train {

using Weights = std::map<std::string, at::Tensor>;
using Words = std::vector<std::string>;

// Another source's samples, floats as doubles.
class DoubleSource final : public data::Source {
 public:
  explicit DoubleSource(std::shared_ptr<const Source> of) : of_(std::move(of)), form_(of_->form()) {
    if (form_.input_type == at::kFloat) form_.input_type = at::kDouble;
    if (form_.target_type == at::kFloat) form_.target_type = at::kDouble;
  }
  std::int64_t count() const override { return of_->count(); }
  const data::Form& form() const override { return form_; }
  void read(std::int64_t sample, const data::SampleKey& key, void* input,
            void* target) const override {
    const data::Form& form = of_->form();
    at::Tensor x = at::empty({form.input_count()}, form.input_type);
    at::Tensor y = at::empty({form.target_count()}, form.target_type);
    of_->read(sample, key, x.data_ptr(), y.data_ptr());
    at::from_blob(input, x.sizes(), form_.input_type).copy_(x);
    at::from_blob(target, y.sizes(), form_.target_type).copy_(y);
  }

 private:
  std::shared_ptr<const Source> of_;
  data::Form form_;
};

template <class Net>
std::shared_ptr<model::Model> in_double(std::shared_ptr<Net> net) {
  net->to(at::kDouble);
  return net;
}

// A layer that counts how often it was gone through, as batch norm does.
struct CountedNet : torch::nn::Module {
  CountedNet() {
    weight = register_parameter("weight", at::linspace(-1, 1, 30, at::kDouble).view({6, 5}));
    passes = register_buffer("passes", at::zeros({1}, at::kDouble));
  }
  at::Tensor weight;
  at::Tensor passes;
};

// What Trireme brings, and of each model one in float64: mlp64, cnn64, gpt64; and counted64.
inline Kinds tiny_kinds() {
  using model::Facts;
  Kinds kinds = built_in_kinds();
  kinds.models.add<model::MlpConfig>("mlp64", "", [](const auto& c, const Facts& f) {
    return in_double(std::make_shared<model::Mlp>(c, f.form));
  });
  kinds.models.add<model::CnnConfig>("cnn64", "", [](const auto& c, const Facts& f) {
    return in_double(std::make_shared<model::Cnn>(c, f.form));
  });
  kinds.models.add<model::GptConfig>("gpt64", "", [](const auto& c, const Facts& f) {
    return in_double(std::make_shared<model::Gpt>(c, f.form));
  });
  kinds.models.add<model::MlpConfig>("counted64", "", [](const auto&, const Facts&) {
    return model::wrap(std::make_shared<CountedNet>(),
                       [](CountedNet& net, const at::Tensor& x, const model::Context&) {
                         net.passes.add_(1);
                         return x.matmul(net.weight);
                       });
  });
  kinds.data.add<data::memory::SyntheticConfig>("synthetic64", "", [](const auto& config) {
    const data::Sets sets = data::memory::open_synthetic(config);
    return data::Sets{std::make_shared<DoubleSource>(sets.train),
                      sets.test ? std::make_shared<DoubleSource>(sets.test) : nullptr};
  });
  return kinds;
}

// 37 samples in batches of 10: the last batch of an epoch is smaller, and micro-batches are uneven.
inline std::string tiny_recipe(const std::string& model) {
  const std::string family = model.substr(0, 3);
  const std::string bits = model.ends_with("64") ? "64" : "";
  std::string text = "[model]\nkind = \"" + model + "\"\n";
  if (family == "mlp") text += "hidden_sizes = [7, 5]\n";
  if (family == "cnn") text += "channels = [2, 3]\nkernel_size = 3\nhidden_size = 7\n";
  if (family == "gpt") text += "hidden_size = 8\nnum_layers = 2\nnum_heads = 2\n";
  if (family == "res") text += "base_channels = 2\n";
  text += "[data]\nkind = \"synthetic" + bits + "\"\ncount = 37\ntest_count = 11\nclasses = 5\n";
  if (family == "mlp" || family == "cou") text += "task = \"classification\"\nsizes = [6]\n";
  if (family == "cnn" || family == "res") text += "task = \"images\"\nsizes = [1, 8, 8]\n";
  if (family == "gpt") text += "task = \"tokens\"\nsizes = [6]\n";
  return text +
         "[train]\nglobal_batch_size = 10\nnum_threads = 1\nsteps = 20\n[optim]\nkind = "
         "\"adamw\"\n" +
         "lr = 0.01\n[checkpoint]\nevery = 1000000\n[eval]\nevery = 1000000\n" +
         "[sync]\nbucket_size = \"1 KiB\"\n";
}

inline config::Config tiny_config(const std::string& model, const Words& overrides,
                                  const Kinds& kinds = tiny_kinds()) {
  return config::read_config(
      recipe_schema(kinds), {.files = {{"tiny.toml", tiny_recipe(model)}}, .overrides = overrides});
}

inline Weights weights_of(const torch::nn::Module& module) {
  Weights all;
  for (const auto& item : module.named_parameters()) {
    all[item.key()] = item.value().detach().clone();
  }
  return all;
}

struct Trained {
  Weights weights;
  std::vector<double> losses;
  double counted = 0;  // by rank 0's CountedNet
  int passes = 0;      // forward passes of all ranks, if the model counts them
  int left_out = 0;    // late ranks, in all steps
};

// All ranks, as threads; they must end alike, bit for bit. `prepare` sees each rank's job.
inline Trained train_threads(const config::Config& config, int ranks, int steps,
                             const Kinds& kinds = tiny_kinds(),
                             const std::function<void(Job&)>& prepare = {}) {
  at::set_num_threads(1);
  std::vector<comm::Group> groups{comm::Group::solo()};
  if (ranks > 1) groups = comm::connect_threads(ranks, {.timeout = std::chrono::seconds(60)});
  std::vector<Trained> all(static_cast<std::size_t>(ranks));
  testing::run_rank_threads(ranks, [&](int rank) {
    Trained& mine = all[static_cast<std::size_t>(rank)];
    Job job = open_job(config, kinds, groups[static_cast<std::size_t>(rank)]);
    if (prepare) prepare(job);
    for (int step = 0; step < steps; ++step) mine.losses.push_back(job.step->run(step).loss);
    job.gradient_sync().model().settle();
    mine.weights = weights_of(*job.model);
    // Memory that others still read stays until all are done.
    job.group.barrier().wait();
  });
  for (int rank = 1; rank < ranks; ++rank) {
    const Trained& other = all[static_cast<std::size_t>(rank)];
    EXPECT_EQ(other.losses, all[0].losses) << "rank " << rank;
    for (const auto& [name, value] : all[0].weights) {
      EXPECT_TRUE(other.weights.at(name).equal(value)) << "rank " << rank << ": " << name;
    }
  }
  return all[0];
}

// The largest difference of any parameter.
inline double distance(const Weights& a, const Weights& b) {
  EXPECT_EQ(a.size(), b.size());
  double most = 0;
  for (const auto& [name, value] : a) {
    const double difference = (value - b.at(name)).abs().max().item<double>();
    if (std::isnan(difference)) return difference;
    most = std::max(most, difference);
  }
  return most;
}

inline void expect_same_bits(const Trained& a, const Trained& b, const std::string& what) {
  EXPECT_FALSE(a.weights.empty());
  for (const auto& [name, value] : a.weights) {
    EXPECT_TRUE(value.equal(b.weights.at(name))) << what << ": " << name;
  }
}

}  // namespace trireme::train
