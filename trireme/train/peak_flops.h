// The most floating-point operations a second that this rank's threads reach on a matrix product:
// measured, in a few milliseconds, since nobody publishes it for a share of a machine.

#pragma once

namespace trireme::train {

double measure_peak_flops();

}  // namespace trireme::train
