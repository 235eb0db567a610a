// Counts failures of one address together, so that a flood costs few commands to Redis.

import { type Machine, realMachine } from '../../shared/machine.ts';

/** The number of failures in one command from which on the next command waits. */
const FLOOD = 8;
/** Milliseconds between two commands of such a flood. This instance learns that much later that the address is blocked. */
const FLOOD_REST_MS = 5;

interface Failures<Count> extends PromiseWithResolvers<Count> {
  failures: number;
}

/**
 * Returns a function that counts failures of one address. One command counts all failures of one turn of the event loop, and all that
 * happen before the last command for the address is answered. A flood from one address then costs a command every few milliseconds. A
 * command for each failure took as much CPU as the refusal itself.
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
