// The last change of the files that is not in force: refused, or waiting for a restart.

import { element, state } from './elements.js';
import { moment } from './format.js';

export function lastReload({ at, needs_restart: needsRestart }) {
  return needsRestart
    ? state('warn', `waiting for a restart since ${moment(at)}`)
    : state('bad', `refused at ${moment(at)}`);
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
