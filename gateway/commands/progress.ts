// Shows the progress of long work on standard error, as one rewritten line on a terminal, or as a line every ten seconds elsewhere.

import type { CommandContext } from './context.ts';

/** Work that takes no longer shows no progress. */
const FIRST_MS = 2000;
const REWRITE_MS = 200;
const LINE_MS = 10_000;

interface Progress {
  /** Shows `count` finished records, and the finished part of all records (0 to 1) if it is known. */
  at(count: number, fraction?: number): void;
  /** Clears the progress line. */
  clear(): void;
}

export function createProgress(
  { complain, rewrite, onTerminal, now }: Pick<CommandContext, 'complain' | 'rewrite' | 'onTerminal' | 'now'>,
  doing: string,
): Progress {
  const startedAtMs = now();
  let shownAtMs = startedAtMs;
  let shown = false;
  return {
    at(count, fraction) {
      const nowMs = now();
      if (nowMs - startedAtMs < FIRST_MS || nowMs - shownAtMs < (onTerminal ? REWRITE_MS : LINE_MS)) return;
      const percent = fraction === undefined ? '' : ` ${Math.floor(fraction * 100)} %,`;
      const rate = Math.round((count * 1000) / (nowMs - startedAtMs));
      const line = `${doing}: ${count} records,${percent} ${rate}/s`;
      if (onTerminal) rewrite(line);
      else complain(`${line}\n`);
      shownAtMs = nowMs;
      shown = true;
    },
    clear() {
      if (shown && onTerminal) rewrite('');
    },
  };
}
