# Several images, one of them bad: the others are done, and the exit code is the highest.
. "$SRCDIR/tests/cli/helpers"
make_rules
mkdir a b
make_records a/disk 3 1000
make_records b/disk 4 1000
make_records disk-2 5 1000
: >empty
try carve -c rec.conf -o out a/disk empty b/disk missing disk-2
for folder in out/*; do
	echo "$folder"
	check_reports "$folder"
done
echo --- from a list, with empty lines and those of another system
printf 'a/disk\r\n\nmissing\nb/disk\n' >list
try carve -c rec.conf -o out2 -i list disk-2
ls out2
echo --- lists that are none
try carve -c rec.conf -o out3 -i no-list
: >nothing
try carve -c rec.conf -o out3 -i nothing
try carve -c rec.conf -o out3 -i .
echo --- a quota in one of them, and a folder that is not empty
try carve -c rec.conf -o out4 --max-files 3 a/disk b/disk
try carve -c rec.conf -o out4 a/disk disk-2
expect_nothing_at out3
