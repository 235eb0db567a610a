// Converts records in answers of a remote gateway to the records that commands print. Throws ServerProblem for members of another kind,
// which another version of the contract may have.

import { keyOfMembers } from '../../auth/key-json.ts';
import type { KeyStoreChange } from '../../auth/store/key-store.ts';
import type { StoredKey } from '../../auth/store/stored-key.ts';
import type { Organization } from '../../exchange/caller.ts';
import { isRecord } from '../../shared/is-record.ts';
import { otherContract } from './server-problem.ts';

export type AnswerMembers = Readonly<Record<string, unknown>>;

type Kind = 'string' | 'number' | 'boolean' | 'list' | 'object' | 'time' | 'text or null' | 'time or null';

const CHECKS: Readonly<Record<Kind, (value: unknown) => boolean>> = {
  string: isString,
  number: (value) => typeof value === 'number' && Number.isFinite(value),
  boolean: (value) => typeof value === 'boolean',
  list: (value) => Array.isArray(value) && value.every(isString),
  object: isRecord,
  time: isTime,
  'text or null': (value) => value === null || isString(value),
  'time or null': (value) => value === null || isTime(value),
};

function isString(value: unknown): boolean {
  return typeof value === 'string';
}

function isTime(value: unknown): boolean {
  return typeof value === 'string' && !Number.isNaN(Date.parse(value));
}

/** Throws ServerProblem unless each of these members is of its kind. */
export function requireMembers(server: string, members: AnswerMembers, kinds: Readonly<Record<string, Kind>>): void {
  const wrong = Object.entries(kinds).find(([name, kind]) => !CHECKS[kind](members[name]));
  if (wrong !== undefined) throw otherContract(server, wrong[0]);
}

/** Returns the rows of a list in an answer. Throws ServerProblem if a member of a row is not of its kind. */
export function rowsIn<Row>(
  server: string,
  members: AnswerMembers,
  name: string,
  kinds: Readonly<Record<string, Kind>>,
): Row[] {
  const { [name]: rows } = members;
  if (!Array.isArray(rows) || !rows.every(isRecord)) throw otherContract(server, name);
  for (const row of rows) requireMembers(server, row, kinds);
  return rows as Row[];
}

export function organizationIn(server: string, members: AnswerMembers): Organization {
  requireMembers(server, members, {
    id: 'string',
    name: 'string',
    tier: 'string',
    state: 'string',
    contacts: 'list',
    operator: 'boolean',
  });
  const { id, name, tier, state, contacts, operator } = members as unknown as Organization;
  return { id, name, tier, state, contacts, operator };
}

/** Returns the key of an answer. Its digest is empty, because a gateway does not show it. */
export function keyIn(server: string, members: AnswerMembers): StoredKey {
  requireMembers(server, members, {
    id: 'string',
    organization_id: 'string',
    mode: 'string',
    name: 'string',
    scopes: 'list',
    allowed_cidrs: 'list',
    prefix: 'string',
    last_four: 'string',
    created_at: 'time',
    created_by: 'string',
    expires_at: 'time or null',
    revoked_at: 'time or null',
    revoked_by: 'text or null',
    revoked_reason: 'text or null',
    last_used_at: 'time or null',
    replaced_by: 'text or null',
  });
  return keyOfMembers({ ...members, organization: members.organization_id, digest: '' });
}

/** Reads an entry of the audit log, or an event, which has no organization. */
export function changeIn(server: string, members: AnswerMembers): KeyStoreChange {
  requireMembers(server, members, { id: 'string', at: 'time', kind: 'string', by: 'text or null', details: 'object' });
  const { id, at, kind, by, organization_id: organization, key_id: key, request_id, details } = members as Texts;
  return {
    sequence: Number(id),
    atMs: Date.parse(String(at)),
    by: by ?? 'the gateway',
    kind: kind as KeyStoreChange['kind'],
    organization: organization ?? undefined,
    key: key ?? undefined,
    details: { ...(details as unknown as AnswerMembers), ...(request_id && { request_id }) },
  };
}

type Texts = Readonly<Record<string, string | null | undefined>>;
