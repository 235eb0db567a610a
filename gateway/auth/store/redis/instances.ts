// The list of running gateways in the Redis key store. Redis measures the time since each report, so that the clocks of the instances need
// not agree.

import type { InstanceRecords } from '../key-store.ts';
import type { StoreConnections } from './key-store-connection.ts';
import { toStoreScript } from './key-store-script.ts';

const CLOCK = `
local time = call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
`;

/**
 * Writes a report. The score of an instance is the end of its grace period. Also removes instances that ended without removing themselves.
 * After a failover or a restart, a report may name changes that the server has lost. In that case no change is treated as in force at this
 * instance. Returns what names the server since it has taken over: its `run_id`, which differs for each process, and its replication id,
 * which each promotion changes; an empty text if the user of the gateway must not read INFO. An INFO takes three microseconds here.
 */
const REPORT = toStoreScript(`${CLOCK}
local id, grace, instance, position, changed_at, behind = unpack(ARGV, 3)
if changed_at ~= '' then
  local change = call('XRANGE', changes, position .. '-0', position .. '-0')[1]
  if not change or change[2][2] ~= changed_at then instance = behind end
end
for _, silent in ipairs(call('ZRANGEBYSCORE', base .. 'graces', '-inf', '(' .. now)) do
  call('HDEL', base .. 'instances', silent)
end
call('ZREMRANGEBYSCORE', base .. 'graces', '-inf', '(' .. now)
call('HSET', base .. 'instances', id, instance)
call('ZADD', base .. 'graces', now + grace, id)
local server, replication = redis.pcall('INFO', 'server'), redis.pcall('INFO', 'replication')
if type(server) ~= 'string' or type(replication) ~= 'string' then return '' end
return (string.match(server, 'run_id:(%x+)') or '') .. ' ' .. (string.match(replication, 'master_replid:(%x+)') or '')
`);

const REMOVE = toStoreScript(`
call('HDEL', base .. 'instances', ARGV[3])
call('ZREM', base .. 'graces', ARGV[3])
`);

const LIST = toStoreScript(`${CLOCK}
local listed = {}
local heard = call('ZRANGEBYSCORE', base .. 'graces', now, '+inf', 'WITHSCORES')
for index = 1, #heard, 2 do
  listed[#listed + 1] = { call('HGET', base .. 'instances', heard[index]), heard[index + 1] - now }
end
return listed
`);

export function createRedisInstances({ serving }: StoreConnections): InstanceRecords {
  return {
    async report({ changedAtMs = '', ...instance }) {
      const { id, graceMs, position } = instance;
      const [text, behind] = [instance, { ...instance, position: 0 }].map((one) => JSON.stringify(one)) as [
        string,
        string,
      ];
      return (await serving(REPORT, [id, graceMs, text, position, changedAtMs, behind])) as string;
    },
    async remove(id) {
      await serving(REMOVE, [id]);
    },
    async list() {
      const listed = (await serving(LIST)) as readonly (readonly [string, number])[];
      return listed.map(([text, leftMs]) => {
        const instance = JSON.parse(text);
        return { ...instance, silentMs: Math.max(0, instance.graceMs - leftMs) };
      });
    },
  };
}
