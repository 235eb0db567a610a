// JSON numbers that a double cannot represent, such as 1e400. They are refused, because the upstream could read another value than the
// one that was checked.

import { escapeToken } from './pointer.ts';
import { VIOLATIONS_MAX, type Violation, violationInBody } from './violations.ts';

export interface Overflow {
  /** JSON Pointer of the number. */
  readonly pointer: string;
  readonly isNegative: boolean;
}

/** Returns the numbers in document order, at most one more than are reported. The value's depth must be bounded. */
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
