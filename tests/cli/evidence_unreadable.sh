# Evidence that may not be read, an output folder that may not be written: as a user who is not root.
. "$SRCDIR/tests/cli/helpers"
make_rules
make_records image 3 100
cp image secret
chmod 000 secret
mkdir locked
chmod 555 locked
if (($(id -u) == 0)); then
	need_root setpriv --reuid=65534 --regid=65534 --clear-groups true
	chmod 755 .. .
	cp "$BURIN" "$(dirname "$BURIN")/burin-filesystems" "$(dirname "$BURIN")/burin-carver" .
	mv "$(basename "$BURIN")" burin 2>/dev/null
	try() { setpriv --reuid=65534 --regid=65534 --clear-groups ./burin "$@"; echo "exit $?"; }
	# a scratch folder below one that others may not enter, sanitizers that want /proc
	try version >/dev/null 2>&1
	setpriv --reuid=65534 --regid=65534 --clear-groups ./burin version >/dev/null 2>&1 ||
		{ echo "another user can't run it here"; exit 77; }
fi
mkdir here
chmod 777 here
try carve -c rec.conf -o here/out secret
try carve -c rec.conf -o locked image
try carve -c rec.conf -o locked/out image
try carve -c missing.conf -o here/out image
chmod 000 rec.conf
try carve -c rec.conf -o here/out image
ls here
