# Lost output must not look like success.
for words in --help --version manual completion "list engines" "list carvers --json"; do
	"$BURIN" $words >/dev/full; echo $?
done
"$BURIN" --version >&-; echo $?
# a reader that went away
( trap '' PIPE; "$BURIN" manual; echo $? >&2 ) | true
