// How far a long piece of work has come, on standard error: on a terminal one line that is rewritten, elsewhere one every ten seconds.

import type { CommandContext } from './context.ts';

/** What takes no longer needs no progress. */
const FIRST_MS = 2000;
const REWRITE_MS = 200;
const LINE_MS = 10_000;

export interface Progress {
  /** So many records are done, which is this fraction of all if that is known. */
  at(count: number, fraction?: number): void;
  /** Leaves the terminal as it was. */
  done(): void;
}

export function createProgress(
  { complain, onTerminal, now }: Pick<CommandContext, 'complain' | 'onTerminal' | 'now'>,
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
      complain(onTerminal ? `\r${line}\x1b[K` : `${line}\n`);
      shownAtMs = nowMs;
      shown = true;
    },
    done() {
      if (shown && onTerminal) complain('\r\x1b[K');
    },
  };
}
