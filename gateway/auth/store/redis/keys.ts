// Keys in the Redis key store.

import type { KeyPart, KeyRecords, StoredKey } from '../key-store.ts';
import { DAMAGE_FUNCTIONS } from './damage.ts';
import { KEY_FUNCTIONS, keyArguments, keysOf, revocationOf } from './key-columns.ts';
import type { StoreConnections } from './key-store-connection.ts';
import { REFUSED, toStoreScript } from './key-store-script.ts';
import { ORGANIZATION_FUNCTIONS, organizationsOf } from './organizations.ts';
import { allOf, inRedisPages } from './pages.ts';

const CREATE = toStoreScript(`${ORGANIZATION_FUNCTIONS}${KEY_FUNCTIONS}
local by, details, at = ARGV[3], ARGV[4], 5
if not organization_exists(ARGV[at + 2]) then return 'homeless' end
if key_exists(at) then return 'taken' end
insert_keys({ at })
write_change(by, 'key.created', ARGV[at + 2], ARGV[at], details)
return 'created'
`);

const GET = toStoreScript(`${KEY_FUNCTIONS}
return columns_of({ ARGV[3] }, KEY_COLUMNS)
`);

/** If digests are missing, an unknown digest does not prove that the key does not exist. */
const FIND = toStoreScript(`${ORGANIZATION_FUNCTIONS}${KEY_FUNCTIONS}${DAMAGE_FUNCTIONS}
local function damaged(what)
  local found = damage()
  return redis.error_reply('${REFUSED.damaged} ' .. (found ~= '' and found or what))
end
local id = call('HGET', base .. 'digests', ARGV[3])
if not id then
  if call('HLEN', base .. 'digests') < call('HLEN', base .. 'keys') then return damaged('digests') end
  return { {}, {} }
end
local key = columns_of({ id }, KEY_COLUMNS)
if not key[2][1] then return damaged('a key without its record') end
local organization = columns_of({ organization_of(key[2][1]) }, ORGANIZATION_COLUMNS)
if not organization[2][1] or not organization[3][1] then return damaged('a key without its organization') end
return { key, organization }
`);

const PAGE = toStoreScript(`${KEY_FUNCTIONS}
local first, last = ARGV[3], ARGV[4]
return columns_of(call('LRANGE', base .. 'key_order', first, last), KEY_COLUMNS)
`);

const PAGE_OF_ONE = toStoreScript(`${KEY_FUNCTIONS}
local first, last, organization = ARGV[3], ARGV[4], ARGV[5]
return columns_of(call('ZRANGE', base .. 'keys_of:' .. organization, first, last), KEY_COLUMNS)
`);

/** The position of a key, within its organization if one is named. Nil: no such key. */
const POSITION = toStoreScript(`
local id, organization = ARGV[3], ARGV[4]
if organization == '' then return call('LPOS', base .. 'key_order', id) end
return call('ZRANK', base .. 'keys_of:' .. organization, id)
`);

const REVOKE = toStoreScript(`${KEY_FUNCTIONS}
local id, by, revocation, details = ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local record = call('HGET', base .. 'keys', id)
if record and call('HSETNX', base .. 'revocations', id, revocation) == 1 then
  write_change(by, 'key.revoked', organization_of(record), id, details)
end
return columns_of({ id }, KEY_COLUMNS)
`);

const ROTATE = toStoreScript(`${KEY_FUNCTIONS}
local now, id, by, ends_at, at = tonumber(ARGV[2]), ARGV[3], ARGV[4], ARGV[5], 6
local key = columns_of({ id }, KEY_COLUMNS)
local record, ends, revocation, replaced_by = key[2][1], key[3][1], key[4][1], key[5][1]
if not record or revocation or replaced_by or (ends and tonumber(ends) <= now) then return {} end
if key_exists(at) then return 'taken' end
if not ends or tonumber(ends) > tonumber(ends_at) then ends = ends_at end
call('HSET', base .. 'ends', id, ends)
call('HSET', base .. 'successors', id, ARGV[at])
insert_keys({ at })
local details = '{"successor":' .. cjson.encode(ARGV[at]) .. ',"ends_at":' .. ends .. '}'
write_change(by, 'key.rotated', organization_of(record), id, details)
return columns_of({ id }, KEY_COLUMNS)
`);

const NOTE_USES = toStoreScript(`
for index = 3, #ARGV, 2 do
  local id, used = ARGV[index], ARGV[index + 1]
  local before = tonumber(call('HGET', base .. 'uses', id) or 0)
  if before < tonumber(used) and call('HEXISTS', base .. 'keys', id) == 1 then
    call('HSET', base .. 'uses', id, used)
  end
end
`);

export function createRedisKeys({ serving, patient }: StoreConnections, now: () => number): KeyRecords {
  async function* scan({ organization, after }: KeyPart = {}): AsyncGenerator<readonly StoredKey[]> {
    const position = after === undefined ? -1 : await patient(POSITION, [after, organization ?? '']);
    if (typeof position !== 'number') return;
    const read = (first: number, last: number) =>
      organization === undefined ? patient(PAGE, [first, last]) : patient(PAGE_OF_ONE, [first, last, organization]);
    yield* inRedisPages(read, keysOf, position + 1);
  }

  return {
    async create(key) {
      const { mode, name, scopes, expiresAtMs, createdBy } = key;
      const details = JSON.stringify({ mode, name, scopes, expires_at: expiresAtMs ?? null });
      const outcome = await patient(CREATE, [createdBy, details, ...keyArguments(key)]);
      if (outcome === 'taken') throw taken(key);
      return outcome === 'created';
    },
    async get(id) {
      return keysOf(await serving(GET, [id]))[0];
    },
    async findByDigest(digest) {
      const [keyColumns, organizationColumns] = (await serving(FIND, [digest])) as readonly unknown[];
      const [key] = keysOf(keyColumns);
      const [organization] = organizationsOf(organizationColumns);
      return key === undefined || organization === undefined ? undefined : { key, organization };
    },
    list: (filter) => allOf(scan(filter)),
    scan,
    async revoke(id, by, reason) {
      const details = JSON.stringify({ reason: reason ?? null });
      return keysOf(await patient(REVOKE, [id, by, revocationOf(now(), by, reason), details]))[0];
    },
    async rotate(id, successor, endsAtMs) {
      const reply = await patient(ROTATE, [id, successor.createdBy, endsAtMs, ...keyArguments(successor)]);
      if (reply === 'taken') throw taken(successor);
      return keysOf(reply)[0];
    },
    async noteUses(uses) {
      await serving(NOTE_USES, [...uses].flat());
    },
  };
}

/** For new keys: an existing id or digest is a fault, not a normal result. */
function taken({ id }: StoredKey): Error {
  return new Error(`The key ${id} exists already.`);
}
