// Finds the differences between two loads of the configuration, for operators: keys, lines of a file, and keys that cannot change while the
// gateway runs.

import { isDeepStrictEqual } from 'node:util';
import { structuredPatch } from 'diff';
import { isRecord } from '../shared/is-record.ts';
import type { Mistake } from '../shared/mistakes.ts';
import type { Config } from './load.ts';

/** The largest number of changed keys that are listed. Without a bound, the change of a whole file would fill the audit log. */
const CHANGES_MAX = 20;
const VALUE_LENGTH_MAX = 80;

/** Returns lines such as `limits.yaml tiers.standard.requests: 100 → 200`. `–` stands for an absent key. */
export function changedKeys(before: Config, after: Config): string[] {
  const all = (['gateway', 'upstreams', 'limits'] as const).flatMap((name) =>
    differences(`${name}.yaml `, before.sources[name].value, after.sources[name].value),
  );
  const more = all.length - CHANGES_MAX;
  return more > 0 ? [...all.slice(0, CHANGES_MAX), `and ${more} more`] : all;
}

/** Lists are compared as a whole. Compared by index, every entry behind an insertion would seem to be changed. */
function differences(key: string, before: unknown, after: unknown): string[] {
  if (isRecord(before) && isRecord(after)) {
    const prefix = key.endsWith(' ') ? key : `${key}.`;
    const names = new Set([...Object.keys(before), ...Object.keys(after)]);
    return [...names].flatMap((name) => differences(prefix + name, before[name], after[name]));
  }
  const [from, to] = [textOf(before), textOf(after)];
  return JSON.stringify(before) === JSON.stringify(after) ? [] : [`${key.trimEnd()}: ${from} → ${to}`];
}

function textOf(value: unknown): string {
  if (value === undefined || value === null) return '–';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > VALUE_LENGTH_MAX ? `${text.slice(0, VALUE_LENGTH_MAX - 1)}…` : text;
}

/** The largest number of changed lines that are compared, because the time of a comparison grows with the square of this number. */
const CHANGED_LINES_MAX = 600;
const CONTEXT_LINES = 3;

/**
 * Compares two texts line by line.
 *
 * @returns lines that begin with `+`, `-`, a blank, or `@` where lines are left out; undefined if too much differs
 */
export function lineDiff(before: string, after: string): string[] | undefined {
  const options = { context: CONTEXT_LINES, maxEditLength: CHANGED_LINES_MAX };
  const patch = structuredPatch('', '', before, after, undefined, undefined, options);
  return patch?.hunks.flatMap(({ newStart, lines }) => [
    `@ line ${newStart}`,
    ...lines.filter((line) => !line.startsWith('\\')),
  ]);
}

/**
 * Keys of gateway.yaml that cannot change while the gateway runs, because listeners, the identity cache, signed assertions and tracing were
 * created with them. A reload that changes one of them is refused as a whole. wiring/sandbox.ts and wiring/upstream-access.ts check the
 * settings of upstreams.
 */
const RESTART_ONLY_KEYS = [
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
  return RESTART_ONLY_KEYS.filter((path) => !isDeepStrictEqual(at(running.gateway, path), at(next.gateway, path))).map(
    (path) => {
      const reason = 'this cannot change while the gateway runs.';
      const remedy = 'Put it back, or start the gateway again.';
      return { ...next.sources.gateway.mistakeAtKey(path, reason, remedy), needsRestart: true };
    },
  );
}

function at(value: unknown, path: readonly string[]): unknown {
  return path.reduce((inside, name) => (inside as Record<string, unknown>)[name], value);
}
