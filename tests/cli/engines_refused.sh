# Engines and kernels that can't be used: exit code 2 for an unknown name, 4 for one that does not work on this machine.
. "$SRCDIR/tests/cli/helpers"
make_rules
make_records image 3 100
try carve -c rec.conf -o out --engine wibble image
try carve -c rec.conf -o out --engine hyperscan image
try carve -c rec.conf -o out --engine cpu --kernel wibble image
CUDA_VISIBLE_DEVICES= try carve -c rec.conf -o out --engine gpu image 2>&1 | sed "s/this machine: .*/this machine: WHY/"
CUDA_VISIBLE_DEVICES= try carve -c rec.conf -o out --kernel wibble image
expect_nothing_at out
for engine in auto reference cpu; do
	CUDA_VISIBLE_DEVICES= try carve --quiet -c rec.conf -o "$engine" --engine $engine image
	check_reports $engine image
done
