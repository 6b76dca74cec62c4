#include "trireme/net/client.h"

#include <utility>

#include "trireme/base/check.h"
#include "trireme/net/client_core.h"
#include "trireme/net/dial.h"
#include "trireme/net/socket.h"

namespace trireme::net {
namespace {

std::shared_ptr<ClientCore> join(const Client::Options& options, Deadline deadline) {
  TRIREME_CHECK(options.credentials != nullptr, "a client needs credentials");
  TRIREME_CHECK(options.stream_items_max > 0, "a stream of no items cannot be read");
  Dialed dialed = dial(options.address, *options.credentials, deadline);
  if (options.silence_max > Duration{}) limit_silence(dialed.socket, options.silence_max);
  return std::make_shared<ClientCore>(options, std::move(dialed));
}

}  // namespace

Client::Client(const Options& options, Deadline deadline) : core_(join(options, deadline)) {}
Client::~Client() = default;
Client::Client(Client&&) noexcept = default;
Client& Client::operator=(Client&&) noexcept = default;

Bytes Client::call(std::uint16_t method, ByteView payload, Deadline deadline) {
  return core_->call(method, payload, deadline);
}

ReplyStream Client::open(std::uint16_t method, ByteView payload, Deadline deadline) {
  return ReplyStream(core_, core_->open(method, payload, deadline));
}

void Client::post(std::uint16_t method, ByteView payload, Deadline deadline) {
  core_->post(method, payload, deadline);
}

const Identity& Client::peer() const noexcept {
  return core_->peer();
}

bool Client::is_open() const noexcept {
  return core_ != nullptr && core_->is_open();
}

std::string Client::local_host() const {
  return core_->local_host();
}

ReplyStream::ReplyStream(std::shared_ptr<ClientCore> core, std::uint64_t id)
    : core_(std::move(core)), id_(id) {}

ReplyStream::ReplyStream(ReplyStream&& other) noexcept
    : core_(std::move(other.core_)), id_(std::exchange(other.id_, 0)) {}

ReplyStream& ReplyStream::operator=(ReplyStream&& other) noexcept {
  if (this != &other) {
    if (core_) core_->close(id_);
    core_ = std::move(other.core_);
    id_ = std::exchange(other.id_, 0);
  }
  return *this;
}

ReplyStream::~ReplyStream() {
  if (core_) core_->close(id_);
}

std::optional<Bytes> ReplyStream::next(Deadline deadline) {
  TRIREME_CHECK(core_ != nullptr, "this stream was moved away");
  return core_->next(id_, deadline);
}

void ReplyStream::cancel() noexcept {
  if (core_) core_->cancel(id_);
}

}  // namespace trireme::net
