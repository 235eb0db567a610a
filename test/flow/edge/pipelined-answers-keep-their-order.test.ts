// Requests that were read before their connection became unreadable are answered, all of them and in order, also while other connections
// come and go.

import assert from 'node:assert/strict';
import { after, it } from 'node:test';
import { ask, openConnection, requestOf, until } from '../../support/connection.ts';
import { startGateway } from '../../support/gateway.ts';
import { startHoldingUpstream } from '../../support/holding-upstream.ts';
import { thingsAt } from '../../support/things.ts';

const upstream = await startHoldingUpstream();
const gateway = await startGateway(thingsAt(upstream.url));
after(async () => {
  upstream.letAllGo();
  await gateway.stop();
  await upstream.close();
});

it('two answers on a connection that then sends bytes that are no HTTP, after an older request elsewhere has ended', async () => {
  const { key } = await gateway.issueKey();
  const request = requestOf('GET /v1/things', { Authorization: `Bearer ${key}` });
  const elsewhere = await openConnection(gateway.port);
  elsewhere.send(request);
  await until(() => upstream.held() === 1);
  const client = await openConnection(gateway.port);
  client.send(Buffer.concat([request, request]));
  await until(() => upstream.held() === 3);
  upstream.letGo();
  assert.equal((await elsewhere.answer())?.status, 200);
  client.send('this is no HTTP\r\n\r\n');
  // By the time that this is answered, the gateway has read the earlier bytes.
  await ask(gateway.port, requestOf('GET /v1/nothing'));
  upstream.letAllGo();
  assert.deepEqual([(await client.answer())?.status, (await client.answer())?.status], [200, 200]);
  assert.equal(await client.closed, 'end');
  assert.equal(await client.answer(), undefined);
  elsewhere.destroy();
});
