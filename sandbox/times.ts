// Reads times and dates as clients write them and gives times the one form that is stored: UTC with milliseconds, in
// which the order of the texts is the order of the times.

const TIME = /^(\d{4}-\d{2}-\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,20}))?(?:[Zz]|([+-])(\d{2}):(\d{2}))$/;
const DATE = /^\d{4}-\d{2}-\d{2}$/;
const STORED_LENGTH = '2026-01-01T00:00:00.000Z'.length;

/** The stored form of an RFC 3339 time with any offset, or undefined if it is none. */
export function parseTime(text: string): string | undefined {
  const parts = TIME.exec(text);
  if (!parts) return undefined;
  const [, date = '', hour = '', minute = '', second = '', fraction = '', sign, offsetHour = '0', offsetMinute = '0'] =
    parts;
  if (parseDate(date) === undefined) return undefined;
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 60) return undefined;
  if (Number(offsetHour) > 23 || Number(offsetMinute) > 59) return undefined;

  // A leap second has no place in the time scale of a computer: it becomes the second that follows.
  const leapMs = second === '60' ? 1000 : 0;
  const wholeSecond = second === '60' ? '59' : second;
  const milliseconds = fraction.slice(0, 3).padEnd(3, '0');
  const local = Date.parse(`${date}T${hour}:${minute}:${wholeSecond}.${milliseconds}Z`) + leapMs;
  const offsetMs = (Number(offsetHour) * 60 + Number(offsetMinute)) * 60_000 * (sign === '-' ? -1 : 1);
  const stored = new Date(local - offsetMs).toISOString();
  // An offset can push a time out of the years 0 to 9999: its longer form would break the order of the texts.
  return stored.length === STORED_LENGTH ? stored : undefined;
}

/** The date itself if it is a day of the calendar, or undefined. */
export function parseDate(text: string): string | undefined {
  if (!DATE.test(text)) return undefined;
  const ms = Date.parse(`${text}T00:00:00Z`);
  // Date.parse turns 30 February into 2 March instead of refusing it.
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(text) ? text : undefined;
}

/** The same day of a later month, or that month's last day where it is shorter. In and after the year 10000 it is longer than a date. */
export function addMonths(date: string, months: number): string {
  const start = new Date(`${date}T00:00:00Z`);
  const day = start.getUTCDate();
  const moved = new Date(start);
  moved.setUTCDate(1);
  moved.setUTCMonth(moved.getUTCMonth() + months);
  const lastDay = new Date(moved);
  lastDay.setUTCMonth(lastDay.getUTCMonth() + 1, 0);
  moved.setUTCDate(Math.min(day, lastDay.getUTCDate()));
  return moved.toISOString().slice(0, -'T00:00:00.000Z'.length);
}
