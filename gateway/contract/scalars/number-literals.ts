// Finds numbers in a JSON text that cannot be checked, such as 1e400 or 1e-400, and numbers that a double cannot represent exactly. They
// are refused, because the upstream could read another value than the gateway has checked.

import { scanJson } from '../../shared/json-scanner.ts';
import { escapeToken } from '../pointer.ts';
import { VIOLATIONS_MAX, type Violation, violationInBody } from '../violations/violations.ts';
import { readNumber } from './exact-numbers.ts';

export interface UncheckableNumber {
  /** JSON Pointer of the number. */
  readonly pointer: string;
  readonly literal: string;
}

/**
 * Returns these numbers in the order of the text, at most one more than are reported. The text is known to be JSON. Its depth must be
 * bounded.
 */
export function uncheckableNumbers(text: string): UncheckableNumber[] {
  const found: UncheckableNumber[] = [];
  /** The place of each object and list around the current value; an index stands for a list. */
  const place: (string | number)[] = [];

  function passItem(): void {
    const last = place.at(-1);
    if (typeof last === 'number') place[place.length - 1] = last + 1;
  }

  scanJson(text, {
    open(isObject) {
      passItem();
      place.push(isObject ? '' : -1);
      return true;
    },
    name(literal) {
      place[place.length - 1] = JSON.parse(literal) as string;
    },
    scalar(literal) {
      passItem();
      if (!/^[-\d]/.test(literal) || found.length > VIOLATIONS_MAX || readNumber(literal) !== undefined) return;
      found.push({ pointer: place.map((token) => `/${escapeToken(String(token))}`).join(''), literal });
    },
    close() {
      place.pop();
    },
  });
  return found;
}

export function toNumberViolation({ pointer, literal }: UncheckableNumber): Violation {
  const number = Number(literal);
  const code = Number.isFinite(number) ? 'invalid' : number < 0 ? 'too_small' : 'too_large';
  return violationInBody(pointer, { code, message: 'Must be a number of 64 bits.' });
}
