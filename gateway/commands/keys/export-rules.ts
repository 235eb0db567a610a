// The rules for the members of the objects in an export, which must be exactly these members, each in its form.

import { isAddressRange } from '../../auth/address-ranges.ts';
import { ORGANIZATION_ID } from '../../auth/issue-key.ts';
import { isRecord } from '../../shared/is-record.ts';

interface Rule {
  /** The text after "must be" in messages. */
  readonly be: string;
  holds(value: unknown): boolean;
}

/** Member name → rule. */
export type Rules = Readonly<Record<string, Rule>>;

/** Returns why a value breaks the rules; undefined if it complies. */
export function misfitOf(value: unknown, rules: Rules): string | undefined {
  if (!isRecord(value)) return 'it is not a JSON object';
  const unknown = Object.keys(value).find((name) => !Object.hasOwn(rules, name));
  if (unknown !== undefined) return `it has a member ${JSON.stringify(unknown)}, which is unknown`;
  for (const [name, { be, holds }] of Object.entries(rules)) {
    if (!Object.hasOwn(value, name)) return `its member "${name}" is missing`;
    if (!holds(value[name])) return `"${name}" must be ${be}`;
  }
  return undefined;
}

const isText = (value: unknown): value is string => typeof value === 'string';

function form(be: string, pattern: RegExp): Rule {
  return { be, holds: (value) => isText(value) && pattern.test(value) };
}

function choice(...texts: readonly string[]): Rule {
  return {
    be: texts.map((text) => JSON.stringify(text)).join(' or '),
    holds: (value) => texts.includes(value as string),
  };
}

function list(be: string, holdsFor: (text: string) => boolean): Rule {
  return { be, holds: (value) => Array.isArray(value) && value.every((each) => isText(each) && holdsFor(each)) };
}

function orNull({ be, holds }: Rule): Rule {
  return { be: `${be}, or null`, holds: (value) => value === null || holds(value) };
}

const TEXT: Rule = { be: 'a text', holds: isText };
const COUNT: Rule = { be: 'a whole number', holds: (value) => Number.isSafeInteger(value) && (value as number) >= 0 };
/** Only the exact form is accepted, because a time that changes when parsed and printed was not written by an export. */
const TIME: Rule = {
  be: 'a time such as 2026-11-20T12:00:00.000Z',
  holds: (value) => isText(value) && !Number.isNaN(Date.parse(value)) && new Date(value).toISOString() === value,
};
const keyId = form('the id of a key', /^key_[0-9A-Za-z]{1,64}$/);
const organizationId = form('the id of an organization', ORGANIZATION_ID);
const digest = form('43 characters of base64url', /^[0-9A-Za-z_-]{43}$/);

export const HEADER_RULES: Rules = {
  format: choice('gateway-keys'),
  version: { be: '1', holds: (value) => value === 1 },
  pepper_fingerprint: digest,
  exported_at: TIME,
};

export const ORGANIZATION_RULES: Rules = {
  kind: choice('organization'),
  id: organizationId,
  name: TEXT,
  tier: form('the name of a tier', /./),
  state: choice('active', 'suspended'),
  contacts: list('a list of texts', () => true),
  operator: { be: 'true or false', holds: (value) => typeof value === 'boolean' },
};

export const KEY_RULES: Rules = {
  kind: choice('key'),
  id: keyId,
  digest,
  organization: organizationId,
  mode: choice('live', 'test'),
  name: TEXT,
  scopes: list('a list of scopes', (scope) => /^\S+$/.test(scope)),
  allowed_cidrs: list('a list of addresses and CIDR ranges', isAddressRange),
  prefix: form('the first 12 characters of a key', /^sk_(live|test)_[0-9A-Za-z]{4}$/),
  last_four: form('the last 4 characters of a key', /^[0-9A-Za-z]{4}$/),
  created_at: TIME,
  created_by: TEXT,
  expires_at: orNull(TIME),
  revoked_at: orNull(TIME),
  revoked_by: orNull(TEXT),
  revoked_reason: orNull(TEXT),
  last_used_at: orNull(TIME),
  replaced_by: orNull(keyId),
};

export const END_RULES: Rules = { kind: choice('end'), organizations: COUNT, keys: COUNT };
