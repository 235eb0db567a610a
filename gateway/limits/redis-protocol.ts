// How the script is asked, and how its answer is read.

import { evaluate, type Redis } from '../redis.ts';
import { SCRIPT } from './redis-script.ts';
import type { Charge } from './store.ts';

/** What is asked about one request, for many requests to be strung together. */
export function toScriptArgument(charges: readonly Charge[]): string {
  const questionOf = ({ key, requests, windowMs, cost, enforce }: Charge, index: number) => {
    const isLast = index === charges.length - 1;
    return `,"${requests},${windowMs},${cost},${Number(enforce)},${Number(isLast)}",${JSON.stringify(key)}`;
  };
  return charges.map(questionOf).join('');
}

/** The figures of many requests, in the order that the script tells. */
export type ScriptReply = readonly number[];

/**
 * Runs the script once on a server, for questions that were strung together; a clock of 0 is the server's. Rejects if the reply belongs
 * to another call, as it may after a reply was lost or sent twice on the way.
 *
 * @param number of the call, on this connection
 *
 * One string in each direction, because the client library handles arguments and integers one by one: sampled at seven requests per
 * command, reading the answer takes 0.4 µs per request instead of 0.9 for four integers each.
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

/** A server of a Cluster was asked about a key that lies on another one. */
export function isWrongNode({ message }: Error): boolean {
  return message.includes('non local key') || message.startsWith('MOVED ') || message.startsWith('ASK ');
}
