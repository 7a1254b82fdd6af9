#include "scan/gpu_papers.h"

#include "gpu/papers/pfac.h"
#include "gpu/papers/stt.h"

double paper_pfac_lookups(const struct pattern_set *set, const uint8_t *bytes, size_t len)
{
	const struct gpu_text text = { bytes, 0, (uint32_t)len, (uint32_t)len };
	struct gpu_program *program;
	double lookups;

	if (pfac_compile(&program, set, NULL, NULL))
		return 0;
	lookups = (double)pfac_lookups(program, &text);
	pfac_free(program);
	return lookups;
}

int paper_automata_make(
	struct paper_automata *automata, const struct pattern_set *set, unsigned part_count)
{
	struct gpu_tuning tuning = { .parts = part_count };
	struct gpu_program *program;
	struct stt_shape shape;

	if (stt_compile(&program, set, &tuning, NULL))
		return -1;
	stt_shape(program, &shape);
	stt_free(program);
	*automata = (struct paper_automata){ .average_len = shape.average_len,
		.count = shape.part_count,
		.seconds = shape.seconds };
	for (uint32_t i = 0; i < shape.part_count; i++) {
		automata->states += shape.parts[i].state_count;
		automata->len += (double)shape.parts[i].len;
		automata->part_states[i] = shape.parts[i].state_count;
	}
	return 0;
}
