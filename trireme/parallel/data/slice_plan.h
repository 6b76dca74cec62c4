// SlicePlan is a BucketPlan of what one rank has of each bucket of another: its slices, as if the
// parts of parameters in them were parameters. What travels between hosts in slices is encoded by
// it.
//
// A part of a parameter is called "name@begin+count"; a whole one keeps its name and its shape.
//
// Threads: pure.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trireme/parallel/data/layout.h"
#include "trireme/parallel/parameter.h"

namespace trireme::parallel::data {

std::string name_of_part(const std::string& name, std::int64_t begin, std::int64_t count);

struct SlicePlan {
  BucketPlan plan;  // as many buckets; slices lie end to end
  std::vector<Parameter> parameters;

  // Of this rank's slices of the layout; the parameters are views of its values.
  SlicePlan(const Layout& layout, const std::vector<Parameter>& parameters);
};

}  // namespace trireme::parallel::data
