// Stages write the trail for log and metrics. A part keeps the state that it decides by itself. No code can use what it reads of
// `TrailNotes`; this test finds reads that the compiler lets pass, such as a comparison with undefined.

import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { it } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));
/** They read the notes: for log, metrics, traces, use, the console and the records of `explain`. */
const readers = [
  'gateway/exchange/trail.ts',
  'gateway/observe/',
  'gateway/console/',
  'gateway/explain/',
  'gateway/usage/',
  'gateway/commands/explain/',
  'gateway/serving/rehearsal/',
];
/** They make the trail of an exchange, pass it to its readers at the end, or carry its type from one to the other. */
const makers = [
  'gateway/edge/exchanges.ts',
  'gateway/edge/internal-exchanges.ts',
  'gateway/edge/refusal/unreadable.ts',
];

const files = globSync('gateway/**/*.ts', { cwd: root })
  .filter((file) => !readers.some((place) => file.startsWith(place)))
  .sort()
  .map((file) => [file, readFileSync(root + file, 'utf8').replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '')] as const);

/** Members of the trail that a text reads: `trail.name` that is neither assigned nor called, and names destructured from a trail. */
function readsIn(text: string): string[] {
  const direct = text.matchAll(/(?<!\/)\btrail\.(\w+)\b(?!\s*(?:=(?!=)|\())/g);
  const destructured = text.matchAll(/\{([^{}]+)\} = (?:[\w.#]+\.)?trail\b/g);
  // A parameter may take the trail apart as well.
  const nested = text.matchAll(/\btrail: \{([^{}]+)\}(?=[^;]*?\}: )/g);
  const names = [...destructured, ...nested].flatMap(([, list = '']) => list.split(',').map((name) => name.trim()));
  return [...new Set([...[...direct].map(([, name = '']) => name), ...names])].sort();
}

it('no stage and no wiring reads the trail', () => {
  assert.ok(files.length > 300);
  assert.deepEqual(
    files.map(([file, text]) => [file, ...readsIn(text)]).filter(({ length }) => length > 1),
    [],
  );
});

it('only the listener makes trails; every other part sees notes', () => {
  const users = files.filter(([, text]) => /from '[./]*exchange\/trail\.ts'/.test(text)).map(([file]) => file);
  assert.deepEqual(users, makers);
});
