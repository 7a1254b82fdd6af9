# Compressed text in pieces whose bytes are not alike: a block of bzip2 decodes to its end whatever its bits are, and deflate for
# kilobytes, but which codes follow which shows within a cluster that another's bytes came.
. "$SRCDIR/tests/cli/helpers"
. "$SRCDIR/tests/cli/pieces_images"
cat >rules.conf <<'RULES'
types = (
  { name = "gz"; header = "1f 8b 08"; max_size = "16M"; carver = "gz"; },
  { name = "bz2"; header = "'BZh'"; max_size = "16M"; carver = "bz2"; },
);
RULES
make_pieces 91 <<'PY'
import bz2, gzip
words = ["".join(rng.choice("bcdfghklmnprst") + rng.choice("aeiou") for _ in range(rng.randint(1, 4))) for _ in range(500)]
def text(count):
    """Words, of which some follow others more often."""
    last, out = 0, []
    for _ in range(count):
        last = (last * 7 + rng.randrange(20)) % 500 if rng.randrange(3) else rng.randrange(500)
        out.append(words[last])
    return " ".join(out).encode()
noise(8)
for packed, cuts, order in (
    (bz2.compress(text(32000)), [3, 6], [0, 2, 1]),
    (gzip.compress(text(40000), mtime=0), [4, 9], [2, 0, 1]),
    (bz2.compress(text(40000)), [3, 7], [1, 0, 2]),
):
    plant(packed, cuts, order)
    noise(40)
PY
carve_image out --fragments=search
check_reports out image
show_files out
