// Output of commands: one line of JSON for programs, aligned columns for people.

import type { CommandContext } from './context.ts';

type Writer = Pick<CommandContext, 'write'>;

export function printJson({ write }: Writer, value: unknown): void {
  write(`${JSON.stringify(value)}\n`);
}

export function printLine({ write }: Writer, line: string): void {
  write(`${line}\n`);
}

/** Prints a table; an empty cell shows a dash. Escapes control characters, because imported names may hold terminal commands. */
export function printTable({ write }: Writer, heads: readonly string[], rows: readonly (readonly string[])[]): void {
  if (rows.length === 0) {
    write('None.\n');
    return;
  }
  const cells = rows.map((row) => row.map((cell) => cell.replace(/\p{Cc}/gu, escaped) || '-'));
  const widths = heads.map((head, column) =>
    cells.reduce((width, row) => Math.max(width, row[column]?.length ?? 0), head.length),
  );
  const lines = [heads.map((head) => head.toUpperCase()), ...cells].map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  write(`${lines.join('\n')}\n`);
}

function escaped(control: string): string {
  return `\\x${control.charCodeAt(0).toString(16).padStart(2, '0')}`;
}

/** Epoch milliseconds → ISO time, `undefined` → `null`. */
export function timeOrNull(atMs: number | undefined): string | null {
  return atMs === undefined ? null : new Date(atMs).toISOString();
}

/** Epoch milliseconds → ISO time to the second, for people. */
export function shortTime(atMs: number | undefined): string {
  return timeOrNull(atMs)?.replace(/\.\d+Z$/, 'Z') ?? '';
}

/** Milliseconds → seconds for people: `0.3 s`, `12 s`. */
export function shortSeconds(ms: number): string {
  const seconds = ms / 1000;
  return `${seconds < 9.95 ? seconds.toFixed(1) : Math.round(seconds)} s`;
}

/** `1 key`, `2 keys`. */
export function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}
