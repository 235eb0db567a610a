// The gateway validates a parsed copy and sends the client's own bytes.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { type FakeUpstream, startUpstream } from '../support/upstream.ts';

describe('the body that reaches the upstream', () => {
  let upstream: FakeUpstream;
  let gateway: TestGateway;
  before(async () => {
    upstream = await startUpstream((_request, response) => {
      response.setHeader('content-type', 'application/json');
      response.writeHead(201).end('{}');
    });
    gateway = await startGateway({ upstreams: { platform: { contracts: ['v1/*.yaml'], live: upstream.url } } });
  });
  after(async () => {
    await gateway.stop();
    await upstream.close();
  });

  it('is the bytes the client sent, spaces, number forms and member order included', async () => {
    const body = '{ "name" : "A\\u00e9 é",\n  "metadata":{"b":"1", "a":"2"}}';
    const answer = await fetch(`${gateway.url}/v1/customers`, {
      method: 'POST',
      headers: { ...(await gateway.authorize()), 'content-type': 'application/json' },
      body,
    });
    assert.equal(answer.status, 201);
    const received = upstream.requests.at(-1);
    assert.equal(received?.body.toString('utf8'), body);
    assert.equal(received?.headers['content-length'], String(Buffer.byteLength(body)));
    assert.equal(received?.headers['transfer-encoding'], undefined);
  });

  it('is the same when it came in chunks', async () => {
    const body = '{"name":"chunked"}';
    const answer = await fetch(`${gateway.url}/v1/customers`, {
      method: 'POST',
      headers: { ...(await gateway.authorize()), 'content-type': 'application/json' },
      body: new ReadableStream({
        start(controller) {
          for (const piece of [body.slice(0, 5), body.slice(5)]) controller.enqueue(new TextEncoder().encode(piece));
          controller.close();
        },
      }),
      duplex: 'half',
    } as RequestInit);
    assert.equal(answer.status, 201);
    assert.equal(upstream.requests.at(-1)?.body.toString('utf8'), body);
  });
});
