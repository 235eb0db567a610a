// What a gateway that runs cannot change about itself: a reload that asks for it is refused as a whole, so that nothing is half in force.

import { isDeepStrictEqual } from 'node:util';
import type { Mistake } from '../config-errors.ts';
import type { Config } from './load.ts';

/** Keys of gateway.yaml that listeners, callers in memory and signed assertions were made with. */
const fixedKeys = [
  ['publicUrl'],
  ['limits', 'headerBytesMax'],
  ['limits', 'urlBytesMax'],
  ['timeouts'],
  ['keys'],
  ['operatorScopes'],
  ['issuers'],
  ['hosts'],
  ['tls'],
  ['tracing'],
] as const;

/** One mistake for each such key that is not what it was. */
export function fixedMistakes(running: Config, next: Config): Mistake[] {
  return fixedKeys
    .filter((path) => !isDeepStrictEqual(at(running.gateway, path), at(next.gateway, path)))
    .map((path) => {
      const reason = 'this cannot change while the gateway runs.';
      return next.sources.gateway.mistakeAtKey(path, reason, 'Put it back, or start the gateway again.');
    });
}

function at(value: unknown, path: readonly string[]): unknown {
  return path.reduce((inside, name) => (inside as Record<string, unknown>)[name], value);
}
