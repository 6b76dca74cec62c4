#include "trireme/cluster/launch/hosts/retry.h"

#include <algorithm>

namespace trireme::cluster::launch::hosts {

void Retry::on_lost(TimePoint now) noexcept {
  if (is_up_ && now - up_ >= kSteady) tries_ = 0;
  is_up_ = false;
  Duration pause = kFirst;
  for (int i = 0; i < tries_ && pause < kLast; ++i) pause *= 2;
  ++tries_;
  next_ = is_given_up() ? TimePoint::max() : now + std::min(pause, kLast);
}

}  // namespace trireme::cluster::launch::hosts
