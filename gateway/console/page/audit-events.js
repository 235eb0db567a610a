// Joins the entries of one change of files, which every process of every instance writes for itself. Pure.

/** Processes that see the same file apply its change within this time. */
const JOINED_MS = 10_000;

/**
 * Returns the changes, newest first, with one row for each change of files. A process writes one entry about a change, so another entry of
 * the same process is about another change.
 */
export function joinChanges(changes) {
  const events = [];
  for (const change of changes) {
    if (change.details.instance === undefined || change.details.version === undefined) {
      events.push({ changes: [change] });
      continue;
    }
    const found = events.findLast((event) => isSame(event, change));
    // What this process wrote later is about a later change, also for the other processes.
    for (const event of events)
      if (event !== found && writersOf(event).includes(writerOf(change))) event.isClosed = true;
    if (found) found.changes.push(change);
    else events.push({ changes: [change] });
  }
  return events.map(({ changes: [first, ...others] }) => {
    if (others.length === 0) return first;
    const names = [first, ...others].map(writerOf);
    return { ...first, details: { ...first.details, instance: processNames(names) } };
  });
}

function isSame({ changes, isClosed }, change) {
  if (isClosed) return false;
  const [first] = changes;
  const isNear = Math.abs(Date.parse(first.at) - Date.parse(change.at)) <= JOINED_MS;
  return isNear && contentOf(first) === contentOf(change) && !changes.map(writerOf).includes(writerOf(change));
}

const writerOf = ({ details }) => details.instance;
const writersOf = ({ changes }) => changes.map(writerOf);

function contentOf({ kind, details: { version, outcome, changes, mistakes } }) {
  return JSON.stringify([kind, version, outcome, changes, mistakes]);
}

/** Returns the names of processes as a text, each instance once: `vm:8481 (workers 1 and 2), vm:8482`. */
function processNames(names) {
  const processes = [...new Set(names)].toSorted().map((name) => /^(.*?)(?:, worker (\d+))?$/.exec(name) ?? ['', name]);
  return [...Map.groupBy(processes, ([, instance]) => instance)]
    .map(([instance, rows]) => {
      const workers = rows.flatMap(([, , worker]) => worker ?? []).toSorted((one, other) => one - other);
      if (workers.length === 0) return instance;
      return workers.length === 1
        ? `${instance} (worker ${workers[0]})`
        : `${instance} (workers ${workers.slice(0, -1).join(', ')} and ${workers.at(-1)})`;
    })
    .join(', ');
}
