// The codes of violations in `errors` of `validation_failed`. No code changes its meaning, because clients decide by codes.

/** A line of Markdown about each code, for client developers. */
export const VIOLATION_CODES = {
  required: 'It is missing.',
  unknown: 'The contract has no parameter or field of this name. The message names the nearest one.',
  duplicate: 'It is there more than once.',
  wrong_type: 'It has another type, such as text where a number is expected.',
  wrong_format: 'It is not written in the format, such as a date or an e-mail address.',
  pattern_mismatch: 'It does not match the pattern of `constraint`.',
  not_allowed: 'It is none of the values of `constraint`, or has a form that is ruled out.',
  too_small: 'The number is below the smallest one.',
  too_large: 'The number is above the largest one.',
  not_multiple_of: 'The number is not a multiple of that of `constraint`.',
  too_short: 'The text has too few characters.',
  too_long: 'The text has too many characters.',
  too_few_items: 'The list has too few items, or the object too few fields.',
  too_many_items: 'The list has too many items, or the object too many fields.',
  not_unique: 'The list has the same item twice.',
  read_only: 'The service sets it: do not send it.',
  no_match: 'It matches none of the forms that are possible.',
  ambiguous: 'It matches several forms of which exactly one is possible.',
  invalid: 'It is not valid in another way, which the message tells.',
} as const satisfies Readonly<Record<string, string>>;

export type ViolationCode = keyof typeof VIOLATION_CODES;
