// Instances that went without an orderly end: kept in Redis, so that no instance has to remember the others, and a restart of those that
// are left takes nothing for over.

import type { Redis } from '../redis/client.ts';
import type { FleetInstance, MissingInstance } from './fleet-instance.ts';

export interface MissingInstances {
  /** As they were at the last round of questions. */
  list(): readonly MissingInstance[];
  /** Notes who answered a round and who did not. Resolves with all that are missing; rejects while Redis is away. */
  settle(answered: readonly FleetInstance[], unanswered: readonly FleetInstance[]): Promise<readonly MissingInstance[]>;
  /** Those with these names, or the one with this id. Rejects while Redis is away. */
  forget(isMeant: (one: FleetInstance) => boolean): Promise<void>;
}

const KEY = '{gateway}:missing';
/** One that never comes back, such as the process of a container that has another name the next time, is no concern for ever. */
const KEPT_MAX = 1000;
const KEPT_MS = 30 * 86_400_000;

export function createMissingInstances(redis: Redis, now: () => number): MissingInstances {
  let known: readonly MissingInstance[] = [];

  async function read(): Promise<void> {
    known = Object.values(await redis.hgetall(KEY)).flatMap(missingIn);
  }

  async function drop(isOver: (one: MissingInstance) => boolean): Promise<void> {
    const over = known.filter(isOver).map(({ id }) => id);
    if (over.length === 0) return;
    await redis.hdel(KEY, ...over);
    known = known.filter(({ id }) => !over.includes(id));
  }

  return {
    list: () => known,
    async settle(answered, unanswered) {
      const missing_since = new Date(now()).toISOString();
      // The first to notice it says since when.
      for (const one of unanswered.slice(0, Math.max(0, KEPT_MAX - known.length)))
        await redis.hsetnx(KEY, one.id, JSON.stringify({ ...one, missing_since }));
      await read();
      await drop(
        (one) => now() - Date.parse(one.missing_since) > KEPT_MS || answered.some((other) => isInItsPlace(other, one)),
      );
      return known;
    },
    async forget(isMeant) {
      await read();
      await drop(isMeant);
    },
  };
}

/** The instance itself, or one that was started later under its name. */
function isInItsPlace(other: FleetInstance, missing: FleetInstance): boolean {
  return other.id === missing.id || (other.name === missing.name && other.started_at > missing.started_at);
}

/** Empty for a text that another version wrote in another form. */
function missingIn(text: string): MissingInstance[] {
  try {
    const { id, name, version, started_at, missing_since } = JSON.parse(text) as MissingInstance;
    const isWhole = [id, name, version, started_at, missing_since].every((part) => typeof part === 'string');
    return isWhole ? [{ id, name, version, started_at, missing_since }] : [];
  } catch {
    return [];
  }
}
