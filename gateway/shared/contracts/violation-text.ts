// Writes what a value of a request must be, from a violation in the log line or in the error object. Pure.

import { constraintText } from './constraint-text.ts';

type Members = Readonly<Record<string, unknown>>;

/** The texts of violations for which the contract names no value. */
const VIOLATION_TEXTS: Readonly<Record<string, string>> = {
  required: 'is required',
  unknown: 'is not known here',
  read_only: 'is set by the service and cannot be sent',
  not_unique: 'must not hold the same item twice',
};

export function violationReason({ code, constraint }: Members): string {
  const [keyword, value] = Object.entries(constraint ?? {})[0] ?? [''];
  return constraintText(keyword, value) ?? VIOLATION_TEXTS[String(code)] ?? 'is not as the contract says';
}

/** A name that the client has chosen is noted as `*`, because it may contain a secret. */
const UNNAMED = /^(.*?)\/?\*$/s;

/** Returns the name of the value, such as `limit` or `/address/city`, or words for a value whose name is not noted. */
export function violationPlace({ in: place, param = '' }: Members): {
  readonly text: string;
  readonly isName: boolean;
} {
  const [, within] = UNNAMED.exec(String(param)) ?? [];
  if (within === undefined) return { text: String(param), isName: true };
  const kind = place === 'body' ? 'field' : `${place} parameter`;
  const where = within === '' ? '' : ` in ${within}`;
  return { text: `a ${kind}${where} that the contract does not name`, isName: false };
}

interface OnlyViolation {
  /** Such as `limit` or `body /name`. */
  readonly where: string;
  /** Whether that is a name, and no words. */
  readonly isName: boolean;
  readonly reason: string;
}

/** Returns the place of the value, and what it must be; undefined if there is not exactly one violation. */
export function onlyViolation(violations: unknown): OnlyViolation | undefined {
  const [only, ...others] = Array.isArray(violations) ? (violations as readonly unknown[]) : [];
  if (typeof only !== 'object' || only === null || others.length > 0) return undefined;
  const members: Members = { ...only };
  const { text, isName } = violationPlace(members);
  const where = members.in === 'body' && isName ? `body ${text}`.trimEnd() : text;
  return { where, isName, reason: violationReason(members) };
}

/** Returns how to correct a request with a single violation; undefined for any other request. */
export function violationRemedy({ code, violations }: Members): string | undefined {
  const only = code === 'validation_failed' ? onlyViolation(violations) : undefined;
  if (only === undefined) return undefined;
  return only.isName
    ? `Correct \`${only.where}\`: it ${only.reason}.`
    : `Correct the request: ${only.where} ${only.reason}.`;
}

const NAME_LENGTH_MAX = 80;
const SENTENCE_LENGTH_MAX = 200;

/**
 * Returns the message of an error object: its first violation, and the number of the others; undefined if there is none. A violation
 * contains no values of the request, and names as they are in its `param`.
 */
export function violationsMessage(errors: unknown, isTruncated: boolean): string | undefined {
  const [first, ...others] = Array.isArray(errors) ? (errors as readonly Members[]) : [];
  if (typeof first?.message !== 'string') return undefined;
  const name = shortened(String(first.param || first.in), NAME_LENGTH_MAX);
  const said = `${name}: ${shortened(first.message, SENTENCE_LENGTH_MAX)}`;
  if (others.length === 0) return said;
  const count = isTruncated ? `${others.length} or more others` : `${others.length} more`;
  const more = `and ${count}; errors lists each violation.`;
  return said.endsWith('.') ? `${said.slice(0, -1)}, ${more}` : `${said} ${more.replace('and', 'And')}`;
}

function shortened(text: string, lengthMax: number): string {
  return text.length > lengthMax ? `${text.slice(0, lengthMax)}…` : text;
}
