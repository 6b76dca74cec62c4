// Measures one authenticated request over a unix socket, compared with an exchange of one byte
// between two threads, which is the time that the kernel needs to wake each side.
//
// Bar: 3.4 times the plain exchange, or 50 us if that takes less than 15 us. Each figure is the
// first quartile of all exchanges, since other work on the machine only adds to them.
//
// Exits with 1 if an answer is wrong or the bar is missed.

#include <sys/socket.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "bench/statistics.h"
#include "trireme/base/file/temporary_folder.h"
#include "trireme/net/auth/secret_credentials.h"
#include "trireme/net/client.h"
#include "trireme/net/server.h"
#include "trireme/net/socket.h"

namespace {

using namespace trireme;
using namespace std::chrono_literals;

constexpr int kExchanges = 20'000;
constexpr std::uint16_t kEcho = 0x0700;
constexpr double kRatioMax = 50.0 / 15.0;
constexpr double kKernelMin = 15e-6;  // seconds

class Echo final : public net::Service {
 public:
  void on_request(const net::Request& request) override { request.caller->reply(request.payload); }
};

// In seconds.
double quarter(const std::function<void()>& exchange) {
  std::vector<double> times;
  for (int i = 0; i < kExchanges; ++i) {
    const double begin = bench::now();
    exchange();
    times.push_back(bench::now() - begin);
  }
  return bench::percentile(std::move(times), 0.25);
}

double measure_kernel() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return {};
  const net::Socket ours(ends[0]), theirs(ends[1]);
  std::thread echo([&] {
    char byte = 0;
    while (::recv(theirs.descriptor(), &byte, 1, 0) == 1) {
      ::send(theirs.descriptor(), &byte, 1, MSG_NOSIGNAL);
    }
  });
  const double time = quarter([&] {
    char byte = 0;
    ::send(ours.descriptor(), &byte, 1, MSG_NOSIGNAL);
    ::recv(ours.descriptor(), &byte, 1, 0);
  });
  ::shutdown(ours.descriptor(), SHUT_RDWR);
  echo.join();
  return time;
}

// Returns zero if an answer is wrong.
double measure_request() {
  const TemporaryFolder folder("bench-net");
  const auto secret = net::Secret::generate();
  net::Server::Options options;
  options.address = net::Address::unix_socket((folder.path() / "socket").string());
  options.credentials = std::make_shared<net::SecretCredentials>(secret, "server");
  net::Server server(options, {{kEcho >> 8, std::make_shared<Echo>()}});
  const net::SecretCredentials credentials(secret, "client");
  net::Client client({.address = server.address(), .credentials = &credentials},
                     Deadline::after(5s));
  bool is_right = true;
  const Bytes payload(16, std::byte{7});
  const double time =
      quarter([&] { is_right &= client.call(kEcho, payload, Deadline::after(5s)) == payload; });
  return is_right ? time : 0;
}

}  // namespace

int main() {
  const double kernel = measure_kernel();
  const double request = measure_request();
  if (request == 0) {
    std::fprintf(stderr, "an answer differs from its request\n");
    return 1;
  }
  const double bar = kRatioMax * std::max(kernel, kKernelMin);
  const bool is_met = request <= bar;
  std::printf("request over a unix socket %6.1f us, bare exchange %.1f us, bar %.1f us: %s\n",
              request * 1e6, kernel * 1e6, bar * 1e6, is_met ? "met" : "MISSED");
  return is_met ? 0 : 1;
}
