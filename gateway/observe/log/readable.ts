// Converts log lines for a person at a terminal. Each line of JSON becomes one short line; `explain` shows the rest.

import { visibleLine } from '../../shared/text.ts';

const LEVELS: Readonly<Record<number, string>> = {
  10: 'trace',
  20: 'debug',
  30: 'info',
  40: 'warn',
  50: 'error',
  60: 'fatal',
};
const RED = 31;
const YELLOW = 33;
const GREEN = 32;
const GREY = 90;

type Line = Readonly<Record<string, unknown>>;

interface ReadableOptions {
  write(text: string): void;
  readonly colours: boolean;
  /** Returns the time of day that is printed for epoch milliseconds. */
  clock?(timeMs: number): string;
}

/**
 * Returns a function that takes lines of JSON in pieces of any size. It writes each complete line in readable form, and other text
 * unchanged.
 */
export function createReadable({ write, colours, clock = timeOfDay }: ReadableOptions): (piece: string) => void {
  const paint = (colour: number, text: string) => (colours ? `\u001b[${colour}m${text}\u001b[0m` : text);
  let rest = '';

  function readable(text: string): string {
    const line = parseLine(text);
    if (line === undefined) return visibleLine(text);
    const time = paint(GREY, clock(Number(line.time)));
    return `${time} ${line.msg === 'exchange' ? exchangeText(line, paint) : otherText(line, paint)}`;
  }

  return function add(piece) {
    const lines = (rest + piece).split('\n');
    rest = lines.pop() as string;
    if (lines.length > 0) write(`${lines.map(readable).join('\n')}\n`);
  };
}

type Paint = (colour: number, text: string) => string;

/** Returns a line such as `200 GET /v1/customers 4.2 ms org_demo req_…`. The line of a refusal also contains its code and stage. */
function exchangeText(line: Line, paint: Paint): string {
  const { status, method, route, tunnel, mcp, path, code, stage, duration_ms, organization, request_id } = line;
  const { upstream_status } = line;
  const colour = Number(status) >= 500 ? RED : Number(status) >= 400 ? YELLOW : GREEN;
  const differs = upstream_status !== undefined && upstream_status !== status;
  const parts = [
    paint(colour, plain(status)),
    plain(method).padEnd(6),
    plain(route ?? tunnel ?? mcp ?? path ?? '-'),
    ...(code === undefined ? [] : [paint(colour, `${plain(code)} at ${plain(stage)}`)]),
    ...(differs ? [`upstream ${plain(upstream_status)}`] : []),
    `${Number(duration_ms).toFixed(1)} ms`,
    ...(organization === undefined ? [] : [plain(organization)]),
    paint(GREY, plain(request_id)),
  ];
  return parts.join(' ');
}

function otherText({ level, time: _, msg, ...members }: Line, paint: Paint): string {
  const name = (LEVELS[Number(level)] ?? 'info').padEnd(5);
  const colour = Number(level) >= 50 ? RED : Number(level) >= 40 ? YELLOW : GREEN;
  const pairs = Object.entries(members).map(
    ([name, value]) => ` ${paint(GREY, `${visibleLine(name)}=`)}${plain(value)}`,
  );
  return `${paint(colour, name)} ${plain(msg)}${pairs.join('')}`;
}

function parseLine(text: string): Line | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Line) : undefined;
  } catch {
    return undefined;
  }
}

function plain(value: unknown): string {
  return visibleLine(typeof value === 'string' ? value : JSON.stringify(value ?? null));
}

function timeOfDay(timeMs: number): string {
  const date = new Date(timeMs);
  const two = (part: number) => String(part).padStart(2, '0');
  const milliseconds = String(date.getMilliseconds()).padStart(3, '0');
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}.${milliseconds}`;
}
