// The actions on keys, by the contract of a remote gateway. They concern one organization for operators, otherwise the organization of the
// acting key. Each action rejects with ServerProblem.

import type { StoredKey } from '../../auth/store/stored-key.ts';
import { isRecord } from '../../shared/is-record.ts';
import { isoTime } from '../../shared/text.ts';
import { type Actions, type NewKey, scopesAfter } from '../actions.ts';
import type { OneKey } from '../read-keys.ts';
import type { AdministrationClient } from './client.ts';
import { madeBy } from './in-force.ts';
import { type AnswerMembers, keyIn } from './records.ts';
import { orAbsent, PAGE_SIZE, scopeOf, waitSecondsOf } from './remote-lists.ts';
import { otherContract, ServerProblem } from './server-problem.ts';

export function remoteKeys({ server, ask, read, pages }: AdministrationClient): Actions['keys'] {
  async function* allOf(organization: string | undefined): AsyncGenerator<readonly StoredKey[]> {
    const reading = pages(`${scopeOf(organization)}/keys`, { limit: PAGE_SIZE });
    for (;;) {
      const { value, done } = await orAbsent(reading.next(), `There is no organization ${organization}`);
      if (done) return;
      yield value.data.map((members) => keyIn(server, members));
    }
  }

  return {
    async *list({ organization, after }): AsyncGenerator<readonly StoredKey[]> {
      // The contract can continue a list only from a cursor and not from an id, so keys up to `after` are read and dropped.
      let isBehind = after === undefined;
      for await (const page of allOf(organization)) {
        const at = isBehind ? -1 : page.findIndex(({ id }) => id === after);
        if (!isBehind && at === -1) continue;
        isBehind = true;
        yield page.slice(at + 1);
      }
      if (!isBehind) throw new ServerProblem(`There is no key ${after} to go on behind.`);
    },

    async create({ organization, mode, name, scopes, allowedCidrs, expiresAtMs }) {
      const expires_at = isoTime(expiresAtMs);
      const body = { mode, name, scopes, allowed_cidrs: allowedCidrs, ...(expires_at && { expires_at }) };
      const creating = ask('POST', `${scopeOf(organization)}/keys`, { body });
      return newKeyIn(server, await orAbsent(creating, `There is no organization ${organization}`));
    },

    async changeScopes(which, change, waitMs) {
      const before = await orAbsent(read(pathOf(which)), noKey(which));
      const body = { scopes: scopesAfter(keyIn(server, before.members).scopes, change) };
      const query = { wait: waitSecondsOf(waitMs) };
      const changing = orAbsent(ask('PATCH', pathOf(which), { query, body, ifMatch: before.etag }), noKey(which));
      const sentence = `The key ${which.id} has been changed meanwhile: run the command again`;
      const members = await orAbsent(changing, sentence, 'precondition_failed');
      return madeBy(server, members, keyIn(server, members));
    },

    async rotate(which, { overlapMs, expiresAtMs }, waitMs) {
      const expires_at = isoTime(expiresAtMs);
      const body = { overlap_seconds: Math.round(overlapMs / 1000), ...(expires_at && { expires_at }) };
      const rotating = ask('POST', `${pathOf(which)}/rotate`, { query: { wait: waitSecondsOf(waitMs) }, body });
      const members = await orAbsent(rotating, noKey(which));
      const { replaces } = members;
      if (!isRecord(replaces)) throw otherContract(server, 'replaces');
      return madeBy(server, members, { ...newKeyIn(server, members), previous: keyIn(server, replaces) });
    },

    async revoke(which, { reason, allowLast }, waitMs) {
      const body = { ...(reason !== undefined && { reason }), ...(allowLast && { allow_last: true }) };
      const revoking = ask('POST', `${pathOf(which)}/revoke`, { query: { wait: waitSecondsOf(waitMs) }, body });
      const members = await orAbsent(revoking, noKey(which));
      return madeBy(server, members, keyIn(server, members));
    },
  };
}

function pathOf({ id, organization }: OneKey): string {
  return `${scopeOf(organization)}/keys/${encodeURIComponent(id)}`;
}

function noKey({ id, organization }: OneKey): string {
  return organization === undefined
    ? `There is no key ${id} in the organization of your key; operators name its organization with --org`
    : `There is no key ${id} in ${organization}`;
}

/** Reads a new key from an answer. Only the first answer contains the secret of the key. If that answer was lost, the secret is lost. */
function newKeyIn(server: AdministrationClient['server'], members: AnswerMembers): NewKey {
  const { secret: key } = members;
  const record = keyIn(server, members);
  if (typeof key === 'string') return { key, record };
  if (key !== null) throw otherContract(server, 'secret');
  throw new ServerProblem(
    `The key ${record.id} was made, but the answer with its secret was lost on its way: revoke it, and create another one.`,
  );
}
