// Numbers that JSON can write and a double cannot hold, such as 1e400: what was checked would not be what the upstream reads.

import { escapeToken } from './pointer.ts';
import { VIOLATIONS_MAX, type Violation, violationInBody } from './violations.ts';

export interface Overflow {
  /** JSON Pointer of the number. */
  readonly pointer: string;
  readonly isNegative: boolean;
}

/** Where they are in a value, in the order of the text; no more than one beyond what is ever told. Its depth must be bounded. */
export function overflowsIn(value: unknown, pointer = '', found: Overflow[] = []): Overflow[] {
  if (found.length > VIOLATIONS_MAX) return found;
  if (typeof value === 'number' && !Number.isFinite(value)) found.push({ pointer, isNegative: value < 0 });
  if (typeof value !== 'object' || value === null) return found;
  for (const [name, below] of Object.entries(value)) overflowsIn(below, `${pointer}/${escapeToken(name)}`, found);
  return found;
}

export function toOverflowViolation({ pointer, isNegative }: Overflow): Violation {
  const code = isNegative ? 'too_small' : 'too_large';
  return violationInBody(pointer, { code, message: 'Must be a number of 64 bits.' });
}
