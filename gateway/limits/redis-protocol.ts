// Encodes the arguments of the script and decodes its reply.

import type { Redis } from '../redis/client.ts';
import { evaluate } from '../redis/script.ts';
import { SCRIPT } from './redis-script.ts';
import type { Charge } from './store.ts';

/** Encodes the charges of one request, to be concatenated with those of others. */
export function toScriptArgument(charges: readonly Charge[]): string {
  const questionOf = ({ key, requests, windowMs, cost, enforce }: Charge, index: number) => {
    const isLast = index === charges.length - 1;
    return `,"${requests},${windowMs},${cost},${Number(enforce)},${Number(isLast)}",${JSON.stringify(key)}`;
  };
  return charges.map(questionOf).join('');
}

/** The figures of many requests, in the order in which the script returns them. */
export type ScriptReply = readonly number[];

/**
 * Runs the script once on a server, for concatenated charges; a clock of 0 is the server's. Rejects if the reply belongs to another call,
 * which can happen after a reply was lost or sent twice.
 *
 * One string in each direction, because the client library handles arguments and integers one by one: sampled at seven requests per
 * command, reading the reply takes 0.4 µs per request instead of 0.9 for four integers each.
 *
 * @param number sequence number of the call on this connection
 */
export async function runScript(
  client: Redis,
  number: number,
  clockMs: number,
  questions: string,
): Promise<ScriptReply> {
  const prefix = JSON.stringify(client.options.keyPrefix ?? '');
  const reply = await evaluate(client, SCRIPT, [], [`[${prefix},${clockMs},${number}${questions}]`], 'callBuffer');
  return figuresIn(reply as Buffer, number);
}

function figuresIn(bytes: Buffer, number: number): number[] {
  if (bytes.readDoubleLE(0) !== number) throw new Error('the reply belongs to another call');
  const figures: number[] = [];
  for (let at = 8; at < bytes.length; at += 8) figures.push(bytes.readDoubleLE(at));
  return figures;
}

/** Whether a Cluster server rejected a key that is on another server. */
export function isWrongNode({ message }: Error): boolean {
  return message.includes('non local key') || message.startsWith('MOVED ') || message.startsWith('ASK ');
}
