// What must be the same on every rank is compared before it does harm: names and shapes when a job
// starts, values every so many steps. Replicas drift apart where memory, a kernel or a user's own
// code differs, and nothing else tells.
//
// All of them are collectives. Failure: Mismatch on every rank, which names the first parameter and
// rank that differ.

#pragma once

#include <vector>

#include "trireme/comm/group.h"
#include "trireme/parallel/parameter.h"

namespace trireme::parallel {

// No collective: throws Unsupported where a parameter is of another type than the first, which
// cannot travel in the same bucket.
void expect_one_type(const std::vector<Parameter>& parameters);

// Names, shapes and types.
void expect_same_parameters(const comm::Group& group, const std::vector<Parameter>& parameters);

// The bytes of each. `rank`: what errors call this one, which may be another in the whole job.
void expect_same_values(const comm::Group& group, const std::vector<Parameter>& parameters,
                        int rank);

}  // namespace trireme::parallel
