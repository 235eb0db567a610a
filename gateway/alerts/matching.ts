// Matches ids of causes against patterns, and times against windows of silence. Pure.

import type { QuietWindow } from './settings.ts';

/** Whether an id matches a pattern, in which `*` stands for any text. The time is proportional to the product of the lengths. */
export function matchesPattern(pattern: string, id: string): boolean {
  const [first = '', ...others] = pattern.split('*');
  if (others.length === 0) return pattern === id;
  const last = others.pop() ?? '';
  if (!id.startsWith(first) || id.length < first.length + last.length || !id.endsWith(last)) return false;
  const end = id.length - last.length;
  let at = first.length;
  for (const part of others) {
    const found = id.indexOf(part, at);
    if (found === -1 || found + part.length > end) return false;
    at = found + part.length;
  }
  return true;
}

const DAYS: readonly string[] = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] satisfies QuietWindow['days'];

export function isInWindow({ days, from, to, timeZone }: QuietWindow, nowMs: number): boolean {
  const { day, time } = localTime(nowMs, timeZone);
  const began = (daysAgo: number) => days.some((one) => one === DAYS[(day + 7 - daysAgo) % 7]);
  if (from < to) return began(0) && time >= from && time < to;
  return (began(0) && time >= from) || (began(1) && time < to);
}

function localTime(nowMs: number, timeZone: string): { readonly day: number; readonly time: string } {
  const parts = new Intl.DateTimeFormat('en-GB', {
    timeZone,
    weekday: 'short',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  }).formatToParts(nowMs);
  const partOf = (type: string) => parts.find((part) => part.type === type)?.value ?? '';
  return { day: DAYS.indexOf(partOf('weekday').toLowerCase()), time: `${partOf('hour')}:${partOf('minute')}` };
}
