// The configuration as a form: fields, profiles, plugins with weights, extension points and arguments. Each control makes
// one change, which the server makes in the text.

import { h } from "../page/dom.js";

const TITLES = {
  percentageOfNodesToScore: "Percentage of nodes to score",
  parallelism: "Parallelism",
  podInitialBackoffSeconds: "First backoff, seconds",
  podMaxBackoffSeconds: "Longest backoff, seconds",
};

/** Numbers that are not set for every profile. */
export function fieldsView(fields, change) {
  return h("fieldset.configuration-fields", {}, h("legend", {}, "All profiles"), fields.map(({ name, value }) =>
    numberField(TITLES[name] || name, `field ${name}`, value, (number) => change({ do: "field", field: name, value: number }))));
}

function numberField(title, key, value, changed) {
  const input = h("input", { type: "number", step: "1", value: value ?? "", "data-key": key });
  input.addEventListener("change", () => changed(input.value === "" ? null : Number(input.value)));
  return h("label.configuration-field", {}, h("span", {}, title), input);
}

/** One profile: which one is chosen above its plugins. */
export function profileView(form, number, change, choose) {
  const profile = form.profiles[number];
  const select = h("select", { "data-key": "profile", "aria-label": "Profile" }, form.profiles.map((each, index) =>
    h("option", { value: index, selected: index === number }, each.schedulerName)));
  select.addEventListener("change", () => choose(Number(select.value)));
  const name = h("input", { type: "text", value: profile.schedulerName, "data-key": "schedulerName", spellcheck: "false" });
  name.addEventListener("change", () => change({ do: "profile-field", field: "schedulerName", value: name.value }));
  return h("fieldset.configuration-profile", {}, h("legend", {}, "Profile"),
    h("div.configuration-tools", {},
      form.profiles.length > 1 ? select : null,
      h("label.configuration-field", {}, h("span", {}, "Scheduler name"), name),
      h("button", { type: "button", "data-key": "add-profile", onclick: () => change({ do: "add-profile", value: newName(form) }) }, "Add a profile"),
      form.profiles.length > 1 ? h("button", { type: "button", "data-key": "remove-profile", onclick: () => change({ do: "remove-profile" }) }, "Remove it") : null),
    h("table.plugins", {},
      h("caption", {}, `Plugins of ${profile.schedulerName}`),
      h("thead", {}, h("tr", {}, ["On", "Plugin", "Weight"].map((each) => h("th", { scope: "col" }, each)))),
      h("tbody", {}, profile.plugins.map((plugin) => pluginRow(plugin, change)))));
}

function newName(form) {
  const names = new Set(form.profiles.map((each) => each.schedulerName));
  let number = form.profiles.length + 1;
  while (names.has(`scheduler-${number}`)) number++;
  return `scheduler-${number}`;
}

function pluginRow(plugin, change) {
  const { name } = plugin;
  const on = h("input", { type: "checkbox", checked: plugin.enabled, "aria-label": `${name} is enabled`, "data-key": `on ${name}` });
  on.addEventListener("change", () => change({ do: on.checked ? "enable" : "disable", plugin: name }));
  const more = h("details", { "data-key": `more ${name}` }, h("summary", {}, name), pointsView(plugin, change), argumentsView(plugin, change));
  return h("tr", { class: plugin.enabled ? "" : "off" }, h("td", {}, on), h("th", { scope: "row" }, more), h("td", {}, weightView(plugin, change)));
}

/** The weight of a plugin that scores; 0 leaves its scores out. */
function weightView({ name, enabled, weight }, change) {
  if (weight === null) return null;
  const input = h("input", { type: "number", min: "0", step: "1", value: weight, disabled: !enabled, "aria-label": `Weight of ${name}`, "data-key": `weight ${name}` });
  input.addEventListener("change", () => change({ do: "weight", plugin: name, weight: Math.trunc(Number(input.value)) }));
  return input;
}

function pointsView({ name, points }, change) {
  return h("div.points", { role: "group", "aria-label": `Extension points of ${name}` }, points.map((point) => {
    const box = h("input", { type: "checkbox", checked: point.enabled, "data-key": `point ${name} ${point.name}` });
    box.addEventListener("change", () => change({ do: box.checked ? "enable" : "disable", plugin: name, point: point.name }));
    return h("label", {}, box, ` ${point.name}`);
  }));
}

function argumentsView(plugin, change) {
  return plugin.arguments.map((each) => argumentView(plugin.name, each, (value) => change({ do: "argument", plugin: plugin.name, path: each.path, value })));
}

function argumentView(plugin, argument, changed) {
  const key = `argument ${plugin} ${argument.name}`;
  const title = argument.name || "arguments";
  if (argument.kind === "number") return numberField(title, key, argument.value, changed);
  let input;
  if (argument.kind === "boolean") {
    input = h("input", { type: "checkbox", checked: argument.value, "data-key": key });
    input.addEventListener("change", () => changed(input.checked));
  } else if (argument.choices.length) {
    input = h("select", { "data-key": key }, argument.choices.map((each) => h("option", { value: each, selected: each === argument.value }, each)));
    input.addEventListener("change", () => changed(input.value));
  } else if (argument.kind === "text") {
    input = h("input", { type: "text", value: argument.value ?? "", "data-key": key, spellcheck: "false" });
    input.addEventListener("change", () => changed(input.value || null));
  } else {
    input = valueInput(argument.value, key, changed);
  }
  return h("label.configuration-field", {}, h("span", {}, title), input);
}

/** A list or an object, as JSON. */
function valueInput(value, key, changed) {
  const input = h("textarea", { rows: "2", spellcheck: "false", "data-key": key });
  input.value = value === null || value === undefined ? "" : JSON.stringify(value);
  input.addEventListener("change", () => {
    let read = null;
    try {
      read = input.value.trim() ? JSON.parse(input.value) : null;
    } catch (error) {
      input.setCustomValidity(`Not JSON: ${error.message}`);
      input.reportValidity();
      return;
    }
    input.setCustomValidity("");
    changed(read);
  });
  return input;
}
