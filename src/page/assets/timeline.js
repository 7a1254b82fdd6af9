/* The dates inside the files, as bars that are buttons: a click zooms into a bar. */
burin.steps = [
	{ name: "decade", start: function (d) { return Date.UTC(Math.floor(d.getUTCFullYear() / 10) * 10, 0); },
		next: function (d) { return Date.UTC(d.getUTCFullYear() + 10, 0); }, digits: 4, tail: "s" },
	{ name: "year", start: function (d) { return Date.UTC(d.getUTCFullYear(), 0); },
		next: function (d) { return Date.UTC(d.getUTCFullYear() + 1, 0); }, digits: 4, tail: "" },
	{ name: "month", start: function (d) { return Date.UTC(d.getUTCFullYear(), d.getUTCMonth()); },
		next: function (d) { return Date.UTC(d.getUTCFullYear(), d.getUTCMonth() + 1); }, digits: 7, tail: "" },
	{ name: "day", start: function (d) { return Date.UTC(d.getUTCFullYear(), d.getUTCMonth(), d.getUTCDate()); },
		next: function (d) { return Date.UTC(d.getUTCFullYear(), d.getUTCMonth(), d.getUTCDate() + 1); }, digits: 10, tail: "" }
];
burin.mostBars = 130;

burin.makeBins = function (step, least, most) {
	const bins = [];
	let at = step.start(new Date(least * 1000));

	while (at <= most * 1000 && bins.length <= burin.mostBars) {
		const end = step.next(new Date(at));

		bins.push({ start: at / 1000, end: end / 1000, count: 0,
			label: new Date(at).toISOString().slice(0, step.digits) + step.tail });
		at = end;
	}
	return bins;
};

/* The finest step that does not need too many bars. */
burin.findBins = function () {
	const times = Array.from(burin.view).map(function (i) { return burin.rows.time[i]; })
		.filter(function (time) { return !isNaN(time) && Math.abs(time) < 2e11; }).sort(function (a, b) { return a - b; });
	let bins = [];

	for (const step of times.length ? burin.steps : []) {
		const finer = burin.makeBins(step, times[0], times[times.length - 1]);

		if (bins.length && finer.length > burin.mostBars)
			break;
		bins = finer;
		bins.step = step.name;
	}
	for (const bin of bins)
		bin.count = burin.search(times.length, function (i) { return times[i] >= bin.end; }) -
			burin.search(times.length, function (i) { return times[i] >= bin.start; });
	bins.dated = times.length;
	return bins;
};

burin.drawTimeline = function () {
	const bins = burin.findBins(), most = Math.max.apply(null, bins.map(function (bin) { return bin.count; }).concat(1));
	const bars = burin.make("div", { class: "bars", role: "group", "aria-label": "Files by date" });

	/* Counts are above the bars unless there are so many that they would cover each other. */
	const filled = bins.filter(function (bin) { return bin.count; }).length;

	bins.forEach(function (bin, i) {
		const day = function (time) { return new Date(time * 1000).toISOString().slice(0, 10); };
		const bar = burin.button("", function () {
			burin.id("f-after").value = day(bin.start);
			burin.id("f-before").value = day(bin.end - 1);
			burin.applyFilter();
		}, { "aria-label": bin.label + ": " + burin.files(bin.count), title: bin.label + ": " + burin.files(bin.count) });
		const fill = burin.make("i");

		fill.style.height = bin.count ? Math.max(2, 100 * bin.count / most) + "%" : "0";
		bar.disabled = !bin.count;
		if (bin.count && filled <= 40)
			bar.append(burin.make("b", {}, burin.count(bin.count)));
		bar.append(fill);
		if (i % Math.ceil(bins.length / 12) === 0)
			bar.append(burin.make("span", {}, bin.label));
		bars.append(bar);
	});
	burin.id("p-timeline").replaceChildren(
		burin.make("p", { class: "quiet" }, bins.dated
			? burin.files(bins.dated) + " of those shown have a date inside; a bar is a " + bins.step + ". Choose one to zoom into it."
			: "None of these files has a date inside."), bars);
};

burin.startTimeline = function () {
	burin.on("view", function () {
		if (!burin.id("p-timeline").hidden)
			burin.drawTimeline();
	});
};
