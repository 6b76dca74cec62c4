// Goal:   parameters and optimizer state of a model whose layers are cut over tensor-parallel
//         ranks, and whose shards ZeRO cuts further, are saved once and read back bit for bit by
//         other numbers of ranks with other layouts.
// Method: a small gpt, its fused weights cut by heads over 2 ranks and by ZeRO over 2 more, saved
//         by four ranks as threads; read by 1, 3 and 4 ranks with other layouts and strategies.
//         Every rank has only its shards.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <map>

#include "trireme/base/file/temporary_folder.h"
#include "trireme/checkpoint/checkpoint.h"
#include "trireme/checkpoint/format/folder.h"
#include "trireme/checkpoint/saver.h"
#include "trireme/comm/connect_threads.h"
#include "trireme/mesh/mesh.h"
#include "trireme/model/kind/gpt.h"
#include "trireme/optim/rule/sgd.h"
#include "trireme/parallel/kinds.h"
#include "trireme/testing/rank_threads.h"
#include "trireme/train/saved_pieces.h"

namespace trireme::train {
namespace {

using Sizes = std::vector<std::int64_t>;
using Tensors = std::map<std::string, at::Tensor>;

constexpr std::int64_t kHeads = 4, kHeadDim = 2, kWidth = kHeads * kHeadDim;
const std::string kMomentum = parallel::state_name("momentum_buffer", "");

// The whole model, and the state that belongs to it: what no rank of the jobs below has.
Tensors whole_model() {
  const model::Gpt gpt(
      {.vocabulary = 13, .context = 5, .width = kWidth, .layers = 1, .heads = kHeads}, {});
  Tensors all;
  for (const auto& item : gpt.named_parameters()) {
    const at::Tensor values = torch::randn(item.value().sizes());
    all[item.key()] = values;
    all[kMomentum + item.key()] = values * 3 + 1;
  }
  return all;
}

enum class Cuts { None, Heads, Rows };

mesh::Layout layout_of(const std::string& name, const Sizes& sizes, Cuts cuts) {
  if (cuts == Cuts::None) return mesh::Layout(sizes);
  if (cuts == Cuts::Rows) return mesh::Layout(sizes, {{"tensor", 0}});
  if (name.ends_with("c_attn.weight")) {
    return mesh::Layout(mesh::View::split({{3, kHeads, kHeadDim}, {kWidth}}), {{"tensor", 1}});
  }
  if (name.ends_with("c_attn.bias")) {
    return mesh::Layout(mesh::View::split({{3, kHeads, kHeadDim}}), {{"tensor", 1}});
  }
  if (name.ends_with("attn.c_proj.weight")) {
    return mesh::Layout(mesh::View::split({{kWidth}, {kHeads, kHeadDim}}), {{"tensor", 1}});
  }
  if (name.ends_with("c_fc.weight") || name.ends_with("c_fc.bias") ||
      name.ends_with("wte.weight")) {
    return mesh::Layout(sizes, {{"tensor", 0}});
  }
  if (name.ends_with("mlp.c_proj.weight")) return mesh::Layout(sizes, {{"tensor", 1}});
  return mesh::Layout(sizes);
}

at::Tensor shard_of(const at::Tensor& whole, const mesh::Shard& shard) {
  at::Tensor box = whole.view(shard.view().sizes());
  for (std::size_t d = 0; d < shard.box().sizes.size(); ++d) {
    box = box.narrow(static_cast<std::int64_t>(d), shard.box().begin[d], shard.box().sizes[d]);
  }
  return box.reshape(shard.sizes()).contiguous();
}

at::Tensor elements_of(const Tensors& whole, const checkpoint::Piece& piece) {
  return shard_of(whole.at(piece.name), piece.shard)
      .view({-1})
      .narrow(0, piece.begin, piece.data.numel())
      .view(piece.data.sizes());
}

struct Shape {
  int data = 1, tensor = 1;
  Cuts cuts = Cuts::None;
  std::string kind = "all_reduce";

  int ranks() const { return data * tensor; }
};

// One rank of a job of this shape, with zeros in its shards.
class Member {
 public:
  Member(const Shape& shape, const comm::Group& group, const Tensors& whole)
      : mesh_(group, {{"data", shape.data}, {"tensor", shape.tensor}}) {
    for (const auto& [name, tensor] : whole) {
      if (name.starts_with(kMomentum)) continue;
      parallel::Parameter own{.name = name,
                              .tensor = {},
                              .layout = layout_of(name, tensor.sizes().vec(), shape.cuts),
                              .places = mesh_.places("data")};
      own.tensor = torch::zeros(own.shard().sizes()).requires_grad_();
      parameters_.push_back(own);
    }
    sync_ = parallel::make_gradient_sync(
        {.parameters = parameters_,
         .optimizer = std::make_shared<optim::Sgd>(optim::SgdConfig{.momentum = 0.9}),
         .group = mesh_.group("data"),
         .stretches = {{.kind = shape.kind}},
         .bucket_size = 1024});
  }

  parallel::SavedState& saved() { return sync_->saved(); }
  const std::vector<parallel::Parameter>& parameters() const { return parameters_; }
  bool is_first_of_replica() const { return mesh_.place("tensor") == 0; }

 private:
  mesh::Mesh mesh_;
  std::vector<parallel::Parameter> parameters_;
  std::shared_ptr<parallel::GradientSync> sync_;
};

std::vector<comm::Group> groups_of(int ranks) {
  if (ranks == 1) return {comm::Group::solo()};
  return comm::connect_threads(ranks);
}

void save(const Shape& shape, const Tensors& whole, const std::filesystem::path& folder) {
  const auto groups = groups_of(shape.ranks());
  testing::run_rank_threads(shape.ranks(), [&](int rank) {
    const c10::NoGradGuard no_grad;
    const comm::Group& group = groups[static_cast<std::size_t>(rank)];
    Member member(shape, group, whole);
    checkpoint::State state;
    for (checkpoint::Piece& piece : member.saved().pieces()) {
      piece.data.copy_(elements_of(whole, piece));
      state.pieces.push_back(std::move(piece));
    }
    state.pieces = saved_pieces(state.pieces, group, member.is_first_of_replica());
    checkpoint::Saver saver({.folder = folder,
                             .job = "layouts",
                             .writers = {.rank = rank, .ranks = shape.ranks(), .tag = "layouts"}});
    saver.save(state, 1);
    saver.wait();
  });
}

void expect_read(const Shape& shape, const Tensors& whole, const checkpoint::Checkpoint& from) {
  const auto groups = groups_of(shape.ranks());
  testing::run_rank_threads(shape.ranks(), [&](int rank) {
    const c10::NoGradGuard no_grad;
    Member member(shape, groups[static_cast<std::size_t>(rank)], whole);
    member.saved().seek(1);
    std::int64_t states = 0;
    for (const checkpoint::Piece& piece : member.saved().pieces()) {
      from.read_into(piece);
      EXPECT_TRUE(piece.data.equal(elements_of(whole, piece))) << piece.name << ", rank " << rank;
      states += piece.name.starts_with(kMomentum) ? piece.data.numel() : 0;
    }
    EXPECT_GT(states, 0);
    member.saved().restored();
    for (const parallel::Parameter& own : member.parameters()) {
      EXPECT_TRUE(own.tensor.equal(shard_of(whole.at(own.name), own.shard())))
          << own.name << ", rank " << rank;
    }
  });
}

void expect_round_trips(const Shape& writer) {
  const Tensors whole = whole_model();
  const TemporaryFolder folder("layouts");
  save(writer, whole, folder.path());
  const auto path = folder.path() / checkpoint::format::folder_name(1);
  EXPECT_THAT(checkpoint::format::damage_in(path), ::testing::IsEmpty());
  const auto from = checkpoint::Checkpoint::open(path);
  for (const auto& [name, tensor] : whole) {
    EXPECT_EQ(from.sizes(name), tensor.sizes().vec()) << name;
    EXPECT_TRUE(from.read(name).equal(tensor)) << name;
  }
  expect_read({}, whole, from);
  // Four heads over three ranks: an uneven cut.
  expect_read({.tensor = 3, .cuts = Cuts::Heads}, whole, from);
  expect_read({.tensor = 3, .cuts = Cuts::Rows}, whole, from);
  expect_read({.data = 4, .kind = "zero2"}, whole, from);
  expect_read({.tensor = 4, .cuts = Cuts::Heads}, whole, from);
  expect_read({.data = 2, .tensor = 2, .cuts = Cuts::Rows, .kind = "zero1"}, whole, from);
}

TEST(ShardedLayouts, HeadsAndZeroShardsAreReadByOtherLayouts) {
  expect_round_trips({.data = 2, .tensor = 2, .cuts = Cuts::Heads, .kind = "zero1"});
}

TEST(ShardedLayouts, ReplicasOfHeadsAreSavedOnce) {
  expect_round_trips({.data = 2, .tensor = 2, .cuts = Cuts::Heads});
}

// More ranks than heads: some ranks have no element of the fused weights.
TEST(ShardedLayouts, RanksWithoutHeadsSaveNothingOfThem) {
  expect_round_trips({.tensor = 5, .cuts = Cuts::Heads});
}

}  // namespace
}  // namespace trireme::train
