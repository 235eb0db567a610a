// Shows the last change of the files if it is not in force, because it was refused, or waits for a restart.

import { element, signed } from './elements.js';
import { moment } from './format.js';

export function lastReload({ at, needs_restart: needsRestart }) {
  return needsRestart
    ? signed('warn', `waiting for a restart since ${moment(at)}`)
    : signed('bad', `refused at ${moment(at)}`);
}

/** Returns the mistakes of the change, or the settings that wait for a restart, with a heading; empty if there are none. */
export function mistakesOf(failure) {
  const mistakes = (failure?.mistakes ?? []).map((mistake) => element('li', {}, mistake));
  if (mistakes.length === 0) return [];
  return [
    element('h3', {}, failure.needs_restart ? 'Changes' : 'Mistakes'),
    element('ol', { class: 'mistakes' }, ...mistakes),
  ];
}
