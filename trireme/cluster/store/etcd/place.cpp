#include "trireme/cluster/store/etcd/place.h"

#include <algorithm>

#include "trireme/base/check.h"
#include "trireme/base/error.h"

namespace trireme::cluster::etcd {
namespace {

constexpr std::string_view kScheme = "etcd://";
constexpr std::size_t kJobSizeMax = 200;

[[noreturn]] void refuse_place(std::string_view text, const std::string& why) {
  throw Error(ErrorCode::InvalidInput,
              std::string(text) + ": " + why + "; write etcd://HOST:PORT[,HOST:PORT...]");
}

net::Address member_of(std::string_view text, std::string_view whole) {
  if (text.find('@') != std::string_view::npos) {
    refuse_place(whole, "a user and a password are not supported");
  }
  net::Address address;
  try {
    address = net::Address::parse("tcp://" + std::string(text));
  } catch (const Error&) {
    refuse_place(whole, "\"" + std::string(text) + "\" is no HOST:PORT");
  }
  if (address.port == 0) refuse_place(whole, "port 0");
  return address;
}

}  // namespace

EtcdPlace EtcdPlace::parse(std::string_view text) {
  if (!text.starts_with(kScheme)) refuse_place(text, "it does not begin with etcd://");
  std::string_view rest = text.substr(kScheme.size());
  EtcdPlace place;
  if (const std::size_t slash = rest.find('/'); slash != std::string_view::npos) {
    place.job = rest.substr(slash + 1);
    rest = rest.substr(0, slash);
    if (place.job.find('/') != std::string::npos || place.job.size() > kJobSizeMax) {
      refuse_place(text, "the text after the slash is not a valid job name");
    }
  }
  for (bool is_last = false; !is_last;) {
    const std::size_t comma = rest.find(',');
    is_last = comma == std::string_view::npos;
    place.members.push_back(member_of(rest.substr(0, comma), text));
    if (!is_last) rest.remove_prefix(comma + 1);
  }
  return place;
}

std::string EtcdPlace::to_text() const {
  std::string text;
  for (const net::Address& member : members) {
    text += (text.empty() ? std::string(kScheme) : ",") +
            member.to_text().substr(std::string_view("tcp://").size());
  }
  return job.empty() ? text : text + "/" + job;
}

std::string EtcdPlace::root() const {
  TRIREME_CHECK(!job.empty(), "an etcd address without a job");
  std::string name = job;
  std::replace(name.begin(), name.end(), '/', '_');
  return "/trireme/" + name + "/";
}

}  // namespace trireme::cluster::etcd
