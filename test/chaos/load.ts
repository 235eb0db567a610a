// A number of clients of the entries, spread over the organizations of a stand.

import { type ClientOptions, runClient } from './clients.ts';
import { createRandom } from './random.ts';
import type { Stand } from './stand.ts';

export interface LoadOptions extends Pick<ClientOptions, 'note' | 'isOver' | 'pauseMs'> {
  readonly clients: number;
  readonly seed: number;
}

/** Resolves when it is over, and every client knows the outcome of its requests. */
export async function runClients(
  { gateway, organizations }: Pick<Stand, 'gateway' | 'organizations'>,
  { clients, seed, ...watched }: LoadOptions,
): Promise<void> {
  const told = new Map(organizations.map(({ id }) => [id, { ordinal: 0 }]));
  const run = (_: unknown, index: number) => {
    const { id, key } = organizations[index % organizations.length] as { id: string; key: string };
    return runClient({
      port: gateway.port,
      organization: id,
      headers: { authorization: `Bearer ${key}` },
      random: createRandom(seed * 1000 + index),
      told: told.get(id) as { ordinal: number },
      ...watched,
    });
  };
  await Promise.all(Array.from({ length: clients }, run));
}
