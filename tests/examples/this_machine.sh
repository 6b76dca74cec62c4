#!/bin/sh
# Used like ssh, as in `trireme run --ssh tests/examples/this_machine.sh --hosts ...`: every host is
# this machine, and TRIREME_HOST makes its ranks believe that it is a host of its own.
TRIREME_HOST=$1
export TRIREME_HOST
shift
exec sh -c "$*"
