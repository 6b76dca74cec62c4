// Checks that ranks have the same model: names and shapes when a job starts, values every
// sync.check_every steps. Replicas drift apart if memory, a kernel or the user's code differs
// between ranks, and without a check that is not noticed.
//
// Errors:        Mismatch on every rank; the message names the first parameter and rank that
//                differ.
// Thread safety: one thread at a time. Functions with a group are collectives.

#pragma once

#include <vector>

#include "trireme/comm/group.h"
#include "trireme/parallel/parameter.h"

namespace trireme::parallel {

// Throws Unsupported if a parameter's type differs from the first one's, because a bucket has one
// type.
void expect_one_type(const std::vector<Parameter>& parameters);

// Throws Unsupported if a parameter is on a GPU, whose memory the reductions of several ranks
// cannot read yet.
void expect_on_cpu(const std::vector<Parameter>& parameters);

// Throws InvalidInput if a parameter has another type, which codecs cannot encode.
void expect_float32(const std::vector<Parameter>& parameters);

// Compares names, shapes and types.
void expect_same_parameters(const comm::Group& group, const std::vector<Parameter>& parameters);

// Compares the bytes of each parameter. `rank`: this rank's number in errors, usually that in the
// whole job.
void expect_same_values(const comm::Group& group, const std::vector<Parameter>& parameters,
                        int rank);

}  // namespace trireme::parallel
