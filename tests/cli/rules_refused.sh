# Rule files with errors: exit code 2, with file and line; no output folder is created.
. "$SRCDIR/tests/cli/helpers"
make_records image 3 100
bad()
{
	printf '%s\n' "$1" >bad.conf
	try carve -c bad.conf -o out image
}
try carve -c missing.conf -o out image
try carve -c . -o out image
bad ''
bad 'types = ( );'
bad 'types = (
	{ name = "a"; header = "41"; max_size = "1K" }
	{ name = "b"; header = "42"; max_size = "1K"; }
);'
bad 'types = ( { name = "a"; max_size = "1K"; } );'
bad 'types = (
	{ name = "a"; header = "4"; max_size = "1K"; } );'
bad 'types = ( { name = "a"; header = "????"; max_size = "1K"; } );'
bad 'types = ( { name = "a"; header = "/(x/"; max_size = "1K"; } );'
bad 'types = ( { name = "a"; header = "41"; max_size = "huge"; } );'
bad 'types = ( { name = "a"; header = "41"; max_size = "1K"; carver = "no_such"; } );'
bad 'types = ( { name = "a"; header = "41"; max_size = "1K"; colour = "red"; } );'
bad 'types = ( { name = "a"; header = "41"; max_size = "1K"; pair = "sideways"; } );'
bad 'types = ( { name = "../../etc"; header = "41"; max_size = "1K"; } );'
bad $'types = ( { name = "a\x1b[31m"; header = "41"; max_size = "1K"; } );'
bad '@include "missing.conf"'
bad '@include "bad.conf"'
bad $'\x7f\x80\xff'
expect_nothing_at out
bad 'types = (
	{ name = "a"; header = "41"; max_size = 1M; } );'
