#include "trireme/net/session.h"

#include <sys/epoll.h>

#include <atomic>
#include <exception>
#include <utility>

#include "trireme/base/error.h"
#include "trireme/net/error_codec.h"

namespace trireme::net {
namespace {

class SessionCaller final : public Caller {
 public:
  SessionCaller(std::shared_ptr<Outbox> outbox, std::uint64_t id, std::uint16_t method)
      : outbox_(std::move(outbox)), id_(id), method_(method) {}

  ~SessionCaller() override {
    if (is_answered_) return;
    fail(Error(ErrorCode::RemoteFailure, "the service dropped the request without an answer"));
  }

  void reply(ByteView payload) override { finish(FrameKind::Reply, payload); }
  void fail(const Error& error) override { finish(FrameKind::Failure, encode_error(error)); }
  bool send_item(ByteView payload) override { return outbox_->send_item(id_, method_, payload); }
  void end() override { finish(FrameKind::End, {}); }

 private:
  void finish(FrameKind kind, ByteView payload) {
    is_answered_ = true;
    outbox_->finish(id_, kind, method_, payload);
  }

  const std::shared_ptr<Outbox> outbox_;
  const std::uint64_t id_;
  const std::uint16_t method_;
  std::atomic<bool> is_answered_ = false;
};

}  // namespace

Session::Session(SessionId id, Identity identity, std::shared_ptr<Outbox> outbox,
                 const ServiceTable& services, std::size_t payload_max, Log log)
    : id_(id),
      identity_(std::move(identity)),
      outbox_(std::move(outbox)),
      services_(services),
      log_(std::move(log)),
      reader_(payload_max) {}

Session::~Session() {
  outbox_->close();
}

Session::State Session::start(ByteView rest) {
  try {
    reader_.feed(rest);
    return dispatch();
  } catch (const std::exception& error) {
    reason_ = error.what();
    return State::Cut;
  }
}

Session::State Session::on_event(std::uint32_t events, std::span<std::byte> scratch) {
  try {
    if ((events & EPOLLOUT) != 0) {
      outbox_->flush();
      if (is_paused_) return dispatch();
    }
    if (is_paused_) return (events & (EPOLLHUP | EPOLLERR)) != 0 ? over() : State::Open;
    if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0) return receive_some(scratch);
    return State::Open;
  } catch (const std::exception& error) {
    reason_ = error.what();
    return State::Cut;
  }
}

Session::State Session::receive_some(std::span<std::byte> scratch) {
  const IoResult got = receive(outbox_->socket(), scratch);
  if (got.must_wait()) return State::Open;
  if (!got.has_moved()) return over();
  reader_.feed(scratch.first(got.size));
  return dispatch();
}

Session::State Session::over() {
  reason_ = outbox_->cut_reason();
  return reason_.empty() ? State::Left : State::Cut;
}

Session::State Session::dispatch() {
  bool is_drained = false;
  do {
    outbox_->cork();
    is_drained = dispatch_until_congested();
    outbox_->uncork();
  } while (!is_drained && !outbox_->is_congested());
  if (is_paused_ == is_drained) {
    is_paused_ = !is_drained;
    outbox_->pause(is_paused_);
  }
  return State::Open;
}

bool Session::dispatch_until_congested() {
  while (!outbox_->is_congested()) {
    const auto frame = reader_.next();
    if (!frame) return true;
    handle(*frame);
  }
  return false;
}

void Session::handle(const Frame& frame) {
  switch (frame.kind) {
    case FrameKind::Request:
      return handle_request(frame);
    case FrameKind::Cancel:
      return outbox_->cancel(frame.id);
    case FrameKind::Post:
      return serve({.method = frame.method,
                    .session = id_,
                    .identity = identity_,
                    .payload = frame.payload,
                    .caller = nullptr});
    default:
      throw Error(ErrorCode::Protocol, "a client sent a frame that only servers send");
  }
}

void Session::handle_request(const Frame& frame) {
  const auto admission = outbox_->admit(frame.id);
  if (admission == Outbox::Admission::Repeated) {
    throw Error(ErrorCode::Protocol, "request id " + std::to_string(frame.id) + " is in use");
  }
  if (admission == Outbox::Admission::Full) {
    const Error full(ErrorCode::Exhausted, "too many requests of this connection are open");
    return outbox_->refuse(frame.id, frame.method, encode_error(full));
  }
  auto caller = std::make_shared<SessionCaller>(outbox_, frame.id, frame.method);
  serve({.method = frame.method,
         .session = id_,
         .identity = identity_,
         .payload = frame.payload,
         .caller = std::move(caller)});
}

void Session::serve(const Request& request) {
  const auto fail = [&](const Error& error) {
    if (request.caller) return request.caller->fail(error);
    log_.warn("a one-way request failed", {{"from", identity_.name}, {"error", error.what()}});
  };
  const auto& service = services_[request.method >> 8];
  if (!service) {
    return fail(Error(ErrorCode::Unsupported,
                      "this server has no service for method " + std::to_string(request.method)));
  }
  try {
    service->on_request(request);
  } catch (const Error& error) {
    fail(error);
  } catch (const std::exception& error) {
    fail(Error(ErrorCode::RemoteFailure, error.what()));
  } catch (...) {
    fail(Error(ErrorCode::RemoteFailure, "an exception of unknown type"));
  }
}

}  // namespace trireme::net
