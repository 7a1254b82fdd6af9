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
def syllables(size):
    text = bytearray()
    while len(text) < size:
        text += rng.choice(b"bcdfghklmnprst").to_bytes(1, "little") + rng.choice(b"aeiou").to_bytes(1, "little")
        if rng.randrange(5) == 0:
            text += b" "
    return bytes(text)
noise(8)
for packed, cuts, order in (
    (bz2.compress(syllables(150000)), [3, 7], [0, 2, 1]),
    (gzip.compress(syllables(120000), mtime=0), [4, 9], [2, 0, 1]),
    (bz2.compress(syllables(200000)), [5, 11], [1, 0, 2]),
):
    plant(packed, cuts, order)
    noise(40)
PY
carve_image out --fragments=search
check_reports out image
show_files out
