// The actions on keys, by the contract of a remote gateway: of one organization for operators, else of the organization of the key that acts.
// Each rejects with ServerProblem.

import type { KeyRequest } from '../../auth/issue-key.ts';
import type { StoredKey } from '../../auth/store/key-store.ts';
import type { AdministrationClient } from './client.ts';
import { type AnswerMembers, type InForceCounts, inForceIn, keyIn } from './records.ts';
import { orAbsent, PAGE_SIZE, scopeOf } from './remote-lists.ts';
import { isMembers, otherContract } from './server-problem.ts';

export interface RemoteKeyOf {
  readonly id: string;
  /** Undefined: that of the key that acts. */
  readonly organization: string | undefined;
}

/** Of a new key: undefined if the answer that had it was lost on its way. */
export type Secret = string | undefined;

export interface RemoteNewKey {
  readonly key: Secret;
  readonly record: StoredKey;
}

export interface RemoteRotation extends RemoteNewKey {
  readonly previous: StoredKey;
  readonly inForce: InForceCounts | undefined;
}

export interface RemoteRevocation {
  readonly record: StoredKey;
  readonly inForce: InForceCounts | undefined;
}

export function remoteKeys({ server, ask, pages }: AdministrationClient) {
  const isoTime = (atMs: number | undefined) => (atMs === undefined ? undefined : new Date(atMs).toISOString());
  const pathOf = ({ id, organization }: RemoteKeyOf) => `${scopeOf(organization)}/keys/${encodeURIComponent(id)}`;
  const noKey = ({ id, organization }: RemoteKeyOf) =>
    organization === undefined
      ? `There is no key ${id} in the organization of your key; operators name its organization with --org`
      : `There is no key ${id} in ${organization}`;

  function newKeyIn(members: AnswerMembers): RemoteNewKey {
    const { secret } = members;
    if (secret !== null && typeof secret !== 'string') throw otherContract(server, 'secret');
    return { key: secret ?? undefined, record: keyIn(server, members) };
  }

  return {
    /** Oldest first. */
    async *list(organization: string | undefined): AsyncGenerator<readonly StoredKey[]> {
      const reading = pages(`${scopeOf(organization)}/keys`, { limit: PAGE_SIZE });
      for (;;) {
        const { value, done } = await orAbsent(reading.next(), `There is no organization ${organization}`);
        if (done) return;
        yield value.data.map((members) => keyIn(server, members));
      }
    },

    async create(
      organization: string | undefined,
      { mode, name, scopes, allowedCidrs, expiresAtMs }: Omit<KeyRequest, 'by' | 'organization'>,
    ): Promise<RemoteNewKey> {
      const expires_at = isoTime(expiresAtMs);
      const body = { mode, name, scopes, allowed_cidrs: allowedCidrs, ...(expires_at && { expires_at }) };
      const creating = ask('POST', `${scopeOf(organization)}/keys`, { body });
      return newKeyIn(await orAbsent(creating, `There is no organization ${organization}`));
    },

    async rotate(
      which: RemoteKeyOf,
      { overlapMs, expiresAtMs }: { readonly overlapMs: number; readonly expiresAtMs: number | undefined },
      waitSeconds: number | undefined,
    ): Promise<RemoteRotation> {
      const expires_at = isoTime(expiresAtMs);
      const body = { overlap_seconds: Math.round(overlapMs / 1000), ...(expires_at && { expires_at }) };
      const rotating = ask('POST', `${pathOf(which)}/rotate`, { query: { wait: waitSeconds }, body });
      const members = await orAbsent(rotating, noKey(which));
      const { replaces } = members;
      if (!isMembers(replaces)) throw otherContract(server, 'replaces');
      return { ...newKeyIn(members), previous: keyIn(server, replaces), inForce: inForceIn(server, members) };
    },

    async revoke(
      which: RemoteKeyOf,
      { reason, allowLast }: { readonly reason: string | undefined; readonly allowLast: boolean },
      waitSeconds: number | undefined,
    ): Promise<RemoteRevocation> {
      const body = { ...(reason !== undefined && { reason }), ...(allowLast && { allow_last: true }) };
      const revoking = ask('POST', `${pathOf(which)}/revoke`, { query: { wait: waitSeconds }, body });
      const members = await orAbsent(revoking, noKey(which));
      return { record: keyIn(server, members), inForce: inForceIn(server, members) };
    },
  };
}
