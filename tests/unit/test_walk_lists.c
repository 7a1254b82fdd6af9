/* The lists that carvers grow: their limits, what a failure leaves, and the gaps between parts. */
#include "base/ranges.h"
#include "carver_case.h"
#include "carvers/common/stretches.h"
#include "carvers/common/walk.h"

static uint8_t content[4096];

Test(walk_lists, a_list_doubles_its_room_up_to_its_limit)
{
	struct view *view = view_new_memory(content, sizeof(content));
	size_t room = 0, grown = 0, most = 200;
	uint32_t *list = NULL;

	for (size_t count = 0; count < most; count++) {
		size_t before = room;

		list = walk_list_grow(view, list, count, &room, most, sizeof(*list));
		cr_assert_not_null(list);
		cr_assert(room > count && room <= most);
		list[count] = (uint32_t)count;
		grown += room != before;
	}
	cr_expect_eq(grown, 3, "64, 128, 200");
	cr_expect_null(walk_list_grow(view, list, most, &room, most, sizeof(*list)));
	cr_expect_eq(room, most);
	cr_expect(!view_lacked_memory(view), "a limit is no lack of memory");
	for (size_t i = 0; i < most; i++)
		cr_assert_eq(list[i], i);
	free(list);
	view_free(view);
}

Test(walk_lists, a_length_that_no_memory_has_is_refused_and_the_list_kept)
{
	struct view *view = view_new_memory(content, sizeof(content));
	size_t room = 1;
	uint8_t *list = malloc(1);

	list[0] = 7;
	cr_expect_null(walk_list_grow(view, list, 1, &room, SIZE_MAX, SIZE_MAX / 2 + 1),
		"2 * that is 0 bytes, if it is not checked");
	cr_expect(view_lacked_memory(view));
	cr_expect_eq(room, 1);
	cr_expect_eq(list[0], 7);
	free(list);
	view_free(view);
}

Test(walk_lists, what_is_between_parts_is_unverified_in_any_order_and_where_they_overlap)
{
	struct view *view = view_new_memory(content, sizeof(content));
	struct stretches stretches = { 0 };
	const struct ranges *gaps;

	stretches_add(view, &stretches, 4, 900, 1000);
	stretches_add(view, &stretches, 4, 100, 500);
	stretches_add(view, &stretches, 4, 200, 300);
	stretches_add(view, &stretches, 4, 500, 600);
	stretches_add(view, &stretches, 4, 0, 4096);
	cr_assert_eq(stretches.count, 4, "the limit");
	cr_expect_eq(stretches_name_gaps(view, &stretches, 50), 1000);
	gaps = view_unverified_ranges(view);
	cr_assert_eq(gaps->count, 2);
	cr_expect_eq(gaps->items[0].offset, 50);
	cr_expect_eq(gaps->items[0].length, 50);
	cr_expect_eq(gaps->items[1].offset, 600);
	cr_expect_eq(gaps->items[1].length, 300);
	free(stretches.list);
	view_free(view);
}

Test(walk_lists, without_parts_all_from_the_start_on_is_the_callers)
{
	struct view *view = view_new_memory(content, sizeof(content));
	struct stretches none = { 0 };

	cr_expect_eq(stretches_name_gaps(view, &none, 50), 50);
	cr_expect_eq(view_unverified_ranges(view)->count, 0);
	view_free(view);
}
