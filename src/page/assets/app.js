/* Starts the modules once all data has arrived; tabs, keys, light and dark. */
burin.tabs = ["table", "gallery", "groups", "timeline", "places"];

burin.openTab = function (name) {
	for (const tab of burin.tabs) {
		burin.id("p-" + tab).hidden = tab !== name;
		burin.id("tab-" + tab).setAttribute("aria-selected", tab === name ? "true" : "false");
		burin.id("tab-" + tab).tabIndex = tab === name ? 0 : -1;
	}
	if (name === "timeline")
		burin.drawTimeline();
	else
		burin.lists[name].refresh();
};

burin.startTabs = function () {
	burin.tabs.forEach(function (name, i) {
		const tab = burin.id("tab-" + name);

		tab.addEventListener("click", function () { burin.openTab(name); });
		tab.addEventListener("keydown", function (event) {
			const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
			const next = burin.tabs[(i + by + burin.tabs.length) % burin.tabs.length];

			if (!by)
				return;
			burin.openTab(next);
			burin.id("tab-" + next).focus();
		});
	});
	burin.openTab("table");
};

burin.keys = {
	"/": function () { burin.id("f-text").focus(); },
	"?": function () { burin.id("help").showModal(); },
	m: function () { burin.id("map").focus(); },
	b: function () { burin.id("blur").click(); }
};
burin.tabs.forEach(function (name, i) {
	burin.keys[i + 1] = function () {
		burin.openTab(name);
		(document.querySelector("#p-" + name + " .area") || burin.id("tab-" + name)).focus();
	};
});

burin.startKeys = function () {
	document.addEventListener("keydown", function (event) {
		const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName) && event.target.type !== "checkbox";

		if (typing || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]"))
			return;
		if (!burin.keys[event.key])
			return;
		burin.keys[event.key]();
		event.preventDefault();
	});
};

burin.startTheme = function () {
	const root = document.documentElement;

	burin.id("theme").addEventListener("click", function () {
		const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;

		root.dataset.theme = dark ? "light" : "dark";
		burin.drawMap();
	});
	matchMedia("(prefers-color-scheme: dark)").addEventListener("change", function () { burin.drawMap(); });
};

burin.start = function () {
	if (!burin.run)
		return; /* the loading note explains it */
	burin.loadRows();
	burin.startSummary();
	burin.startFilter();
	burin.startTable();
	burin.startMap();
	burin.startGallery();
	burin.startGroups();
	burin.startTimeline();
	burin.startPlaces();
	burin.startExport();
	burin.startDetails();
	burin.startTabs();
	burin.startKeys();
	burin.startTheme();
	burin.id("print").addEventListener("click", function () { window.print(); });
	burin.id("help-open").addEventListener("click", function () { burin.id("help").showModal(); });
	window.addEventListener("beforeprint", burin.fillPrinted);
	burin.id("loading").remove();
	burin.applyFilter();
	document.body.dataset.ready = "yes";
};

document.addEventListener("DOMContentLoaded", burin.start);
