// The two sides of a pair: started anew for it, and measured slice by slice in the order of the pair.

import { awake, type Contestant, type Prepared, rest, stop } from '../contestants.ts';
import { orderOf, type Side } from './paired.ts';

export type Both = Readonly<Record<Side, Contestant>>;

/**
 * Starts both sides for an act, and stops them afterwards: how dear a process is differs by chance from start to start, and an interval
 * over one process of each side would not know of that. Both are held still at first.
 */
export async function withBoth<T>(
  number: number,
  prepared: Readonly<Record<Side, Prepared>>,
  act: (contestants: Both) => Promise<T>,
): Promise<T> {
  const running: Contestant[] = [];
  try {
    const contestants = {} as Record<Side, Contestant>;
    for (const side of orderOf(number).slice(0, 2)) {
      contestants[side] = await prepared[side].start();
      running.push(contestants[side]);
      rest(contestants[side]);
    }
    return await act(contestants);
  } finally {
    await Promise.all(running.map(({ process: child }) => stop(child)));
  }
}

interface Slicing<T> {
  warmUp(contestant: Contestant): Promise<unknown>;
  take(contestant: Contestant): Promise<T>;
}

/** Warms both sides up, and takes two slices of each. Only the measured one is awake. */
export async function slicesOf<T>(
  number: number,
  contestants: Both,
  { warmUp, take }: Slicing<T>,
): Promise<Record<Side, T[]>> {
  const order = orderOf(number);
  for (const side of order.slice(0, 2)) await awake(contestants[side], () => warmUp(contestants[side]));
  const slices: Record<Side, T[]> = { baseline: [], candidate: [] };
  for (const side of order) slices[side].push(await awake(contestants[side], () => take(contestants[side])));
  return slices;
}
