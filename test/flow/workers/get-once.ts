// A client of workers that may be killed.

import { Agent, request } from 'node:http';
import type { Several } from './several.ts';

/** A client that has waited this long for an empty answer waits for ever: on a busy machine a worker takes many seconds to start. */
const HANGING_MS = 60_000;

export type Told = 'answered' | 'broken' | 'hanging';

/** On a connection of its own. */
export function getOnce({ url, authorization }: Pick<Several, 'url' | 'authorization'>): Promise<Told> {
  return new Promise((resolve) => {
    const sent = request(`${url}/v1/things`, { agent: new Agent(), headers: { authorization } }, (answer) => {
      answer.resume().on('end', () => conclude(answer.statusCode === 200 ? 'answered' : 'broken'));
    });
    const overdue = setTimeout(() => {
      conclude('hanging');
      sent.destroy();
    }, HANGING_MS);
    const conclude = (told: Told) => {
      clearTimeout(overdue);
      resolve(told);
    };
    sent.on('error', () => conclude('broken')).end();
  });
}
