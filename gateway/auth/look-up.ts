// Asks the store about a key or an organization that nobody here remembers. Throws auth_unavailable.

import { GatewayError } from '../errors.ts';
import type { Awaitable } from '../exchange.ts';
import type { ChangeFollower } from './change-follower.ts';

export interface LookUpOptions<Found, Known> {
  readonly follower: Pick<ChangeFollower, 'position' | 'generation' | 'noteFailure'>;
  /** What is made of the answer, once for all who wait for it. Not to be kept: it serves them and nobody after them. */
  learn(name: string, found: Found | undefined, keep: boolean): Known | undefined;
}

interface UnderWay<Known> {
  readonly generation: number;
  readonly answer: Promise<Known | undefined>;
}

/**
 * Whoever asks for the same name while it is being looked up gets the same answer, unless something changed in between: a request that
 * comes after a change is in force never gets an answer from before it. One that was waiting by then may: it came first.
 */
export function createLookUp<Found, Known>({ follower, learn }: LookUpOptions<Found, Known>) {
  // Somebody waits for each of them, so there are never more than requests in flight.
  const underWay = new Map<string, UnderWay<Known>>();

  function fail(cause: unknown): never {
    follower.noteFailure(cause);
    throw new GatewayError('auth_unavailable', { cause });
  }

  function learnSince(generation: number, name: string, found: Found | undefined): Known | undefined {
    // Before the stream was first read, nobody would notice that what is kept has changed.
    return learn(name, found, generation === follower.generation() && follower.position() !== undefined);
  }

  function wait(name: string, generation: number, found: Promise<Found | undefined>): Promise<Known | undefined> {
    const asked: UnderWay<Known> = {
      generation,
      answer: found
        .then((answer) => learnSince(generation, name, answer))
        .finally(() => {
          if (underWay.get(name) === asked) underWay.delete(name);
        }),
    };
    underWay.set(name, asked);
    return asked.answer.catch(fail);
  }

  return function lookUp(name: string, ask: () => Awaitable<Found | undefined>): Awaitable<Known | undefined> {
    const generation = follower.generation();
    const asked = underWay.get(name);
    if (asked?.generation === generation) return asked.answer.catch(fail);
    let found: Awaitable<Found | undefined>;
    try {
      found = ask();
    } catch (cause) {
      return fail(cause);
    }
    return found instanceof Promise ? wait(name, generation, found) : learnSince(generation, name, found);
  };
}
