// The service of the protocol `idempotency`: it executes writes, sometimes slowly, its answers are sometimes lost, and it may honour keys
// itself.

import type { EffectChecker } from '../checkers/effects.ts';
import type { SimulatedProcess } from '../engine/process.ts';
import type { World } from '../engine/world.ts';

/** A write as a client sends it. Clients that take a key twice send it with another body. */
export interface KeyedWrite {
  readonly key: string;
  readonly body: string;
}

export interface Service {
  /** Whether it can be connected to. */
  isThere(): boolean;
  /** Resolves with its answer; undefined: none comes. */
  send(process: SimulatedProcess, write: KeyedWrite, begunMs: number): Promise<string | undefined>;
}

interface ServiceOptions {
  readonly world: World;
  readonly checker: EffectChecker;
  readonly honoursKeys: boolean;
  /** A slow answer takes so long at most. */
  readonly slowestMs: number;
}

/** What a service that honours keys answers to a key with another body. */
const REFUSAL = 'the key was used for another body';

export function createService({ world, checker, honoursKeys, slowestMs }: ServiceOptions): Service {
  const random = world.random.named('upstream');
  const executed = new Map<string, { readonly body: string; readonly id: string }>();
  let effects = 0;

  function execute(write: KeyedWrite, begunMs: number, sentMs: number): string {
    const { key, body } = write;
    const known = honoursKeys ? executed.get(key) : undefined;
    if (known !== undefined) return known.body === body ? known.id : REFUSAL;
    effects += 1;
    const id = `effect-${effects}`;
    executed.set(key, { body, id });
    world.note('service', `executes ${key} with ${body} as ${id}`);
    checker.executed(write, id, begunMs, sentMs);
    return id;
  }

  return {
    isThere: () => random.chance(0.97),
    send(process, write, begunMs) {
      const sentMs = world.now();
      return new Promise((resolve) => {
        const isSlow = random.chance(0.05);
        world.after(isSlow ? random.between(100, slowestMs) : random.between(1, 30), () => {
          const id = execute(write, begunMs, sentMs);
          const isLost = random.chance(0.04);
          const answer = () => process.enter('message', () => resolve(isLost ? undefined : id));
          world.after(isLost ? 5 * slowestMs : random.between(1, 30), answer);
        });
      });
    },
  };
}
