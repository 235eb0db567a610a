// Explains errors of a YAML parser that a wrong indentation causes. Says which line is wrong, and beside which keys it could stand.

/** An error of the parser. */
export interface ParserError {
  readonly code: string;
  readonly message: string;
  readonly pos: readonly [from: number, to: number];
}

export interface Explanation {
  /** The place of the cause; undefined for the place that the parser reports. */
  readonly offset?: number;
  readonly reason: string;
  readonly remedy: string;
}

/** Messages of the parser about a line that has the indentation of no open block. */
const MISPLACED = /must start at the same column|Sequence item without - indicator/;
const NESTED = /^Nested mappings are not allowed/;

/** A line of the file that is neither empty nor a comment. */
interface Line {
  readonly number: number;
  readonly offset: number;
  readonly text: string;
}

/** A column in which a key of an open block begins; for an item, also the column of its dash. */
interface Level {
  readonly indent: number;
  /** Undefined for a dash. */
  readonly key: string | undefined;
  readonly line: number;
}

/** Explains an error; undefined if it has another cause. */
export function explainIndentation({ message, pos: [from] }: ParserError, text: string): Explanation | undefined {
  const lines = linesOf(text);
  const at = lines.findLastIndex(({ offset }) => offset <= from);
  if (MISPLACED.test(message)) return explainLine(lines, at);
  const line = lines[at];
  if (!NESTED.test(message) || line === undefined) return undefined;
  const rest = line.text.slice(from - line.offset);
  if (/:(\s|$)/.test(rest))
    return { reason: 'the text has a colon with a space after it, as only a key has.', remedy: 'Write it in quotes.' };
  return explainLine(lines, at + 1);
}

function explainLine(lines: readonly Line[], at: number): Explanation | undefined {
  const line = lines[at];
  if (line === undefined) return undefined;
  const indent = indentOf(line.text);
  const open = openLevels(lines.slice(0, at));
  const keys = open.filter((level) => level.key !== undefined && level.indent !== indent);
  const isBelowDash = open.some((level) => level.key === undefined && level.indent === indent);
  const [outer, inner] = [
    isBelowDash ? undefined : keys.find((level) => level.indent < indent),
    keys.findLast((level) => level.indent > indent),
  ];
  const former = formerCause(lines, at, inner ?? outer);
  if (former !== undefined && !isBelowDash) return former;
  const places = [outer, inner].flatMap((level) => level ?? []);
  if (places.length === 0) return undefined;
  const remedy = places.map(adviceFor).join(', or ');
  const reason = isBelowDash
    ? 'the line stands below the dash, not below the key after it.'
    : `the line is indented by ${spaces(indent)}, and ${inner ? 'no key before it is' : 'the value before it is complete'}.`;
  return { offset: line.offset + indent, reason, remedy: `${remedy.charAt(0).toUpperCase()}${remedy.slice(1)}.` };
}

/**
 * Explains a wrong indentation of the key in front, if its lines and those behind the place show that: its indentation is odd, or it is the
 * only line with it, and several lines have the other one.
 */
function formerCause(lines: readonly Line[], at: number, former: Level | undefined): Explanation | undefined {
  const line = lines[at] as Line;
  const cause = lines.find(({ number }) => number === former?.line);
  const [, key] = /^\s*(?:- )?["']?([^"':\s]+)/.exec(line.text) ?? [];
  if (former === undefined || cause === undefined || key === undefined) return undefined;
  const indent = indentOf(line.text);
  const behind = lines.slice(at + 1);
  const end = behind.findIndex(({ text }) => indentOf(text) < indent);
  const alike = behind.slice(0, end === -1 ? undefined : end).filter(({ text }) => indentOf(text) === indent);
  const isSingle = former.indent > indent && lines[at - 1] === cause && indentOf(cause.text) === former.indent;
  const holder = lines[lines.indexOf(cause) - 1];
  const isFirst = holder !== undefined && indentOf(holder.text) < Math.min(indent, former.indent);
  const isOdd = former.indent % 2 === 1 && indent % 2 === 0;
  if (!isFirst || !(isOdd || (isSingle && alike.length > 0))) return undefined;
  return {
    offset: cause.offset + former.indent,
    reason: `the line is indented by ${spaces(former.indent)}, and the line after it by ${spaces(indent)}.`,
    remedy: `Indent it by ${spaces(indent)}, as "${key}" (line ${line.number}).`,
  };
}

function adviceFor({ indent, key, line }: Level): string {
  return `${indent === 0 ? 'do not indent it' : `indent it by ${spaces(indent)}`}, as "${key}" (line ${line})`;
}

/** Returns the levels of the blocks that are open after these lines, the innermost first. */
function openLevels(lines: readonly Line[]): Level[] {
  const open: Level[] = [];
  for (const line of lines.toReversed()) {
    const least = open.at(-1)?.indent ?? Number.POSITIVE_INFINITY;
    if (least === 0) break;
    open.push(...levelsOf(line).filter(({ indent }) => indent < least));
  }
  return open;
}

/** Returns the levels that a line opens, the innermost first. */
function levelsOf({ text, number }: Line): Level[] {
  const levels: Level[] = [];
  let indent = indentOf(text);
  while (/^-(\s|$)/.test(text.slice(indent))) {
    levels.unshift({ indent, key: undefined, line: number });
    indent += 1 + indentOf(text.slice(indent + 1));
  }
  const key = /^["']?([^"'\s].*?)["']?\s*:(\s|$)/.exec(text.slice(indent))?.[1];
  if (key !== undefined) levels.unshift({ indent, key, line: number });
  return levels;
}

function linesOf(text: string): Line[] {
  let offset = 0;
  return text.split('\n').flatMap((line, index) => {
    const made = { number: index + 1, offset, text: line };
    offset += line.length + 1;
    return /^\s*(#|$)/.test(line) ? [] : [made];
  });
}

function indentOf(text: string): number {
  return text.length - text.trimStart().length;
}

function spaces(count: number): string {
  return count === 1 ? '1 space' : `${count} spaces`;
}
