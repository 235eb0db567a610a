// Pure: makes the JSON text of members and of durations, for all parts of a log line.

/** Returns `,"name":value` for each defined member. */
export function members<Name extends string>(values: Readonly<Record<Name, unknown>>): string {
  let text = '';
  for (const name in values) {
    const value = values[name];
    if (value !== undefined) text += `,"${name}":${JSON.stringify(value)}`;
  }
  return text;
}

/** `.000` to `.999` */
const THOUSANDTHS = Array.from({ length: 1000 }, (_, part) => `.${String(part).padStart(3, '0')}`);

/** Prints three decimals with integer arithmetic, because printing a fraction costs several times as much. */
export function milliseconds(ms: number): string {
  const micros = Math.round(ms * 1000);
  const whole = Math.floor(micros / 1000);
  return `${whole}${THOUSANDTHS[micros - whole * 1000]}`;
}
