// An error thrown where no request can be refused for it ends the exchange that it happened in: clients on other connections, and on the
// same one where that is possible, are served on. The mistakes are put into the parts that the listener is given.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { GatewayError } from '../../../gateway/catalogue/errors.ts';
import { listen } from '../../../gateway/edge/connections/listen.ts';
import { nodeExchangeOf } from '../../../gateway/edge/edge-exchange.ts';
import { createRefusals } from '../../../gateway/edge/refusal/refusals.ts';
import { PublicServer } from '../../../gateway/edge/server.ts';
import type { Arrived } from '../../../gateway/exchange/exchange.ts';
import { onFault } from '../../../gateway/shared/faults.ts';
import { openConnection, requestOf } from '../../support/connection.ts';

/** No header can carry it. */
const UNSENDABLE = 'https://docs.example.com/移行';

/** By Node's HTTP server, and by the fast path. */
const ways: Readonly<Record<string, { readonly usesFastPath: boolean }>> = {
  'read by Node': { usesFastPath: false },
  'of the fast path': { usesFastPath: true },
};

let edge: PublicServer;
let port: number;
const faults: unknown[] = [];
const uncaught: unknown[] = [];
const note = (error: unknown) => uncaught.push(error);

const mistakes: Readonly<Record<string, (arrived: Arrived) => Promise<void>>> = {
  '/thrown-before-a-promise': () => {
    throw new TypeError('a mistake');
  },
  '/unsendable-header': () => Promise.reject(new GatewayError('route_not_found', { headers: { Link: UNSENDABLE } })),
  '/unsendable-answer': async ({ commonHeaders }) => {
    commonHeaders.push('Link', UNSENDABLE);
    throw new GatewayError('route_not_found');
  },
  '/refused': () => Promise.reject(new GatewayError('route_not_found')),
  '/written-after-the-end': async ({ response }) => {
    response.end(Buffer.from('whole'));
    response.write(Buffer.from('more'));
  },
  '/emitted': async (arrived) => {
    nodeExchangeOf(arrived).response.emit('error', new Error('a mistake'));
  },
};

process.on('uncaughtExceptionMonitor', note);
const stopReporting = onFault((thrown) => faults.push(thrown));
after(() => {
  stopReporting();
  process.off('uncaughtExceptionMonitor', note);
});

async function startEdge(way: (typeof ways)[string]): Promise<void> {
  let requests = 0;
  edge = new PublicServer({
    headerBytesMax: 16_384,
    urlBytesMax: 8192,
    headersMs: 5000,
    requestMs: 5000,
    writeIdleMs: 5000,
    keepAliveMs: 5000,
    constantHeaders: [],
    refusals: createRefusals({
      publicUrl: 'http://api.test',
      countRefusal({ request }) {
        if (request.url === '/refused') throw new TypeError('a mistake in a count');
      },
    }),
    ...way,
    requestId: () => `req_${++requests}`,
    servingInForce: () => ({
      needsNode: () => false,
      handleRequest: ({ request, ...others }) =>
        (mistakes[request.url as string] as (typeof mistakes)[string])({ request, ...others }),
      isUpgradable() {
        throw new TypeError('a mistake in the look for a tunnel');
      },
      upgrade: () => Promise.reject(new Error('never asked')),
    }),
    recordExchange() {
      throw new TypeError('a mistake in the log');
    },
  });
  port = await listen(edge.server, '127.0.0.1', 0);
}

async function ask(line: string, headers = {}) {
  const client = await openConnection(port);
  client.send(requestOf(line, headers));
  const answer = await client.answer();
  client.destroy();
  return answer;
}

for (const [name, way] of Object.entries(ways)) {
  describe(`an error of an exchange ${name}`, () => {
    before(() => startEdge(way));
    after(() => edge.drain(0));

    it('thrown before there is a promise is refused as internal', async () => {
      assert.equal((await ask('GET /thrown-before-a-promise'))?.error.code, 'internal_error');
    });

    it('in a refusal that no header can carry makes it internal', async () => {
      assert.equal((await ask('GET /unsendable-header'))?.error.code, 'internal_error');
    });

    it('in everything that could be answered cuts the connection off', async () => {
      assert.equal(await ask('GET /unsendable-answer'), undefined);
    });

    it('in the counter of refusals leaves the answer whole', async () => {
      assert.equal((await ask('GET /refused'))?.status, 404);
    });

    it('of a response that is written to after its end goes no further', async () => {
      assert.equal((await ask('GET /written-after-the-end'))?.body.toString(), 'whole');
      if (!way.usesFastPath) assert.equal(await ask('GET /emitted'), undefined);
    });

    it('in the decision on an upgrade has the request handled as if it had no Upgrade', async () => {
      const headers = { Connection: 'Upgrade', Upgrade: 'websocket' };
      assert.equal((await ask('GET /refused', headers))?.status, 404);
    });

    it('of a socket without further listeners is no exception', async () => {
      const taken = once(edge.server, 'connection') as Promise<[Socket]>;
      const client = await openConnection(port);
      const [socket] = await taken;
      socket.destroy(new Error('a mistake'));
      await client.closed;
    });

    it('in a refusal that others wait behind does not take theirs away', async () => {
      const clients = await Promise.all(Array.from({ length: 20 }, () => openConnection(port)));
      clients.forEach((client, index) => {
        client.send(requestOf(index % 2 === 0 ? 'GET /unsendable-answer' : 'GET /refused'));
      });
      const answers = await Promise.all(clients.map((client) => client.answer()));
      for (const [index, answer] of answers.entries()) assert.equal(answer?.status, index % 2 === 0 ? undefined : 404);
      for (const client of clients) client.destroy();
    });

    it('is reported, each time, and none was left to end the process', () => {
      assert.ok(faults.length >= 30, `${faults.length} faults`);
      assert.deepEqual(uncaught, []);
    });
  });
}
