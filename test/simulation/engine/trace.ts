// What happened in a simulation, line by line. Its hash tells whether two runs were the same; the text is kept only for a run that is to be
// read.

import { createHash } from 'node:crypto';

export interface Trace {
  note(atMs: number, who: string, what: string): void;
  count(): number;
  hash(): string;
  lines(): readonly string[];
}

/** @param keeps whether the lines are kept */
export function createTrace(keeps: boolean): Trace {
  const digest = createHash('sha256');
  const kept: string[] = [];
  let pending = '';
  let count = 0;
  return {
    note(atMs, who, what) {
      count += 1;
      const line = `${atMs.toFixed(3)} ${who} ${what}\n`;
      pending += line;
      if (pending.length > 65_536) {
        digest.update(pending);
        pending = '';
      }
      if (keeps) kept.push(`${shownTime(atMs)}  ${who.padEnd(12)} ${what}`);
    },
    count: () => count,
    hash: () => digest.copy().update(pending).digest('hex').slice(0, 32),
    lines: () => kept,
  };
}

/** Hours, minutes and seconds since the beginning. */
export function shownTime(ms: number): string {
  const seconds = ms / 1000;
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  return `${parts.map((part) => String(part).padStart(2, '0')).join(':')}:${(seconds % 60).toFixed(3).padStart(6, '0')}`;
}
