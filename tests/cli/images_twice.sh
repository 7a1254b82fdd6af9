# An image that is named twice is carved once, later segments are no images, and what a folder's name does not take is said.
. "$SRCDIR/tests/cli/helpers"
make_rules
make_records disk.dd 2 1000
ln -s disk.dd link.dd
try carve --quiet -c rec.conf -o twice disk.dd ./disk.dd link.dd
ls twice
split -b 1000 -d -a 3 --numeric-suffixes=1 disk.dd part.
mkdir case case/sub
cp disk.dd case/a.dd
cp part.* case
touch case/notes.txt case/disk.vdi
try carve --quiet -c rec.conf -o parts part.*
ls parts
try carve --quiet -c rec.conf -o folder case
ls folder
