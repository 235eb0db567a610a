// Keys in the Redis key store.

import { authorNameOf, detailsBy, ofChangedKey, ofNewKey, ofRevokedKey, ofRotatedKey } from '../change-details.ts';
import type { Author, Conditions, KeyFilter, KeyRecords, KeyStoreChange } from '../key-store.ts';
import { isRotatable, type StoredKey } from '../stored-key.ts';
import {
  allOf,
  inRedisPages,
  KEY_ARGUMENTS,
  KEY_FUNCTIONS,
  keyArguments,
  keysOf,
  ORGANIZATION_FUNCTIONS,
  organizationsOf,
  revocationOf,
} from './columns.ts';
import { CONDITION_FUNCTIONS, conditionArguments, untilUnchanged, withinConditions } from './conditions.ts';
import { DAMAGE_FUNCTIONS } from './damage.ts';
import type { RunScript, StoreConnections } from './key-store-connection.ts';
import { REFUSED, toStoreScript } from './key-store-script.ts';
import { boundArguments, WORKING_FUNCTIONS } from './working-keys.ts';

const CREATE = toStoreScript(`${ORGANIZATION_FUNCTIONS}${KEY_FUNCTIONS}${WORKING_FUNCTIONS}${CONDITION_FUNCTIONS}
local by, details, at = ARGV[3], ARGV[4], 7
local failed = failure(at + ${KEY_ARGUMENTS})
if failed then return failed end
if not organization_exists(ARGV[at + 2]) then return 'organization_missing' end
if key_exists(at) then return 'taken' end
if not has_room(ARGV[at + 2], '', 1, ARGV[5], ARGV[6]) then return { 'failed', 'most', '' } end
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

/** Returns the position of a key, within its organization if an organization is named; nil if there is no such key. */
const POSITION = toStoreScript(`
local id, organization = ARGV[3], ARGV[4]
if organization == '' then return call('LPOS', base .. 'key_order', id) end
return call('ZRANK', base .. 'keys_of:' .. organization, id)
`);

/**
 * Writes a change of a key, on the condition that the key is as it was read. Writes nothing if there are no details, because then nothing
 * changes.
 */
const CHANGE = toStoreScript(`${KEY_FUNCTIONS}${CONDITION_FUNCTIONS}
local by, details, id, record, ends = ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7]
local failed = failure(8)
if failed then return failed end
if details ~= '' then
  call('HSET', base .. 'keys', id, record)
  if ends == '' then call('HDEL', base .. 'ends', id) else call('HSET', base .. 'ends', id, ends) end
  write_change(by, 'key.changed', organization_of(record), id, details)
end
return columns_of({ id }, KEY_COLUMNS)
`);

const REVOKE = toStoreScript(`${KEY_FUNCTIONS}${WORKING_FUNCTIONS}${CONDITION_FUNCTIONS}
local now, id, by, revocation, leaves_another = tonumber(ARGV[2]), ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local details, details_of_expired = ARGV[7], ARGV[8]
local failed = failure(9)
if failed then return failed end
local record = call('HGET', base .. 'keys', id)

local function is_live(text)
  return string.find(text, '"mode":"live"', 1, true) ~= nil
end

local function has_another()
  return find_working(organization_of(record), function(other)
    return other ~= id and (not is_live(record) or is_live(call('HGET', base .. 'keys', other) or ''))
  end)
end

if record and call('HEXISTS', base .. 'revocations', id) == 0 then
  local ends = call('HGET', base .. 'ends', id)
  local has_expired = ends and tonumber(ends) <= now
  if leaves_another == '1' and not has_expired and not has_another() then return { 'failed', 'leavesAnother', '' } end
  call('HSET', base .. 'revocations', id, revocation)
  write_change(by, 'key.revoked', organization_of(record), id, has_expired and details_of_expired or details)
end
return columns_of({ id }, KEY_COLUMNS)
`);

/** Writes a rotation, on the condition that the key is as it was read. */
const ROTATE = toStoreScript(`${KEY_FUNCTIONS}${WORKING_FUNCTIONS}${CONDITION_FUNCTIONS}
local id, by, ends_at, details, at = ARGV[3], ARGV[4], ARGV[5], ARGV[6], 9
local failed = failure(at + ${KEY_ARGUMENTS})
if failed then return failed end
if key_exists(at) then return 'taken' end
local added = tonumber(ends_at) > tonumber(ARGV[2]) and 2 or 1
if not has_room(ARGV[at + 2], id, added, ARGV[7], ARGV[8]) then return { 'failed', 'most', '' } end
call('HSET', base .. 'ends', id, ends_at)
call('HSET', base .. 'successors', id, ARGV[at])
insert_keys({ at })
write_change(by, 'key.rotated', ARGV[at + 2], id, details)
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

type Reads = Pick<KeyRecords, 'get' | 'findByDigest' | 'list' | 'scan'>;

export function createRedisKeys(connections: StoreConnections, now: () => number): KeyRecords {
  return { ...createReads(connections), ...createWrites(connections, now) };
}

function createReads({ serving, patient }: StoreConnections): Reads {
  async function* scan({ organization, after }: KeyFilter = {}): AsyncGenerator<readonly StoredKey[]> {
    const position = after === undefined ? -1 : await patient(POSITION, [after, organization ?? '']);
    if (typeof position !== 'number') return;
    const read = (first: number, last: number) =>
      organization === undefined ? patient(PAGE, [first, last]) : patient(PAGE_OF_ONE, [first, last, organization]);
    yield* inRedisPages(read, keysOf, position + 1);
  }

  return {
    get: (id) => readKey(serving, id),
    async findByDigest(digest) {
      const [keyColumns, organizationColumns] = (await serving(FIND, [digest])) as readonly unknown[];
      const [key] = keysOf(keyColumns);
      const [organization] = organizationsOf(organizationColumns);
      return key === undefined || organization === undefined ? undefined : { key, organization };
    },
    list: (filter) => allOf(scan(filter)),
    scan,
  };
}

function createWrites({ serving, patient }: StoreConnections, now: () => number): Omit<KeyRecords, keyof Reads> {
  return {
    async create(key, author = key.createdBy, conditions = {}) {
      const record = [...boundArguments(conditions), ...keyArguments(key), ...conditionArguments(conditions)];
      const reply = await patient(CREATE, [authorNameOf(author), detailsText(author, ofNewKey(key)), ...record]);
      const outcome = withinConditions(reply);
      if (outcome === 'taken') throw takenError(key);
      return outcome === 'created';
    },
    async change(id, patch, author, conditions = {}) {
      const reply = await untilUnchanged(id, conditions, async () => {
        const before = await readKey(patient, id);
        if (before === undefined) return [];
        const after = { ...before, ...patch };
        const differences = ofChangedKey(before, after);
        const details = differences === undefined ? '' : detailsText(author, differences);
        const [, , , record = '', ends = ''] = keyArguments(after);
        const unchanged = unchangedArguments(conditions, before);
        return patient(CHANGE, [authorNameOf(author), details, id, record, ends, ...unchanged]);
      });
      return keysOf(reply)[0];
    },
    async revoke(id, author, reason, conditions = {}) {
      const by = authorNameOf(author);
      const reply = await patient(REVOKE, [
        ...[id, by, revocationOf(now(), by, reason), conditions.leavesAnother ? 1 : 0],
        ...[false, true].map((hasExpired) => detailsText(author, ofRevokedKey(reason, hasExpired))),
        ...conditionArguments(conditions),
      ]);
      return keysOf(withinConditions(reply))[0];
    },
    async rotate(id, successor, endsAtMs, author = successor.createdBy, conditions = {}) {
      const reply = await untilUnchanged(id, conditions, async () => {
        const before = await readKey(patient, id);
        if (before === undefined || !isRotatable(before, now())) return [];
        const expiresAtMs = Math.min(endsAtMs, before.expiresAtMs ?? Number.POSITIVE_INFINITY);
        const after = { ...before, expiresAtMs, replacedBy: successor.id };
        return patient(ROTATE, [
          ...[id, authorNameOf(author), expiresAtMs, detailsText(author, ofRotatedKey(before, after))],
          ...[...boundArguments(conditions), ...keyArguments(successor), ...unchangedArguments(conditions, before)],
        ]);
      });
      if (reply === 'taken') throw takenError(successor);
      return keysOf(reply)[0];
    },
    async noteUses(uses) {
      await serving(NOTE_USES, [...uses].flat());
    },
  };
}

async function readKey(run: RunScript, id: string): Promise<StoredKey | undefined> {
  return keysOf(await run(GET, [id]))[0];
}

function detailsText(author: Author, details: KeyStoreChange['details']): string {
  return JSON.stringify(detailsBy(author, details));
}

/** Returns the arguments for these conditions and for another: the key must be as it was read. */
function unchangedArguments(conditions: Conditions, before: StoredKey): (string | number)[] {
  return conditionArguments({ ...conditions, keys: [...(conditions.keys ?? []), before] });
}

/** Returns the error for a new key whose id or digest exists. Both are random, so this is a fault of the gateway. */
function takenError({ id }: StoredKey): Error {
  return new Error(`The key ${id} exists already.`);
}
