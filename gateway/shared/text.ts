// Makes texts shorter, safe for a terminal, or one piece in memory, and writes times and durations.

import { MINUTE_MS } from './durations.ts';

/**
 * Returns the beginning of a text, of at most `charactersMax` characters, cut at a space if there is one. Reads no more of the text.
 */
export function shortTextOf(text: string, charactersMax: number): string {
  const begun = text
    .slice(0, charactersMax + 1)
    .trim()
    .toWellFormed();
  if (text.length <= charactersMax) return begun;
  const cut = begun.slice(0, charactersMax - 1).toWellFormed();
  const space = cut.lastIndexOf(' ');
  return `${cut.slice(0, space > charactersMax / 2 ? space : undefined).trimEnd()}…`;
}

/**
 * Returns the same text in one piece. V8 keeps a joined text as a tree of its pieces, and reads this tree in every text that contains it.
 */
export function flat<Text extends string>(text: Text): Text {
  return Buffer.from(text).toString() as Text;
}

/** Characters that control a terminal, or change the direction of text. In texts of foreign origin they are written as escapes. */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;
const HIDDEN_IN_LINES = /(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** Writes these characters in one line of text as `\u001b`, which is the same text in JSON. */
export function visibleLine(text: string): string {
  return text.replace(HIDDEN, escapeCharacter);
}

/** Escapes control characters, except line breaks and tabs. */
export function visibleLines(text: string): string {
  return text.replace(HIDDEN_IN_LINES, escapeCharacter);
}

/** Returns the escape of a character. A character beyond the first plane has two code units, and JSON escapes code units. */
function escapeCharacter(character: string): string {
  const units = Array.from({ length: character.length }, (_, at) => character.charCodeAt(at));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
}

/** Returns the first names of a list, and the number of the others: `a, b, c and 4 more`. */
export function firstNames(names: readonly string[], max: number): string {
  const more = names.length > max ? ` and ${names.length - max} more` : '';
  return names.slice(0, max).join(', ') + more;
}

/** The user name and password of an address, which end at an @ that does not stand behind a host and a slash, and keys in its query. */
const IN_ADDRESS =
  /(?<=[a-z]:\/\/)(?!(?:\[[\w.:%-]*\]|[\w.-]*)(?::\d+)?\/)[^\s"]+(?=@)|(?<=[?&][\w-]*(?:key|token|secret|pass|password)=)[^&\s"]+/gi;

/** Returns a text whose addresses show no credentials. */
export function withoutCredentials(text: string): string {
  return text.replace(IN_ADDRESS, '…');
}

/** Returns a time of epoch milliseconds in the form of ISO 8601. The value undefined stays undefined. */
export function isoTime(atMs: number): string;
export function isoTime(atMs: number | undefined): string | undefined;
export function isoTime(atMs: number | undefined): string | undefined {
  return atMs === undefined ? undefined : new Date(atMs).toISOString();
}

/** Returns a duration with two or three digits, in the largest suitable unit: `0.42 ms`, `62 ms`, `11.4 s`, `58 min`. */
export function durationText(ms: number): string {
  if (ms < 1) return `${Number(ms.toFixed(2))} ms`;
  if (ms < 10) return `${Number(ms.toFixed(1))} ms`;
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 2 * MINUTE_MS) return `${Number((ms / 1000).toFixed(1))} s`;
  return ms < 120 * MINUTE_MS ? `${Math.round(ms / MINUTE_MS)} min` : `${Number((ms / MINUTE_MS / 60).toFixed(1))} h`;
}

/** Returns the words of a list that is written as text, with spaces between the words. */
export function wordList(...lines: readonly string[]): readonly string[] {
  return lines.flatMap((line) => line.split(' '));
}

export function wordSet(...lines: readonly string[]): ReadonlySet<string> {
  return new Set(wordList(...lines));
}
