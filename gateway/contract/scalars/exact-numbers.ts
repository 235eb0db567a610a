// Checks numbers as the client wrote them. A double represents every number of up to 15 digits. For other numbers, the literal is noted
// when the text is read, and compared instead of the double. The shortest text of a large double is a different number; for example, 2^60
// is written 1152921504606847000. A literal that cannot be checked is refused.

import { current, takeSteps } from '../schemas/check-scope.ts';
import { compareDecimals, type Decimal, decimalOf, isMultiple, toDecimal } from './decimal.ts';

/** The longest literal. Longer literals are refused, because the time of computing with them grows with the square of their length. */
const LITERAL_MAX = 1000;
const DIGITS_MAX = 15;
/** Steps that one comparison of literals takes. */
const STEPS_PER_LITERAL = 200;

/**
 * Returns the double of a literal, and notes the literal if they differ. Returns undefined if the number cannot be checked, because it is
 * beyond the doubles, or because its double is zero or an integer though the number is neither.
 */
export function readNumber(literal: string): number | undefined {
  const number = Number(literal);
  if (!Number.isFinite(number) || literal.length > LITERAL_MAX) return undefined;
  if (String(number) === literal && !isLarge(number)) return number;
  takeSteps(STEPS_PER_LITERAL);
  const written = toDecimal(literal);
  if (number === 0) return written.coefficient === 0n ? number : undefined;
  if (isEqual(written, decimalOf(number))) return number;
  if (Number.isInteger(number) && written.exponent < 0) return undefined;
  current.inexact ??= new Map();
  const known = current.inexact.get(number) ?? new Set();
  current.inexact.set(number, known.add(literal));
  return number;
}

/** Whether a double is an integer whose text may be another number. */
const isLarge = (number: number) => Number.isInteger(number) && !Number.isSafeInteger(number);

const isEqual = (a: Decimal, b: Decimal) => a.coefficient === b.coefficient && a.exponent === b.exponent;

/**
 * Whether a double may differ from the literal. This function uses no regular expression, because most numbers are short, and a loop is
 * faster for them.
 */
export function mayBeInexact(text: string, from = 0, to = text.length): boolean {
  let digits = 0;
  for (let at = from; at < to; at += 1) {
    const code = text.charCodeAt(at);
    if (code >= 48 && code <= 57) {
      digits += 1;
      if (digits > DIGITS_MAX) return true;
    } else if ((code | 32) === 101) {
      // The `e` of an exponent, not of `true`.
      if (digits > 0) return true;
    } else if (code !== 46) digits = 0;
  }
  return false;
}

/** Whether something holds for a number, or for each literal that was read as this number. */
function holds(number: number, ofLiteral: (literal: Decimal) => boolean): boolean | undefined {
  const literals = current.inexact?.get(number);
  if (literals === undefined) return undefined;
  takeSteps(STEPS_PER_LITERAL * literals.size);
  return [...literals].every((literal) => ofLiteral(toDecimal(literal)));
}

export const BOUND_KEYWORDS = {
  minimum: boundKeyword((number, limit) => number >= limit),
  maximum: boundKeyword((number, limit) => number <= limit),
  exclusiveMinimum: boundKeyword((number, limit) => number > limit),
  exclusiveMaximum: boundKeyword((number, limit) => number < limit),
} as const;

function boundKeyword(isKept: (number: number, limit: number) => boolean) {
  return (number: number, limit: number): boolean => {
    if (current.inexact === undefined) return isKept(number, limit);
    const exactly = holds(number, (literal) => isKept(compareDecimals(literal, decimalOf(limit)), 0));
    return exactly ?? isKept(number, limit);
  };
}

/**
 * Whether the double is the number that the client wrote. The client may have written the double in full or in its shortest text, because
 * contracts contain both.
 */
export function isExact(number: number): boolean {
  if (current.inexact === undefined) return true;
  return holds(number, (literal) => isEqual(literal, toDecimal(String(number)))) ?? true;
}

export function isInt64(number: number): boolean {
  if (!Number.isInteger(number)) return false;
  const isWithin = ({ coefficient, exponent }: Decimal) =>
    BigInt.asIntN(64, coefficient * 10n ** BigInt(exponent)) === coefficient * 10n ** BigInt(exponent);
  return holds(number, isWithin) ?? (number >= -(2 ** 63) && number < 2 ** 63);
}

/** Prepares `multipleOf`, by which 19.99 is a multiple of 0.01, although 19.99 / 0.01 is 1998.9999999999998. */
export function multipleOf(divisor: number): (number: number) => boolean {
  const exact = decimalOf(Math.abs(divisor));
  const places = Math.max(0, -exact.exponent);
  const scale = 10 ** places;
  const units = Number(exact.coefficient) * 10 ** Math.max(0, exact.exponent);
  const isScalable = places <= DIGITS_MAX && Number.isSafeInteger(units) && units > 0;
  const ofDecimal = (literal: Decimal) => isMultiple(literal, exact);

  return (number) => {
    const exactly = holds(number, ofDecimal);
    if (exactly !== undefined) return exactly;
    const scaled = Math.round(number * scale);
    // Up to 15 digits, a double stands for one decimal of this number of places, or for none.
    if (isScalable && Math.abs(scaled) < 1e15) return scaled / scale === number && scaled % units === 0;
    if (!Number.isFinite(number)) return false;
    takeSteps(STEPS_PER_LITERAL);
    return isMultiple(decimalOf(number), exact);
  };
}
