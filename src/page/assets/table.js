/* The table of files. */
burin.columns = [
	{ key: "", label: "", class: "c-pick" },
	{ key: "path", label: "Path", class: "c-path" },
	{ key: "type", label: "Type", class: "c-type" },
	{ key: "length", label: "Size", class: "c-size" },
	{ key: "status", label: "Status", class: "c-status" },
	{ key: "offset", label: "Offset", class: "c-offset" },
	{ key: "time", label: "Date", class: "c-time", says: "The date inside the file" },
	{ key: "original", label: "Original path", class: "c-original", says: "The file of the image's file system that it begins in" },
	{ key: "title", label: "Title", class: "c-title" },
	{ key: "space", label: "Space", class: "c-space", says: "Whether a file system of the image uses its bytes" },
	{ key: "copies", label: "Copies", class: "c-copies", says: "How many files here have the same bytes" },
	{ key: "hash", label: "Hash", class: "c-hash" }
];
burin.spaceWords = ["", "in use", "free", "partly", "slack"];

burin.cells = function (index) {
	const rows = burin.rows, hash = rows.hash[index];

	return ["", rows.path[index], burin.types[rows.type[index]].name, burin.size(rows.length[index]),
		burin.statuses[rows.status[index]], burin.count(rows.offset[index]),
		isNaN(rows.time[index]) ? "" : burin.time(rows.time[index]).slice(0, 16),
		rows.line[index].split("\t")[15], rows.line[index].split("\t")[16], burin.spaceWords[rows.space[index]],
		rows.copies[index] > 1 ? burin.count(rows.copies[index]) : "", hash.slice(0, 12)];
};

burin.makeRow = function () {
	const row = burin.make("div", { class: "row", role: "row" });

	for (const column of burin.columns)
		row.append(burin.make("span", { class: column.class, role: "gridcell" }));
	row.firstChild.append(burin.make("input", { type: "checkbox", tabindex: "-1" }));
	row.children[2].append(burin.make("i", { class: "dot" }), burin.make("span"));
	return row;
};

burin.fillRow = function (row, at) {
	const index = burin.view[at], cells = burin.cells(index), rows = burin.rows;

	for (let i = 1; i < cells.length; i++)
		(i === 2 ? row.children[i].lastChild : row.children[i]).textContent = cells[i];
	row.children[1].title = cells[1];
	row.children[7].title = cells[7];
	row.children[2].firstChild.style.background = burin.colour(rows.type[index]);
	row.children[4].dataset.status = cells[4];
	row.children[4].title = rows.line[index].split("\t")[burin.fields.indexOf("reason")];
	row.firstChild.firstChild.checked = burin.picked[index];
	row.firstChild.firstChild.setAttribute("aria-label", "Select " + cells[1]);
	row.setAttribute("aria-selected", burin.picked[index] ? "true" : "false");
	row.classList.toggle("alert", rows.alert[index] === 1);
	row.classList.toggle("known", rows.known[index] === 1);
	row.classList.toggle("odd", at % 2 === 1);
};

burin.makeHead = function () {
	const head = burin.make("div", { class: "row head", role: "row" });

	burin.heads = burin.columns.map(function (column) {
		const cell = burin.make("span", { class: column.class, role: "columnheader" });

		cell.title = column.says || "";
		if (column.key)
			cell.append(burin.button(column.label, function () { burin.setSort(column.key); }));
		head.append(cell);
		return cell;
	});
	return head;
};

burin.showSort = function () {
	burin.columns.forEach(function (column, i) {
		if (column.key === burin.sortBy.key)
			burin.heads[i].setAttribute("aria-sort", burin.sortBy.down ? "descending" : "ascending");
		else
			burin.heads[i].removeAttribute("aria-sort");
	});
};

burin.clickRow = function (list, event) {
	const row = event.target.closest(".row");
	const at = row ? +row.dataset.index : NaN, before = list.cursor;

	if (isNaN(at))
		return;
	list.show(at);
	if (event.shiftKey)
		burin.pickRange(before, at);
	else if (event.target.closest(".c-pick"))
		burin.toggle(burin.view[at]);
	else
		burin.openFile(burin.view[at]);
};

burin.startTable = function () {
	const host = burin.id("p-table"), empty = burin.make("p", { class: "empty" }, "No file matches the filter.");
	let list;

	host.append(burin.makeHead());
	list = burin.list({ host: host, rowHeight: 30, role: "grid", label: "Files",
		count: function () { return burin.view.length; }, make: burin.makeRow, fill: burin.fillRow,
		act: function (at, what, from) { burin.actOnView(list)(at, what, from); } });
	host.append(empty);
	list.area.setAttribute("aria-colcount", burin.columns.length);
	list.area.addEventListener("click", function (event) { burin.clickRow(list, event); });
	burin.lists.table = list;
	burin.on("view", function () {
		empty.hidden = burin.view.length > 0;
		list.area.scrollTop = 0;
		list.cursor = 0;
		list.refresh();
		burin.showSort();
	});
	burin.on("picked", list.refresh);
};

/* What a printed page lists: browsers print only elements, so some of the rows become elements. */
burin.mostPrinted = 2000;

burin.fillPrinted = function () {
	const picked = Array.from(burin.view).filter(function (i) { return burin.picked[i]; });
	const all = picked.length ? picked : Array.from(burin.view), shown = all.slice(0, burin.mostPrinted);
	const body = burin.make("tbody");

	burin.id("run-box").open = burin.id("left-box").open = burin.id("volumes-box").open = true;
	for (const index of shown)
		body.append(burin.make("tr", {}, burin.cells(index).slice(1, 9).concat(burin.rows.hash[index]).map(function (cell) {
			return burin.make("td", {}, cell);
		})));
	burin.id("printed").replaceChildren(
		burin.make("p", {}, (picked.length ? "The selected files" : "The files shown") +
			(all.length > shown.length ? ": the first " + burin.count(shown.length) + " of " + burin.count(all.length) : ": " + burin.count(all.length))),
		burin.make("table", {}, [burin.make("thead", {}, burin.make("tr", {},
			burin.columns.slice(1, 9).concat({ label: "Hash" }).map(function (column) { return burin.make("th", {}, column.label); }))), body]));
};
