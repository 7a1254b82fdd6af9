# The man page renders without warnings and contains all options.
command -v groff >/dev/null || { echo "groff is not installed"; exit 77; }
"$BURIN" manual >burin.1; echo $?
groff -ww -man -Tutf8 -P-c burin.1 2>&1 >text | head
sed -e 's/\x1b\[[0-9;]*m//g' -e 's/.\x08//g' text | tr -s ' \n' ' ' >plain
for section in NAME SYNOPSIS DESCRIPTION COMMANDS EXAMPLES RULES 'EXIT STATUS' FILES ENVIRONMENT; do
	grep -q " $section " plain || echo "no section $section"
done
for command in carve extract verify "conf check" "conf convert" list; do
	"$BURIN" $command --help | sed -n 's/^  .*[ ]--\([a-z][a-z-]*\).*/--\1/p'
done | sort -u >options
(($(wc -l <options) > 30)) || cat options
while read -r option; do
	grep -qF -- "$option" plain || echo "$option is not in the manual"
done <options
# its example of rules is one
sed -n '/^types = (/,/^);/p' burin.1 >example.conf
"$BURIN" conf check example.conf >/dev/null; echo $?
