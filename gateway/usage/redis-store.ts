// The store of use in Redis, shared by all instances: a hash for each organization and span, which expires by itself. A hash has the counts
// and the number of the latest parcel of each writer, so that both can only be lost together.

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
/** Most fields that one command reads. Redis needs about half a millisecond for them, and runs nothing else meanwhile. */
const FIELDS_AT_ONCE = 1000;
const MARKS = 'usage:marks';
/** Most parcels per command. One command for each organization took 2 % of the CPU time of a gateway with 1,000 busy organizations. */
const PARCELS_PER_CALL = 32;

/**
 * Keys: for each parcel the hashes of the hours, the days and the months. The argument is JSON: the writer; details that a hash may have;
 * then for each parcel its number, when each of the hashes ends, in seconds, the places of the day and of the month, and its entries. An
 * entry is the place of the hour, the class of status, operation and key as JSON, and requests.
 *
 * A field is `[place,class,operation,key]`. The first write allocates, and a full Redis refuses that one only: all parcels are added as a
 * whole or not at all.
 */
const ADD = toScript(`
local asked = cjson.decode(ARGV[1])
local writer, most = '#' .. asked[1], asked[2]
local call = redis.call
local function add(hashes, number, ends, dayPlace, monthPlace, entries)
  if tonumber(call('HGET', hashes[1], writer) or 0) >= number then return end
  call('HSET', hashes[1], writer, number)
  for i = 1, #entries, 4 do
    local places, requests = { entries[i], dayPlace, monthPlace }, entries[i + 3]
    for unit = 1, 3 do
      local hash, begin = hashes[unit], '[' .. places[unit] .. ',' .. entries[i + 1] .. ','
      local field = begin .. entries[i + 2] .. ']'
      if call('HINCRBY', hash, field, requests) == requests then
        if call('HLEN', hash) > most then
          call('HDEL', hash, field)
          call('HINCRBY', hash, begin .. '${namesOf(FOLDED)}]', requests)
        end
        call('EXPIREAT', hash, ends[unit])
      end
    end
  end
end
for index = 3, #asked do
  local first = (index - 3) * 3
  add({ KEYS[first + 1], KEYS[first + 2], KEYS[first + 3] }, unpack(asked[index]))
end
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

/**
 * Arguments: where to go on, how many fields to look at, the first and the last place that are wanted, operation and key as JSON or empty.
 * What is not wanted is left out here: on the way to the gateway and in its memory, a busy day is 3 MB.
 */
const SCAN = toScript(`
local first, last, operation, key = tonumber(ARGV[3]), tonumber(ARGV[4]), ARGV[5] .. ',', ',' .. ARGV[6] .. ']'
local reply = redis.call('HSCAN', KEYS[1], ARGV[1], 'COUNT', ARGV[2])
local fields, wanted = reply[2], {}
for i = 1, #fields, 2 do
  local field = fields[i]
  local place, names = string.match(field, '^%[(%d+),%d,()')
  place = tonumber(place)
  if place and place >= first and place <= last
    and (operation == ',' or string.sub(field, names, names + #operation - 1) == operation)
    and (key == ',]' or string.sub(field, -#key) == key) then
    wanted[#wanted + 1], wanted[#wanted + 2] = field, fields[i + 1]
  end
end
return { reply[1], #fields / 2, wanted }
`);

interface RedisUsageStoreOptions extends UsageStoreOptions {
  readonly url: string;
  readonly connect?: ConnectRedis | undefined;
}

/** Resolves when the first attempt to connect has succeeded or failed; reconnects by itself. */
export async function createRedisUsageStore(options: RedisUsageStoreOptions): Promise<UsageStore> {
  const { url, keepDays, now, detailsMax = DETAILS_MAX } = options;
  const client = await openRedis({ url, commandTimeoutMs: COMMAND_TIMEOUT_MS }, options.connect);

  /** Nearly all parcels of a flush are of one day. */
  function spansOfDays(parcels: readonly Parcel[]): Map<number, readonly PeriodSpan[]> {
    const days = new Set(parcels.map(({ dayMs }) => dayMs));
    return new Map([...days].map((dayMs) => [dayMs, PERIOD_UNITS.map((unit) => spanAt(unit, dayMs))]));
  }

  return {
    // The servers of a Cluster take a script for keys of one hash slot only.
    parcelsMax: client.isCluster ? 1 : PARCELS_PER_CALL,
    async add(writer, parcels) {
      const spans = spansOfDays(parcels);
      const keys: string[] = [];
      const asked: unknown[] = [writer, detailsMax];
      for (const { organization, number, dayMs, entries } of parcels) {
        const ofDay = spans.get(dayMs) ?? [];
        for (const span of ofDay) keys.push(keyOf(organization, span));
        const ends = ofDay.map((span) => Math.ceil(spanEndsAtMs(span, keepDays()) / 1000));
        const places = [placeInSpan('day', dayMs), placeInSpan('month', dayMs)];
        asked.push([number, ends, ...places, entries.flatMap(figuresOf)]);
      }
      await evaluate(client, ADD, keys, [JSON.stringify(asked)]);
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
    scan: createScan(client),
    purge: () => undefined,
    close: () => client.disconnect(),
  };
}

function figuresOf(entry: Entry): (string | number)[] {
  return [placeInSpan('hour', entry.hourMs), entry.statusClass, namesOf(entry), entry.requests];
}

function namesOf({ operation, key }: Pick<Entry, 'operation' | 'key'>): string {
  return `${JSON.stringify(operation)},${JSON.stringify(key)}`;
}

/** One hash tag, so that everything of an organization is on one server of a Cluster. */
function keyOf(organization: string, { unit, name }: PeriodSpan): string {
  return `usage:{${organization}}:${unit}:${name}`;
}

interface Places {
  readonly first: number;
  readonly last: number;
}

/**
 * A hash has no order, so the script reads the whole hash for each piece. The first piece has as many periods as are wanted, and each piece
 * after it twice as many as the piece before. A small hash is one piece.
 */
function createScan(client: Redis): UsageStore['scan'] {
  return async function* scan({ organization, span, fromMs, toMs, periods, operation, key }: ScanOptions) {
    const hash = keyOf(organization, span);
    const names = [operation, key].map((name) => (name === undefined ? '' : JSON.stringify(name)));

    /** Fields of these places, from this cursor on. */
    async function step(cursor: string, { first, last }: Places) {
      const wanted = [cursor, FIELDS_AT_ONCE, first, last, ...names];
      const [next, read, fields] = (await evaluate(client, SCAN, [hash], wanted)) as [string, number, string[]];
      return { next, read, fields };
    }

    let all: Places = placesOf(span, Math.max(fromMs, span.startMs), Math.min(toMs, span.endMs));
    for (let size = periods; all.first <= all.last; size *= 2) {
      const begin = await step('0', all);
      const last = begin.next === '0' ? all.last : Math.min(all.last, all.first + size - 1);
      const piece = { first: all.first, last };
      // While the hash grows, a scan may return the same field twice. The map keeps one of them.
      const counts = new Map<string, UsageCount>();
      let read = 0;
      for (let found = begin; ; found = await step(found.next, piece)) {
        read += found.read;
        for (const [field, count] of countsIn(span, found.fields))
          if (placeInSpan(span.unit, count.periodMs) <= last) counts.set(field, count);
        if (found.next === '0') break;
      }
      const inOrder = [...counts.values()].sort((one, other) => one.periodMs - other.periodMs);
      yield { counts: inOrder, read, untilMs: last === all.last ? toMs : periodAtPlace(span, last + 1) };
      all = { first: last + 1, last: all.last };
    }
  };
}

/** The places of the periods that begin at one moment or later, and before another. Both moments are in the span. */
function placesOf({ unit }: PeriodSpan, fromMs: number, toMs: number): Places {
  return { first: placeInSpan(unit, fromMs), last: placeInSpan(unit, toMs - 1) };
}

function countsIn(span: PeriodSpan, fields: readonly string[]): [field: string, count: UsageCount][] {
  const counts: [string, UsageCount][] = [];
  for (let index = 0; index < fields.length; index += 2) {
    const [field = '', requests] = [fields[index], fields[index + 1]];
    counts.push([field, toCount(span, field, Number(requests))]);
  }
  return counts;
}

function toCount(span: PeriodSpan, field: string, requests: number): UsageCount {
  const [place, statusClass, operation, key] = JSON.parse(field) as [number, StatusClass, string, string];
  return { periodMs: periodAtPlace(span, place), operation, key, statusClass, requests };
}
