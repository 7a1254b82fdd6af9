# Scalpel's rules are converted to burin's, and converting these again changes nothing.
cat >s.conf <<'CONF'
# a comment
jpg	y	200000	\xff\xd8\xff\xe0\x00\x10	\xff\xd9	REVERSE
txt	n	1000	BEGIN?TEXT	end
doc	y	5000	\xd0\xcf	\xd0\xcf	NEXT
NONE	y	300	quote's\s"and"
CONF
"$BURIN" conf convert s.conf -o burin.conf; echo $?
"$BURIN" conf convert s.conf | cmp - burin.conf
"$BURIN" conf convert burin.conf -o again.conf; echo $?
diff burin.conf again.conf
"$BURIN" conf list s.conf >before; "$BURIN" conf list burin.conf >after
diff before after && cat after
# existing files are never overwritten, and none stays half-written
"$BURIN" conf convert s.conf -o burin.conf; echo $?
"$BURIN" conf convert missing.conf -o new.conf; echo $?
"$BURIN" conf convert s.conf -o missing/new.conf; echo $?
"$BURIN" conf convert s.conf >/dev/full; echo $?
ls
# Foremost's format must be given
printf 'foo y 1000 FOO\nbar y 500 BAR RAB NEXT\n' >f.conf
"$BURIN" conf convert --rules-format foremost f.conf -o from_foremost.conf; echo $?
"$BURIN" conf list from_foremost.conf
