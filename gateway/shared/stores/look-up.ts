// Looks up a record in a store when it is not cached.

import type { Awaitable } from '../awaitable.ts';
import type { ChangeFollower } from './change-follower.ts';

interface LookUpOptions<Found, Known> {
  readonly follower: Pick<ChangeFollower<never>, 'position' | 'generation' | 'noteFailure'>;
  /** Converts the store's answer, once for all requests that wait for it. If `keep` is false, the result must not be cached. */
  learn(name: string, found: Found | undefined, keep: boolean): Known | undefined;
  /** Returns the error for requests when the store cannot be read. */
  unavailable(cause: unknown): Error;
  /** Whether a request may share the answer to an earlier question. Default: always. */
  mayShare?(): boolean;
}

interface InProgress<Known> {
  readonly generation: number;
  readonly answer: Promise<Known | undefined>;
}

/** Returns the cached result for a name, or calls `ask`. */
export type LookUp<Found, Known> = (
  name: string,
  ask: () => Awaitable<Found | undefined>,
) => Awaitable<Known | undefined>;

/**
 * Creates a look-up that requests for the same name share, unless a change arrives meanwhile. A request that arrives after a change is in
 * force never gets a result from before the change. A request that was waiting before may get such a result.
 */
export function createLookUp<Found, Known>({
  follower,
  learn,
  unavailable,
  mayShare = () => true,
}: LookUpOptions<Found, Known>): LookUp<Found, Known> {
  // At least one request waits for each entry, so the map is never larger than the number of requests in flight.
  const inProgress = new Map<string, InProgress<Known>>();

  function fail(cause: unknown): never {
    follower.noteFailure(cause);
    throw unavailable(cause);
  }

  function learnSince(generation: number, name: string, found: Found | undefined): Known | undefined {
    // Before the first read of the store's change stream, a change to a cached entry would go unnoticed.
    return learn(name, found, generation === follower.generation() && follower.position() !== undefined);
  }

  function wait(name: string, generation: number, found: Promise<Found | undefined>): Promise<Known | undefined> {
    const current: InProgress<Known> = {
      generation,
      answer: found
        .then((answer) => learnSince(generation, name, answer))
        .finally(() => {
          if (inProgress.get(name) === current) inProgress.delete(name);
        }),
    };
    inProgress.set(name, current);
    return current.answer.catch(fail);
  }

  return function lookUp(name, ask) {
    const generation = follower.generation();
    const current = inProgress.get(name);
    if (current?.generation === generation && mayShare()) return current.answer.catch(fail);
    let found: Awaitable<Found | undefined>;
    try {
      found = ask();
    } catch (cause) {
      return fail(cause);
    }
    return found instanceof Promise ? wait(name, generation, found) : learnSince(generation, name, found);
  };
}
