// Prints the output of commands, as one line of JSON for programs, or as aligned columns for people.

import { visibleLine } from '../shared/text.ts';
import type { CommandContext } from './context.ts';
import type { Finding } from './finding.ts';

type Writer = Pick<CommandContext, 'write'>;

export function printJson({ write }: Writer, value: unknown): void {
  write(`${JSON.stringify(value)}\n`);
}

/** Prints one line. Line breaks in text from documents, services and clients are escaped. */
export function printLine({ write }: Writer, line: string): void {
  write(`${visibleLine(line)}\n`);
}

/** Prints several lines. Use it only if text from documents, services and clients contains no line breaks. */
export function printText({ write }: Writer, text: string): void {
  write(`${text}\n`);
}

/** Prints the finding of a check, with its name padded to a width. Line breaks in text from a service are escaped. */
export function printFinding({ write }: Writer, { verdict, check, says, remedy }: Finding, width: number): void {
  const parts = [verdict.padEnd(4), check.padEnd(width), says, remedy].filter(Boolean);
  write(`${visibleLine(parts.join('  '))}\n`);
}

/** Prints a table. An empty cell shows a dash. A name that was imported may contain line breaks, which are also escaped. */
export function printTable({ write }: Writer, heads: readonly string[], rows: readonly (readonly string[])[]): void {
  if (rows.length === 0) {
    write('None.\n');
    return;
  }
  const cells = rows.map((row) => row.map((cell) => visibleLine(cell) || '-'));
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

/** Converts epoch milliseconds to an ISO time, and undefined to null. */
export function timeOrNull(atMs: number | undefined): string | null {
  return atMs === undefined ? null : new Date(atMs).toISOString();
}

/** Converts epoch milliseconds to an ISO time to the second, for people. */
export function shortTime(atMs: number | undefined): string {
  return timeOrNull(atMs)?.replace(/\.\d+Z$/, 'Z') ?? '';
}

/** Converts milliseconds to seconds for people: `0.3 s`, `12 s`. */
export function shortSeconds(ms: number): string {
  const seconds = ms / 1000;
  return `${seconds < 9.95 ? seconds.toFixed(1) : Math.round(seconds)} s`;
}

/** Returns a number with its noun: `1 key`, `2 keys`. */
export function countText(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}
