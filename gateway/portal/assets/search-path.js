// Finds operations by a path: a template, a part of a template, or a line of a log, such as `GET /v1/jobs/job_123?limit=3`.

const REQUEST =
  /^\s*(?:(get|head|post|put|patch|delete|options|query)\s+)?(?:https?:\/\/[^/\s]+)?([^\s?#]*\/[^\s?#]*)/i;

/** Returns the operations whose path begins with the path in the text, the shortest first; none if the text is not a path. */
export function operationsOn(entries, text) {
  const [, method = '', path] = REQUEST.exec(text) ?? [];
  if (path === undefined) return [];
  const asked = segmentsOf(path.toLowerCase());
  const all = entries
    .filter(({ kind }) => kind === 'Operation' || kind === 'Operators')
    .map((entry) => ({ entry, rest: restOf(entry, asked, path.startsWith('/')) }))
    .filter(({ rest }) => rest >= 0)
    .sort((one, other) => one.rest - other.rest)
    .map(({ entry }) => entry);
  const own = all.filter(({ lowContext }) => lowContext.startsWith(`${method.toLowerCase()} `));
  return own.length > 0 ? own : all;
}

function segmentsOf(path) {
  return path.split('/').filter(Boolean);
}

/** The number of segments by which the operation's path is longer; -1 if the paths differ. A path without its first segments fits, too. */
function restOf({ lowContext }, asked, isWhole) {
  const template = segmentsOf(lowContext.split(' ')[1] ?? '');
  const last = isWhole ? 0 : template.length - asked.length;
  for (let start = 0; start <= last; start += 1)
    if (
      asked.length > 0 &&
      asked.every((segment, index) => fits(segment, template[start + index], index === asked.length - 1))
    )
      return template.length - asked.length;
  return -1;
}

function fits(segment, wanted, isLast) {
  if (wanted === undefined) return false;
  if (wanted.startsWith('{')) return true;
  return isLast ? wanted.startsWith(segment) : wanted === segment;
}
