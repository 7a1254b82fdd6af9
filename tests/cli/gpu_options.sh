# --gpus and --transfer are checked with and without a GPU.
. "$SRCDIR/tests/cli/helpers"
make_rules
make_records image 5 100
for gpus in 0 -1 two 1,,2 1,1 99999 0,64x; do
	try carve -c rec.conf --gpus "$gpus" -o refused image
done
try carve -c rec.conf --gpus= -o refused image
try carve -c rec.conf --transfer a -o refused image
ls refused 2>&1
# GPUs that this machine does not have are not an error: auto continues without, and says why.
export CUDA_VISIBLE_DEVICES=
try carve -c rec.conf --gpus 64 --transfer many -o out image 2>/dev/null
grep -c '"engine":{"name":"cpu"' out/report.jsonl
try carve -c rec.conf --engine gpu --gpus all -o none image 2>/dev/null
