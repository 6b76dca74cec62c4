#include "trireme/device/cuda/launch.cuh"
#include "trireme/optim/kernel/rules.h"
#include "trireme/optim/kernel/update.h"

namespace trireme::optim::kernel {
namespace {

constexpr int kAtOnce = 4;                                          // elements of a thread
constexpr std::int64_t kChunk = std::int64_t{cuda::kThreads} * 64;  // elements of a block

// Parameters of a kernel take at most 4 KiB.
template <class Rule>
constexpr int kSlicesMax = 3584 / (sizeof(Update<Rule>) + sizeof(unsigned));

template <class Rule>
struct Table {
  Update<Rule> slices[kSlicesMax<Rule>];
  unsigned end[kSlicesMax<Rule>];  // the first block after each slice
};

template <class Rule, class T>
__device__ void apply(const Rule& rule, T& value, T gradient, T* state) {
  if constexpr (Rule::kStates == 0) rule(value, gradient);
  if constexpr (Rule::kStates == 1) rule(value, gradient, state[0]);
  if constexpr (Rule::kStates == 2) rule(value, gradient, state[0], state[1]);
  if constexpr (Rule::kStates == 3) rule(value, gradient, state[0], state[1], state[2]);
}

// A block updates a chunk of one slice. Each thread first loads several elements, because loads
// cannot pass the stores of other elements.
template <class Rule>
__global__ void __launch_bounds__(cuda::kThreads)
    update_chunks(const __grid_constant__ Table<Rule> table) {
  using T = typename Rule::Number;
  constexpr int kStates = Rule::kStates;
  int slice = 0;
  while (blockIdx.x >= table.end[slice]) ++slice;
  const Update<Rule>& own = table.slices[slice];
  const unsigned chunk = blockIdx.x - (slice == 0 ? 0 : table.end[slice - 1]);
  const std::int64_t begin = chunk * kChunk + threadIdx.x;
  const std::int64_t rest = own.count - chunk * kChunk;
  const std::int64_t end = chunk * kChunk + (rest < kChunk ? rest : kChunk);
  const Rule rule = own.rule;
  for (std::int64_t first = begin; first < end; first += kAtOnce * cuda::kThreads) {
    T value[kAtOnce], gradient[kAtOnce], state[kAtOnce][kStates + 1];
#pragma unroll
    for (int k = 0; k < kAtOnce; ++k) {
      const std::int64_t i = first + k * cuda::kThreads;
      if (i >= end) continue;
      value[k] = own.all.value[i];
      gradient[k] = own.all.gradient[i];
      for (int s = 0; s < kStates; ++s) state[k][s] = own.all.state[s][i];
    }
#pragma unroll
    for (int k = 0; k < kAtOnce; ++k) {
      const std::int64_t i = first + k * cuda::kThreads;
      if (i >= end) continue;
      apply(rule, value[k], gradient[k], state[k]);
      own.all.value[i] = value[k];
      for (int s = 0; s < kStates; ++s) own.all.state[s][i] = state[k][s];
    }
  }
}

template <class Rule>
void start(const Table<Rule>& table, unsigned blocks, const Stream& stream) {
  if (blocks == 0) return;
  update_chunks<Rule>
      <<<blocks, cuda::kThreads, 0, static_cast<cudaStream_t>(stream.handle)>>>(table);
  cuda::check(cudaGetLastError(), "starting a kernel");
}

}  // namespace

template <class Rule>
void update(std::span<const Update<Rule>> slices, const Stream& stream) {
  cuda::check(cudaSetDevice(stream.device.index), "selecting a GPU");
  Table<Rule> table;
  unsigned blocks = 0;
  int count = 0;
  for (const Update<Rule>& slice : slices) {
    if (slice.count == 0) continue;
    blocks += static_cast<unsigned>((slice.count + kChunk - 1) / kChunk);
    table.slices[count] = slice;
    table.end[count] = blocks;
    if (++count < kSlicesMax<Rule>) continue;
    start(table, blocks, stream);
    blocks = 0;
    count = 0;
  }
  start(table, blocks, stream);
}

#define TRIREME_NAME(...) __VA_ARGS__
#define TRIREME_UPDATE(RULE) \
  template void update(std::span<const Update<TRIREME_NAME RULE>>, const Stream&);
TRIREME_FOR_EACH_RULE(TRIREME_UPDATE)

}  // namespace trireme::optim::kernel
