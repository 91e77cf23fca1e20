// Dialogs for actions: title, fields, and the reason of a refusal. A dialog closes when the action is done.

import { h } from "../page/dom.js";

let numbers = 0;

/** A dialog with a form: `fields` are elements, `action()` returns the action that they describe. */
function dialog(actions, title, verb, fields, action) {
  const id = `dialog-${++numbers}`;
  const why = h("p.why", { role: "alert" });
  const main = h("button.main", { type: "submit" }, verb);
  const origin = actions.page.cluster.mode === "live" ? [h("p.live", {}, `This changes the cluster: ${actions.page.cluster.origin}.`)] : [];
  const form = h("form", { method: "dialog", novalidate: true }, h("h2", { id }, title), ...origin, ...fields, why,
    h("div.buttons", {}, h("button", { type: "button", onclick: () => box.close() }, "Cancel"), main));
  const box = h("dialog", { "aria-labelledby": id }, form);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    main.disabled = true;
    why.textContent = "";
    const done = await actions.do(action(), (sentence) => (why.textContent = sentence));
    main.disabled = false;
    if (done) box.close();
  });
  box.addEventListener("keydown", (event) => event.stopPropagation());
  box.addEventListener("close", () => box.remove());
  document.body.append(box);
  box.showModal();
  return box;
}

/** A labelled field of a form. */
export function field(title, input, hint = "") {
  const id = `field-${++numbers}`;
  input.id = id;
  if (hint) input.setAttribute("aria-describedby", `${id}-hint`);
  return h("div.field", {}, h("label", { for: id }, title), input, hint ? h("span.hint", { id: `${id}-hint` }, hint) : null);
}

function suggestions(values) {
  const id = `list-${++numbers}`;
  return h("datalist", { id }, values.slice(0, 500).map((value) => h("option", { value })));
}

/** A question before an action that is not easily undone. */
export function askDialog(actions, title, text, verb, action, ...more) {
  dialog(actions, title, verb, [h("p", {}, text), ...more], typeof action === "function" ? action : () => action);
}

export function addNodesDialog(actions, like = "") {
  const names = suggestions([...actions.page.cluster.nodes.name].filter(Boolean));
  const likeInput = h("input", { type: "text", value: like, list: names.id, spellcheck: "false", autocomplete: "off" });
  const number = h("input", { type: "number", min: "1", value: "1" });
  const pool = h("input", { type: "text", placeholder: "name=large,nodes=3,cpu=32,memory=128Gi", spellcheck: "false", autocomplete: "off" });
  dialog(actions, "Add nodes", "Add", [
    names,
    field("Like node", likeInput, "with its labels, taints, size, devices and DaemonSet pods"),
    field("How many", number),
    field("Or a pool", pool, "as kubesched up --pool has it: also gpu=8, label=a=b, taint=key=value:NoSchedule, zones=3"),
  ], () => (pool.value.trim() ? { do: "add-nodes", pool: pool.value.trim() } : { do: "add-nodes", like: likeInput.value.trim(), count: Number(number.value) }));
}

/** The workloads that pods have as owners: KIND/NAMESPACE/NAME. */
function workloads(cluster) {
  const found = new Set();
  for (const pod of cluster.podRows()) {
    const [kind, name] = (cluster.owner.get(pod) || "").split("/");
    if (name && !["DaemonSet", "Node"].includes(kind)) found.add(`${kind}/${cluster.namespace.get(pod)}/${name}`);
  }
  return [...found].sort();
}

export function scaleDialog(actions, workload = "", replicas = 1) {
  const known = suggestions(workload ? [] : workloads(actions.page.cluster));
  const name = h("input", { type: "text", value: workload, list: known.id, spellcheck: "false", autocomplete: "off", placeholder: "Deployment/default/web" });
  const number = h("input", { type: "number", min: "0", value: replicas });
  const box = dialog(actions, "Scale a workload", "Scale", [known, field("Workload", name, "KIND/NAMESPACE/NAME"), field("Replicas", number)],
    () => ({ do: "scale", workload: name.value.trim(), replicas: Number(number.value) }));
  if (workload) box.querySelector("input[type=number]").select();
}

export function createDialog(actions) {
  const { templates } = actions.known;
  const text = h("textarea", { rows: "18", spellcheck: "false", wrap: "off" });
  text.value = templates[0]?.yaml ?? "";
  const choice = h("select", {}, templates.map(({ name }) => h("option", {}, name)), h("option", {}, "nothing"));
  choice.addEventListener("change", () => (text.value = templates[choice.selectedIndex]?.yaml ?? ""));
  const namespace = h("input", { type: "text", value: "default", spellcheck: "false", autocomplete: "off" });
  dialog(actions, "Create objects", "Create", [
    field("Begin with", choice),
    field("Namespace", namespace, "of objects that name none"),
    field("YAML", text),
  ], () => ({ do: "create", yaml: text.value, namespace: namespace.value.trim() })).classList.add("wide");
}
