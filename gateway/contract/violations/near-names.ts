// Suggests the query parameter that a client has probably meant, among the names in the published contract.

import { closest } from '../../shared/mistakes.ts';
import type { ContractOperation } from '../operations/operations.ts';
import type { Violation } from './violations.ts';

/** A comparison takes as many steps as the product of both lengths, so longer names and more violations get no hint. */
const LENGTH_MAX = 40;
const HINTS_MAX = 3;
const EDITS_MAX = 2;

export type NearNames = (violations: readonly Violation[]) => readonly Violation[];

/** Prepares the hints of one operation. */
export function createNearNames({ parameters }: Pick<ContractOperation, 'parameters'>): NearNames {
  const declared = parameters.flatMap(({ value }) => {
    const { in: place, name } = value as { in?: unknown; name?: unknown };
    return place === 'query' && typeof name === 'string' && name.length <= LENGTH_MAX ? [name] : [];
  });

  function nearName({ in: place, param, code }: Violation): string | undefined {
    if (place !== 'query' || code !== 'unknown' || param.length > LENGTH_MAX || /[.[]/.test(param)) return undefined;
    const near = declared.filter((name) => Math.abs(name.length - param.length) <= EDITS_MAX);
    // A short name may differ only in one edit, because two edits make any two short names equal.
    return closest(param, near, param.length < 4 ? 1 : EDITS_MAX);
  }

  return function withNearNames(violations) {
    let hints = 0;
    return violations.map((violation) => {
      const name = hints < HINTS_MAX ? nearName(violation) : undefined;
      if (name === undefined) return violation;
      hints += 1;
      return { ...violation, message: `${violation.message} Did you mean "${name}"?` };
    });
  };
}
