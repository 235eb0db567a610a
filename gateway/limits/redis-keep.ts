// Extends the expiry of the counters on one Redis server after a window has become longer: they were written to expire with the shorter
// one.

import type { Redis } from '../redis/client.ts';
import { evaluate, toScript } from '../redis/script.ts';

const COUNTERS_PER_PAGE = 500;

/** Arguments: a JSON array of counters, and a window in milliseconds. An entry begins with the time of its latest admission. */
const KEEP = toScript(`
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
 * Visits all counters of a server, page by page.
 *
 * @param windowMs how long after its admission a unit counted before this call stays counted
 */
export async function keepCounters(client: Redis, windowMs: number): Promise<void> {
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
    if (counters.length > 0) await evaluate(client, KEEP, [], [JSON.stringify(counters), windowMs]);
    cursor = next;
  } while (cursor !== '0');
}
