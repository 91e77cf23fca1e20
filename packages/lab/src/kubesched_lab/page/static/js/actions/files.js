// Files: save the scenario, open one, export the cluster. Faults of a file are shown, and the display stays as it is.

import { h } from "../page/dom.js";

export function fileItems(actions) {
  const saved = actions.page.cluster?.mode === "simulation" ? [["Save the scenario", () => save(actions, "/v1/scenario")]] : [];
  return [
    ...saved,
    ["Open a file …", () => open(actions)],
    ["Export as a snapshot", () => save(actions, "/v1/export?as=snapshot")],
    ["Export as manifests", () => save(actions, "/v1/export?as=manifests")],
    ["Export for kube-scheduler-simulator", () => save(actions, "/v1/export?as=simulator")],
  ];
}

/** Download the server's response, under the name that it gives. */
async function save(actions, path) {
  try {
    const answer = await actions.server.open(path);
    const name = /filename="([^"]+)"/.exec(answer.headers.get("Content-Disposition") || "")?.[1] || "kubesched";
    const address = URL.createObjectURL(await answer.blob());
    const link = h("a", { href: address, download: name });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(address), 10_000);
    actions.say(`Saved as ${name}.`, "");
  } catch (error) {
    actions.say(error.status ? error.message : "The page's server does not answer.", "failed");
  }
}

function open(actions) {
  const input = h("input", { type: "file", "aria-label": "A file to open", class: "unseen", tabindex: "-1" });
  input.addEventListener("change", async () => {
    if (input.files.length) await upload(actions, input.files[0]);
    input.remove();
  });
  input.addEventListener("cancel", () => input.remove());
  document.body.append(input);
  input.click();
}

/** Send a file as it is; its name tells its format. */
export async function upload(actions, file) {
  const headers = { "Content-Type": "application/octet-stream" };
  try {
    const answer = await actions.server.open(`/v1/scenario?name=${encodeURIComponent(file.name)}`, undefined, { method: "POST", headers, body: file });
    actions.say((await answer.json()).done, "");
  } catch (error) {
    actions.say(error.status ? error.message : "The page's server does not answer.", "failed");
  }
}
