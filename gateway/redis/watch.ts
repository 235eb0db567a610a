// Watches connections to Redis by PINGs. A connection with a wrong reply, no reply, or a reply to no command is closed,
// because every later reply on it may belong to another command.

import type { Cluster, Redis } from 'ioredis';
import { checkEvery } from '../shared/deadline.ts';
import { dropGarbled } from './garbled.ts';

const ASK_EVERY_MS = 500;
/** The library's message for a reply that belongs to no command. */
const UNASKED = /^Command queue state error/;

/**
 * Sends PINGs while the client is connected, until it is disconnected. The client's own settings decide whether it reconnects.
 *
 * @param answerMaxMs a connection without a correct reply to a PING for this time is closed
 */
export function watchAnswers(client: Redis, answerMaxMs: number): void {
  client.on('error', ({ message }: Error) => {
    if (UNASKED.test(message)) dropGarbled(client, 'a reply to no command');
  });
  client.on('ready', () => askUntilClosed(client, answerMaxMs));
  if (client.status === 'ready') askUntilClosed(client, answerMaxMs);
}

/** Watches the connections to all servers of a Cluster, and the connection for subscriptions, which the library replaces by itself. */
export function watchAnswersOfCluster(cluster: Cluster, answerMaxMs: number): void {
  const watched = new WeakSet<Redis>();
  const watch = (client: Redis | null): void => {
    if (client === null || watched.has(client)) return;
    watched.add(client);
    watchAnswers(client, answerMaxMs);
  };
  cluster.on('+node', watch);
  let timer: NodeJS.Timeout | undefined;
  // The library emits no event for a new subscriber connection.
  cluster.on('ready', () => {
    clearInterval(timer);
    // biome-ignore lint/complexity/useLiteralKeys: the member is private, and there is no other way to this connection
    timer = setInterval(() => watch(cluster['subscriber'].getInstance()), ASK_EVERY_MS).unref();
  });
  cluster.on('close', () => clearInterval(timer));
}

/**
 * Returns the reply of a server that refuses PING as it refuses writes, because it cannot write to its disk. ECHO shows that it answers,
 * and that the replies still belong to their commands.
 */
async function replyWithoutWrites(client: Redis, text: string, error: Error): Promise<string> {
  if (!error.message.startsWith('MISCONF')) throw error;
  return client.echo(text);
}

function askUntilClosed(client: Redis, answerMaxMs: number): void {
  const { stream } = client;
  let number = 0;
  /** Time of the oldest PING since the last correct reply. */
  let waitingSince: number | undefined;

  async function ask(): Promise<void> {
    number += 1;
    const text = `${number}`;
    waitingSince ??= performance.now();
    try {
      // On a subscriber connection, the reply to PING has the form of a message: an array with the text second.
      const reply: unknown = await client.ping(text).catch((error: Error) => replyWithoutWrites(client, text, error));
      if ((Array.isArray(reply) ? reply[1] : reply) === text) waitingSince = undefined;
      else dropGarbled(client, 'a reply to another command');
    } catch {
      // The command timed out, or the connection is closed. Only the reply to a later PING matters.
    }
  }

  function check(): void {
    const late = waitingSince !== undefined && performance.now() - waitingSince >= answerMaxMs;
    if (late) stream.destroy(new Error(`Redis gave no right answer for ${answerMaxMs} ms`));
    else void ask();
  }

  stream.once('close', checkEvery(ASK_EVERY_MS, check));
}
