// Keeps the instances that ended without an orderly shutdown. They are stored in Redis, because the remaining instances may restart. A new
// instance with another name replaces a missing instance. The reason why an instance is no longer missing is kept as long as alerts need
// it.

import type { Redis } from '../../redis/client.ts';
import { type FleetInstance, GONE_MS, type MissingInstance, type ReturnedInstance } from './fleet-instance.ts';
import type { LostInstance } from './instance-beats.ts';

interface MissingInstances {
  /** Returns the missing instances after the last round of questions. */
  list(): readonly MissingInstance[];
  /** Returns the instances that were missing until a moment ago. */
  returned(): readonly ReturnedInstance[];
  /**
   * Notes which instances answered a round and which did not. Resolves with all missing instances; rejects while Redis cannot be reached.
   *
   * @param noticed `late` if another instance may have started in the meantime in the place of one that did not answer
   */
  settle(
    answered: readonly FleetInstance[],
    unanswered: readonly LostInstance[],
    noticed: 'at once' | 'late',
  ): Promise<readonly MissingInstance[]>;
  /** Forgets the missing instances that `isMeant` accepts. Rejects while Redis cannot be reached. @param why a sentence for operators */
  forget(isMeant: (one: FleetInstance) => boolean, why: string): Promise<void>;
}

const KEY = '{gateway}:missing';
const RETURNED = '{gateway}:missing:returned';
const KEPT_MAX = 1000;
/** How long an instance is treated as returned, which is longer than the interval at which alerts check. */
const RETURNED_MS = 60_000;
/** The time after which a new instance replaces a missing instance, so that an instance that fails at once replaces none. */
const REPLACED_MS = 60_000;
/** The largest difference between the clocks of two machines. */
const CLOCKS_MS = 30_000;
const NAMES_MAX = 200;

interface NotedInstance extends MissingInstance {
  /**
   * The names of the instances that cannot replace this instance, because they answered when it was first missing, or have replaced another
   * instance since.
   */
  readonly present: readonly string[];
}

/** An instance that is no longer missing, and why. */
type Over = readonly [id: string, why: string];

interface ReplacedInstances {
  readonly over: readonly Over[];
  readonly by: readonly string[];
}

export function createMissingInstances(redis: Redis, now: () => number): MissingInstances {
  let known: readonly NotedInstance[] = [];
  let returned: readonly ReturnedInstance[] = [];

  async function read(): Promise<void> {
    known = Object.values(await redis.hgetall(KEY)).flatMap(missingIn);
    const all = Object.values(await redis.hgetall(RETURNED)).flatMap(returnedIn);
    const isRecent = ({ at }: ReturnedInstance) => now() - Date.parse(at) < RETURNED_MS;
    returned = all.filter((one) => isRecent(one) && !known.some(({ name }) => name === one.name));
    const past = all.filter((one) => !isRecent(one)).map(({ id }) => id);
    if (past.length > 0) await redis.hdel(RETURNED, ...past);
  }

  /** Forgets the replaced instances. A replacement replaces one instance, so the other missing instances note its name. */
  async function dropReplaced(answered: readonly FleetInstance[]): Promise<void> {
    const { over, by } = replacedAmong(known, answered, now());
    if (over.length === 0) return;
    await drop(over);
    known = known.map((one) => ({ ...one, present: [...one.present, ...by] }));
    for (const one of known) await redis.hset(KEY, one.id, JSON.stringify(one));
  }

  async function drop(over: readonly Over[]): Promise<void> {
    const at = new Date(now()).toISOString();
    for (const [id, why] of over) {
      const one = known.find((other) => other.id === id);
      // Several instances may find this at the same time. The instance that deletes the entry notes the reason.
      if (one === undefined || (await redis.hdel(KEY, id)) === 0) continue;
      const { name, missing_since } = one;
      await redis.hset(RETURNED, id, JSON.stringify({ id, name, missing_since, at, why }));
      returned = [...returned, { id, name, missing_since, at, why }];
    }
    known = known.filter((one) => !over.some(([id]) => id === one.id));
  }

  return {
    list: () => known,
    returned: () => returned,
    async settle(answered, unanswered, noticed) {
      // The instance that notices it first sets `missing_since`.
      for (const { lastMs, ...one } of unanswered.slice(0, Math.max(0, KEPT_MAX - known.length))) {
        const missing_since = new Date(lastMs).toISOString();
        const before = answered.filter(({ started_at: at }) => Date.parse(at) < lastMs - CLOCKS_MS);
        const present = (noticed === 'at once' ? answered : before).slice(0, NAMES_MAX).map(({ name }) => name);
        await redis.hsetnx(KEY, one.id, JSON.stringify({ ...one, missing_since, present }));
      }
      await read();
      await drop(known.flatMap((one) => endOf(one, answered, now())));
      await dropReplaced(answered);
      return known;
    },
    async forget(isMeant, why) {
      await read();
      await drop(known.filter(isMeant).map(({ id }) => [id, why]));
    },
  };
}

/** Returns why an instance is no longer missing without an action of an operator; empty while it is missing. */
function endOf(missing: NotedInstance, answered: readonly FleetInstance[], nowMs: number): Over[] {
  const { id, name, started_at: startedAt, missing_since: since } = missing;
  if (answered.some((other) => other.id === id)) return [[id, 'It answers again.']];
  if (answered.some((other) => other.name === name && other.started_at > startedAt))
    return [[id, 'Another process has started under its name.']];
  if (nowMs - Date.parse(since) < GONE_MS) return [];
  return [
    [id, `It has not answered for ${GONE_MS / 60_000} minutes and counts as gone for good; it has not come back.`],
  ];
}

/** Returns the missing instances with a replacement among the instances that answered. Each new instance replaces one. */
function replacedAmong(
  missing: readonly NotedInstance[],
  answered: readonly FleetInstance[],
  nowMs: number,
): ReplacedInstances {
  const taken = new Set<FleetInstance>();
  const over = missing.flatMap((one) => {
    const other = answered.find((candidate) => !taken.has(candidate) && isReplacement(candidate, one, nowMs));
    if (other === undefined) return [];
    taken.add(other);
    return [[one.id, `The new instance ${other.name} has taken its place.`] as const];
  });
  return { over, by: [...taken].map(({ name }) => name) };
}

/** Whether `other` started under a new name, as a container does, and has run for a minute. */
function isReplacement(other: FleetInstance, { present, missing_since: since }: NotedInstance, nowMs: number): boolean {
  const startedMs = Date.parse(other.started_at);
  return startedMs > Date.parse(since) - CLOCKS_MS && nowMs - startedMs >= REPLACED_MS && !present.includes(other.name);
}

/** Returns an empty list for a text that another version wrote in another form. */
function missingIn(text: string): NotedInstance[] {
  try {
    const {
      id,
      name,
      version,
      started_at,
      admin_port,
      pid,
      missing_since,
      present = [],
    } = JSON.parse(text) as NotedInstance;
    const isWhole = [id, name, version, started_at, missing_since].every((part) => typeof part === 'string');
    return isWhole && Array.isArray(present)
      ? [{ id, name, version, started_at, admin_port, pid, missing_since, present }]
      : [];
  } catch {
    return [];
  }
}

function returnedIn(text: string): ReturnedInstance[] {
  try {
    const { id, name, missing_since, at, why } = JSON.parse(text) as ReturnedInstance;
    const isWhole = [id, name, missing_since, at, why].every((part) => typeof part === 'string');
    return isWhole ? [{ id, name, missing_since, at, why }] : [];
  } catch {
    return [];
  }
}
