# The path and the times that the file system gives: in names, in the files' own times, and in every report.
. "$SRCDIR/tests/cli/helpers"
. "$SRCDIR/tests/cli/volume_images"
need_tools xz xmllint

# A file in slack has no time: none of what is known is its own.
times()
{
	(cd "$1" && stat -c '%n %Y' png/* | sed 's/\(slack-of.* \).*/\1/')
}

xz -dc "$SRCDIR/tests/volumes/ntfs.img.xz" >ntfs
try carve --quiet -t png --rename path -o out ntfs
times out
check_reports out ntfs
grep "^png" out/audit.txt | sed 's/.*\t//'
grep -A9 original_fileobject out/report.xml | head -9 | sed 's/20[^<]*Z/TIME/'
"$BURIN" extract --quiet -o again out/report.jsonl ntfs
times again | diff - <(times out)
echo --- without times
touch now
try carve --quiet -t png --no-times -o plain ntfs
find plain/png -type f ! -newer now
echo --- compared with its own DFXML
try compare out/report.jsonl out/report.xml | tail -3
