# Paths that are not folders, or folders that burin may not use: exit code 3, and nothing in them changes.
. "$SRCDIR/tests/cli/helpers"
make_rules
make_records image 3 100
carve() { try carve -c rec.conf "$@"; }
mkdir full
echo precious >full/file
echo precious >file
ln -s full link
ln -s nowhere dangling
mkdir hidden
echo precious >hidden/.file
for out in full full/ file file/sub link dangling hidden /dev/null /proc/no/such/folder . ""; do
	carve -o "$out" image
done
cat full/file file hidden/.file
carve image
# an empty one, a new one below new ones, one with a strange name: all fine
mkdir empty
carve --quiet -o empty image
carve --quiet -o new/below//new/ image
name=$'line\nfeed \e[31m \x80\xff "quoted" \\ <&>'
carve -o "$name" image
for out in empty new/below/new "$name"; do
	check_reports "$out" image
	"$BURIN" verify "$out" | head -1
done
