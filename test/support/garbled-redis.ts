// A way to a Redis that spoils the replies on connections that are open: with one too many, one too few, or one that never ends.

import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/**
 * `unasked`: a reply between two commands. `ahead`: a reply before the one to the next command. `repeated`: there, the latest reply once
 * more. `lost`: the next reply is missing. `endless`: the next reply announces a length beyond all that follows.
 */
export const GARBLINGS = ['unasked', 'ahead', 'repeated', 'lost', 'endless'] as const;

export type Garbling = (typeof GARBLINGS)[number];

export interface GarbledRedis {
  readonly url: string;
  readonly port: number;
  /** Spoils the open connections; later ones are in order. Resolves when all spoiled ones are closed. */
  garble(how: Garbling): Promise<void>;
  stop(): void;
}

interface Way {
  readonly client: Socket;
  latestReply: Buffer;
  toClient: ((reply: Buffer) => Buffer) | undefined;
  afterQuestion: Buffer | undefined;
}

const REPLY = Buffer.from('+OK\r\n');
const ENDLESS = Buffer.from('$100000000\r\n');

/** @param serverPort of a Redis on this machine */
export async function startGarbledRedis(serverPort: number): Promise<GarbledRedis> {
  const ways = new Set<Way>();
  const door = createServer((client) => {
    const server = connect(serverPort, '127.0.0.1');
    const way: Way = { client, latestReply: REPLY, toClient: undefined, afterQuestion: undefined };
    ways.add(way);
    client.on('data', (bytes) => {
      server.write(bytes);
      if (way.afterQuestion) client.write(way.afterQuestion);
      way.afterQuestion = undefined;
    });
    server.on('data', (bytes) => {
      const reply = way.toClient?.(bytes) ?? bytes;
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
