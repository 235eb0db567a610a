// The gateway's own contract is on the host of the API, on a host of its own, or nowhere.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { OWN_ENTRY, startAdministration } from '../../support/administration.ts';
import { closesAfterAll } from '../../support/closing.ts';
import { ask, requestOf } from '../../support/connection.ts';
import { startGateway } from '../../support/gateway.ts';
import { thingsAt } from '../../support/things.ts';

const start = closesAfterAll();
const codeOf = (body: Buffer) => JSON.parse(body.toString()).error?.code;

describe('the gateway’s own contract on a separate host', async () => {
  const { gateway } = await start(
    startAdministration({
      gateway: { publicUrl: 'http://api.test', hosts: { administration: 'admin.test' } },
      upstreams: { gateway: { ...OWN_ENTRY.gateway, hosts: ['administration'] } },
    }),
  );
  const { authorization } = await gateway.authorize({ scopes: ['gateway:read'] });
  const read = (host: string, line = 'GET /gateway/v1/organization') =>
    ask(gateway.port, requestOf(line, { Host: host, Authorization: authorization }));

  it('is answered there', async () => {
    assert.equal((await read('admin.test')).status, 200);
  });

  it('is unknown on the host of the API, and any other host is refused', async () => {
    const onApi = await read('api.test');
    assert.deepEqual([onApi.status, codeOf(onApi.body)], [404, 'route_not_found']);
    const elsewhere = await read('127.0.0.1');
    assert.deepEqual([elsewhere.status, codeOf(elsewhere.body)], [421, 'misdirected_request']);
  });
});

it('without the name of that host, it is served nowhere', async () => {
  const { gateway } = await start(
    startAdministration({ upstreams: { gateway: { ...OWN_ENTRY.gateway, hosts: ['administration'] } } }),
  );
  const { authorization } = await gateway.authorize({ scopes: ['gateway:read'] });
  const answer = await ask(gateway.port, requestOf('GET /gateway/v1/organization', { Authorization: authorization }));
  assert.deepEqual([answer.status, codeOf(answer.body)], [404, 'route_not_found']);
});

it('without the entry, nothing of it is left', async () => {
  const gateway = await start(startGateway(thingsAt('http://127.0.0.1:9')));
  const { authorization } = await gateway.authorize({ scopes: ['gateway:read'] });
  const answer = await ask(gateway.port, requestOf('GET /gateway/v1/organization', { Authorization: authorization }));
  assert.deepEqual([answer.status, codeOf(answer.body)], [404, 'route_not_found']);
});
