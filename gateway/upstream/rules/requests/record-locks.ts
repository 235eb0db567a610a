// Locks on records of upstreams, for requests that read a record before they change it. One request at a time holds a record, over all
// instances. The holder of a lock is stored in Redis, or in the memory of this process if no Redis is configured. While Redis cannot be
// reached, a lock excludes only the other requests of this process.

import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ConnectRedis, openRedis, type Redis } from '../../../redis/client.ts';
import { evaluate, toScript } from '../../../redis/sealed-script.ts';
import { createTurns, type ProcessTurn } from './turns.ts';

const COMMAND_TIMEOUT_MS = 500;
/** Milliseconds between two attempts to take a lock that another instance holds. */
const RETRY_MS = { first: 10, longest: 250 } as const;

/**
 * Arguments: token of the holder; lease in milliseconds. Also returns true if this token already holds the lock, because the reply to its
 * first call may have been lost or damaged.
 */
const TAKE = toScript(`
if redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2], 'NX') then return true end
return redis.call('GET', KEYS[1]) == ARGV[1]
`);

/** Argument: token of the holder. */
const RELEASE = toScript(`
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
`);

export interface RecordLock {
  /**
   * Resolves once no other request holds the record. Rejects with the reason of the signal.
   *
   * @param leaseMs time after which other instances take over a lock that this process has not released
   */
  take(leaseMs: number, over: AbortSignal): Promise<void>;
  /** Releases the lock, or stops waiting for it. May be called in any state, and more than once. */
  release(): void;
}

export interface RecordLocks {
  /** Returns a lock that is not taken yet. */
  lockOf(record: string): RecordLock;
  /** Releases all locks that are still held. Resolves when Redis has released them, or does not answer. */
  close(): Promise<void>;
}

interface RecordLocksOptions {
  /** The address, as `connectRedis` takes it; undefined if no other process shares the records. */
  readonly redisUrl: string | undefined;
  readonly connect?: ConnectRedis | undefined;
  /** Called with `away` when Redis has stopped answering, and with `up` when it answers again. */
  onChange(state: { readonly state: 'up' | 'away' }): void;
}

/** Creates the locks. The first lock connects to Redis. */
export function createRecordLocks({ redisUrl, onChange, ...options }: RecordLocksOptions): RecordLocks {
  const turns = createTurns();
  const held = new Set<SharedLock>();
  const connect = redisUrl === undefined ? undefined : connectOnce(redisUrl, options.connect);
  let state: 'up' | 'away' = 'up';

  function note(next: 'up' | 'away'): void {
    if (next === state) return;
    state = next;
    onChange({ state });
  }

  return {
    lockOf(record) {
      const turn = turns.turnOf(record);
      if (connect === undefined) return localLock(turn);
      const shared = new SharedLock(connect, keyOf(record), note);
      let isReleased = false;
      return {
        async take(leaseMs, over) {
          // The requests of this process first wait for their turn in this process. Only the request with the turn asks Redis.
          await turn.enter(over);
          if (isReleased) return;
          held.add(shared);
          await shared.take(leaseMs, over);
        },
        release() {
          if (isReleased) return;
          isReleased = true;
          void shared.release().then(() => {
            held.delete(shared);
            turn.leave();
          });
        },
      };
    },
    async close() {
      await Promise.all([...held].map((lock) => lock.release()));
      (await connect?.ifOpened())?.disconnect();
    },
  };
}

/** Returns the key of a record. It is a digest, because the name of a record may be long, and may be the name of a person. */
function keyOf(record: string): string {
  return `record-lock:${createHash('sha256').update(record).digest('base64url')}`;
}

function localLock(turn: ProcessTurn): RecordLock {
  return { take: (_leaseMs, over) => turn.enter(over), release: turn.leave };
}

interface Connect {
  (): Promise<Redis>;
  ifOpened(): Promise<Redis> | undefined;
}

function connectOnce(url: string, connectRedis: ConnectRedis | undefined): Connect {
  let client: Promise<Redis> | undefined;
  function connect(): Promise<Redis> {
    client ??= openRedis({ url, commandTimeoutMs: COMMAND_TIMEOUT_MS }, connectRedis);
    return client;
  }
  return Object.assign(connect, { ifOpened: () => client });
}

/** One lock in Redis. */
class SharedLock {
  readonly #connect: () => Promise<Redis>;
  readonly #key: string;
  readonly #note: (state: 'up' | 'away') => void;
  readonly #token = randomUUID();
  #isOver = false;
  /** The latest command that may have taken the lock. */
  #asking: Promise<unknown> | undefined;

  constructor(connect: () => Promise<Redis>, key: string, note: (state: 'up' | 'away') => void) {
    this.#connect = connect;
    this.#key = key;
    this.#note = note;
  }

  /** Takes the lock in Redis. If Redis does not answer, resolves without the lock. */
  async take(leaseMs: number, over: AbortSignal): Promise<void> {
    for (let waitMs: number = RETRY_MS.first; ; waitMs = Math.min(2 * waitMs, RETRY_MS.longest)) {
      over.throwIfAborted();
      if (this.#isOver) return;
      const answer = this.#ask(leaseMs);
      this.#asking = answer;
      const outcome = await answer;
      this.#note(outcome === 'away' ? 'away' : 'up');
      if (outcome !== 'held') return;
      // The wait is random. Otherwise instances that began to wait together would always ask at the same moment.
      await sleep(waitMs * (0.5 + Math.random() / 2), undefined, { signal: over });
    }
  }

  /** Releases the lock. Waits first for a command in progress, which may have taken the lock. Never rejects. */
  async release(): Promise<void> {
    this.#isOver = true;
    if (this.#asking === undefined) return;
    await this.#asking;
    this.#asking = undefined;
    try {
      await evaluate(await this.#connect(), RELEASE, [this.#key], [this.#token]);
    } catch {
      // Redis cannot be reached. It releases the lock when the lease ends.
    }
  }

  async #ask(leaseMs: number): Promise<'taken' | 'held' | 'away'> {
    try {
      const client = await this.#connect();
      const reply = await evaluate(client, TAKE, [this.#key], [this.#token, Math.ceil(leaseMs)]);
      return reply === 1 ? 'taken' : 'held';
    } catch {
      return 'away';
    }
  }
}
