// The placements that differ between two configurations: a table with a row for each pod, and both nodes' scores on
// demand.

import { count } from "../cluster/amounts.js";
import { details, h } from "../page/dom.js";
import { partsOf } from "../panel/links.js";

const FIRST = 100;

export function comparisonView(comparison, on) {
  const { differences } = comparison;
  if (!differences.length) return [h("h2", {}, "Nothing differs"), h("p", {}, comparison.summary)];
  const body = h("tbody", {}, differences.slice(0, FIRST).map((each) => row(each, on)));
  const table = h("table.differences", {},
    h("caption", {}, `${count(differences.length, "placement")} would differ`),
    h("thead", {}, h("tr", {}, ["Pod", "Under the one in force", "Under the edited one", "Scores"].map((each) => h("th", { scope: "col" }, each)))),
    body);
  return [table, more(body, differences, on)].filter(Boolean);
}

/** A button that shows more rows. */
function more(body, differences, on) {
  if (differences.length <= FIRST) return null;
  const button = h("button", { type: "button", onclick: () => {
    const from = body.children.length;
    body.append(...differences.slice(from, from + 10 * FIRST).map((each) => row(each, on)));
    button.hidden = body.children.length === differences.length;
  } }, `Show more of ${count(differences.length, "difference")}`);
  return button;
}

function row(difference, on) {
  const [namespace, name] = partsOf(difference.pod);
  return h("tr", { "data-pod": difference.pod },
    h("th", { scope: "row" }, h("button.link", { type: "button", onclick: () => on.pod(namespace, name) }, difference.pod)),
    placement(difference.firstNode, difference.firstMessage, on),
    placement(difference.secondNode, difference.secondMessage, on),
    h("td", {}, scores(difference)));
}

function placement(node, message, on) {
  if (node) return h("td", { "data-node": node }, h("button.link", { type: "button", onclick: () => on.node(node) }, node));
  return h("td", { "data-node": "", title: message || "" }, message ? details("no node", h("p.message", {}, message)) : "no node");
}

function scores({ firstScores = [], secondScores = [] }) {
  if (!firstScores.length && !secondScores.length) return h("span.message", {}, "follows from places taken before");
  const columns = [...firstScores.map((each) => ({ ...each, under: "in force" })), ...secondScores.map((each) => ({ ...each, under: "edited" }))];
  const plugins = [...new Set(columns.flatMap((each) => Object.keys(each.scores)))];
  const total = columns.map((each) => h("td.figure", {}, each.total === undefined ? "does not fit" : String(each.total)));
  const sums = (nodes) => nodes.map((each) => each.total ?? "–").join(" against ");
  return details(`in force ${sums(firstScores)}; edited ${sums(secondScores)}`,
    h("table", {},
      h("thead", {},
        h("tr", {}, h("th", { scope: "col" }, "Plugin"), columns.map((each) => h("th", { scope: "col" }, `${each.node}, ${each.under}`)))),
      h("tbody", {},
        plugins.map((plugin) => h("tr", {}, h("th", { scope: "row" }, plugin), columns.map((each) => h("td.figure", {}, String(each.scores[plugin] ?? 0))))),
        h("tr.total", {}, h("th", { scope: "row" }, "Sum"), total))));
}
