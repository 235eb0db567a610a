// The store of use in Redis, shared by all instances: a hash for each organization and span, which expires by itself. Beside the counts it
// has the number of the latest parcel of each writer, so that these are lost, if at all, together.

import { type ConnectRedis, openRedis, type Redis } from '../redis/client.ts';
import { evaluate, toScript } from '../redis/sealed-script.ts';
import { PERIOD_UNITS, type PeriodSpan, periodAtPlace, placeInSpan, spanAt } from './periods.ts';
import {
  DETAILS_MAX,
  type Entry,
  FOLDED,
  MARKS_KEPT_MS,
  type Parcel,
  type ScanOptions,
  type StatusClass,
  spanEndsAtMs,
  type UsageCount,
  type UsageStore,
  type UsageStoreOptions,
} from './store.ts';

const COMMAND_TIMEOUT_MS = 1000;
/** Redis runs nothing else meanwhile: about half a millisecond. */
const FIELDS_AT_ONCE = 1000;
const MARKS = 'usage:marks';
const ARGUMENTS_PER_ENTRY = 4;

/**
 * Keys: the hashes of the hours, the days and the months. Arguments: writer; number of the parcel; details that a hash may have; for each
 * hash when it ends, in seconds; place of the day and of the month; then for each entry place of the hour, class of status, operation and
 * key as JSON, and requests.
 *
 * A field is `[place,class,operation,key]`. The first write allocates, and a full Redis refuses that one only: a parcel is added as a
 * whole or not at all.
 */
const ADD = toScript(`
local writer, number, most = '#' .. ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
if tonumber(redis.call('HGET', KEYS[1], writer) or 0) >= number then return 0 end
redis.call('HSET', KEYS[1], writer, number)
local room = {}
for unit = 1, 3 do room[unit] = most - redis.call('HLEN', KEYS[unit]) end
for i = 9, #ARGV, ${ARGUMENTS_PER_ENTRY} do
  local places = { ARGV[i], ARGV[7], ARGV[8] }
  for unit = 1, 3 do
    local begin = '[' .. places[unit] .. ',' .. ARGV[i + 1] .. ','
    local field = begin .. ARGV[i + 2] .. ']'
    if room[unit] <= 0 and redis.call('HEXISTS', KEYS[unit], field) == 0 then
      field = begin .. '${namesOf(FOLDED)}]'
    end
    local count = redis.call('HINCRBY', KEYS[unit], field, ARGV[i + 3])
    if count == tonumber(ARGV[i + 3]) then room[unit] = room[unit] - 1 end
  end
end
for unit = 1, 3 do redis.call('EXPIREAT', KEYS[unit], ARGV[3 + unit]) end
return 1
`);

/** Arguments: writer, its mark, and up to which mark others are removed. */
const MARK = toScript(`
redis.call('ZADD', KEYS[1], ARGV[2], ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', '(' .. ARGV[3])
`);

/** Argument: writer. */
const END = toScript(`redis.call('ZREM', KEYS[1], ARGV[1])`);

const LIST_MARKS = toScript(`
local marks = {}
for index, value in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1, 'WITHSCORES')) do
  if index % 2 == 0 then marks[index / 2] = value end
end
return marks
`);

/** Arguments: where to go on, and how many fields to look at. */
const SCAN = toScript(`return redis.call('HSCAN', KEYS[1], ARGV[1], 'COUNT', ARGV[2])`);

export interface RedisUsageStoreOptions extends UsageStoreOptions {
  readonly url: string;
  readonly connect?: ConnectRedis | undefined;
}

/** Resolves when the first attempt to connect has succeeded or failed; reconnects by itself. */
export async function createRedisUsageStore(options: RedisUsageStoreOptions): Promise<UsageStore> {
  const { url, keepDays, now, detailsMax = DETAILS_MAX } = options;
  const client = await openRedis({ url, commandTimeoutMs: COMMAND_TIMEOUT_MS }, options.connect);

  return {
    async add(writer, parcel) {
      const spans = PERIOD_UNITS.map((unit) => spanAt(unit, parcel.dayMs));
      const ends = spans.map((span) => Math.ceil(spanEndsAtMs(span, keepDays()) / 1000));
      const keys = spans.map((span) => keyOf(parcel.organization, span));
      await evaluate(client, ADD, keys, [writer, parcel.number, detailsMax, ...ends, ...argumentsOf(parcel)]);
    },
    async mark(writer, completeUntilMs) {
      await evaluate(client, MARK, [MARKS], [writer, completeUntilMs, now() - MARKS_KEPT_MS]);
    },
    async end(writer) {
      await evaluate(client, END, [MARKS], [writer]);
    },
    async marks() {
      return ((await evaluate(client, LIST_MARKS, [MARKS], [])) as string[]).map(Number);
    },
    isOrdered: false,
    scan: createScan(client),
    purge: () => undefined,
    close: () => client.disconnect(),
  };
}

function argumentsOf({ dayMs, entries }: Parcel): (string | number)[] {
  return [
    placeInSpan('day', dayMs),
    placeInSpan('month', dayMs),
    ...entries.flatMap((entry) => [
      placeInSpan('hour', entry.hourMs),
      entry.statusClass,
      namesOf(entry),
      entry.requests,
    ]),
  ];
}

function namesOf({ operation, key }: Pick<Entry, 'operation' | 'key'>): string {
  return `${JSON.stringify(operation)},${JSON.stringify(key)}`;
}

/** One hash tag, so that everything of an organization is on one server of a Cluster. */
function keyOf(organization: string, { unit, name }: PeriodSpan): string {
  return `usage:{${organization}}:${unit}:${name}`;
}

/** One piece: a scan may come by the same field twice while the hash grows. */
function createScan(client: Redis): UsageStore['scan'] {
  return async function* scan({ organization, span, fromMs, toMs, operation, key }: ScanOptions) {
    const counts = new Map<string, UsageCount>();
    let read = 0;
    let cursor = '0';
    do {
      const reply = await evaluate(client, SCAN, [keyOf(organization, span)], [cursor, FIELDS_AT_ONCE]);
      const [next, fields] = reply as [string, string[]];
      cursor = next;
      read += fields.length / 2;
      for (let index = 0; index < fields.length; index += 2) {
        const [field = '', requests] = [fields[index], fields[index + 1]];
        const count = field.startsWith('[') ? toCount(span, field, Number(requests)) : undefined;
        if (count === undefined || count.periodMs < fromMs || count.periodMs >= toMs) continue;
        if ((operation ?? count.operation) !== count.operation || (key ?? count.key) !== count.key) continue;
        counts.set(field, count);
      }
    } while (cursor !== '0');
    yield { counts: [...counts.values()], read };
  };
}

function toCount(span: PeriodSpan, field: string, requests: number): UsageCount {
  const [place, statusClass, operation, key] = JSON.parse(field) as [number, StatusClass, string, string];
  return { periodMs: periodAtPlace(span, place), operation, key, statusClass, requests };
}
