// A trial of a service that asks for different credentials: each refusal names the credential of its operation, and the others are tried.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type FakeUpstream, startUpstream } from '../../support/upstream.ts';
import { failures, has, json, tryIt } from './try-line.ts';

const read = (operationId: string, security?: object[]) => ({
  get: {
    operationId,
    ...(security && { security }),
    responses: { 200: { description: 'x', content: { 'application/json': { schema: { type: 'object' } } } } },
  },
});
const document = (paths: object) =>
  JSON.stringify({
    openapi: '3.1.0',
    info: { title: 'Items', version: '1' },
    components: {
      securitySchemes: {
        login: { type: 'oauth2', flows: { password: { tokenUrl: '/token', scopes: {} } } },
        key: { type: 'apiKey', in: 'header', name: 'X-Token' },
      },
    },
    paths,
  });
const mixed = document({
  '/v1/me': read('getMe', [{ login: [] }]),
  '/v1/mine': read('getMine', [{ login: [] }]),
  '/v1/items': read('listItems', [{ key: [] }]),
  '/v1/public': read('getPublic', []),
  '/v1/unsaid': read('getUnsaid'),
});
const entry = '    security: { read: ["items:read"], write: ["items:write"] }\n';

const key = ['a', 'key', process.pid].join('-');

function startService(): Promise<FakeUpstream> {
  return startUpstream(({ url, headers }, response) => {
    if (url === '/v1/public' || url === '/v1/unsaid' || (url === '/v1/items' && headers['x-token'] === key))
      return json(response, 200, {});
    return json(response, /me|mine|items/.test(url) ? 401 : 404, { error: { code: 'no', message: 'No.' } });
  });
}

describe('gateway upstreams try, of a service with two security schemes', () => {
  const together = '{ headers: { names: [Authorization, X-Token], secret: items_headers } }';
  const value = "$'Authorization: Bearer …\\nX-Token: …'";
  const sentToAll = 'Both headers are sent to all operations of the entry.';

  it('names one setting for the refused operations, and tries the operations of the others', async () => {
    const service = await startService();
    const told = await tryIt(service, mixed, [], entry);
    assert.deepEqual(
      told.checks.filter(({ verdict }) => verdict === 'fail').map(({ says, remedy }) => [says, remedy]),
      [
        [
          'getMe, listItems: it refuses the gateway (401): there it asks for a token in Authorization: Bearer, or a key in X-Token, which its entry does not send.',
          `Add \`credential: ${together}\` to upstreams.items in upstreams.yaml, with the secret ${value}. ${sentToAll}`,
        ],
      ],
    );
    has(told, 'warn', /^getMine was not tried: the service refuses the gateway there\.$/);
    has(told, 'ok', /^An unknown path is answered with 404/);
    for (const path of ['/v1/public', '/v1/unsaid'])
      assert.ok(
        service.requests.some(({ url }) => url === path),
        path,
      );
  });

  it('does not blame the secret for an operation that asks for another credential', async () => {
    const credential = '    credential: { apiKey: { header: X-Token, secret: items_key } }\n';
    const told = await tryIt(await startService(), mixed, [], entry + credential, { ITEMS_KEY: key });
    assert.deepEqual(
      told.checks.filter(({ verdict }) => verdict === 'fail').map(({ says, remedy }) => [says, remedy]),
      [
        [
          'getMe: it refuses the gateway (401): there it asks for a token in Authorization: Bearer, which its entry does not send.',
          `Write \`credential: ${together}\` in upstreams.items in upstreams.yaml, with the secret ${value}. ${sentToAll}`,
        ],
      ],
    );
  });

  it('is satisfied once the entry sends all that the operations need', async () => {
    const credential = `    credential: ${together}\n`;
    const service = await startUpstream(({ url, headers }, response) => {
      const isMet = /items/.test(url) ? headers['x-token'] === key : headers.authorization === `Bearer ${key}`;
      if (/public|unsaid/.test(url) || (/me|mine|items/.test(url) && isMet)) return json(response, 200, {});
      return json(response, /me|mine|items/.test(url) ? 401 : 404, { error: { code: 'no', message: 'No.' } });
    });
    const secrets = { ITEMS_HEADERS: `Authorization: Bearer ${key}\nX-Token: ${key}` };
    const told = await tryIt(service, mixed, [], entry + credential, secrets);
    assert.deepEqual(failures(told), []);
  });

  it('names the way to two entries if both credentials are in the same header', async () => {
    const basic = mixed.replace(/"key":\{[^}]*\}/, '"key":{"type":"http","scheme":"basic"}');
    const credential = '    credential: { bearer: { secret: items_token } }\n';
    const service = await startUpstream(({ url, headers }, response) =>
      json(response, /items/.test(url) || !headers.authorization ? 401 : 200, {}),
    );
    const told = await tryIt(service, basic, [], entry + credential, { ITEMS_TOKEN: key });
    const split = told.checks.find(({ says }) => says.startsWith('listItems'));
    assert.match(String(split?.remedy), /copy the document under another name, .*`credential: \{ basic: /);
  });

  it('names both credentials of an operation that requires them at once, and sends both', async () => {
    const both = document({ '/v1/items': read('listItems', [{ key: [], password: [] }]) }).replace(
      '"key":{',
      '"password":{"type":"http","scheme":"basic"},"key":{',
    );
    const setting = '`credential: { headers: { names: [X-Token, Authorization], secret: items_headers } }`';
    const started = () =>
      startUpstream(({ headers }, response) =>
        headers['x-token'] === key && headers.authorization === 'Basic YTpi'
          ? json(response, 200, {})
          : json(response, 401, { error: { code: 'no', message: 'No.' } }),
      );
    const remediesOf = async (credential: string) =>
      (await tryIt(await started(), both, [], entry + credential, { ITEMS_KEY: key })).checks
        .filter(({ verdict, check }) => verdict === 'fail' && check === 'contract')
        .map(({ remedy }) => remedy);
    assert.deepEqual(await remediesOf(''), [
      `Add ${setting} to upstreams.items in upstreams.yaml, or have the service believe the assertion.`,
    ]);
    assert.deepEqual(await remediesOf('    credential: { apiKey: { header: X-Token, secret: items_key } }\n'), [
      `Write ${setting} in upstreams.items in upstreams.yaml, which sends all of it.`,
    ]);
    const credential = '    credential: { headers: { names: [X-Token, Authorization], secret: items_headers } }\n';
    const secrets = { ITEMS_HEADERS: `X-Token: ${key}\nAuthorization: Basic YTpi` };
    const told = await tryIt(await started(), both, [], entry + credential, secrets);
    has(told, 'ok', /as the contract says/);
  });

  it('stops when its own credential is refused', async () => {
    const credential = '    credential: { apiKey: { header: X-Token, secret: items_key } }\n';
    const service = await startService();
    const only = document({
      '/v1/items': read('listItems', [{ key: [] }]),
      '/v1/more': read('listMore', [{ key: [] }]),
    });
    const told = await tryIt(service, only, [], entry + credential, { ITEMS_KEY: 'another' });
    assert.deepEqual(failures(told), ['listItems: it refuses the gateway (401).']);
    assert.equal(service.requests.length, 1);
  });
});

it('a value of a path for which nothing says that it may be absent is no failure', async () => {
  const name = { name: 'name', in: 'path', required: true, schema: { type: 'string' } };
  const greet = { '/v1/greet/{name}': { parameters: [name], ...read('greet', []) } };
  const answer = startUpstream(({ url }, response) => json(response, /greet/.test(url) ? 200 : 404, { message: 'No' }));
  const told = await tryIt(await answer, document(greet), [], entry);
  has(told, 'warn', /^greet is answered with 200 for a value that was made up\.$/);
  assert.deepEqual(failures(told), []);
});
