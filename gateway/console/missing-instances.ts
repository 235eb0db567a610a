// Instances that ended without an orderly shutdown. Redis keeps them, so that a restart of the remaining instances does not forget them. A
// new instance with another name replaces a missing one.

import type { Redis } from '../redis/client.ts';
import type { FleetInstance, MissingInstance } from './cause.ts';

interface MissingInstances {
  /** The missing instances after the last round of questions. */
  list(): readonly MissingInstance[];
  /** Notes who answered a round and who did not. Resolves with all that are missing; rejects while Redis is away. */
  settle(answered: readonly FleetInstance[], unanswered: readonly FleetInstance[]): Promise<readonly MissingInstance[]>;
  /** Forgets the missing instances that `isMeant` accepts. Rejects while Redis is away. */
  forget(isMeant: (one: FleetInstance) => boolean): Promise<void>;
}

const KEY = '{gateway}:missing';
const KEPT_MAX = 1000;
/** An instance that never returns is forgotten after this time. A container, for example, may have another name at its next start. */
const KEPT_MS = 30 * 86_400_000;
/** A new instance replaces a missing one after it has run for this time. One that fails at once replaces none. */
const REPLACED_MS = 60_000;
/** The largest difference between the clocks of two machines. */
const CLOCKS_MS = 30_000;
const NAMES_MAX = 200;

interface Noted extends MissingInstance {
  /** Names of the instances that cannot replace this one: they answered when it was first missing, or have replaced another one since. */
  readonly present: readonly string[];
}

interface Replaced {
  readonly over: readonly string[];
  readonly by: readonly string[];
}

export function createMissingInstances(redis: Redis, now: () => number): MissingInstances {
  let known: readonly Noted[] = [];

  async function read(): Promise<void> {
    known = Object.values(await redis.hgetall(KEY)).flatMap(missingIn);
  }

  /** Forgets the replaced instances. A replacement counts for one of them, so the others note its name. */
  async function dropReplaced(answered: readonly FleetInstance[]): Promise<void> {
    const { over, by } = replacedAmong(known, answered, now());
    if (over.length === 0) return;
    await drop(({ id }) => over.includes(id));
    known = known.map((one) => ({ ...one, present: [...one.present, ...by] }));
    for (const one of known) await redis.hset(KEY, one.id, JSON.stringify(one));
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
      const present = answered.slice(0, NAMES_MAX).map(({ name }) => name);
      // The instance that notices it first sets `missing_since`.
      for (const one of unanswered.slice(0, Math.max(0, KEPT_MAX - known.length)))
        await redis.hsetnx(KEY, one.id, JSON.stringify({ ...one, missing_since, present }));
      await read();
      await drop(
        (one) => now() - Date.parse(one.missing_since) > KEPT_MS || answered.some((other) => isInItsPlace(other, one)),
      );
      await dropReplaced(answered);
      return known;
    },
    async forget(isMeant) {
      await read();
      await drop(isMeant);
    },
  };
}

/** The missing instances with a replacement among those that answered. Each new instance takes the place of one. */
function replacedAmong(missing: readonly Noted[], answered: readonly FleetInstance[], nowMs: number): Replaced {
  const taken = new Set<FleetInstance>();
  const over = missing.flatMap((one) => {
    const other = answered.find((candidate) => !taken.has(candidate) && isReplacement(candidate, one, nowMs));
    if (other === undefined) return [];
    taken.add(other);
    return [one.id];
  });
  return { over, by: [...taken].map(({ name }) => name) };
}

/** Whether `other` started under a new name, as a container does, and has run for a minute. */
function isReplacement(other: FleetInstance, { present, missing_since: since }: Noted, nowMs: number): boolean {
  const startedMs = Date.parse(other.started_at);
  return startedMs > Date.parse(since) - CLOCKS_MS && nowMs - startedMs >= REPLACED_MS && !present.includes(other.name);
}

/** Whether `other` is the missing instance itself, or was started later under its name. */
function isInItsPlace(other: FleetInstance, missing: FleetInstance): boolean {
  return other.id === missing.id || (other.name === missing.name && other.started_at > missing.started_at);
}

/** Returns an empty list for a text that another version wrote in another form. */
function missingIn(text: string): Noted[] {
  try {
    const { id, name, version, started_at, missing_since, present = [] } = JSON.parse(text) as Noted;
    const isWhole = [id, name, version, started_at, missing_since].every((part) => typeof part === 'string');
    return isWhole && Array.isArray(present) ? [{ id, name, version, started_at, missing_since, present }] : [];
  } catch {
    return [];
  }
}
