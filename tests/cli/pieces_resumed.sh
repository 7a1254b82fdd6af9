# Stopped after any pass over files in pieces, a run goes on with the next one, and comes to the same files and reports. It is
# stopped as it says which pass comes next; and killed as a checkpoint comes to its place.
. "$SRCDIR/tests/cli/helpers"
. "$SRCDIR/tests/cli/pieces_images"
{ cc -shared -fPIC -o stop.so -x c - <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static void stop_at(const char *text)
{
	const char *stop = getenv("STOP_AT");

	if (stop && strstr(text, stop))
		raise(SIGTERM);
}
static int print(FILE *file, const char *format, va_list args)
{
	char *text;
	int status = vasprintf(&text, format, args);

	stop_at(text);
	fputs(text, file);
	free(text);
	return status;
}
int fprintf(FILE *file, const char *format, ...)
{
	va_list args;
	int status;

	va_start(args, format);
	status = print(file, format, args);
	va_end(args);
	return status;
}
int __fprintf_chk(FILE *file, int flag, const char *format, ...)
{
	va_list args;
	int status;

	va_start(args, format);
	status = print(file, format, args);
	va_end(args);
	return status;
}
int unlinkat(int dir, const char *path, int flags)
{
	int (*real)(int, const char *, int) = (int (*)(int, const char *, int))dlsym(RTLD_NEXT, "unlinkat");

	stop_at(path);
	return real(dir, path, flags);
}
int renameat(int from_dir, const char *from, int to_dir, const char *to)
{
	static int count;
	const char *kill = getenv("KILL_AT");
	int (*real)(int, const char *, int, const char *) = (int (*)(int, const char *, int, const char *))dlsym(RTLD_NEXT, "renameat");
	int status = real(from_dir, from, to_dir, to);

	if (kill && !strcmp(to, ".burin-checkpoint") && ++count == atoi(kill))
		raise(SIGKILL);
	return status;
}
C
} >/dev/null 2>&1 || { echo "there is no C compiler"; exit 77; }
cat >rules.conf <<'RULES'
types = (
  { name = "png"; header = "89 'PNG' 0d 0a 1a 0a"; max_size = "16M"; carver = "png"; },
  { name = "gz"; header = "1f 8b 08"; max_size = "16M"; carver = "gz"; },
  { name = "wav"; header = "'RIFF' ?? ?? ?? ?? 'WAVE'"; max_size = "16M"; carver = "riff"; },
);
RULES
make_pieces 7 <<'PY'
import gzip
words = b" ".join(b"%d of %d" % (rng.randrange(300), rng.randrange(9000)) for _ in range(9000))
first, second, third = (gzip.compress(words[i * 20000:][:60000], mtime=0) for i in range(3))
picture = png(noisy(100), 3000)
noise(2)
plant(first, [2, 4], [0, 2, 1])
plant(picture, [3], [0, 1])
plant(second, [3, 5], [1, 0, 2])
put(third[:2 * C]); put(picture[2 * C:3 * C], 2); put(third[3 * C:])
sound = b"".join(struct.pack("<h", int(9000 * math.sin(i / 40))) for i in range(15000))
plant(b"RIFF" + struct.pack("<I4s4sIHHIIHH4sI", 36 + len(sound), b"WAVE", b"fmt ", 16, 1, 1, 8000, 16000, 2, 16, b"data", len(sound)) + sound, [3], [0, 1])
PY
start() # OUT OPTION...
{
	LD_PRELOAD=$PWD/stop.so "$BURIN" carve --verbose --checkpoint-interval "${@:2}" --fragments=search --fragment-budget 20 \
		--file-systems off -c rules.conf -o "$1" image 2>"$1.log"
}
passes() # LOG: what was to come after each pass
{
	sed -n 's/^burin: files in pieces: \(the next pass is \)\?//p' "$1"
}
resume() # NAME: the run that was stopped
{
	LD_PRELOAD=$PWD/stop.so "$BURIN" carve --verbose --resume stopped 2>resumed.log
	same_results undisturbed stopped || echo "other results: $1"
}
start undisturbed 3600
passes undisturbed.log | tee passes
show_files undisturbed
for way in "--threads 1 --sandbox=off" "--threads 3 --sandbox=auto"; do
	echo "$way"
	while read -r pass; do
		rm -rf stopped
		STOP_AT="files in pieces: the next pass is $pass"$'\n' start stopped 3600 $way
		resume "$pass"
		# Another process may make some more meanwhile, or all.
		left=$(passes resumed.log)
		[ -n "$left" ] || left=$(passes stopped.log | tail -n 1)
		grep -A99 -F -x "$pass" passes | tail -n +2 | tail -n "$(wc -l <<<"$left")" | cmp - <(echo "$left") && echo "goes on with $pass"
	done < <(head -n -1 passes)
	rm -rf stopped
	STOP_AT=_pieces.gz start stopped 3600 $way
	resume "while files are written"
	for number in 3 4 5; do
		rm -rf stopped
		KILL_AT=$number start stopped 0.001 $way 2>/dev/null # where the shell says that it was killed
		[[ ! -e stopped/.burin-checkpoint ]] || resume "killed"
	done
done
exit 0
