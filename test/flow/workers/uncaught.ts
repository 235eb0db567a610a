// Uncaught exceptions in the real processes of a gateway, and the lines that they leave.

import assert from 'node:assert/strict';
import type { Running } from '../../support/process.ts';

/** Environment of a gateway that throws on SIGWINCH, and rejects on SIGPWR, where nothing catches it. */
export const throwsOnSignals = {
  NODE_OPTIONS: `--import=${new URL('thrown-on-signals.ts', import.meta.url).href}`,
};

type Line = Readonly<Record<string, unknown>> & { readonly err?: { readonly message: string; readonly stack: string } };

/** The log lines of level fatal that were printed so far. Each has a stack. */
export function fatalLinesOf(running: Pick<Running, 'output'>): Line[] {
  const lines = running
    .output()
    .split('\n')
    .filter((line) => line.startsWith('{') && line.endsWith('}'))
    .map((line) => JSON.parse(line) as Line)
    .filter(({ level }) => level === 60);
  for (const { err } of lines) assert.match(err?.stack ?? '', /\n +at /);
  return lines;
}
