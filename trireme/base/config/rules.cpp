#include "trireme/base/config/rules.h"

#include "trireme/base/config/read_value.h"

namespace trireme::config {

void refuse_less(const Value& value, const Value& least) {
  refuse(value, "is less than " + to_plain(least) + ", the least allowed");
}

void refuse_more(const Value& value, const Value& most) {
  refuse(value, "is more than " + to_plain(most) + ", the most allowed");
}

}  // namespace trireme::config
