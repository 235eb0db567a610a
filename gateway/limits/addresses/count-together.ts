// Counts several failures of one address by one command, so that a flood of failures costs few commands to Redis.

import { type Machine, realMachine } from '../../shared/machine.ts';

/** A command with this many failures or more is a flood: the next command for the address waits. */
const FLOOD = 8;
/** Milliseconds between two commands of a flood. At most this much later the instance learns that the address is blocked. */
const FLOOD_REST_MS = 5;

interface Failures<Count> extends PromiseWithResolvers<Count> {
  failures: number;
}

/**
 * Returns a function that counts failures of one address. One command counts all failures of one turn of the event loop. While a command
 * for the address is in progress, new failures wait and share the next command. A command for each failure took as much CPU as the refusal
 * itself.
 */
export function createCountTogether<Count>(
  count: (block: string, failures: number) => Promise<Count>,
  machine: Machine = realMachine,
): (block: string) => Promise<Count> {
  const waiting = new Map<string, Failures<Count>>();
  const inFlight = new Set<string>();

  function send(block: string): void {
    const { failures, resolve } = waiting.get(block) as Failures<Count>;
    waiting.delete(block);
    inFlight.add(block);
    const next = () => {
      inFlight.delete(block);
      if (waiting.has(block)) send(block);
    };
    const rest = () => machine.setTimeout(next, FLOOD_REST_MS).unref();
    void count(block, failures)
      .then(resolve)
      .then(failures < FLOOD ? next : rest);
  }

  return function countTogether(block) {
    let together = waiting.get(block);
    if (together === undefined) {
      together = { ...Promise.withResolvers<Count>(), failures: 0 };
      waiting.set(block, together);
      if (!inFlight.has(block)) machine.setImmediate(send, block);
    }
    together.failures += 1;
    return together.promise;
  };
}
