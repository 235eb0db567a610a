// The service of docs/upstreams.md, run as it is printed there, behind a real gateway.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { generateKeyPair, SignJWT } from 'jose';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { eventually } from '../../support/instances.ts';
import { thingsContract } from '../../support/things.ts';
import { startUpstream, unusedPort } from '../../support/upstream.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const document = readFileSync(new URL('../../../docs/upstreams.md', import.meta.url), 'utf8');
/** Of another upstream, which lies at the same address. */
const elsewhere = {
  openapi: '3.1.1',
  info: { title: 'Elsewhere', version: '1' },
  paths: { '/v1/elsewhere': { get: { operationId: 'getElsewhere', responses: { 200: { description: 'ok' } } } } },
};
const PUBLIC_URL = 'https://api.example.com';

describe('the service of docs/upstreams.md', () => {
  let gateway: TestGateway;
  let address: string;
  let end: () => void;
  before(async () => {
    const [port, gatewayPort] = [await unusedPort(), await unusedPort()];
    address = `http://127.0.0.1:${port}`;
    const service = spawn(process.execPath, ['--input-type=module', '-e', codeOf(document)], {
      cwd: root,
      stdio: ['ignore', 'ignore', 'inherit'],
      env: {
        PORT: String(port),
        GATEWAY_ISSUER: PUBLIC_URL,
        GATEWAY_JWKS_URL: `http://127.0.0.1:${gatewayPort}/.well-known/jwks.json`,
      },
    });
    end = () => service.kill();
    gateway = await startGateway({
      gateway: { publicUrl: PUBLIC_URL },
      contracts: { 'things.yaml': thingsContract(), 'elsewhere.yaml': elsewhere },
      upstreams: {
        elsewhere: { contracts: ['elsewhere.yaml'], live: address, security: { apiKey: ['things:read'] } },
        inventory: { contracts: ['things.yaml'], live: address, test: address },
      },
      environment: { PORT: String(gatewayPort) },
    });
    await eventually(() =>
      fetch(address).then(
        () => true,
        () => false,
      ),
    );
  });
  after(async () => {
    await gateway.stop();
    end();
  });

  it('reads the caller from the assertion', async () => {
    const { id, key } = await gateway.issueKey({ mode: 'test', tier: 'premium', scopes: ['things:read'] });
    const answer = await fetch(`${gateway.url}/v1/things`, { headers: { authorization: `Bearer ${key}` } });
    assert.equal(answer.status, 200);
    const { iat, exp, ...claims } = (await answer.json()) as Record<string, unknown>;
    assert.equal(Number(exp) - Number(iat), 60);
    assert.deepEqual(claims, {
      iss: PUBLIC_URL,
      aud: 'inventory',
      org: 'org_test',
      tier: 'premium',
      mode: 'test',
      scopes: ['things:read'],
      sub: id,
    });
    for (const claim of ['org', 'tier', 'mode', 'scopes', 'sub'])
      assert.match(document, new RegExp(`^\\| \`${claim}\` +\\|`, 'm'));
  });

  it('refuses an assertion for another service, without the reason in its answer', async () => {
    const answer = await fetch(`${gateway.url}/v1/elsewhere`, { headers: await gateway.authorize() });
    const { error } = (await answer.json()) as { error: { code: string } };
    assert.deepEqual([answer.status, error.code], [502, 'upstream_auth_failed']);
  });

  it('refuses a request that reaches it without the gateway, with any headers', async () => {
    const { privateKey } = await generateKeyPair('EdDSA');
    const { keys } = (await (await fetch(`${gateway.url}/.well-known/jwks.json`)).json()) as {
      keys: { kid: string }[];
    };
    const forged = await new SignJWT({ org: 'org_test', mode: 'live', scopes: ['*'] })
      .setProtectedHeader({ alg: 'EdDSA', kid: keys[0]?.kid ?? '' })
      .setIssuer(PUBLIC_URL)
      .setAudience('inventory')
      .setSubject('key_forged')
      .setExpirationTime('1m')
      .sign(privateKey);
    const identity = { 'x-organization-id': 'org_test', 'x-api-key-id': 'key_forged' };
    for (const headers of [identity, { ...identity, 'x-gateway-assertion': forged }]) {
      assert.equal((await fetch(address, { headers })).status, 401);
    }
  });
});

/** The one block of JavaScript in the document. */
function codeOf(text: string): string {
  const blocks = [...text.matchAll(/^```js\n([\s\S]*?)^```$/gm)].map(([, code]) => code as string);
  assert.equal(blocks.length, 1);
  return blocks[0] as string;
}

it('every header that reaches an upstream is in the table of docs/upstreams.md', async () => {
  const upstream = await startUpstream();
  const gateway = await startGateway({
    contracts: { 'things.yaml': thingsContract() },
    upstreams: { things: { contracts: ['things.yaml'], live: upstream.url } },
  });
  const everything = [
    'accept',
    'accept-language',
    'if-match',
    'if-none-match',
    'prefer',
    'user-agent',
    'cookie',
    'x-own',
  ];
  const sent = Object.fromEntries(everything.map((name) => [name, '*/*']));
  const headers = {
    ...sent,
    ...(await gateway.authorize()),
    'idempotency-key': 'k-1',
    'content-type': 'application/json',
  };
  await fetch(`${gateway.url}/v1/things`, { method: 'POST', headers, body: '{"name":"a"}' });
  await gateway.stop();
  await upstream.close();

  const table = document.slice(document.indexOf('## What arrives'), document.indexOf('What never arrives'));
  const listed = new Set([...table.matchAll(/`([A-Za-z-]+)`/g)].map(([, name]) => name?.toLowerCase()));
  const arrived = Object.keys(upstream.requests[0]?.headers ?? {});
  const framing = ['connection', 'content-length', 'host'];
  assert.deepEqual(
    arrived.filter((name) => !listed.has(name) && !framing.includes(name)),
    [],
  );
  assert.ok(arrived.includes('x-gateway-assertion') && arrived.includes('idempotency-key'));
  assert.ok(!arrived.includes('cookie') && !arrived.includes('authorization'));
});
