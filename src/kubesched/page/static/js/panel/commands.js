// Changes of objects as commands that make them.

/** Text that a shell takes as one word. */
export function quoted(text) {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** The same, bare where a shell takes it as it is: files may have names that no API server allows. */
function word(text) {
  return /^[\w.:/][\w.:/-]*$/.test(text) ? text : quoted(text);
}

/** The command of an ObjectChange: kubectl patch, create or delete. */
export function commandOf({ object, patch, create, delete: gone }) {
  const where = object.namespace ? ` -n ${word(object.namespace)}` : "";
  const group = object.apiVersion.includes("/") ? `.${object.apiVersion.replace(/^(.*)\/(.*)$/, "$2.$1")}` : "";
  const what = `${word(`${object.kind.toLowerCase()}${group}`)} ${word(object.name)}`;
  if (create) return `kubectl create${where} -f - <<'EOF'\n${JSON.stringify(create, null, 2)}\nEOF`;
  if (gone) return `kubectl delete ${what}${where}`;
  return `kubectl patch ${what}${where} --type=json -p ${quoted(JSON.stringify(patch || []))}`;
}
