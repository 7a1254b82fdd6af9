#include "carve/kept_states.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* A state, and the memory for its data, which is used again. */
struct kept_state {
	struct carve_state state;
	void *data;
	size_t capacity;
};

static size_t held_count(const struct kept_states *states)
{
	return states->count < KEPT_STATES_MAX ? (size_t)states->count : KEPT_STATES_MAX;
}

/* The state that was saved as number `number` since states were wanted. */
static struct kept_state *state_at(const struct kept_states *states, uint64_t number)
{
	return &states->items[number % KEPT_STATES_MAX];
}

void kept_states_want(struct kept_states *states, uint64_t spacing)
{
	if (spacing && !states->items)
		states->items = xcalloc(KEPT_STATES_MAX, sizeof(*states->items));
	states->count = 0;
	states->spacing = spacing;
}

void kept_states_add(struct kept_states *states, const struct carve_state *state)
{
	struct kept_state *kept = NULL;

	if (!states->spacing)
		return;
	assert(state->len <= CARVE_STATE_MAX);
	if (states->count)
		kept = state_at(states, states->count - 1);
	if (!kept || state->offset / states->spacing != kept->state.offset / states->spacing)
		kept = state_at(states, states->count++);
	if (kept->capacity < state->len) {
		kept->data = xreallocarray(kept->data, state->len, 1);
		kept->capacity = state->len;
	}
	if (state->len)
		memcpy(kept->data, state->data, state->len);
	kept->state = *state;
	kept->state.data = kept->data;
}

size_t kept_states_take(struct kept_states *states, struct carve_state *to)
{
	size_t count = held_count(states);

	for (size_t i = 0; i < count; i++) {
		struct kept_state *kept = state_at(states, states->count - count + i);

		to[i] = kept->state;
		*kept = (struct kept_state){ 0 };
	}
	states->count = 0;
	return count;
}

const struct carve_state *kept_states_before(const struct kept_states *states, uint64_t offset)
{
	size_t count = held_count(states);

	for (size_t i = 1; i <= count; i++) {
		const struct carve_state *state = &state_at(states, states->count - i)->state;

		if (state->offset <= offset)
			return state;
	}
	return NULL;
}

void kept_states_free(struct kept_states *states)
{
	for (size_t i = 0; states->items && i < KEPT_STATES_MAX; i++)
		free(states->items[i].data);
	free(states->items);
	*states = (struct kept_states){ 0 };
}
