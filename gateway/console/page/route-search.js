// Finds operations by a text: by words about the operation, or by a path as clients send it.

export function operationsFor(text, routes) {
  const words = text
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  return routes.filter((row) => {
    const line = [row.method, row.path, row.operation, row.upstream, row.contract, ...row.scopes]
      .join(' ')
      .toLowerCase();
    return words.every((word) => line.includes(word) || isOf(word, row.path));
  });
}

/** Whether a path, with or without a query, fits a template such as `/v1/items/{id}`. */
function isOf(word, template) {
  if (!word.startsWith('/')) return false;
  const [path] = word.split('?');
  const given = path.split('/');
  const parts = template.toLowerCase().split('/');
  return given.length === parts.length && parts.every((part, at) => part === given[at] || isVariable(part, given[at]));
}

/** Whether a part of a template is a variable that fits, such as `{id}` or `{id}.json`. */
function isVariable(part, given) {
  const found = /^([^{]*)\{[^}]*\}([^{]*)$/.exec(part);
  return found !== null && given !== '' && given.startsWith(found[1]) && given.endsWith(found[2]);
}
