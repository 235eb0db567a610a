// Runs the scripts of the counters on one Redis server, encodes their arguments and decodes their replies.

import { readFileSync } from 'node:fs';
import type { Redis } from '../../../redis/client.ts';
import { createTextCall, evaluate, toScript } from '../../../redis/sealed-script.ts';
import { flat } from '../../../shared/text.ts';
import type { Charge } from '../counter-store.ts';
import { ENTRIES_FEW, ENTRIES_MAX, ENTRIES_MERGED, ENTRIES_SPREAD, GRAINS_PER_WINDOW } from '../window.ts';

/** window.lua uses the constants of limits/counters/window.ts. */
const CONSTANTS = `
local GRAINS_PER_WINDOW, ENTRIES_MAX, ENTRIES_SPREAD = ${GRAINS_PER_WINDOW}, ${ENTRIES_MAX}, ${ENTRIES_SPREAD}
local ENTRIES_MERGED, ENTRIES_FEW = ${ENTRIES_MERGED}, ${ENTRIES_FEW}
`;
const DECIDE = CONSTANTS + readFileSync(new URL('./window.lua', import.meta.url), 'utf8');

/** Encodes the charges of one request as the script reads them. The texts of several requests are concatenated. */
export function encodeCharges(charges: readonly Charge[]): string {
  const encode = ({ counter, requests, windowMs, cost, enforce }: Charge, index: number) => {
    const isLast = index === charges.length - 1;
    return `,"${requests},${windowMs},${cost},${Number(enforce)},${Number(isLast)}",${JSON.stringify(counter)}`;
  };
  return flat(charges.map(encode).join(''));
}

/** The clock of the decision in epoch milliseconds, then the figures of many requests, in the order in which the script returns them. */
export type ScriptReply = readonly number[];

/**
 * Decides many requests by one call. Rejects if the reply belongs to another call, because after a lost or doubled reply, all later replies
 * are off by one.
 *
 * @param number sequence number of the call on this connection
 * @param clockMs epoch milliseconds; 0: the server's clock
 * @param encodedCharges concatenated results of `encodeCharges`
 */
type RunDecisions = (number: number, clockMs: number, encodedCharges: string) => Promise<ScriptReply>;

/**
 * Returns the function that decides on one server. The function sends one string and receives one string, because the client library spends
 * time on each argument and each integer. With seven requests per command, a string takes 0.4 µs per request, and four integers take 0.9
 * µs.
 */
export function createRunDecisions(client: Redis): RunDecisions {
  const prefix = JSON.stringify(client.options.keyPrefix ?? '');
  const decide = createTextCall(client, DECIDE);
  return function runDecisions(number, clockMs, encodedCharges) {
    const reply = decide(`[${prefix},${clockMs},${number}${encodedCharges}]`);
    return reply.then((bytes) => figuresIn(bytes, number));
  };
}

function figuresIn(bytes: Buffer, number: number): number[] {
  if (bytes.readDoubleLE(0) !== number) throw new Error('the reply belongs to another call');
  const figures: number[] = [];
  for (let at = 8; at < bytes.length; at += 8) figures.push(bytes.readDoubleLE(at));
  return figures;
}

const COUNTERS_PER_PAGE = 500;

/** Arguments: a JSON array of counters, and a window in milliseconds. An entry begins with the time of its latest admission. */
const EXTEND_EXPIRY = toScript(`
local time = redis.call('TIME')
local clock = time[1] * 1000 + math.floor(time[2] / 1000)
for _, key in ipairs(cjson.decode(ARGV[1])) do
  local newest = redis.call('LINDEX', key, -1)
  if newest then
    local left = struct.unpack('<I6', newest) + ARGV[2] - clock
    if left > redis.call('PTTL', key) then redis.call('PEXPIRE', key, left) end
  end
end
`);

/**
 * Extends the expiry of all counters on one server, page by page. Call it after a window has become longer, because the counters would
 * otherwise expire with the shorter window.
 *
 * @param windowMs the longer window. From then on, a unit that is already counted counts until so long after its admission.
 */
export async function extendExpiryOfAll(client: Redis, windowMs: number): Promise<void> {
  const prefix = client.options.keyPrefix ?? '';
  let cursor = '0';
  do {
    const page = await client.call('SCAN', [
      cursor,
      'MATCH',
      `${prefix}rl:*`,
      'COUNT',
      COUNTERS_PER_PAGE,
      'TYPE',
      'list',
    ]);
    const [next, counters] = page as [string, string[]];
    if (counters.length > 0) await evaluate(client, EXTEND_EXPIRY, [], [JSON.stringify(counters), windowMs]);
    cursor = next;
  } while (cursor !== '0');
}
