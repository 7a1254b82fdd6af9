# The traps of Scalpel's grammar.
cat >s.conf <<'CONF'
gif	y	155000000	GIF8trap # in the form of a comment
tif	y	200000	TIFFHEAD\I	ENDTIFF
big	y	10K	BIGBIGBIG
doc	y	5000	DOCDOCDOC	DOCEND	FORWARD_NEXT
typ	y	5000	TYPTYPTYP	REVERSE
longsuffix	y	5000	LONGLONG
wildcard	*
CONF
"$BURIN" conf check s.conf >text; echo $?
sed '/^$/,$d' text
