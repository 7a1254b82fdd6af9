# What can't be written must not pass for written.
for words in --help --version manual completion "list engines" "list carvers --json"; do
	"$BURIN" $words >/dev/full; echo $?
done
"$BURIN" --version >&-; echo $?
# a reader that went away
( trap '' PIPE; "$BURIN" manual; echo $? >&2 ) | true
