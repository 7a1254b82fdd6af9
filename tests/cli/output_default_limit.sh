# Without --max-bytes, at most 4 times the image's size is carved, and at least 1 GiB: 20 headers in an image of 65 MiB
# that each give 64 MiB of it, without footer, would write 1.25 GiB.
. "$SRCDIR/tests/cli/helpers"
echo "types = ( { name = \"big\"; header = \"'BIG!'\"; max_size = \"64M\"; } );" >big.conf
for i in {1..20}; do printf 'BIG!%508s' ''; done >image
truncate -s 65M image
carve()
{
	echo "- $*"
	try carve --dry-run --quiet -c big.conf "$@" image
	[[ $1 == -o ]] && tail -1 "$2/report.jsonl" | grep -o '"files":[0-9]*,"bytes":[0-9]*\|"skipped":{[^}]*}' | uniq
	head -1 "$2/report.jsonl" | grep -o '"max_bytes":[^,]*'
}
carve -o default
carve -o 2G --max-bytes 2G
carve -o unlimited --max-bytes 0
carve -o scalpel --compat scalpel
carve -o scalpel_1G --compat scalpel --max-bytes 1G
carve -o small --max-bytes 64M
carve -o both --max-files-per-type 18
carve -o near --max-files 15
carve -o chunks --chunk-size 1M --threads 3
"$BURIN" conf check big.conf --image image | tail -3
