// The usage store in Redis, shared by all instances. Each organization and span has a hash, which expires. The hash contains the counts and
// the number of each writer's latest batch, so that Redis can only lose both.

import { type ConnectRedis, openRedis, type Redis } from '../redis/client.ts';
import { evaluate, toScript } from '../redis/sealed-script.ts';
import { PERIOD_UNITS, type PeriodSpan, periodAtPlace, placeInSpan, spanAt } from './periods.ts';
import {
  DETAILS_MAX,
  type Entry,
  FOLDED,
  MARKS_KEPT_MS,
  type ScanOptions,
  type StatusClass,
  spanEndsAtMs,
  type UsageBatch,
  type UsageCount,
  type UsageStore,
  type UsageStoreOptions,
} from './store.ts';

const COMMAND_TIMEOUT_MS = 1000;
/** Maximum number of fields that one command reads. Redis is blocked by it for about half a millisecond. */
const FIELDS_AT_ONCE = 1000;
const MARKS = 'usage:marks';
/** Maximum number of batches per command. One command per batch took 2 % of the CPU time of a gateway with 1,000 busy organizations. */
const BATCHES_PER_CALL = 32;

/**
 * Keys: for each batch, the hashes of the hours, the days and the months.
 *
 * The argument is JSON. It contains the writer, the maximum number of details in a hash, and the batches. A batch consists of its number,
 * the times at which the three hashes expire, in seconds, the numbers of the day and of the month in their spans, and its entries. An entry
 * consists of the number of the hour, the status class, operation and key as JSON, and the number of requests.
 *
 * A field of a hash is `[number,class,operation,key]`. Redis checks its memory only before the first write of a script, so a full Redis
 * adds no batch, and never a part of a batch.
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

/** Arguments: writer, its mark, and a time. Marks of other writers that are older than this time are removed. */
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
 * Arguments: cursor, number of fields to read, numbers of the first and of the last period, operation and key as JSON or empty. The script
 * filters the fields, because all counts of a busy day are 3 MB.
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

/** Creates the store. Resolves when the first attempt to connect has succeeded or failed. The client reconnects by itself. */
export async function createRedisUsageStore(options: RedisUsageStoreOptions): Promise<UsageStore> {
  const { url, keepDays, now, detailsMax = DETAILS_MAX } = options;
  const client = await openRedis({ url, commandTimeoutMs: COMMAND_TIMEOUT_MS }, options.connect);

  /** Returns the spans of each day that occurs. Computed once for a day, because nearly all batches of a flush have the same day. */
  function spansOfDays(batches: readonly UsageBatch[]): Map<number, readonly PeriodSpan[]> {
    const days = new Set(batches.map(({ dayMs }) => dayMs));
    return new Map([...days].map((dayMs) => [dayMs, PERIOD_UNITS.map((unit) => spanAt(unit, dayMs))]));
  }

  return {
    // A Cluster accepts a script only if all its keys are in one hash slot.
    batchesMax: client.isCluster ? 1 : BATCHES_PER_CALL,
    async add(writer, batches) {
      const spans = spansOfDays(batches);
      const keys: string[] = [];
      const asked: unknown[] = [writer, detailsMax];
      for (const { organization, number, dayMs, entries } of batches) {
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

/** Returns the key of a hash. All hashes of an organization have one hash tag, so one server of a Cluster stores them. */
function keyOf(organization: string, { unit, name }: PeriodSpan): string {
  return `usage:{${organization}}:${unit}:${name}`;
}

interface Places {
  readonly first: number;
  readonly last: number;
}

/**
 * Creates `scan`. A hash has no order, so each piece needs a read of the whole hash. The first piece contains the expected number of
 * periods, and each later piece twice as many as the previous piece. A small hash is one piece.
 */
function createScan(client: Redis): UsageStore['scan'] {
  return async function* scan({ organization, span, fromMs, toMs, periods, operation, key }: ScanOptions) {
    const hash = keyOf(organization, span);
    const names = [operation, key].map((name) => (name === undefined ? '' : JSON.stringify(name)));

    /** Reads the next fields after the cursor, and keeps the fields of the wanted periods. */
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

/**
 * Returns the numbers of the first and the last period that begin at `fromMs` or later, and before `toMs`. Both moments are in the span.
 */
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
