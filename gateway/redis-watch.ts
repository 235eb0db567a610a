// Watches connections to Redis by questions of its own: a connection that gives a wrong answer, none, or one to no question is closed,
// since all that follows may belong to other questions.

import type { Cluster, Redis } from 'ioredis';

const ASK_EVERY_MS = 500;
/** The library's message for a reply while no question is open. */
const UNASKED = /^Command queue state error/;

/**
 * Asks whenever the client is connected, until it is disconnected. The client's own settings decide whether it connects again.
 *
 * @param answerMaxMs a connection that has answered none of these questions for so long is closed
 */
export function watchAnswers(client: Redis, answerMaxMs: number): void {
  client.on('error', ({ message }: Error) => {
    if (UNASKED.test(message)) close(client, 'a reply to no question');
  });
  client.on('ready', () => askUntilClosed(client, answerMaxMs));
  if (client.status === 'ready') askUntilClosed(client, answerMaxMs);
}

/** Of a Cluster: the connections to its servers, and the one by which it listens, which the library replaces by itself. */
export function watchAnswersOfCluster(cluster: Cluster, answerMaxMs: number): void {
  const watched = new WeakSet<Redis>();
  const watch = (client: Redis | null): void => {
    if (client === null || watched.has(client)) return;
    watched.add(client);
    watchAnswers(client, answerMaxMs);
  };
  cluster.on('+node', watch);
  let timer: NodeJS.Timeout | undefined;
  // There is no event for a new connection that listens.
  cluster.on('ready', () => {
    clearInterval(timer);
    // biome-ignore lint/complexity/useLiteralKeys: the member is private, and there is no other way to this connection
    timer = setInterval(() => watch(cluster['subscriber'].getInstance()), ASK_EVERY_MS).unref();
  });
  cluster.on('close', () => clearInterval(timer));
}

function askUntilClosed(client: Redis, answerMaxMs: number): void {
  const { stream } = client;
  let number = 0;
  /** The oldest question since the last right answer. */
  let openSince: number | undefined;

  async function ask(): Promise<void> {
    number += 1;
    const question = `${number}`;
    openSince ??= performance.now();
    try {
      // Where a connection that listens answers nothing but announcements, it answers this one as if it were one.
      const reply: unknown = await client.ping(question);
      if ((Array.isArray(reply) ? reply[1] : reply) === question) openSince = undefined;
      else close(client, 'a reply to another question');
    } catch {
      // Too late for the client, or the connection is closed. What counts is whether a later question is answered.
    }
  }

  function look(): void {
    const late = openSince !== undefined && performance.now() - openSince >= answerMaxMs;
    if (late && !stream.destroyed) close(client, `no right answer for ${answerMaxMs} ms`);
    else void ask();
  }

  // If this process was busy itself, the answer may be waiting in the socket: that is read before setImmediate runs.
  const timer = setInterval(() => setImmediate(look), ASK_EVERY_MS).unref();
  stream.once('close', () => clearInterval(timer));
}

/** At once: what arrives while a connection is closed in good order would still be taken for answers. */
function close({ stream }: Redis, reason: string): void {
  stream.destroy(new Error(`Redis gave ${reason}`));
}
