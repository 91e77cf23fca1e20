// "How many of these fit?": for a pod of the cluster, or for a manifest. In: a name or YAML. Out: the answer of /v1/capacity
// in a dialog: the sentence, the largest pods, zones and pools, and what runs out.

import { grouped } from "../cluster/amounts.js";
import { field } from "./dialogs.js";
import { bar, details, h, section } from "../page/dom.js";

const EXAMPLE = `apiVersion: v1
kind: Pod
metadata:
  name: mine
spec:
  containers:
    - name: main
      image: example.com/mine:1
      resources:
        requests: {cpu: "1", memory: 2Gi}
`;

/** Ask in a dialog; without the key of a pod it has a field for YAML. */
export function fitsDialog(server, pod = "") {
  const answer = h("div.answer", { role: "status" });
  const why = h("p.why", { role: "alert" });
  const main = h("button.main", { type: "submit" }, "Count");
  const text = h("textarea", { rows: "12", spellcheck: "false", wrap: "off" });
  text.value = EXAMPLE;
  const form = h("form", { method: "dialog", novalidate: true },
    h("h2", { id: "fits-title" }, pod ? `How many pods like ${pod} fit?` : "How many of these fit?"),
    pod ? null : field("YAML of a Pod, Deployment, StatefulSet, Job or DaemonSet", text), answer, why,
    h("div.buttons", {}, h("button", { type: "button", onclick: () => box.close() }, "Close"), pod ? null : main));
  const box = h("dialog.wide", { "aria-labelledby": "fits-title" }, form);
  const count = async () => {
    main.disabled = true;
    why.textContent = "";
    answer.replaceChildren(h("p", {}, "Counting …"));
    try {
      const { capacity } = await server.post("/v1/capacity", pod ? { pod } : { yaml: text.value });
      answer.replaceChildren(...answerView(capacity));
    } catch (error) {
      answer.replaceChildren();
      why.textContent = error.status ? error.message : "The page's server does not answer.";
    }
    main.disabled = false;
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    count();
  });
  box.addEventListener("keydown", (event) => event.stopPropagation());
  box.addEventListener("close", () => box.remove());
  document.body.append(box);
  box.showModal();
  if (pod) count();
}

function answerView(answer) {
  return [h("p.summary", {}, answer.summary), ...answer.templates.flatMap((part) => templateView(part, answer)), gaps(answer.gaps)].filter(Boolean);
}

function templateView(part, answer) {
  return [
    section("Largest pod like it", part.largest.length ? h("ul.plain", {}, part.largest.map(largest)) : null),
    places("By zone", part.zones),
    places(`By ${answer.poolLabel}`, part.pools),
    section("Why no more fit", part.limits.length
      ? h("ul.plain", {}, part.limits.map((each) => h("li", {}, h("b", {}, grouped(each.nodes)), each.nodes === 1 ? " node: " : " nodes: ", each.reason, each.exhausted ? "" : ", even if empty")))
      : null),
  ];
}

function largest({ grown, requests, node }) {
  const size = Object.entries(requests).map(([resource, value]) => `${value} ${resource}`).join(", ");
  return h("li", {}, grown === "in proportion" ? size : `with more ${grown} alone: ${size}`, ` on ${node}`);
}

function places(title, found) {
  if (!found?.length || (found.length === 1 && !found[0].name)) return null;
  const most = Math.max(1, ...found.map((each) => each.replicas));
  return section(title, h("ul.places", {}, found.map((each) =>
    h("li", {}, h("span.name", {}, each.name || "without it"), bar(each.replicas / most), h("span.figure", {}, grouped(each.replicas)), h("span.nodes", {}, `${grouped(each.nodes)} nodes`)))));
}

function gaps(found) {
  if (!found.length) return null;
  return details("What was assumed", h("ul.plain", {}, found.map((each) => h("li", {}, `${each.what}: ${each.why}; ${each.uncertain}`))));
}
