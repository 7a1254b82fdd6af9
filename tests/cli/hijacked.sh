# An image that takes over the process that parses it gains nothing, and costs its list of volumes: the program is
# burin with a burin-filesystems, and a burin-evidence, that do what the image says (tests/hijacked.c).
hijacked=$(dirname "$BURIN")/tests/hijacked/burin-filesystems
[[ -x $hijacked ]] || { echo "$hijacked is not built"; exit 77; }
readelf -Ws "$BURIN" | grep -qE "__(a|t)san_init" && { echo "a sanitizer has memory limits of its own"; exit 77; }
"$BURIN" list sandbox | grep -q 'not ' && { echo "this machine can't confine a process wholly"; exit 77; }
cp "$BURIN" "$(dirname "$BURIN")/burin-carver" "$hijacked" "${hijacked%/*}/burin-evidence" .
. "$SRCDIR/tests/cli/helpers"
make_rules

image() # LINE [SIZE]
{
	printf '%s\n' "$1" >image
	truncate -s "${2:-4096}" image
}
carve() # OPTION...
{
	rm -rf out
	./burin carve "$@" -c rec.conf -o out image; echo "exit $?"
}
echo evidence >disk
image "try $PWD/disk"
stat -c '%a %s %Y %Z' disk image >before
carve
stat -c '%a %s %Y %Z' disk image | cmp before - && ls disk*
"$SRCDIR/tests/cli/check_reports" out image
# On a kernel without Landlock, too.
rm -rf out
without_landlock ./burin carve -c rec.conf -o out image; echo "exit $?"
stat -c '%a %s %Y %Z' disk image | cmp before - && ls disk*
# So that this shows something: without confinement most of it works.
carve --sandbox=off
# It spares all but files, or a mistake here would change devices.
mkdir folder
image "try $PWD/folder"
carve --sandbox=off
for line in volumes crash hang spin eat; do
	echo "$line"
	image "$line"
	carve
done
# So many that moving them for each other would take hours.
echo falling
image falling 4M
carve
# Nothing waits for one that lifts its own limits.
for line in sleep trickle deaf "spin on"; do
	echo "$line"
	image "$line" 2M
	carve
done
for line in open read; do
	echo "$line"
	image "$line"
	rm -rf out
	./burin carve -c rec.conf -o out image::shadow@0/1; echo "exit $?"
done
# An interrupt does not wait for its minute of processor time.
echo busy
image busy
rm -rf out
./burin carve -c rec.conf -o out image::shadow@0/1 &
is_working() # its child has used 200 ms
{
	local child
	for child in /proc/[0-9]*/stat; do
		read -ra stat <"$child" && ((stat[3] == $1 && stat[13] > 20)) && return
	done 2>/dev/null
	return 1
}
until is_working $!; do sleep 0.05; done
kill -INT $!
wait $!; echo "exit $?"
