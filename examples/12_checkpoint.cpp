// Checkpoints of a training loop of your own: rank 0 saves the weights and the state of the
// optimizer every 20 steps, in the background. When the program is started again, after a crash or
// to train longer, all ranks continue from the newest whole checkpoint.
//
//   build/trireme run -n 2 build/examples/12_checkpoint FOLDER 50      trains 50 steps
//   build/trireme run -n 2 build/examples/12_checkpoint FOLDER 100     continues at step 40

#include <torch/torch.h>

#include <cstdio>
#include <optional>
#include <sstream>
#include <string>

#include "trireme/checkpoint/load_into.h"
#include "trireme/checkpoint/saver.h"
#include "trireme/comm/connect.h"
#include "trireme/parallel/replicas.h"

namespace {

using namespace trireme;

// What torch::save writes, as a tensor.
torch::Tensor to_tensor(const torch::optim::Optimizer& optimizer) {
  std::ostringstream out;
  torch::save(optimizer, out);
  const std::string bytes = out.str();
  return torch::tensor(std::vector<std::uint8_t>(bytes.begin(), bytes.end()));
}

void load(torch::optim::Optimizer& optimizer, const torch::Tensor& tensor) {
  const auto* const bytes = tensor.const_data_ptr<std::uint8_t>();
  std::istringstream in(std::string(bytes, bytes + tensor.numel()));
  torch::load(optimizer, in);
}

void save(checkpoint::Saver& saver, const torch::nn::Module& net,
          const torch::optim::Optimizer& optimizer, int step) {
  checkpoint::State state;
  for (const auto& [name, tensor] : checkpoint::tensors_of(net)) state.add("model/" + name, tensor);
  state.add("optimizer", to_tensor(optimizer));
  saver.save(state, step);  // copies the state and returns; a thread writes the copy
}

// Returns the step to continue at.
int resume(torch::nn::Module& net, torch::optim::Optimizer& optimizer, const char* folder) {
  const auto saved = checkpoint::Checkpoint::newest_whole(folder).checkpoint;
  if (!saved) return 0;
  checkpoint::load_into(net, checkpoint::open_tensors(*saved), {.prefix = "model/"});
  load(optimizer, saved->read("optimizer"));
  return static_cast<int>(saved->step());
}

}  // namespace

int main(int argc, char** argv) {
  const char* const folder = argc > 1 ? argv[1] : "checkpoints";
  const int steps = argc > 2 ? std::atoi(argv[2]) : 100;
  auto world = cluster::World::join();
  auto group = comm::connect(world);

  const torch::Tensor all = torch::linspace(-1, 1, 64).unsqueeze(1);
  const torch::Tensor x = all.slice(0, group.rank(), 64, group.size());
  torch::manual_seed(1);
  torch::nn::Linear net(1, 1);
  torch::optim::Adam optimizer(net->parameters(), 0.05);
  const int begin = resume(*net, optimizer, folder);
  parallel::Replicas replicas(*net, group);
  group.barrier().wait();  // rank 0 may remove old checkpoints only after all ranks have read

  std::optional<checkpoint::Saver> saver;
  if (group.rank() == 0) saver.emplace(checkpoint::Saver::Options{.folder = folder});
  for (int step = begin + 1; step <= steps; ++step) {
    optimizer.zero_grad();
    torch::mse_loss(net->forward(x), x + 1).backward();
    optimizer.step();
    if (saver && step % 20 == 0) save(*saver, *net, optimizer, step);
  }
  if (saver) saver->wait();  // throws if a checkpoint could not be written
  std::printf("rank %d: steps %d to %d, y = %.6f x + %.6f\n", group.rank(), begin + 1, steps,
              net->weight.item<double>(), net->bias.item<double>());
}
