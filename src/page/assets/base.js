"use strict";
/*
 * The page is a handful of modules in one namespace, each a file. They talk through three events:
 * "view" (other files are shown, or in another order), "picked" (the selection changed) and "map"
 * (the map shows another part). Everything that comes from the evidence is untrusted text: it is
 * put on the page with textContent and attributes alone, never as markup.
 */
var burin = {};

/* ---- events ---- */

burin.listeners = {};

burin.on = function (event, listener) {
	(burin.listeners[event] = burin.listeners[event] || []).push(listener);
};

burin.emit = function (event) {
	(burin.listeners[event] || []).forEach(function (listener) { listener(); });
};

/* ---- elements ---- */

burin.id = function (id) {
	return document.getElementById(id);
};

/* An element with attributes, and children that are elements or texts. */
burin.make = function (name, attributes, children) {
	const element = document.createElement(name);

	for (const key of Object.keys(attributes || {}))
		if (attributes[key] !== null && attributes[key] !== undefined)
			element.setAttribute(key, attributes[key]);
	for (const child of [].concat(children === undefined ? [] : children))
		element.append(typeof child === "object" ? child : burin.clean(String(child)));
	return element;
};

burin.button = function (label, act, attributes) {
	const button = burin.make("button", Object.assign({ type: "button" }, attributes), label);

	button.addEventListener("click", act);
	return button;
};

/* Control characters, and those that change the direction of text or are invisible, could make a
 * name look like another. */
burin.clean = function (text) {
	return text.replace(/[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g, "\ufffd");
};

/* A list of terms and what they mean; rows without a value are left out. */
burin.facts = function (list, rows) {
	list.replaceChildren();
	for (const row of rows) {
		if (row[1] === null || row[1] === undefined || row[1] === "")
			continue;
		list.append(burin.make("dt", {}, row[0]), burin.make("dd", { dir: "auto" }, row[1]));
	}
};

/* ---- numbers ---- */

burin.count = function (number) {
	return number.toLocaleString("en");
};

burin.files = function (number) {
	return burin.count(number) + (number === 1 ? " file" : " files");
};

burin.size = function (bytes) {
	const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
	let unit = 0;

	while (bytes >= 1024 && unit < units.length - 1) {
		bytes /= 1024;
		unit++;
	}
	return (unit && bytes < 100 ? bytes.toFixed(1) : Math.round(bytes)) + " " + units[unit];
};

/* "1.5 MiB (1,572,864 bytes)" */
burin.exactly = function (bytes) {
	return bytes < 1024 ? burin.count(bytes) + " bytes"
		: burin.size(bytes) + " (" + burin.count(bytes) + " bytes)";
};

/* "10K", "0x200", "1.5 MiB" in bytes; NaN if invalid, undefined if empty. */
burin.parseSize = function (text) {
	const bare = text.trim().replace(/,/g, "");
	const match = /^(\d+(?:\.\d+)?)\s*([KMGTP]?)(?:i?B)?$/i.exec(bare);

	if (!bare)
		return undefined;
	if (/^0x[0-9a-f]+$/i.test(bare))
		return parseInt(bare, 16);
	if (!match)
		return NaN;
	return Math.round(match[1] * Math.pow(1024, " KMGTP".indexOf(match[2].toUpperCase() || " ")));
};

/* "2024-05-01" as seconds since 1970; NaN when it is not a day, undefined for nothing. */
burin.parseDay = function (text) {
	if (!text)
		return undefined;
	return /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(text) / 1000 : NaN;
};

/* Seconds since 1970 as "2024-05-01 12:00:00", UTC. */
burin.time = function (seconds) {
	const date = new Date(seconds * 1000);

	return isNaN(date) ? "" : date.toISOString().slice(0, 19).replace("T", " ");
};

/* The first index of 0 .. count for which test holds; it must hold for all later ones, too. */
burin.search = function (count, test) {
	let low = 0, high = count;

	while (low < high) {
		const middle = (low + high) >> 1;

		if (test(middle))
			high = middle;
		else
			low = middle + 1;
	}
	return low;
};
