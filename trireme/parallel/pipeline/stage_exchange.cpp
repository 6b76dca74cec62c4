#include "trireme/parallel/pipeline/stage_exchange.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <iterator>

#include "trireme/base/bytes.h"
#include "trireme/base/check.h"
#include "trireme/base/clock.h"
#include "trireme/base/error.h"

namespace trireme::parallel::pipeline {
namespace {

constexpr std::size_t kTensorsMax = 31;        // of a boundary; 0 is the tag of a description
constexpr std::size_t kDescriptionMax = 4096;  // bytes
constexpr std::uint32_t kTied = 1U << 31;      // tags of tied weights
constexpr std::uint32_t kTiedMicroBatches = 1U << 18;

std::string text_of(const ActivationsShape& shape) {
  std::string text;
  for (const TensorShape& one : shape.tensors) {
    text += (text.empty() ? "" : ", ") + std::string(c10::toString(one.type)) + " (";
    for (const std::int64_t size : one.sizes) {
      text += (text.back() == '(' ? "" : ", ") + std::to_string(size);
    }
    text += ")";
  }
  return text;
}

Bytes packed(const ActivationsShape& shape) {
  ByteWriter writer;
  writer.put<std::uint32_t>(static_cast<std::uint32_t>(shape.names.size()));
  for (const std::string& name : shape.names) writer.put_text(name);
  writer.put<std::uint32_t>(static_cast<std::uint32_t>(shape.tensors.size()));
  for (const TensorShape& one : shape.tensors) {
    writer.put<std::int8_t>(static_cast<std::int8_t>(one.type));
    writer.put<std::uint8_t>(one.has_gradient ? 1 : 0);
    writer.put<std::uint8_t>(static_cast<std::uint8_t>(one.sizes.size()));
    for (const std::int64_t size : one.sizes) writer.put(size);
  }
  if (writer.bytes().size() > kDescriptionMax || shape.tensors.size() > kTensorsMax) {
    throw Error(ErrorCode::Unsupported,
                "a stage of the pipeline passes on " + std::to_string(shape.tensors.size()) +
                    " tensors; at most " + std::to_string(kTensorsMax) +
                    " are supported. Split the model at another block (parallel.split_points)");
  }
  Bytes bytes = std::move(writer).take();
  bytes.resize(kDescriptionMax);
  return bytes;
}

ActivationsShape unpacked(ByteView bytes) {
  ByteReader reader(bytes);
  ActivationsShape shape;
  shape.names.resize(reader.get<std::uint32_t>());
  for (std::string& name : shape.names) name = reader.get_text();
  shape.tensors.resize(reader.get<std::uint32_t>());
  for (TensorShape& one : shape.tensors) {
    one.type = static_cast<at::ScalarType>(reader.get<std::int8_t>());
    one.has_gradient = reader.get<std::uint8_t>() != 0;
    one.sizes.resize(reader.get<std::uint8_t>());
    for (std::int64_t& size : one.sizes) size = reader.get<std::int64_t>();
  }
  return shape;
}

std::vector<TensorShape> with_gradient(const std::vector<TensorShape>& all) {
  std::vector<TensorShape> some;
  std::ranges::copy_if(all, std::back_inserter(some), &TensorShape::has_gradient);
  return some;
}

model::Activations assembled(const ActivationsShape& shape, std::vector<at::Tensor> tensors) {
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (shape.tensors[i].has_gradient) tensors[i].set_requires_grad(true);
  }
  model::Activations all(tensors.at(0));
  std::size_t next = 1;
  for (const std::string& name : shape.names) all.set(name, tensors.at(next++));
  all.losses.assign(tensors.begin() + static_cast<std::ptrdiff_t>(next), tensors.end());
  return all;
}

// Booleans travel as bytes.
at::Tensor as_bytes_if_bool(const at::Tensor& tensor) {
  return tensor.scalar_type() == at::kBool ? tensor.contiguous().view(at::kByte) : tensor;
}

std::string label_of(const char* what, const Boundary& at) {
  return std::string(what) + " of stage " + std::to_string(at.stage) + ", micro-batch " +
         std::to_string(at.micro_batch);
}

}  // namespace

ActivationsShape ActivationsShape::of(const model::Activations& activations) {
  ActivationsShape shape;
  for (const auto& [name, tensor] : activations.others()) shape.names.push_back(name);
  for (const at::Tensor& tensor : activations.tensors()) {
    shape.tensors.push_back({.type = tensor.scalar_type(),
                             .sizes = tensor.sizes().vec(),
                             .has_gradient = tensor.requires_grad()});
  }
  return shape;
}

std::vector<at::Tensor> StageExchange::arrived(Incoming incoming) {
  for (comm::TensorWork& work : incoming.works) wait(work);
  return std::move(incoming.tensors);
}

// An operation may begin long before the other rank reaches it, so only waiting for it has a
// deadline.
void StageExchange::wait(comm::TensorWork& work) {
  const TimePoint begin = steady_clock().now();
  work.wait(Deadline::after(group_.timeouts().collective));
  waited_ += std::chrono::duration<double>(steady_clock().now() - begin).count();
}

std::uint32_t StageExchange::tag(const Boundary& at, bool is_gradient, std::size_t index) const {
  const auto boundary = static_cast<std::uint32_t>(at.micro_batch * placement_.stages() + at.stage);
  const std::uint32_t way = 2 * boundary + (is_gradient ? 1 : 0);
  return static_cast<std::uint32_t>(way * (kTensorsMax + 1) + index) % kTied;
}

void StageExchange::send(const at::Tensor& tensor, int rank, std::uint32_t tag,
                         const std::string& label) {
  sends_.push_back(comm::send(group_, tensor.detach(), rank, tag,
                              {.label = label, .deadline = Deadline::never()}));
}

// Ranks of one host read the tensor where it lies, while this rank runs its next pass.
void StageExchange::send_shared(const at::Tensor& tensor, int rank, std::uint32_t tag,
                                const std::string& label) {
  const at::Tensor values = as_bytes_if_bool(tensor.detach());
  if (!group_.arena() || values.numel() == 0) return send(values, rank, tag, label);
  const at::Tensor shared = comm::empty_in_arena(group_, values.sizes(), values.scalar_type());
  shared.copy_(values);
  send(shared, rank, tag, label);
}

StageExchange::Incoming StageExchange::receive(const std::vector<TensorShape>& shapes,
                                               const Boundary& at, int rank, bool is_gradient) {
  Incoming incoming;
  const std::string label = label_of(is_gradient ? "gradients" : "activations", at);
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const at::Tensor& tensor =
        incoming.tensors.emplace_back(at::empty(shapes[i].sizes, shapes[i].type));
    incoming.works.push_back(comm::receive(group_, as_bytes_if_bool(tensor), rank,
                                           tag(at, is_gradient, i + 1),
                                           {.label = label, .deadline = Deadline::never()}));
  }
  return incoming;
}

ActivationsShape& StageExchange::known(const Boundary& at, const std::string& shape) {
  return shapes_[{at.stage, shape}];
}

void StageExchange::tell(const Boundary& at, const ActivationsShape& shape) {
  const Bytes bytes = packed(shape);
  const at::Tensor description =
      at::empty({static_cast<std::int64_t>(bytes.size())}, at::TensorOptions(at::kByte));
  std::memcpy(description.data_ptr(), bytes.data(), bytes.size());
  send(description, placement_.rank_of(at.stage + 1), tag(at, false, 0), label_of("shapes", at));
}

ActivationsShape StageExchange::heard(const Boundary& at) {
  const at::Tensor bytes = at::empty({kDescriptionMax}, at::kByte);
  comm::TensorWork work = comm::receive(group_, bytes, placement_.rank_of(at.stage),
                                        tag(at, false, 0), {.label = label_of("shapes", at)});
  wait(work);
  return unpacked({static_cast<const std::byte*>(bytes.const_data_ptr()), kDescriptionMax});
}

void StageExchange::send_activations(const Boundary& at, const std::string& shape,
                                     const model::Activations& out) {
  ActivationsShape own = ActivationsShape::of(out);
  ActivationsShape& before = known(at, shape);
  if (before.tensors.empty()) {
    tell(at, own);
    before = std::move(own);
  } else if (before != own) {
    throw Error(ErrorCode::Mismatch,
                "stage " + std::to_string(at.stage) + " of the pipeline passes on " + text_of(own) +
                    " for an input of the same shape for which it passed on " + text_of(before) +
                    " before; the shapes of a block's "
                    "outputs may depend only on those of its inputs");
  }
  const std::vector<at::Tensor> tensors = out.tensors();
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    send_shared(tensors[i], placement_.rank_of(at.stage + 1), tag(at, false, i + 1),
                label_of("activations", at));
  }
}

void StageExchange::post_activations(const Boundary& at, const std::string& shape) {
  const ActivationsShape& theirs = known(at, shape);
  if (theirs.tensors.empty()) return;
  activations_.insert_or_assign(
      Key{at.stage, at.micro_batch},
      receive(theirs.tensors, at, placement_.rank_of(at.stage), /*is_gradient=*/false));
}

model::Activations StageExchange::take_activations(const Boundary& at, const std::string& shape) {
  ActivationsShape& theirs = known(at, shape);
  const auto posted = activations_.find({at.stage, at.micro_batch});
  if (posted == activations_.end()) {
    if (theirs.tensors.empty()) theirs = heard(at);
    return assembled(theirs,
                     arrived(receive(theirs.tensors, at, placement_.rank_of(at.stage), false)));
  }
  std::vector<at::Tensor> tensors = arrived(std::move(posted->second));
  activations_.erase(posted);
  return assembled(theirs, std::move(tensors));
}

void StageExchange::send_gradients(const Boundary& at, const std::string& shape,
                                   std::vector<at::Tensor> gradients) {
  const std::vector<TensorShape> shapes = with_gradient(known(at, shape).tensors);
  TRIREME_CHECK_EQ(gradients.size(), shapes.size(), "gradients of stage ", at.stage);
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    if (!gradients[i].defined()) gradients[i] = at::zeros(shapes[i].sizes, shapes[i].type);
    send_shared(gradients[i], placement_.rank_of(at.stage), tag(at, true, i + 1),
                label_of("gradients", at));
  }
}

// The receive may come before the first forward pass, which finds out the shapes.
void StageExchange::post_gradients(const Boundary& at, const std::string& shape) {
  const ActivationsShape& own = known(at, shape);
  if (own.tensors.empty()) return;
  gradients_.insert_or_assign(Key{at.stage, at.micro_batch}, receive_gradients(at, own));
}

std::vector<at::Tensor> StageExchange::take_gradients(const Boundary& at,
                                                      const std::string& shape) {
  const auto posted = gradients_.find({at.stage, at.micro_batch});
  if (posted == gradients_.end()) return arrived(receive_gradients(at, known(at, shape)));
  std::vector<at::Tensor> tensors = arrived(std::move(posted->second));
  gradients_.erase(posted);
  return tensors;
}

StageExchange::Incoming StageExchange::receive_gradients(const Boundary& at,
                                                         const ActivationsShape& own) {
  const int next = placement_.rank_of(at.stage + 1);
  return receive(with_gradient(own.tensors), at, next, /*is_gradient=*/true);
}

void StageExchange::send_tied(int index, int micro_batch, const at::Tensor& tensor, int rank) {
  const auto number = static_cast<std::uint32_t>(index) * kTiedMicroBatches +
                      static_cast<std::uint32_t>(micro_batch);
  send(tensor, rank, kTied + number, "tied weight");
}

void StageExchange::receive_tied(int index, int micro_batch, const at::Tensor& into, int rank) {
  const auto number = static_cast<std::uint32_t>(index) * kTiedMicroBatches +
                      static_cast<std::uint32_t>(micro_batch);
  comm::TensorWork work =
      comm::receive(group_, into.detach(), rank, kTied + number, {.label = "tied weight"});
  wait(work);
}

void StageExchange::poll() {
  std::erase_if(sends_, [](comm::TensorWork& work) {
    if (!work.is_done()) return false;
    work.wait();
    return true;
  });
}

void StageExchange::finish() {
  for (comm::TensorWork& work : sends_) wait(work);
  sends_.clear();
}

}  // namespace trireme::parallel::pipeline
