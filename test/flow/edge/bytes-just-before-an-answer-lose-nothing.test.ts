// An answer leaves at the end of the turn in which it was made. Bytes read on its connection between the two are no reason to lose it, nor
// to promise a connection that is not read any more.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { closesAfterAll } from '../../support/closing.ts';
import { openConnection, requestOf, until } from '../../support/connection.ts';
import { startGateway } from '../../support/gateway.ts';
import { thingsAt } from '../../support/things.ts';
import { startUpstream } from '../../support/upstream.ts';

let status = 200;
let answer: (() => void) | undefined;

const start = closesAfterAll();
const upstream = await start(
  startUpstream((_request, response) => {
    answer = () => response.writeHead(status, { 'content-type': 'application/json' }).end('{}');
  }),
);
// An idle client stays for longer than a test.
const gateway = await start(
  startGateway({ ...thingsAt(upstream.url), gateway: { timeouts: { keepAliveMs: 60_000 } } }),
);
const { authorization: Authorization } = await gateway.authorize();

const unreadable = {
  'bytes that are no HTTP': 'no HTTP\r\n\r\n',
  'a CONNECT': 'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n',
};

describe('an answer of the upstream and, in the same turn,', () => {
  for (const [name, bytes] of Object.entries(unreadable)) {
    for (const given of [200, 404, 500]) {
      it(`${name} of the client: it gets its ${given}, and the connection ends`, async () => {
        status = given;
        answer = undefined;
        const client = await openConnection(gateway.port);
        client.send(requestOf('GET /v1/things', { Authorization }));
        const go = await until(() => answer);
        go();
        client.send(bytes);
        assert.equal((await client.answer())?.status, given);
        const how = await Promise.race([client.closed, sleep(5000, 'still open', { ref: false })]);
        assert.equal(how, 'end');
        // A request read after the answer had left gets an answer of its own.
        assert.match(client.rest().toString('latin1'), /^($|HTTP\/1.1 40[05] )/);
        client.destroy();
      });
    }
  }
});
