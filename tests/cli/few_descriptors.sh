# However few files may be open, a run succeeds or says what is missing; below 4 the program's libraries cannot be loaded.
make_limited() { ulimit -n "$1"; exec "$BURIN" carve --quiet -c "$SRCDIR/conf/burin.conf" -o "out$1" "$SRCDIR/images/sample.E01"; }
for n in 3 4 5 6 8 10 12 32; do
	(make_limited $n) >stdout 2>messages
	code=$?
	((code == 0)) || grep -qE 'Too many open files|Error 24' messages || { echo "$n: exit $code, without a reason:"; cat messages; }
	((code == 0 || code == 3 || code == 2 || code == 127)) || echo "$n: exit $code"
	((n < 32 || code == 0)) || echo "$n open files are not enough"
done
