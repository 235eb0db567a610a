// Replies that the library of Redis cannot read end their connection, and neither the process nor the client: a new connection takes its
// place. An error that escapes is an uncaught exception, which fails the test that runs.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { after, describe, type TestContext, test } from 'node:test';
import { connectRedis } from '../../../gateway/redis/client.ts';
import { onGarbledRedis } from '../../../gateway/redis/garbled.ts';
import { evaluate, toScript } from '../../../gateway/redis/sealed-script.ts';
import { subscribe } from '../../../gateway/redis/subscribe.ts';
import { type GarbledRedis, startGarbledRedis } from '../../support/garbled-redis.ts';
import { eventually } from '../../support/instances.ts';
import { startServer } from '../../support/redis.ts';
import { askServer } from '../../support/redis-topologies.ts';

const ECHO = toScript('return ARGV[1]');

const redis = await startServer();

after(() => redis.stop());

async function throughGarbling(t: TestContext): Promise<GarbledRedis> {
  const garbled = await startGarbledRedis(redis.port);
  t.after(garbled.stop);
  return garbled;
}

/** Reasons of the connections that are dropped during the test. */
function drops(t: TestContext): readonly string[] {
  const reasons: string[] = [];
  t.after(onGarbledRedis((reason) => reasons.push(reason)));
  return reasons;
}

const CONFIRMATION_OF_ANOTHER = '>3\r\n$9\r\nsubscribe\r\n$5\r\nother\r\n:0\r\n';
const WRONG = [
  ':1',
  '*0',
  '$-1',
  '_',
  '+OK',
  '%0',
  '*1\r\n$1\r\nx',
  '>1\r\n_',
  '>2\r\n$9\r\nsubscribe\r\n_',
  '>0',
  '-ERR no',
];

describe('a wrong reply to SUBSCRIBE', { concurrency: true }, () => {
  for (const reply of [...WRONG.map((line) => `${line}\r\n`), CONFIRMATION_OF_ANOTHER]) {
    test(`${JSON.stringify(reply)} to SUBSCRIBE: the connection is made anew, until it is confirmed`, async (t) => {
      const garbled = await throughGarbling(t);
      garbled.answerSubscribe(reply);
      const channel = `changes behind ${garbled.port}`;
      let heard = 0;
      const hear = () => {
        heard += 1;
      };
      t.after(subscribe({ url: garbled.url, channels: () => [channel], onMessage: hear, onSubscribed: hear }));
      await eventually(async () => garbled.subscribed() >= 3);
      assert.equal(heard, 0, 'what was not confirmed counts as a subscription');
      garbled.answerSubscribe(undefined);
      await eventually(async () => heard === 1);
      await askServer(redis.port, 'PUBLISH', channel, '1');
      await eventually(async () => heard === 2);
    });
  }
});

test('a drop is reported, and a proxy that always answers wrongly is asked at growing intervals', async (t) => {
  const garbled = await throughGarbling(t);
  const reasons = drops(t);
  garbled.answerSubscribe('$-1\r\n');
  const startedAt = performance.now();
  t.after(subscribe({ url: garbled.url, channels: () => ['changes'], onMessage: () => undefined }));
  await eventually(async () => garbled.subscribed() >= 5);
  // The pauses are 50, 100, 200 and 400 ms; timers are not early.
  assert.ok(performance.now() - startedAt > 700);
  assert.match(reasons[0] ?? '', /^a reply of the wrong form \(.*reading '1'\)\)$/);
});

/** In the place of a reply to a script. Lengths, types and texts that the decoder cannot read, or reads as something else. */
const UNREADABLE = [
  '?\r\n',
  '*-5\r\n',
  '*4294967296\r\n',
  '%1\r\n+a\r\n',
  '$5\r\nabc\r\n',
  '>1\r\n:1\r\n',
  '(x\r\n',
  '#t\r\n',
  ',inf\r\n',
  '|1\r\n',
  '!3\r\nab',
];

describe('bytes that are not a reply to a script', { concurrency: true }, () => {
  for (const bytes of UNREADABLE) {
    test(`${JSON.stringify(bytes)} for a reply: the question fails, and the next ones are answered`, async (t) => {
      const garbled = await throughGarbling(t);
      const ready = Promise.withResolvers<void>();
      const client = connectRedis({ url: garbled.url, commandTimeoutMs: 300, onReady: ready.resolve });
      t.after(() => client.disconnect());
      await ready.promise;
      await evaluate(client, ECHO, ['key'], ['before']);
      garbled.replaceNext(Buffer.from(bytes));
      await assert.rejects(evaluate(client, ECHO, ['key'], ['a question']));
      await eventually(async () => (await evaluate(client, ECHO, ['key'], ['after']).catch(() => '')) === 'after');
    });
  }
});

/** A server that answers each command by the text that `answer` makes, after the handshake. */
async function startFakeServer(t: TestContext, answer: (command: string) => string): Promise<number> {
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket);
    socket.on('error', () => undefined);
    socket.on('data', (bytes) => {
      const text = bytes.toString('latin1');
      for (const [, name = ''] of text.matchAll(/\*\d+\r\n\$\d+\r\n(\w+)(?=\r\n)/g)) {
        socket.write(name.toUpperCase() === 'HELLO' ? '-ERR unknown command HELLO\r\n' : answer(text));
      }
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.close();
    for (const socket of open) socket.destroy();
  });
  return (server.address() as { port: number }).port;
}

const MAPS = [
  ':1\r\n',
  '*1\r\n:5\r\n',
  '*1\r\n*3\r\n:0\r\n:9\r\n_\r\n',
  '*1\r\n*3\r\n$1\r\na\r\n:9\r\n*2\r\n$1\r\nh\r\n:1\r\n',
  '_\r\n',
];

describe('a malformed map of slots', { concurrency: true }, () => {
  for (const map of MAPS) {
    test(`${JSON.stringify(map)} for the map of a Cluster: it is asked again`, async (t) => {
      let maps = 0;
      const port = await startFakeServer(t, (command) => {
        if (!/SLOTS/i.test(command)) return '+OK\r\n';
        maps += 1;
        return map;
      });
      const client = connectRedis({ url: `redis+cluster://127.0.0.1:${port}` });
      t.after(() => client.disconnect());
      await eventually(async () => maps >= 3);
    });
  }
});

const MASTERS = [
  '*2\r\n$1\r\nh\r\n$5\r\n99999\r\n',
  '*2\r\n$3\r\na\0b\r\n$4\r\n6379\r\n',
  '*1\r\n_\r\n',
  '*2\r\n$-1\r\n$1\r\n1\r\n',
  ':1\r\n',
];

describe('a malformed address of a master', { concurrency: true }, () => {
  for (const master of MASTERS) {
    test(`${JSON.stringify(master)} for the address of a master: the Sentinels are asked again`, async (t) => {
      let asked = 0;
      const port = await startFakeServer(t, (command) => {
        if (/get-master-addr/.test(command)) {
          asked += 1;
          return master;
        }
        return /sentinels/.test(command) ? '*0\r\n' : '+OK\r\n';
      });
      const client = connectRedis({ url: `redis+sentinel://127.0.0.1:${port}/master` });
      t.after(() => client.disconnect());
      await eventually(async () => asked >= 3);
    });
  }
});
