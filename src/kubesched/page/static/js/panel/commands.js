// Changes of objects as commands that make them.

/** Text that a shell takes as one word. */
export function quoted(text) {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** The command of an ObjectChange: kubectl patch, create or delete. */
export function commandOf({ object, patch, create, delete: gone }) {
  const where = object.namespace ? ` -n ${object.namespace}` : "";
  const group = object.apiVersion.includes("/") ? `.${object.apiVersion.replace(/^(.*)\/(.*)$/, "$2.$1")}` : "";
  const what = `${object.kind.toLowerCase()}${group}`;
  if (create) return `kubectl create${where} -f - <<'EOF'\n${JSON.stringify(create, null, 2)}\nEOF`;
  if (gone) return `kubectl delete ${what} ${object.name}${where}`;
  return `kubectl patch ${what} ${object.name}${where} --type=json -p ${quoted(JSON.stringify(patch || []))}`;
}
