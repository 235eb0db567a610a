// Exact decimal arithmetic on the text of numbers.

/** A number as coefficient × 10^exponent. The coefficient is not a multiple of ten. */
export interface Decimal {
  readonly coefficient: bigint;
  readonly exponent: number;
}

const NUMBER = /^(-?)0*(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d+))?$/;
const ZERO: Decimal = { coefficient: 0n, exponent: 0 };

/** Reads a number literal of JSON. */
export function toDecimal(literal: string): Decimal {
  const [, sign, whole = '', fraction = '', exponent = '0'] = NUMBER.exec(literal) ?? [];
  const written = whole + fraction;
  const digits = withoutZeros(written);
  if (digits === '') return ZERO;
  const coefficient = BigInt(digits);
  return {
    coefficient: sign === '-' ? -coefficient : coefficient,
    exponent: Number(exponent) - fraction.length + written.length - digits.length,
  };
}

/** Removes the zeros at the end. This function uses no regular expression, which would try each zero of a long text again. */
function withoutZeros(digits: string): string {
  let end = digits.length;
  while (end > 0 && digits.charCodeAt(end - 1) === 48) end -= 1;
  return digits.slice(0, end);
}

/** Returns the number as the contract writes it. For an integer beyond 2^53, the document contains only the double. */
export function decimalOf(number: number): Decimal {
  return toDecimal(Number.isInteger(number) ? BigInt(number).toString() : String(number));
}

/**
 * Returns a negative number, zero or a positive number if `a` is less than, equal to or greater than `b`. The exponents are exponents of
 * doubles.
 */
export function compareDecimals(a: Decimal, b: Decimal): number {
  const [left, right] = alignExponents(a, b);
  return left < right ? -1 : left > right ? 1 : 0;
}

export function isMultiple(value: Decimal, of: Decimal): boolean {
  const [left, right] = alignExponents(value, of);
  return right !== 0n && left % right === 0n;
}

function alignExponents(a: Decimal, b: Decimal): readonly [bigint, bigint] {
  const least = Math.min(a.exponent, b.exponent);
  const scaled = ({ coefficient, exponent }: Decimal) => coefficient * 10n ** BigInt(exponent - least);
  return [scaled(a), scaled(b)];
}
