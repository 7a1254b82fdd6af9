/*
 * A list of any length of which only the rows in view are elements. They are in a window that
 * sticks to the scrolled area: while the browser scrolls ahead of the script, the old rows stay in
 * view for a frame, and there is never a blank. Browsers can't make elements of more than some ten
 * million pixels; longer lists are scrolled in proportion.
 *
 *     burin.list({ host, rowHeight, count, make, fill, label, act })
 *
 * count(): how many rows; make(): an empty row; fill(row, index): puts the content in; act(index,
 * key, event): "open" or "pick"; columns(): how many cells the cursor's up and down skip.
 */
burin.maxHeight = 8e6;
burin.lists = {}; /* by the tabs' names */

burin.list = function (options) {
	const list = Object.assign({ rows: [], cursor: 0, top: 0 }, options);

	list.spacer = burin.make("div", { class: "spacer" });
	list.window = burin.make("div", { class: "window" });
	list.area = burin.make("div", { class: "area", tabindex: "0", role: options.role || "listbox",
		"aria-label": options.label, "aria-multiselectable": "true" }, list.spacer);
	list.spacer.append(list.window);
	options.host.append(list.area);
	list.refresh = function () { burin.refreshList(list); };
	list.show = function (index) { burin.showRow(list, index); };
	list.area.addEventListener("scroll", function () { burin.drawList(list); }, { passive: true });
	list.area.addEventListener("keydown", function (event) { burin.listKey(list, event); });
	new ResizeObserver(list.refresh).observe(list.area);
	return list;
};

burin.perRow = function (list) {
	return list.columns ? list.columns() : 1;
};

/* The number of rows or the content has changed. */
burin.refreshList = function (list) {
	const lines = Math.ceil(list.count() / burin.perRow(list));

	list.full = lines * list.rowHeight;
	list.height = list.area.clientHeight;
	list.cursor = Math.max(0, Math.min(list.cursor, list.count() - 1));
	list.spacer.style.height = Math.max(list.height, Math.min(list.full, burin.maxHeight)) + "px";
	list.window.style.height = list.height + "px";
	list.area.setAttribute("aria-rowcount", lines);
	/* A head above the list keeps its columns above these. */
	list.host.style.setProperty("--scrollbar", list.area.offsetWidth - list.area.clientWidth + "px");
	burin.drawList(list);
};

/* How many pixels of the list one pixel of scrolling moves. */
burin.listScale = function (list) {
	const room = Math.min(list.full, burin.maxHeight) - list.height;

	return list.full > burin.maxHeight && room > 0 ? (list.full - list.height) / room : 1;
};

burin.drawList = function (list) {
	const per = burin.perRow(list), count = list.count();
	const top = list.area.scrollTop * burin.listScale(list);
	const first = Math.floor(top / list.rowHeight);
	const lines = list.height ? Math.ceil(list.height / list.rowHeight) + 1 : 0;

	while (list.rows.length < lines * per) {
		const row = list.make();

		row.id = list.area.parentElement.id + "-" + list.rows.length;
		list.rows.push(row);
		list.window.append(row);
	}
	list.rows.forEach(function (row, i) {
		const index = first * per + i, line = Math.floor(i / per);

		row.hidden = index >= count || line >= lines;
		if (row.hidden)
			return;
		row.style.transform = "translate(" + (i % per) * 100 + "%," +
			(line * list.rowHeight - (top - first * list.rowHeight)) + "px)";
		if (list.columns)
			row.style.width = 100 / per + "%";
		row.dataset.index = index;
		row.setAttribute("aria-rowindex", Math.floor(index / per) + 1);
		row.classList.toggle("cursor", index === list.cursor);
		list.fill(row, index);
		if (index === list.cursor)
			list.area.setAttribute("aria-activedescendant", row.id);
	});
};

/* Puts the cursor on a row and brings it into view. */
burin.showRow = function (list, index) {
	const scale = burin.listScale(list);
	const at = Math.floor(index / burin.perRow(list)) * list.rowHeight;
	const top = list.area.scrollTop * scale;

	list.cursor = Math.max(0, Math.min(index, list.count() - 1));
	if (at < top)
		list.area.scrollTop = at / scale;
	else if (at + list.rowHeight > top + list.height)
		list.area.scrollTop = (at + list.rowHeight - list.height) / scale + (scale > 1 ? 1 : 0);
	burin.drawList(list);
};

burin.listKey = function (list, event) {
	const per = burin.perRow(list);
	const page = Math.max(1, Math.floor(list.height / list.rowHeight) - 1) * per;
	const moves = { ArrowUp: -per, ArrowDown: per, PageUp: -page, PageDown: page,
		Home: -Infinity, End: Infinity };
	const before = list.cursor;

	if (per > 1)
		Object.assign(moves, { ArrowLeft: -1, ArrowRight: 1 });
	if (event.ctrlKey || event.metaKey || event.altKey || !list.count())
		return;
	if (event.key in moves) {
		list.show(Math.max(0, Math.min(list.count() - 1, list.cursor + moves[event.key])));
		if (event.shiftKey && list.act)
			list.act(list.cursor, "range", before);
	} else if (event.key === "Enter" && list.act) {
		list.act(list.cursor, "open");
	} else if (event.key === " " && list.act) {
		list.act(list.cursor, "pick");
	} else {
		return;
	}
	event.preventDefault();
};

/* What a click or a key on a row of the files in view does. */
burin.actOnView = function (list) {
	return function (at, what, from) {
		if (what === "open")
			burin.openFile(burin.view[at]);
		else if (what === "pick")
			burin.toggle(burin.view[at]);
		else if (what === "range")
			burin.pickRange(from, at);
	};
};
