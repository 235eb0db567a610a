// The operations on keys, for clients on the keys of their organization, and for operators on the keys of any organization.

import { membersOfKey } from '../../auth/key-json.ts';
import type { KeyPatch, StoredKey } from '../../auth/store/stored-key.ts';
import type { Mode } from '../../exchange/caller.ts';
import { changeKey, createKey, type MadeKey, revokeKey, rotateKey } from '../keys.ts';
import { getKey, type KeyListing, keyTag, listKeys, stateOf } from '../read-keys.ts';
import type { Answer, Call, Handler, Handlers } from './call.ts';
import { type InForce, inForceAfter } from './in-force.ts';
import { partAnswer } from './page.ts';

/** The members of a body, which the contract has checked. */
interface KeyBody {
  readonly mode: Mode;
  readonly name: string;
  readonly scopes: readonly string[];
  readonly expires_at: string | null;
  readonly allowed_cidrs: readonly string[];
  readonly overlap_seconds: number;
  readonly reason: string;
  readonly allow_last: boolean;
}

/**
 * Makes the operations for one kind of caller. These concern the caller's organization for a client, and the organization in the path for
 * an operator.
 */
function keyOperations(organizationOf: (call: Call) => string, collectionOf: (call: Call) => string) {
  const body = (call: Call) => call.body as Partial<KeyBody>;
  const one = (call: Call) => ({ id: call.path('key_id'), organization: organizationOf(call) });
  const addressOf = (call: Call, { id }: StoredKey) => (call.dryRun ? undefined : `${collectionOf(call)}/${id}`);

  const list: Handler = async (deps, call) => {
    const part = await listKeys(deps, {
      organization: organizationOf(call),
      state: call.query('state') as KeyListing['state'],
      after: call.cursors.position(),
      most: call.limit,
    });
    return partAnswer(call, part, (key) => keyJson(key, deps.now()));
  };

  const create: Handler = async (deps, call) => {
    const { mode = 'live', name = '', scopes = [], expires_at: end, allowed_cidrs: allowedCidrs = [] } = body(call);
    const organization = organizationOf(call);
    const expiresAtMs = momentOf(end) ?? undefined;
    const request = { organization, mode, name, scopes, allowedCidrs, expiresAtMs };
    const made = await createKey(deps, await call.actor(), { ...request, dryRun: call.dryRun });
    const answer = newKeyAnswer(made, deps.now(), await inForceAfter(call, deps));
    return { ...answer, location: addressOf(call, made.record) };
  };

  const get: Handler = async (deps, call) => keyAnswer(await getKey(deps, one(call)), deps.now());

  const change: Handler = async (deps, call) => {
    const { dryRun, ifMatch } = call;
    const patch = patchOf(body(call));
    const key = await changeKey(deps, await call.actor(), { ...one(call), patch, ifMatch, dryRun });
    return keyAnswer(key, deps.now(), await inForceAfter(call, deps));
  };

  const rotate: Handler = async (deps, call) => {
    const { overlap_seconds: overlap = 86_400, expires_at: end } = body(call);
    const rotation = { overlapMs: overlap * 1000, expiresAtMs: momentOf(end), dryRun: call.dryRun };
    const made = await rotateKey(deps, await call.actor(), { ...one(call), ...rotation });
    const inForce = await inForceAfter(call, deps);
    const nowMs = deps.now();
    const answer = newKeyAnswer(made, nowMs, { replaces: keyJson(made.previous, nowMs), ...inForce });
    return { ...answer, location: addressOf(call, made.record) };
  };

  const revoke: Handler = async (deps, call) => {
    const { reason, allow_last: allowLast = false } = body(call);
    const { dryRun, ifMatch } = call;
    const key = await revokeKey(deps, await call.actor(), { ...one(call), reason, allowLast, ifMatch, dryRun });
    return keyAnswer(key, deps.now(), await inForceAfter(call, deps));
  };

  return { list, create, get, change, rotate, revoke };
}

const own = keyOperations(
  ({ organization }) => organization.id,
  () => '/gateway/v1/keys',
);
const ofAny = keyOperations(
  (call) => call.path('organization_id'),
  (call) => `/gateway/v1/organizations/${call.path('organization_id')}/keys`,
);

export const KEYS: Handlers = {
  listKeys: own.list,
  createKey: own.create,
  getKey: own.get,
  updateKey: own.change,
  rotateKey: own.rotate,
  revokeKey: own.revoke,
  listOrganizationKeys: ofAny.list,
  createOrganizationKey: ofAny.create,
  getOrganizationKey: ofAny.get,
  updateOrganizationKey: ofAny.change,
  rotateOrganizationKey: ofAny.rotate,
  revokeOrganizationKey: ofAny.revoke,
};

function patchOf({ name, scopes, expires_at: end, allowed_cidrs: allowedCidrs }: Partial<KeyBody>): KeyPatch {
  return {
    ...(name !== undefined && { name }),
    ...(scopes !== undefined && { scopes }),
    ...(allowedCidrs !== undefined && { allowedCidrs }),
    ...(end !== undefined && { expiresAtMs: momentOf(end) ?? undefined }),
  };
}

/** Converts an expiry to epoch milliseconds; null if the key shall not expire; undefined if the member was not sent. */
function momentOf(time: string | null | undefined): number | null | undefined {
  return typeof time === 'string' ? Date.parse(time) : time;
}

/** Returns a key in the form of the contract. */
function keyJson(key: StoredKey, nowMs: number): object {
  const { digest: _, id, organization, mode, name, ...others } = membersOfKey(key);
  return { id, organization_id: organization, mode, name, state: stateOf(key, nowMs), ...others };
}

function keyAnswer(key: StoredKey, nowMs: number, inForce: { readonly in_force?: InForce } = {}): Answer {
  return { body: { ...keyJson(key, nowMs), ...inForce }, etag: keyTag(key) };
}

/** Returns the answer with a new key. @param more other members of the body */
function newKeyAnswer({ key, record }: MadeKey, nowMs: number, more: object): Answer {
  const secret = { secret: key ?? null, secret_shown: key === undefined ? 'never' : 'here' };
  return { status: 201, body: { ...keyJson(record, nowMs), ...secret, ...more }, etag: keyTag(record) };
}
