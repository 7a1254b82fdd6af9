# Options that bench refuses, and engines and kernels that do not exist.
. "$SRCDIR/tests/cli/helpers"
make_rules
echo text >image
echo "'unclosed" >wrong; : >empty
try bench --rounds 0
try bench --mode fast
try bench --engine warp
try bench --kernel warp
try bench --gpus 1,1
try bench -c missing.conf
try bench -c rec.conf --patterns wrong
try bench --patterns wrong
try bench --patterns empty
try bench --patterns missing
try bench -c rec.conf missing
try bench -c rec.conf image image
# With all GPUs hidden, as on a machine without one.
export CUDA_VISIBLE_DEVICES=
try bench -c rec.conf --kernel gram --rounds 1 image | grep -c 'gpu  *gram .* not run '
