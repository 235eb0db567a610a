// The rows of the table once more, each with a reset at some moment: a client that leaves without a word must take nothing with it.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Siege } from '../besieged-process.ts';
import type { Door } from '../door.ts';
import { type AttackCase, get } from './case.ts';

/** When a client resets its connection, and its requests before the bytes of the row. */
export interface Moment {
  readonly name: string;
  readonly before?: string;
  /** Resolves when the connection is to be reset. */
  come(stream: Duplex): Promise<unknown>;
}

/** A row that is never answered, and of which no byte comes back. */
const SILENT_MS = 60;

const firstByte = (stream: Duplex) => Promise.race([once(stream, 'data'), sleep(SILENT_MS)]);

export const moments: readonly Moment[] = [
  { name: 'at once', come: async () => undefined },
  { name: 'after 5 ms', come: () => sleep(5) },
  { name: 'after 40 ms', come: () => sleep(40) },
  { name: 'with the first byte of its answer', come: firstByte },
  { name: 'while the answer before it is being written', before: get('/v1/files'), come: firstByte },
];

/** Sends the row on a connection of its own and resets it; resolves when this side has forgotten it. */
async function hit(door: Door, key: string, { sent }: AttackCase, { before = '', come }: Moment): Promise<void> {
  const { stream, closed, reset } = await door.enter();
  stream.write(Buffer.from((before + sent).replaceAll('KEY', key), 'latin1'));
  await Promise.race([come(stream).catch(() => undefined), closed]);
  await reset();
}

interface ResetOptions {
  /** Rows that are played side by side: most of their time they wait. */
  readonly atOnce?: number;
  /** At which of the listeners. */
  readonly door?: number;
}

/**
 * Plays all rows with a reset at this moment against one process, which must answer a good request after each and hold nothing at the end.
 */
export async function playResets(
  cases: readonly AttackCase[],
  moment: Moment,
  siege: Siege,
  { atOnce = 16, door = 0 }: ResetOptions = {},
): Promise<void> {
  const besieged = await siege.process();
  const left = [...cases];
  const underWay = new Set<AttackCase>();
  const play = async () => {
    for (let attack = left.shift(); attack; attack = left.shift()) {
      underWay.add(attack);
      await hit(besieged.doors[door] as Door, besieged.key, attack, moment);
      await besieged.assertServing();
      underWay.delete(attack);
    }
  };
  try {
    await Promise.all(Array.from({ length: atOnce }, play));
  } catch (error) {
    left.length = 0;
    const suspects = [...underWay].map(({ name }) => name).join(' · ');
    const guilty = await firstFatal([...underWay], moment, siege, door);
    assert.fail(`${(error as Error).message}\n${guilty ?? `One of: ${suspects}`}`);
  }
  await besieged.assertNothingLeft();
}

/** Plays rows alone, one after the other, against another process; returns the rows that end it. */
async function firstFatal(
  cases: readonly AttackCase[],
  moment: Moment,
  siege: Siege,
  door: number,
): Promise<string | undefined> {
  const besieged = await siege.process();
  for (const attack of cases) {
    await hit(besieged.doors[door] as Door, besieged.key, attack, moment);
    try {
      await besieged.assertServing();
    } catch {
      return `The row "${attack.name}" alone, with a reset ${moment.name}, does it.`;
    }
  }
  return undefined;
}
