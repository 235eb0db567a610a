// Writes what a value of a request must be, from a violation in the log line. Pure.

import { constraintText } from './constraint-text.ts';

type Members = Readonly<Record<string, unknown>>;

/** The texts of violations for which the contract names no value. */
const violated: Readonly<Record<string, string>> = {
  required: 'is required',
  unknown: 'is not known here',
  read_only: 'is set by the service and cannot be sent',
  not_unique: 'must not hold the same item twice',
};

export function violationReason({ code, constraint }: Members): string {
  const [keyword, value] = Object.entries(constraint ?? {})[0] ?? [''];
  return constraintText(keyword, value) ?? violated[String(code)] ?? 'is not as the contract says';
}

/** Returns the place of the value, such as `limit` or `body /name`, and what it must be; undefined if there is not exactly one violation. */
export function onlyViolation(violations: unknown): { readonly where: string; readonly reason: string } | undefined {
  const [only, ...others] = Array.isArray(violations) ? (violations as readonly unknown[]) : [];
  if (typeof only !== 'object' || only === null || others.length > 0) return undefined;
  const members: Members = { ...only };
  const { in: place, param = '' } = members;
  return { where: place === 'body' ? `body ${param}`.trimEnd() : String(param), reason: violationReason(members) };
}
