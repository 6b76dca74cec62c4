// Goal:   a job whose hosts use a codec can be resumed with other hosts, ranks and buckets, and
//         keeps its error-feedback residuals.
// Method: tiny jobs on threads that act as ranks of several hosts; the residuals of all ranks after
//         a restore are added up and compared with the checkpoint, and training continues.

#include <mutex>
#include <set>

#include "tests/train/hosted_trainer.h"
#include "tests/train/more_words.h"

namespace trireme::train {
namespace {

const Hosts kBefore{"a", "a", "b", "b"};

// By parameter, the sum of the residuals of all ranks, weighted as in the mean.
Weights owed_in(const checkpoint::Checkpoint& from, bool is_mean) {
  const std::string kind = is_mean ? "optim/mean_residual." : "optim/residual.";
  Weights sums;
  int contributors = 0;
  while (from.has(kind + std::to_string(contributors) + "/" + from.names().front())) ++contributors;
  for (const std::string& name : from.names()) {
    if (!name.starts_with(kind)) continue;
    at::Tensor& sum = sums[name.substr(name.find('/', kind.size()) + 1)];
    const at::Tensor own = from.read(name).flatten() / (is_mean ? contributors : 1);
    sum = sum.defined() ? sum + own : own;
  }
  return sums;
}

class CodedElsewhere : public HostedTrainer {
 protected:
  // What ranks of these hosts owe after they have read the checkpoint.
  static Weights owed_after(const checkpoint::Checkpoint& from, const Words& words,
                            const Hosts& hosts, const Weights& like, bool is_mean) {
    Weights sums;
    for (const auto& [name, value] : like) sums[name] = torch::zeros_like(value);
    std::mutex mutex;
    const Kinds kinds = tiny_kinds();
    const config::Config config = tiny_config("mlp", words, kinds);
    const auto count = static_cast<double>(std::set(hosts.begin(), hosts.end()).size());
    comm::run_hosted_ranks(
        hosts, comm::Transport::Auto, [&](cluster::World&, const comm::Group& group) {
          Job job = open_job(config, kinds, group);
          job.gradient_sync().saved().restore_own(from);
          for (const checkpoint::Piece& piece : job.gradient_sync().saved().own_pieces()) {
            if (piece.name.find("residual.") == std::string::npos) continue;
            const std::lock_guard lock(mutex);
            const std::string name = piece.name.substr(piece.name.find('/', 6) + 1);
            sums.at(name)
                .narrow(0, piece.begin, piece.data.numel())
                .add_(piece.data.flatten(), is_mean ? 1 / count : 1.0);
          }
          group.barrier().wait();
        });
    return sums;
  }
};

TEST_F(CodedElsewhere, KeepsItsResiduals) {
  const Words gradients{"sync.kind=hierarchical", "sync.across=gradients"};
  const Words weights{"sync.kind=hierarchical", "sync.steps=2"};
  const Hosts elsewhere[] = {
      kBefore, {"a", "a", "a", "b", "b", "b"}, {"a", "b"}, {"a", "a", "b", "b", "c", "c"}};
  for (const bool is_mean : {false, true}) {
    const std::string folder = is_mean ? "weights" : "gradients";
    const Words words = (is_mean ? weights : gradients) +
                        Words{"sync.codec.kind=top_k", "sync.codec.ratio=0.1", "train.steps=6"};
    run_hosted(folder, words, kBefore, false);
    const checkpoint::Checkpoint from = newest(folder);
    const Weights owed = owed_in(from, is_mean);
    ASSERT_FALSE(owed.empty());
    double most = 0;
    for (const auto& [name, sum] : owed) most = std::max(most, sum.abs().max().item<double>());
    EXPECT_GT(most, 0);
    for (const Hosts& hosts : elsewhere) {
      for (const char* bucket : {"sync.bucket_size=1KiB", "sync.bucket_size=1MiB"}) {
        const Weights now = owed_after(from, words + Words{bucket}, hosts, owed, is_mean);
        // Sums of two floats in another order.
        EXPECT_LT(distance(now, owed), 1e-6 * most) << folder << " " << hosts.size() << bucket;
      }
    }
    run_hosted(folder, words + Words{"train.steps=9", "sync.bucket_size=2KiB"}, elsewhere[1], true);
    EXPECT_EQ(newest(folder).step(), 9);
  }
}

}  // namespace
}  // namespace trireme::train
