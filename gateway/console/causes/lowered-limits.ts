// Pure: which changes of `limits.yaml` may be the reason for the refusals of an organization: those that lower a limit of its own.

import type { OrganizationNearLimit } from '../history/sample.ts';

type Limited = Pick<OrganizationNearLimit, 'organization' | 'tier' | 'policy' | 'limit'>;

/** The names of the limit of a tier; others are the names of entries under `extra`. */
const OF_TIER = ['organization', 'key'];
const CHANGE = /^(?<key>.+): (?<before>.*) → (?<after>.*)$/;
const ABSENT = '–';
const DEFAULT_WINDOW_SECONDS = 60;

/** @param change without the file name, such as `tiers.standard.requests: 100 → 50` */
export function lowersLimit(change: string, limited: Limited): boolean {
  const { key = '', before = '', after = '' } = CHANGE.exec(change)?.groups ?? {};
  const [scope = ''] = key.split('.');
  if (scope === 'operations') return isDearer(key, before, after) || isUnder(after, limited.policy);
  const [own] = rulesOf(limited).filter((rule) => key === rule || key.startsWith(`${rule}.`));
  if (own === undefined) return false;
  const setting = key.slice(own.length + 1);
  return setting === '' ? isReplaced(before, limited) : isLower(setting, before, after);
}

/** Returns the keys of the rules that limit the organization. */
function rulesOf({ organization, tier, policy }: Limited): string[] {
  if (OF_TIER.includes(policy)) return [`organizations.${organization}`, `tiers.${tier}`];
  if (policy === 'address') return ['tiers.anonymous'];
  return policy === 'person' ? ['persons'] : [`extra.${policy}`];
}

function isLower(setting: string, before: string, after: string): boolean {
  const isOff = (value: string) => value === 'false';
  if (setting === 'requests') return Number(after) < Number(before);
  if (setting === 'windowSeconds') return secondsIn(after) > secondsIn(before);
  return setting === 'enforce' && isOff(before) && !isOff(after);
}

function secondsIn(value: string): number {
  return value === ABSENT ? DEFAULT_WINDOW_SECONDS : Number(value);
}

/** A rule that is new may be lower than the former one, which is not known. The one in force replaces a rule that was deleted. */
function isReplaced(before: string, { limit }: Limited): boolean {
  if (before === ABSENT) return true;
  const requests = Number(/"requests":(\d+)/.exec(before)?.[1]);
  return !(requests <= limit);
}

function isDearer(key: string, before: string, after: string): boolean {
  return key.endsWith('.cost') && Number(after) > (before === ABSENT ? 1 : Number(before));
}

/** Whether an operation is now under an extra limit. */
function isUnder(after: string, policy: string): boolean {
  return !OF_TIER.includes(policy) && (after === policy || after.includes(`"extra":"${policy}"`));
}
