# Lost output must not look like success.
for words in --help --version manual completion "list engines" "list carvers --json"; do
	"$BURIN" $words >/dev/full; echo $?
done
"$BURIN" --version >&-; echo $?
# a reader that went away, before the first byte
mkfifo pipe
exec 3<>pipe 4>pipe 3>&-
( trap '' PIPE; "$BURIN" manual >&4; echo $? >&2 )
