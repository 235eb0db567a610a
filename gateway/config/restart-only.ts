// Settings of gateway.yaml that cannot change while the gateway runs; wiring/sandbox.ts and wiring/upstream-access.ts check the
// settings of upstreams. A reload that changes one is refused as a whole, so that no configuration is half in force.

import { isDeepStrictEqual } from 'node:util';
import type { Mistake } from '../shared/mistakes.ts';
import type { Config } from './load.ts';

/** Keys of gateway.yaml that listeners, the identity cache, signed assertions and tracing were created with. */
const restartOnlyKeys = [
  ['publicUrl'],
  ['limits', 'headerBytesMax'],
  ['limits', 'urlBytesMax'],
  ['timeouts'],
  ['http'],
  ['keys'],
  ['operatorScopes'],
  ['issuers'],
  ['sessions'],
  ['hosts'],
  ['tls'],
  ['tracing'],
] as const;

/** Returns one mistake for each of these keys that has changed. */
export function restartOnlyMistakes(running: Config, next: Config): Mistake[] {
  return restartOnlyKeys
    .filter((path) => !isDeepStrictEqual(at(running.gateway, path), at(next.gateway, path)))
    .map((path) => {
      const reason = 'this cannot change while the gateway runs.';
      const remedy = 'Put it back, or start the gateway again.';
      return { ...next.sources.gateway.mistakeAtKey(path, reason, remedy), needsRestart: true };
    });
}

function at(value: unknown, path: readonly string[]): unknown {
  return path.reduce((inside, name) => (inside as Record<string, unknown>)[name], value);
}
