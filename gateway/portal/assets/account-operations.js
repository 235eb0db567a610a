// Finds the names by which readers know operations. The index of the search contains the title and the page of each.

import { element } from './page-tools.js';

let known = new Map();

/** Without the index, operations are called by their ids. */
export async function loadOperations() {
  if (known.size > 0) return;
  const entries = await fetch('/docs/search.json')
    .then((answer) => answer.json())
    .then((index) => index.entries)
    .catch(() => []);
  const operations = entries.filter(([kind]) => kind === 'Operation');
  known = new Map(operations.map(([, title, path, line, words]) => [words.split(' ', 1)[0], { title, path, line }]));
}

export function titleOf(id) {
  return known.get(id)?.title ?? String(id);
}

/** The title as a link to the page of the operation, where there is one. */
export function operationLink(id) {
  const found = known.get(id);
  return found === undefined ? String(id) : element('a', { href: found.path }, found.title);
}

/** Whether the operation is about the account: it is under `/gateway/v1`, like the operations that this page calls. */
export function isOfAccount(id) {
  return / \/gateway\/v1\//.test(known.get(id)?.line ?? '');
}
