# Reading evidence does not change when it was last read, whatever the way of reading.
. "$SRCDIR/tests/cli/helpers"
make_rules
make_records image 20 1000
touch -a -d '2001-02-03 04:05:06 UTC' image # before it was changed: reading it as usual would set it
for io in auto uring threads direct buffered; do
	"$BURIN" carve --quiet -c rec.conf --io $io -o "out-$io" image
	echo "$io $(TZ=UTC stat -c %x image)"
done
