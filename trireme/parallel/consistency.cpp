#include "trireme/parallel/consistency.h"

#include <algorithm>
#include <cstdint>
#include <string>

#include "trireme/base/error.h"
#include "trireme/base/hash/xxh64.h"

namespace trireme::parallel {
namespace {

using Numbers = std::vector<std::int64_t>;

std::string shape_of(const at::Tensor& tensor) {
  std::string text = c10::toString(tensor.scalar_type());
  text += " [";
  for (const std::int64_t size : tensor.sizes()) {
    text += (text.back() == '[' ? "" : ", ") + std::to_string(size);
  }
  return text + "]";
}

std::string described(const Parameter& parameter) {
  return parameter.name + ", " + shape_of(parameter.tensor);
}

std::int64_t digest_of(const void* data, std::size_t size) {
  return static_cast<std::int64_t>(xxh64({static_cast<const std::byte*>(data), size}));
}

// The numbers of all ranks, rank after rank. REQUIRES: the same number of them on every rank.
Numbers gathered(const comm::Group& group, const Numbers& mine, const char* label) {
  Numbers all(mine.size() * static_cast<std::size_t>(group.size()));
  group
      .all_gather({all.data(), all.size(), comm::DType::Int64},
                  {mine.data(), mine.size(), comm::DType::Int64}, {.label = label})
      .wait();
  return all;
}

// The first index at which a rank's numbers differ from rank 0's, and that rank; rank 0 if all are
// equal.
struct FirstDifference {
  int rank = 0;
  std::size_t index = 0;
};

FirstDifference first_difference(const Numbers& all, std::size_t count) {
  for (std::size_t index = 0; index < count; ++index) {
    for (std::size_t at = index; at < all.size(); at += count) {
      if (all[at] != all[index]) return {static_cast<int>(at / count), index};
    }
  }
  return {};
}

}  // namespace

void expect_one_type(const std::vector<Parameter>& parameters) {
  for (const Parameter& parameter : parameters) {
    if (parameter.tensor.scalar_type() == parameters[0].tensor.scalar_type()) continue;
    throw Error(ErrorCode::Unsupported,
                "parameters of different types are not supported on several ranks: " +
                    described(parameters[0]) + " and " + described(parameter) +
                    "; convert them with module.to(type), and set train.precision instead");
  }
}

void expect_on_cpu(const std::vector<Parameter>& parameters) {
  for (const Parameter& parameter : parameters) {
    if (parameter.tensor.is_cpu()) continue;
    throw Error(ErrorCode::Unsupported,
                "several ranks train on the CPU only, but parameter " + parameter.name + " is on " +
                    parameter.tensor.device().str() +
                    "; move the model with module.to(torch::kCPU), or train with one rank");
  }
}

void expect_float32(const std::vector<Parameter>& parameters) {
  for (const Parameter& parameter : parameters) {
    if (parameter.tensor.scalar_type() == at::kFloat) continue;
    throw Error(ErrorCode::InvalidInput,
                "codecs encode float32, but the model has " + described(parameter) +
                    "; convert the model with module.to(torch::kFloat), or use no codec");
  }
}

void expect_same_parameters(const comm::Group& group, const std::vector<Parameter>& parameters) {
  Numbers mine;
  for (const Parameter& parameter : parameters) {
    const std::string text = described(parameter);
    mine.push_back(digest_of(text.data(), text.size()));
  }
  const Numbers counts =
      gathered(group, {static_cast<std::int64_t>(mine.size())}, "number of parameters");
  const FirstDifference count = first_difference(counts, 1);
  if (count.rank != 0) {
    throw Error(ErrorCode::Mismatch,
                "rank " + std::to_string(count.rank) + " has a model of " +
                    std::to_string(counts[static_cast<std::size_t>(count.rank)]) +
                    " trained tensors, rank 0 of " + std::to_string(counts[0]) +
                    ": start all ranks with one program and one recipe")
        .with_peer(count.rank);
  }
  const FirstDifference found =
      first_difference(gathered(group, mine, "names and shapes"), mine.size());
  if (found.rank == 0) return;
  throw Error(ErrorCode::Mismatch, "the models of ranks 0 and " + std::to_string(found.rank) +
                                       " differ from trained tensor " +
                                       std::to_string(found.index) + " on, which here is " +
                                       described(parameters[found.index]) +
                                       ": start all ranks with one program and one recipe")
      .with_peer(found.rank);
}

void expect_same_values(const comm::Group& group, const std::vector<Parameter>& parameters,
                        int rank) {
  Numbers mine;
  for (const Parameter& parameter : parameters) {
    const at::Tensor values = parameter.tensor.detach().contiguous();
    mine.push_back(digest_of(values.const_data_ptr(), values.nbytes()));
  }
  const FirstDifference found =
      first_difference(gathered(group, mine, "checksums of weights"), mine.size());
  if (found.rank == 0) return;
  const Numbers names = gathered(group, {rank}, "ranks");
  const auto drifted = static_cast<int>(names[static_cast<std::size_t>(found.rank)]);
  throw Error(ErrorCode::Mismatch,
              "the weights of rank " + std::to_string(drifted) + " have drifted from rank " +
                  std::to_string(names[0]) + "'s, first in " + parameters[found.index].name +
                  ": a rank's memory or processor is faulty, or the program changes the model "
                  "outside the step. Checkpoints since the last comparison may hold the weights of "
                  "either rank; resume from an older one. sync.check_every sets how often ranks "
                  "are compared")
      .with_peer(drifted);
}

}  // namespace trireme::parallel
