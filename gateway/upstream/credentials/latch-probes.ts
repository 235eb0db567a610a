// Stores the schedules of the probes (probe-schedule.ts). All instances share one schedule for each upstream. A schedule outlasts restarts,
// because it is stored in Redis, or in a file of the data directory if there is only one instance.

import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { askRedis, type ConnectRedis } from '../../redis/client.ts';
import { evaluate, toScript } from '../../redis/sealed-script.ts';
import { DAY_MS } from '../../shared/durations.ts';
import {
  healedAt,
  LONGEST_WAIT_MS,
  type ProbeState,
  type ProbeTurn,
  parseProbeState,
  probeTurnAt,
} from './probe-schedule.ts';

const COMMAND_TIMEOUT_MS = 500;
/** Duration of the lease by which one process at a time changes a schedule. It is longer than all Redis commands of one turn together. */
const LEASE_MS = 5000;

export interface LatchProbes {
  /**
   * Asks for a turn. The first call after a latch begins the schedule. Rejects if the store cannot be reached.
   *
   * @param latchedAtMs when this process latched the credential, epoch milliseconds
   */
  take(upstream: string, latchedAtMs: number, nowMs: number): Promise<ProbeTurn>;
  /**
   * Ends the schedule. Call it when the credential works again or was replaced. The probes of the last 24 hours stay counted. Never
   * rejects.
   */
  healed(upstream: string, nowMs: number): Promise<void>;
}

/** The schedule for a command such as `gateway check`. It never gives a turn, because the command ends with the first refusal. */
export const NO_PROBES: LatchProbes = {
  take: async (_upstream, _latchedAtMs, nowMs) => ({ kind: 'wait', nextAtMs: nowMs + LONGEST_WAIT_MS }),
  healed: async () => undefined,
};

/** @param redisUrl as `connectRedis` takes it; undefined if one process alone uses the data directory, which then stores the schedules */
export function createLatchProbes(
  redisUrl: string | undefined,
  dataDirectory: string,
  connect?: ConnectRedis,
): LatchProbes {
  return redisUrl === undefined ? inDirectory(dataDirectory) : inRedis(redisUrl, connect);
}

/**
 * @param skewMs how far the clock of the store is ahead of the clock of this process. Stored times are by the store's clock, because
 * processes with other clocks also read these times
 */
type Change<T> = (state: ProbeState, skewMs: number) => { readonly after: ProbeState; readonly result: T };

function withStore(
  change: <T>(upstream: string, nowMs: number, work: Change<T>) => Promise<T | undefined>,
): LatchProbes {
  return {
    async take(upstream, latchedAtMs, nowMs) {
      const taken = await change(upstream, nowMs, (state, skewMs) => {
        const { turn, after } = probeTurnAt(state, latchedAtMs + skewMs, nowMs + skewMs);
        return { after, result: { ...turn, nextAtMs: turn.nextAtMs - skewMs } };
      });
      // Another process has the lease.
      return taken ?? { kind: 'wait', nextAtMs: nowMs + LEASE_MS };
    },
    async healed(upstream, nowMs) {
      await change(upstream, nowMs, (state, skewMs) => ({
        after: healedAt(state, nowMs + skewMs),
        result: true,
      })).catch(() => undefined);
    },
  };
}

/** The lease and the schedule need two scripts, because a Redis Cluster may put their keys on different servers. */
const LEASE = toScript(`return redis.call('SET', KEYS[1], '1', 'PX', ARGV[1], 'NX')`);
const READ = toScript(`
local time = redis.call('TIME')
return { redis.call('GET', KEYS[1]), time[1] * 1000 + math.floor(time[2] / 1000) }
`);

function inRedis(url: string, connect: ConnectRedis | undefined): LatchProbes {
  return withStore((upstream, nowMs, work) =>
    askRedis(
      url,
      COMMAND_TIMEOUT_MS,
      async (client) => {
        const key = `credential-probes:${upstream}`;
        if ((await evaluate(client, LEASE, [`${key}:lease`], [LEASE_MS])) === null) return undefined;
        const [text, storeNowMs] = (await evaluate(client, READ, [key], [])) as [string | null, number];
        const { after, result } = work(parseProbeState(text), storeNowMs - nowMs);
        await client.set(key, JSON.stringify(after), 'PX', 2 * DAY_MS);
        await client.del(`${key}:lease`);
        return result;
      },
      connect,
    ),
  );
}

function inDirectory(directory: string): LatchProbes {
  const fileOf = (upstream: string) => join(directory, `credential-probes.${upstream}.json`);
  return withStore(async (upstream, _nowMs, work) => {
    const file = fileOf(upstream);
    const { after, result } = work(parseProbeState(readIfPresent(file)), 0);
    writeFileSync(`${file}.draft`, JSON.stringify(after));
    renameSync(`${file}.draft`, file);
    return result;
  });
}

function readIfPresent(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}
