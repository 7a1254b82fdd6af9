/*
 * Unit tests: what the runner (harness.c) finds in a program and runs, each in a process of its own.
 *
 *     TestSuite(ranges, .init = set_up, .fini = tear_down);
 *     Test(ranges, are_merged) { cr_assert_eq(count, 1, "%u ranges", count); }
 *
 * The names and their meaning are those of Criterion, of which this is a small part: Criterion starts the whole
 * program again for each test, which takes longer than most tests do (15 ms, and 70 with the address sanitizer); a
 * copy of the running process takes 1.
 *
 * cr_expect... notes a failure and goes on, cr_assert... ends the process; both may be in processes that the test
 * starts. Both take a message as printf does, whose format is a literal.
 */
#ifndef BURIN_TESTS_HARNESS_H
#define BURIN_TESTS_HARNESS_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct harness_suite {
	const char *name;
	void (*init)(void); /* before each of its tests, in its process */
	void (*fini)(void); /* after it, but not after a crash */
	unsigned timeout;   /* ends a test that hangs, in seconds */
};

/* What a test leaves open its suite gives. */
struct harness_test {
	const char *suite, *name;
	void (*run)(void);
	void (*init)(void);
	void (*fini)(void);
	unsigned timeout;
	int signal; /* with which it has to end */
};

#define TestSuite(suite_name, ...) \
	static const struct harness_suite suite_name##_suite = { .name = #suite_name, \
		__VA_ARGS__ }; \
	static const struct harness_suite *const suite_name##_suite_at \
		__attribute__((section("harness_suites"), used)) = &suite_name##_suite

#define Test(suite_name, test_name, ...) \
	static void suite_name##_##test_name##_test(void); \
	static const struct harness_test suite_name##_##test_name##_row = { .suite = #suite_name, \
		.name = #test_name, \
		.run = suite_name##_##test_name##_test, \
		__VA_ARGS__ }; \
	static const struct harness_test *const suite_name##_##test_name##_at \
		__attribute__((section("harness_tests"), used)) = &suite_name##_##test_name##_row; \
	static void suite_name##_##test_name##_test(void)

/* Prints where a check failed, what it expected and the message. */
void harness_failed(const char *file, int line, const char *expected, const char *format, ...)
	__attribute__((format(printf, 4, 5), cold));
/* The same, then ends the test. */
_Noreturn void harness_ended(const char *file, int line, const char *expected, const char *format,
	...) __attribute__((format(printf, 4, 5), cold));
/* What the test printed so far, cut to len - 1 bytes. */
void harness_printed(char *text, size_t len);
/* Ends the test, which counts as skipped. */
_Noreturn void harness_skipped(const char *format, ...) __attribute__((format(printf, 1, 2), cold));

/* Messages begin with a space, so that none is empty. */
#define harness_expect(true_, expected, ...) \
	((true_) ? (void)0 : harness_failed(__FILE__, __LINE__, expected, " " __VA_ARGS__))
#define harness_assert(true_, expected, ...) \
	((true_) ? (void)0 : harness_ended(__FILE__, __LINE__, expected, " " __VA_ARGS__))

#define cr_expect(x, ...) harness_expect(x, #x, __VA_ARGS__)
#define cr_expect_not(x, ...) harness_expect(!(x), "!(" #x ")", __VA_ARGS__)
#define cr_expect_null(x, ...) harness_expect((x) == NULL, #x " == NULL", __VA_ARGS__)
#define cr_expect_not_null(x, ...) harness_expect((x) != NULL, #x " != NULL", __VA_ARGS__)
#define cr_expect_eq(a, b, ...) harness_expect((a) == (b), #a " == " #b, __VA_ARGS__)
#define cr_expect_neq(a, b, ...) harness_expect((a) != (b), #a " != " #b, __VA_ARGS__)
#define cr_expect_lt(a, b, ...) harness_expect((a) < (b), #a " < " #b, __VA_ARGS__)
#define cr_expect_leq(a, b, ...) harness_expect((a) <= (b), #a " <= " #b, __VA_ARGS__)
#define cr_expect_gt(a, b, ...) harness_expect((a) > (b), #a " > " #b, __VA_ARGS__)
#define cr_expect_geq(a, b, ...) harness_expect((a) >= (b), #a " >= " #b, __VA_ARGS__)
#define cr_expect_str_eq(a, b, ...) harness_expect(strcmp(a, b) == 0, #a " is " #b, __VA_ARGS__)
#define cr_expect_arr_eq(a, b, len, ...) \
	harness_expect(memcmp(a, b, len) == 0, #a " is " #b, __VA_ARGS__)

#define cr_assert(x, ...) harness_assert(x, #x, __VA_ARGS__)
#define cr_assert_not(x, ...) harness_assert(!(x), "!(" #x ")", __VA_ARGS__)
#define cr_assert_null(x, ...) harness_assert((x) == NULL, #x " == NULL", __VA_ARGS__)
#define cr_assert_not_null(x, ...) harness_assert((x) != NULL, #x " != NULL", __VA_ARGS__)
#define cr_assert_eq(a, b, ...) harness_assert((a) == (b), #a " == " #b, __VA_ARGS__)
#define cr_assert_neq(a, b, ...) harness_assert((a) != (b), #a " != " #b, __VA_ARGS__)
#define cr_assert_lt(a, b, ...) harness_assert((a) < (b), #a " < " #b, __VA_ARGS__)
#define cr_assert_leq(a, b, ...) harness_assert((a) <= (b), #a " <= " #b, __VA_ARGS__)
#define cr_assert_gt(a, b, ...) harness_assert((a) > (b), #a " > " #b, __VA_ARGS__)
#define cr_assert_geq(a, b, ...) harness_assert((a) >= (b), #a " >= " #b, __VA_ARGS__)
#define cr_assert_str_eq(a, b, ...) harness_assert(strcmp(a, b) == 0, #a " is " #b, __VA_ARGS__)
#define cr_assert_arr_eq(a, b, len, ...) \
	harness_assert(memcmp(a, b, len) == 0, #a " is " #b, __VA_ARGS__)
#define cr_assert_float_eq(a, b, most, ...) \
	harness_assert( \
		__builtin_fabs((a) - (b)) <= (most), #a " is " #b " within " #most, __VA_ARGS__)
#define cr_assert_fail(...) harness_assert(false, "not to come here", __VA_ARGS__)

#define cr_skip(...) harness_skipped(__VA_ARGS__)

#endif
