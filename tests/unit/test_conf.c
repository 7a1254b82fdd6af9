/* The rule sets that ship in conf/. Runs from the repository's root, as all tests do. */
#include "rules_equal.h"

#include <glob.h>

#include "carvers/carver.h"
#include "rules/forecast.h"

static struct rules *load_conf(const char *path)
{
	struct rules *rules = NULL;
	struct error error = { 0 };

	cr_assert_eq(rules_load(&rules, path, RULES_AUTO, NULL, &error), 0, "%s", error.text);
	return rules;
}

static bool has_type(const struct rules *rules, const char *name)
{
	for (uint32_t i = 0; i < rules->count; i++)
		if (strcmp(rules->rules[i].name, name) == 0)
			return true;
	return false;
}

static unsigned fixed_bits(const struct pattern *pattern)
{
	unsigned bits = 0;

	for (uint32_t i = 0; i < pattern->len; i++)
		bits += (unsigned)__builtin_popcount(pattern->mask[i]);
	return bits;
}

/* Bits that must agree before anything is carved: the weakest header's and the further bytes'. */
static unsigned rule_bits(const struct rules *rules, const struct rule *rule)
{
	unsigned least = UINT32_MAX, more = 0;

	for (uint32_t i = 0; i < rule->header_count; i++) {
		unsigned bits = fixed_bits(&rules->patterns.patterns[rule->headers[i]]);

		least = bits < least ? bits : least;
	}
	for (uint32_t i = 0; i < rule->must_count; i++)
		more += fixed_bits(&rule->musts[i].pattern);
	return least + more;
}

Test(conf, burin_conf_has_its_types)
{
	static const char *const some[] = { "jpeg", "png", "zip", "pdf", "ole", "sqlite", "evtx",
		"registry", "mp4", "wav", "eml", "exe", "elf", "pem", "luks" };
	struct rules *rules = load_conf("conf/burin.conf");
	uint32_t names = 0;

	for (uint32_t i = 0; i < rules->count; i++) {
		bool first = true;

		for (uint32_t k = 0; k < i; k++)
			first &= strcmp(rules->rules[k].name, rules->rules[i].name) != 0;
		names += first;
	}
	cr_assert_geq(names, 150);
	for (size_t i = 0; i < sizeof(some) / sizeof(*some); i++)
		cr_assert(has_type(rules, some[i]), "%s", some[i]);
	assert_round_trip(rules);
	rules_free(rules);
}

/* Beginnings of real files, which programs wrote, from the rule's header on, and the types that have to find them. */
static const struct {
	const char *type, *begin;
} beginnings[] = {
	/* OpenSSL's certificates of version 1, by RSA, on a curve, Ed25519, with a serial number of 20, 6 and 4 bytes */
	{ "der", "308204c1308202a902145d0f0174e5f301fe3a399cc63e881ba601e8f897300d06092a864886f70d0"
		 "1010b05" },
	{ "der", "308201313081d80214083a8a99642c01319550696c4118bf8f0eb68f59300a06082a8648ce3d04030"
		 "2301d31" },
	{ "der", "3081f43081a70214234dd62c27fee76c3f96226c3e936d3e22ed7180300506032b6570301d310f300"
		 "d060355" },
	{ "der", "3082029d308201850206016ead5be792300d06092a864886f70d01010b0500" },
	{ "der", "308201243081cb020400bc614e300a06082a8648ce3d040302301d310f300d" },
	/* requests on curves, an encrypted mail, a key for RSA-PSS */
	{ "der", "3081d3307c020100301d310f300d06035504030c06746573742036310a3008" },
	{ "der", "308201603081c2020100301d310f300d06035504030c06746573742035310a" },
	{ "der", "30820d1606092a864886f70d010703a0820d0730820d030201023181dca181d9" },
	{ "der", "30820120300b06092a864886f70d01010a0382010f003082010a0282010100" },
	{ "der", "30819f300d06092a864886f70d010101050003818d0030818902818100cf9ade" },
	{ "p12", "308006092a864886f70d010703a0803080020100318203f0308201f402010030" },
	{ "der", "302a300506032b6570032100ed4993a81328820e1c4ab5304b9e20997e5cde" },
	{ "key", "302e020100300506032b657004220420c898ed06893415fc344c15521a71660f" },
	{ "key", "307402010104200e09033709a3838b7bc663e4fbbb903fb39f23fb12555b6b" },
	{ "key", "308204ba020100300b06092a864886f70d01010a048204a6308204a20201" },
	/* GnuPG's keys on NIST's and Brainpool's curves */
	{ "gpg", "988d0456eaf3a9010400bdea905ab82b6511b525950d89d050d03d1dd33db2a4" },
	{ "gpg", "9893046b0c35ed13052b8104002304230401de793238c35ccab0be644aac5a7a" },
	{ "gpg", "9478046b0c35f213092b24030302080101070203044da5ea73abe661838ec65c" },
	/* Sequoia's signature, a batch of LevelDB's Python module, libdmg's zlib */
	{ "sig", "c2c07304000108001d05026b0c5b771621048e4a93c4be77a0cb67bff101a9bd" },
	{ "leveldb", "0105000000000000000100000001046b302e30af1d46726565" },
	{ "dmg", "78daecbd0d785bc59530" },
	{ "kdbx", "03d9a29a67fb4bb50400020002100031" },
	/* STL after 76 zeros and blanks */
	{ "stl", "0000000084010000000080bf0000000000000000" },
	{ "stl", "202020208401000000000000000000000000803f" },
	/* Adobe's XMP, Netscape's cards */
	{ "xml", "3c3f787061636b657420626567696e3d22efbbbf222069643d2257354d304d70" },
	{ "vcf", "626567696e3a7663617264200a6e3a4b69657365723b427261646c65790a" },
	/* TGA by GIMP and Pillow with the first row on top, of 16 bits, without bits of alpha */
	{ "tga", "000003000000000000002000c80020000820" },
	{ "tga", "000003000000000000002000c80020001028" },
	{ "tga", "000101000000011800003000300030000820" },
	{ "tga", "000002000000000000003000300030001030" },
	{ "tga", "000002000000000000000000c400c4002000" },
	/* models by Assimp, trimesh, SketchUp, meshio, ezdxf; JPEG XR by jxrlib; fonts by FontForge */
	{ "3ds", "4d4dc61500003d3d50150000ffaf9e00000000a0" },
	{ "ply", "706c790a666f726d61742062696e6172795f6c6974746c65" },
	{ "stl", "536b6574636855702053544c2044432d3330" },
	{ "stl", "736f6c69640a6661636574206e6f726d616c" },
	{ "dxf", "4175746f4341442042696e617279204458460d0a1a000000534543" },
	{ "jxr", "4949bc012000000024c3dd6f034e" },
	{ "ps", "252150532d5472756554797065466f6e740a2525546974" },
	{ "ps", "2521466f6e7454797065312d312e313a2054657374" },
	/* a program by hand that begins with the page's size, FITS by Fortran without columns */
	{ "ps", "25210a3c3c202f5061676553697a65" },
	{ "fits", "53494d504c4520203d205420202020202020202020" },
	/* HAR by mitmproxy, and GeoJSON of little indentation */
	{ "json", "7b0a20202020226c6f67223a207b0a2020202020202020227665" },
	{ "json", "7b0a202274797065223a202246656174757265436f6c6c656374" },
};

Test(conf, beginnings_of_real_files_are_found)
{
	struct rules *rules = load_conf("conf/burin.conf");

	for (size_t i = 0; i < sizeof(beginnings) / sizeof(*beginnings); i++) {
		uint8_t bytes[64];
		size_t len = strlen(beginnings[i].begin) / 2;
		bool found = false;

		for (size_t k = 0; k < len; k++)
			sscanf(beginnings[i].begin + 2 * k, "%2hhx", &bytes[k]);
		for (uint32_t k = 0; k < rules->count; k++) {
			const struct rule *rule = &rules->rules[k];

			for (uint32_t h = 0; h < rule->header_count; h++)
				found |=
					strcmp(rule->name, beginnings[i].type) == 0 &&
					pattern_matches(&rules->patterns.patterns[rule->headers[h]],
						bytes, len);
		}
		cr_expect(found, "%s: %s", beginnings[i].type, beginnings[i].begin);
	}
	rules_free(rules);
}

Test(conf, every_rule_is_specific)
{
	struct rules *rules = load_conf("conf/burin.conf");

	for (uint32_t i = 0; i < rules->count; i++) {
		const struct rule *rule = &rules->rules[i];
		bool guessed = !rule->carver && !rule->length.width && !rule->footer_count;

		/* Two bytes are enough where a carver rejects the rest cheaply: frames of MPEG
		 * audio have no more. */
		cr_expect_geq(rule_bits(rules, rule), rule->carver ? 16 : 36, "%s, line %u",
			rule->name, rule->line);
		/* Files without a detectable end are cut early: that is what a false hit costs. */
		cr_expect(!guessed || rule->max_size <= UINT64_C(64) << 20, "%s, line %u",
			rule->name, rule->line);
		cr_expect(rule->min_size > 0, "%s, line %u", rule->name, rule->line);
		cr_expect(!rule->length.width || rule->min_size > rule->length.at, "%s, line %u",
			rule->name, rule->line);
	}
	rules_free(rules);
}

/* All rules together write less than 64 KiB for each GiB of random data. */
Test(conf, chance_writes_next_to_nothing)
{
	struct rules *rules = load_conf("conf/burin.conf");
	double bytes = 0;

	for (uint32_t i = 0; i < rules->count; i++) {
		struct forecast forecast;

		forecast_rule(rules, i, NULL, 0, &forecast);
		bytes += forecast.bytes;
	}
	cr_assert_lt(bytes, 65536.0);
	rules_free(rules);
}

/* Every topical set is a subset of burin.conf, and together they are all of it. */
Test(conf, topical_sets_cover_burin_conf)
{
	static const char *const sets[] = { "conf/pictures.conf", "conf/documents.conf",
		"conf/archives.conf", "conf/media.conf", "conf/mail.conf", "conf/programs.conf",
		"conf/system.conf" };
	struct rules *all = load_conf("conf/burin.conf");
	bool *seen = calloc(all->count, sizeof(*seen));

	for (size_t s = 0; s < sizeof(sets) / sizeof(*sets); s++) {
		struct rules *set = load_conf(sets[s]);

		cr_expect_lt(set->count, all->count, "%s", sets[s]);
		for (uint32_t i = 0; i < all->count; i++)
			seen[i] |= has_type(set, all->rules[i].name);
		rules_free(set);
	}
	for (uint32_t i = 0; i < all->count; i++)
		cr_expect(seen[i], "%s is in no set", all->rules[i].name);
	free(seen);
	rules_free(all);
}

/* Whether a rule with this carver names the extension. */
static bool is_known_kind(const struct rules *rules, const char *carver, const char *extension)
{
	for (uint32_t i = 0; i < rules->count; i++) {
		const struct rule *rule = &rules->rules[i];

		if (!rule->carver || strcmp(rule->carver->name, carver) != 0)
			continue;
		if (!*extension || strcmp(rule->extension, extension) == 0)
			return true;
		for (uint32_t k = 0; k < rule->kind_count; k++)
			if (strcmp(rule->kinds[k], extension) == 0)
				return true;
	}
	return false;
}

/* What the carvers name in the golden files can be chosen by name. */
Test(conf, kinds_are_what_carvers_find)
{
	struct rules *rules = load_conf("conf/burin.conf"), *text = load_conf("conf/text.conf");
	glob_t found;

	cr_assert_eq(glob("tests/golden/*/*.expected", 0, NULL, &found), 0);
	for (size_t i = 0; i < found.gl_pathc; i++) {
		char carver[64] = "", extension[64], line[4096];
		FILE *file = fopen(found.gl_pathv[i], "r");

		cr_assert_not_null(file);
		sscanf(found.gl_pathv[i], "tests/golden/%63[^/]", carver);
		while (fgets(line, sizeof(line), file))
			if (sscanf(line, "extension %63s", extension) == 1)
				cr_expect(is_known_kind(rules, carver, extension) ||
						  is_known_kind(text, carver, extension),
					"%s: %s", carver, extension);
		fclose(file);
	}
	globfree(&found);
	rules_free(rules);
	rules_free(text);
}

/* The rules that Scalpel 1.60 ships, in Scalpel's own format. */
static const char scalpel_rules[] =
	"art y 150000 \\x4a\\x47\\x04\\x0e \\xcf\\xc7\\xcb\n"
	"art y 150000 \\x4a\\x47\\x03\\x0e \\xd0\\xcb\\x00\\x00\n"
	"gif y 5000000 \\x47\\x49\\x46\\x38\\x37\\x61 \\x00\\x3b\n"
	"gif y 5000000 \\x47\\x49\\x46\\x38\\x39\\x61 \\x00\\x3b\n"
	"jpg y 5242880 \\xff\\xd8\\xff???Exif \\xff\\xd9 REVERSE\n"
	"jpg y 5242880 \\xff\\xd8\\xff???JFIF \\xff\\xd9 REVERSE\n"
	"png y 20000000 \\x50\\x4e\\x47? \\xff\\xfc\\xfd\\xfe\n"
	"bmp y 100000 BM??\\x00\\x00\\x00\n"
	"tif y 200000000 \\x49\\x49\\x2a\\x00\n"
	"tif y 200000000 \\x4D\\x4D\\x00\\x2A\n"
	"avi y 50000000 RIFF????AVI\n"
	"mov y 10000000 ????moov\n"
	"mov y 10000000 ????mdat\n"
	"mov y 10000000 ????widev\n"
	"mov y 10000000 ????skip\n"
	"mov y 10000000 ????free\n"
	"mov y 10000000 ????idsc\n"
	"mov y 10000000 ????pckg\n"
	"mpg y 50000000 \\x00\\x00\\x01\\xba \\x00\\x00\\x01\\xb9\n"
	"mpg y 50000000 \\x00\\x00\\x01\\xb3 \\x00\\x00\\x01\\xb7\n"
	"fws y 4000000 FWS\n"
	"doc y 10000000 \\xd0\\xcf\\x11\\xe0\\xa1\\xb1\\x1a\\xe1\\x00\\x00 "
	"\\xd0\\xcf\\x11\\xe0\\xa1\\xb1\\x1a\\xe1\\x00\\x00 NEXT\n"
	"doc y 10000000 \\xd0\\xcf\\x11\\xe0\\xa1\\xb1\n"
	"pst y 500000000 \\x21\\x42\\x4e\\xa5\\x6f\\xb5\\xa6\n"
	"ost y 500000000 \\x21\\x42\\x44\\x4e\n"
	"dbx y 10000000 \\xcf\\xad\\x12\\xfe\\xc5\\xfd\\x74\\x6f\n"
	"idx y 10000000 \\x4a\\x4d\\x46\\x39\n"
	"mbx y 10000000 \\x4a\\x4d\\x46\\x36\n"
	"wpc y 1000000 ?WPC\n"
	"htm n 50000 <html </html>\n"
	"pdf y 5000000 %PDF %EOF\\x0d REVERSE\n"
	"pdf y 5000000 %PDF %EOF\\x0a REVERSE\n"
	"mail y 500000 \\x41\\x4f\\x4c\\x56\\x4d\n"
	"pgd y 500000 \\x50\\x47\\x50\\x64\\x4d\\x41\\x49\\x4e\\x60\\x01\n"
	"pgp y 100000 \\x99\\x00\n"
	"pgp y 100000 \\x95\\x01\n"
	"pgp y 100000 \\x95\\x00\n"
	"pgp y 100000 \\xa6\\x00\n"
	"txt y 100000 -----BEGIN\\040PGP\n"
	"rpm y 1000000 \\xed\\xab\n"
	"wav y 200000 RIFF????WAVE\n"
	"ra y 1000000 \\x2e\\x72\\x61\\xfd\n"
	"ra y 1000000 .RMF\n"
	"dat y 4000000 regf\n"
	"dat y 4000000 CREG\n"
	"zip y 10000000 PK\\x03\\x04 \\x3c\\xac\n"
	"java y 1000000 \\xca\\xfe\\xba\\xbe\n"
	"max y 1000000 \\x56\\x69\\x47\\x46\\x6b\\x1a\\x00\\x00\\x00\\x00 "
	"\\x00\\x00\\x05\\x80\\x00\\x00\n"
	"pins y 8000 \\x50\\x49\\x4e\\x53\\x20\\x34\\x2e\\x32\\x30\\x0d\n";

static void assert_same_bytes(const struct pattern *a, const struct pattern *b, const char *name)
{
	cr_assert_eq(a->len, b->len, "%s", name);
	cr_assert_eq(memcmp(a->bytes, b->bytes, a->len), 0, "%s", name);
	cr_assert_eq(memcmp(a->mask, b->mask, a->len), 0, "%s", name);
}

Test(conf, scalpel_default_is_what_scalpel_ships)
{
	struct rules *theirs = load_text(scalpel_rules, RULES_SCALPEL);
	struct rules *ours = load_conf("conf/scalpel-default.conf");

	cr_assert_eq(theirs->count, 49);
	cr_assert_eq(ours->count, theirs->count);
	cr_assert_eq(ours->patterns.count, theirs->patterns.count);
	for (uint32_t i = 0; i < ours->patterns.count; i++)
		assert_same_bytes(&ours->patterns.patterns[i], &theirs->patterns.patterns[i],
			theirs->patterns.patterns[i].text);
	for (uint32_t i = 0; i < ours->count; i++)
		assert_same_rule(&ours->rules[i], &theirs->rules[i]);
	rules_free(theirs);
	rules_free(ours);
}
