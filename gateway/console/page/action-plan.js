// What an action would change, for its dialog.

import { element, factsIn } from './elements.js';
import { count, NONE, withTimes } from './format.js';

/** Whether another instance may have a refusal that this instance does not know. */
export function mayChangeElsewhere({ action, before }) {
  return action === 'retry-upstream' && before.credential !== 'none';
}

export function changes({ before, after }) {
  return JSON.stringify(before) !== JSON.stringify(after);
}

/** Returns a value with its times as people read them. */
const shown = (value) => (value == null ? NONE : withTimes(String(value)));

/** Shows the members before and after the action, the usable keys, and the warning about the last key. */
export function planOf(seen, last) {
  const { before, after, organization, usable_keys: keys } = seen;
  const rows = Object.keys(after).map((name) => [
    name.replaceAll('_', ' '),
    before[name] === after[name]
      ? `stays ${after[name]}`
      : element(
          'span',
          {},
          shown(before[name]),
          element('span', { 'aria-hidden': 'true' }, ' → '),
          element('span', { class: 'hidden' }, ' becomes '),
          element('strong', {}, shown(after[name])),
        ),
  ]);
  if (organization !== null && organization !== seen.target) rows.unshift(['organization', organization]);
  if (keys !== undefined)
    rows.push([
      'usable keys',
      keys.before === keys.after ? count(keys.before) : `${count(keys.before)} now, ${count(keys.after)} afterwards`,
    ]);
  const where = mayChangeElsewhere(seen) ? 'On the instance that answers, nothing' : 'Nothing';
  const nothing = changes(seen) ? [] : [element('p', { class: 'soft' }, `${where} would change.`)];
  return [factsIn(rows, {}), ...last, ...nothing];
}
