// LossyProxy is a proxy between a client and an etcd that decides what happens to each request: it
// is forwarded; it is forwarded and its answer is lost; or it is forwarded only after the client
// has given up.
//
// Thread safety: it has its own threads, one per connection; any of them may call fate_of.

#pragma once

#include <poll.h>
#include <sys/socket.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <list>
#include <mutex>
#include <string>
#include <thread>

#include "trireme/base/error.h"
#include "trireme/net/http/http_connection.h"
#include "trireme/net/listener.h"

namespace trireme::cluster::etcd {

enum class Fate { PassOn, LoseAnswer, ArriveLate };

class LossyProxy {
 public:
  using Decide = std::function<Fate(const std::string& path)>;

  LossyProxy(net::Address etcd, Decide fate_of)
      : etcd_(std::move(etcd)), fate_of_(std::move(fate_of)), acceptor_([this] { accept(); }) {}

  ~LossyProxy() { finish(); }

  const net::Address& address() const { return listener_.address(); }

  // Ends all connections after all delayed requests have been forwarded.
  void finish() {
    if (is_ending_.exchange(true)) return;
    acceptor_.join();
    for (std::thread& thread : threads_) thread.join();
  }

 private:
  static constexpr std::chrono::milliseconds kLate{40};
  static constexpr std::chrono::milliseconds kSlice{20};

  struct Request {
    std::string path, body;
  };

  void accept() {
    while (!is_ending_) {
      if (!net::wait_ready(listener_.socket(), POLLIN, Deadline::after(kSlice))) continue;
      net::Accepted accepted = listener_.accept();
      if (!accepted.socket.is_open()) continue;
      threads_.emplace_back([this, socket = std::move(accepted.socket)]() mutable {
        try {
          serve(std::move(socket));
        } catch (const Error&) {
          // The client closed the connection.
        }
      });
    }
  }

  void serve(net::Socket client) {
    std::string text;
    for (Request request; receive_request(client, text, request);) {
      const Fate fate = fate_of_(request.path);
      if (fate == Fate::ArriveLate) {
        client.close();
        std::this_thread::sleep_for(kLate);
      }
      const Deadline deadline = Deadline::after(std::chrono::seconds(10));
      const auto reply =
          net::HttpConnection(etcd_, deadline)
              .post({.path = request.path, .body = request.body, .fields = {}}, deadline);
      if (fate != Fate::PassOn) return;
      const std::string answer = "HTTP/1.1 " + std::to_string(reply.status) +
                                 " Yes\r\nContent-Length: " + std::to_string(reply.body.size()) +
                                 "\r\n\r\n" + reply.body;
      ::send(client.descriptor(), answer.data(), answer.size(), MSG_NOSIGNAL);
    }
  }

  // Returns false if the client closed the connection or the proxy is ending.
  bool receive_request(const net::Socket& client, std::string& text, Request& request) const {
    for (;;) {
      const std::size_t head = text.find("\r\n\r\n");
      const std::size_t field = text.find("Content-Length: ");
      if (head != std::string::npos && field != std::string::npos) {
        const std::size_t size = std::stoul(text.substr(field + 16));
        if (text.size() >= head + 4 + size) {
          request.path = text.substr(5, text.find(' ', 5) - 5);
          request.body = text.substr(head + 4, size);
          text.erase(0, head + 4 + size);
          return true;
        }
      }
      while (!net::wait_ready(client, POLLIN, Deadline::after(kSlice))) {
        if (is_ending_) return false;
      }
      char buffer[4096];
      const ssize_t got = ::recv(client.descriptor(), buffer, sizeof(buffer), 0);
      if (got <= 0) return false;
      text.append(buffer, static_cast<std::size_t>(got));
    }
  }

  const net::Address etcd_;
  const Decide fate_of_;
  net::Listener listener_{net::Address::tcp("127.0.0.1", 0)};
  std::atomic<bool> is_ending_ = false;
  std::list<std::thread> threads_;  // used by the acceptor thread, then by finish()
  std::thread acceptor_;
};

}  // namespace trireme::cluster::etcd
