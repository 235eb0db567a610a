// A relay to a Redis that damages replies: it adds, loses or repeats a reply, begins an endless one, changes a byte, or answers SUBSCRIBE
// with a wrong reply.

import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { createRandom } from '../chaos/random.ts';

/**
 * `unasked`: a reply between two commands. `ahead`: a wrong reply before the reply to the next command. `repeated`: the latest reply once more
 * at this place. `lost`: the next reply is missing. `endless`: the next reply announces more bytes than ever follow.
 */
export const GARBLINGS = ['unasked', 'ahead', 'repeated', 'lost', 'endless'] as const;

type Garbling = (typeof GARBLINGS)[number];

export interface GarbledRedis {
  readonly url: string;
  readonly port: number;
  /** Changes a byte in each n-th reply from now on, on every connection; 0 ends this. */
  flipEvery(replies: number): void;
  /** Damages every reply in this way from now on; undefined ends this. */
  spoil(how: ((reply: Buffer) => Buffer) | undefined): void;
  /** Answers SUBSCRIBE instead of the server from now on; undefined ends this. */
  answerSubscribe(reply: string | undefined): void;
  /** Returns how often SUBSCRIBE was answered instead of the server. */
  subscribed(): number;
  /** Replaces the next reply on each open connection. */
  replaceNext(bytes: Buffer): void;
  /** Damages the open connections, but not later ones. Resolves when all damaged connections are closed. */
  garble(how: Garbling): Promise<void>;
  stop(): void;
}

interface Way {
  readonly client: Socket;
  latestReply: Buffer;
  toClient: ((reply: Buffer) => Buffer) | undefined;
  afterQuestion: Buffer | undefined;
}

const SUBSCRIBE = /\r\nsubscribe\r\n/i;
const REPLY = Buffer.from('+OK\r\n');
const ENDLESS = Buffer.from('$100000000\r\n');

/** Starts the relay. @param serverPort the port of a Redis on this machine */
export async function startGarbledRedis(serverPort: number): Promise<GarbledRedis> {
  const ways = new Set<Way>();
  const random = createRandom(Number(process.env.GARBLED_SEED ?? 1));
  let flipsEvery = 0;
  let replies = 0;
  let spoilReply: ((reply: Buffer) => Buffer) | undefined;
  let subscribeReply: string | undefined;
  let subscribed = 0;

  /** Changes one byte at any place, such as in a length, a type or a line end. */
  function flipped(reply: Buffer): Buffer {
    if (flipsEvery === 0 || ++replies % flipsEvery !== 0) return reply;
    const spoiled = Buffer.from(reply);
    const at = random.between(0, spoiled.length - 1);
    spoiled[at] = (spoiled[at] as number) ^ random.between(1, 255);
    return spoiled;
  }
  const door = createServer((client) => {
    const server = connect(serverPort, '127.0.0.1');
    const way: Way = { client, latestReply: REPLY, toClient: undefined, afterQuestion: undefined };
    ways.add(way);
    client.on('data', (bytes) => {
      if (subscribeReply !== undefined && SUBSCRIBE.test(bytes.toString('latin1'))) {
        subscribed += 1;
        client.write(subscribeReply);
        return;
      }
      server.write(bytes);
      if (way.afterQuestion) client.write(way.afterQuestion);
      way.afterQuestion = undefined;
    });
    server.on('data', (bytes) => {
      const whole = way.toClient?.(bytes) ?? bytes;
      const reply = flipped(spoilReply?.(whole) ?? whole);
      way.toClient = undefined;
      way.latestReply = bytes;
      if (client.writable) client.write(reply);
    });
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ] as const) {
      socket.on('error', () => {});
      socket.on('close', () => other.destroy());
    }
    client.on('close', () => ways.delete(way));
  });
  door.listen(0, '127.0.0.1').unref();
  await once(door, 'listening');
  const { port } = door.address() as { port: number };

  function spoil(way: Way, how: Garbling): void {
    if (how === 'unasked') way.client.write(REPLY);
    if (how === 'ahead') way.afterQuestion = REPLY;
    if (how === 'repeated') way.afterQuestion = way.latestReply;
    if (how === 'lost') way.toClient = () => Buffer.alloc(0);
    if (how === 'endless') way.toClient = (reply) => Buffer.concat([ENDLESS, reply]);
  }

  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    flipEvery(replies) {
      flipsEvery = replies;
    },
    spoil(how) {
      spoilReply = how;
    },
    answerSubscribe(reply) {
      subscribeReply = reply;
    },
    subscribed: () => subscribed,
    replaceNext(bytes) {
      for (const way of ways) way.toClient = () => bytes;
    },
    async garble(how) {
      const closed = [...ways].map(
        (way) => new Promise<void>((resolve) => void way.client.once('close', () => resolve())),
      );
      for (const way of ways) spoil(way, how);
      await Promise.all(closed);
    },
    stop() {
      door.close();
      for (const { client } of ways) client.destroy();
    },
  };
}
