// The listener without TLS beside the one that has it: readers without credentials are sent on, to the gateway and nowhere else.

import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { gatewayFileOf } from '../../support/configuration.ts';
import { type Answer, ask, requestOf } from '../../support/connection.ts';
import { runCases } from '../../support/errors.ts';
import { tlsCases } from '../errors/tls.cases.ts';
import { inForce, saveAndReload } from '../reload/files.ts';
import { startSecureGateway } from './secure-gateway.ts';

const settings = { publicUrl: 'https://api.test:8443', hosts: { panel: 'panel.test' } };
const tls = { plain: { port: 0 } };

const secure = await startSecureGateway({ gateway: settings, tls });
after(() => secure.close());

const read = (line: string, headers: Record<string, string> = {}): Promise<Answer> =>
  ask(secure.gateway.app.plainPort as number, requestOf(line, headers));

describe('without TLS', () => {
  runCases(tlsCases, () => secure);

  const sent = [
    ['GET /v1/things?limit=3', 'api.test', 'https://api.test:8443/v1/things?limit=3'],
    ['HEAD /v1/things', 'API.test.:80', 'https://api.test:8443/v1/things'],
    ['GET /', 'panel.test', 'https://panel.test:8443/'],
    ['GET /v1/things', 'evil.test', 'https://api.test:8443/v1/things'],
    ['GET http://evil.test/v1/things', 'evil.test', 'https://api.test:8443/v1/things'],
  ] as const;
  for (const [line, host, location] of sent) {
    it(`${line} of ${host} is sent to ${location}`, async () => {
      const answer = await read(line, { Host: host });
      assert.equal(answer.status, 308);
      assert.equal(answer.headers.location, location);
      assert.equal(answer.headers['strict-transport-security'], undefined);
      assert.match(String(answer.headers['x-request-id']), /^req_/);
    });
  }

  it('no path leads elsewhere', async () => {
    for (const path of ['//evil.test/', '/\\evil.test', '/%2F%2Fevil.test', '/@evil.test', '/v1/..//evil.test']) {
      const { status, headers } = await read(`GET ${path}`);
      if (status === 308) assert.match(String(headers.location), /^https:\/\/api\.test:8443\//, path);
      else assert.equal(status, 400, path);
    }
  });

  it('a reload changes the trusted proxies', async () => {
    const { gateway } = secure;
    const clientSeen = async (id: string) => {
      await read('GET /v1/things', { 'X-Forwarded-For': '203.0.113.9', 'X-Request-Id': id });
      return gateway.logLines().find(({ client_request_id }) => client_request_id === id)?.client;
    };
    assert.equal(await clientSeen('before'), '127.0.0.1');
    const certificates = [{ certificate: 'api.pem', key: 'api.key' }];
    const changed = { ...settings, tls: { certificates, ...tls }, trustedProxies: ['127.0.0.1'] };
    await saveAndReload(gateway, 'config/gateway.yaml', gatewayFileOf(changed));
    assert.equal((await inForce(gateway)).last_failure, null);
    assert.equal(await clientSeen('after'), '203.0.113.9');
  });

  it('nothing ever reaches an upstream', () => {
    assert.deepEqual(secure.upstream.requests, []);
  });
});

describe('without TLS, where it is refused', () => {
  it('readers are refused as well', async () => {
    const strict = await startSecureGateway({ tls: { plain: { port: 0, mode: 'refuse' } } });
    const answer = await ask(strict.gateway.app.plainPort as number, requestOf('GET /v1/things'));
    await strict.close();
    assert.deepEqual([answer.status, answer.error.code, answer.headers.location], [403, 'tls_required', undefined]);
  });
});
