// Plays the plans of the fuzzer side by side against one real gateway process, which has to live and to answer a good request after each.

import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BesiegedProcess, Siege } from '../besieged-process.ts';
import type { Door } from '../door.ts';
import { type Plan, planOf } from './plan.ts';

interface FuzzOptions {
  readonly connections: number;
  /** Of the first connection; each further one has the next number. */
  readonly seed: number;
  /** At which of the listeners. */
  readonly door?: number;
}

const AT_ONCE = 32;
/** A client that waits for an answer does not wait longer, and after its own end not longer for the gateway's. */
const PATIENCE_MS = 60;

/**
 * FUZZ_SEED plays from that connection on, FUZZ_CONNECTIONS as many: both together play one again.
 *
 * @param connections unless the environment says otherwise
 */
export function fuzzOptionsOf(connections: number): FuzzOptions {
  const { FUZZ_SEED, FUZZ_CONNECTIONS } = process.env;
  return { connections: Number(FUZZ_CONNECTIONS ?? connections), seed: Number(FUZZ_SEED ?? randomInt(2 ** 31)) };
}

/** Throws with the seed of a connection that does harm, and the harm. */
export async function fuzz(siege: Siege, { connections, seed, door = 0 }: FuzzOptions): Promise<void> {
  const besieged = await siege.process();
  const underWay = new Set<number>();
  let next = seed;
  async function play(): Promise<void> {
    while (next < seed + connections) {
      const own = next++;
      underWay.add(own);
      await follow(planOf(own), besieged.doors[door] as Door, besieged.key);
      await besieged.assertServing();
      underWay.delete(own);
    }
  }
  try {
    await Promise.all(Array.from({ length: AT_ONCE }, play));
    await besieged.assertNothingLeft();
  } catch (error) {
    next = Number.POSITIVE_INFINITY;
    const guilty = await firstHarmful([...underWay], siege, door);
    const found = guilty === undefined ? `none of ${[...underWay].join(', ')} alone does it` : describe(guilty);
    assert.fail(`${(error as Error).message}\nFirst seed ${seed}; ${found}`);
  }
}

/** Runs the plan on a connection of its own; resolves when this side has closed it. */
export async function follow({ pieces, leave }: Plan, door: Door, key: string): Promise<void> {
  const { socket, stream, closed, reset } = await door.enter();
  const answer = once(stream, 'data').catch(() => undefined);
  const wait = (what: Promise<unknown>) => Promise.race([what, closed]);
  for (const { bytes, pauseMs } of pieces) {
    if (!stream.writable) break;
    stream.write(Buffer.from(bytes.replaceAll('KEY', key), 'latin1'));
    if (pauseMs > 0) await wait(sleep(pauseMs));
  }
  if (leave.when === 'answer') await wait(Promise.race([answer, sleep(PATIENCE_MS)]));
  else if (leave.when !== 'at once') await wait(sleep(leave.when));
  if (leave.how === 'end') {
    stream.end();
    await wait(sleep(PATIENCE_MS));
  }
  if (leave.how === 'reset') await reset();
  else socket.destroy();
}

/** Plays connections alone, one after the other, against another process. */
async function firstHarmful(seeds: readonly number[], siege: Siege, door: number): Promise<number | undefined> {
  let besieged: BesiegedProcess = await siege.process();
  for (const seed of seeds) {
    await follow(planOf(seed), besieged.doors[door] as Door, besieged.key);
    try {
      await besieged.assertServing();
    } catch {
      return seed;
    }
    besieged = await siege.process();
  }
  return undefined;
}

function describe(seed: number): string {
  const { kind, leave, pieces } = planOf(seed);
  const bytes = JSON.stringify(pieces.map((piece) => piece.bytes).join(''));
  return (
    `connection ${seed} alone does it (${kind}, ${leave.how} ${leave.when}): FUZZ_SEED=${seed} FUZZ_CONNECTIONS=1\n` +
    `${bytes.slice(0, 1000)}`
  );
}
