// The sandbox follows only the gateway from one key to the next: adding a key needs write access beside its database.
import assert from 'node:assert/strict';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type SandboxProcessOptions, startSandbox } from '../../gateway/upstream/sandbox/sandbox.ts';
import { temporaryDirectory } from '../support/directory.ts';
import { assertionOf, createGatewayKey, type GatewayKey, ISSUER, send } from './support/platform.ts';
import { install, lease } from './support/process.ts';

const [one, two, three] = [
  await createGatewayKey('one'),
  await createGatewayKey('two'),
  await createGatewayKey('three'),
];
let organizations = 0;
/** Of another organization each time: one that was verified a moment ago is not verified again. */
const tokenBy = (key: GatewayKey) =>
  assertionOf({ org: `org_${organizations++}` }, Date.now(), { kid: key.jwks.keys[0]?.kid ?? '' }).sign(key.privateKey);

test('keys that the gateways write are trusted from then on, and removed ones no longer', async (context) => {
  const installation = await install(context);
  installation.trust(one);
  const { platform: port } = (await installation.start().ready).services;
  const held = await lease(port);
  const statusFor = async (key: GatewayKey) =>
    (await send(`http://127.0.0.1:${port}`, await tokenBy(key), 'GET', '/v1/jobs')).status;
  assert.deepEqual([await statusFor(one), await statusFor(two)], [200, 401]);
  installation.trust(one, two);
  assert.deepEqual([await statusFor(one), await statusFor(two)], [200, 200]);
  installation.trust(two);
  assert.deepEqual([await statusFor(one), await statusFor(two)], [401, 200]);
  held.destroy();
});

test('a client that only reaches the port cannot add a key', async (context) => {
  const installation = await install(context);
  const { platform: port } = (await installation.start().ready).services;
  const held = await lease(port);
  const stranger = await createGatewayKey('stranger');
  const url = `http://127.0.0.1:${port}`;
  const jwk = stranger.jwks.keys[0];
  const inHeader = await assertionOf({}, Date.now(), { kid: 'stranger', ...{ jwk } }).sign(stranger.privateKey);
  assert.equal((await send(url, inHeader, 'GET', '/v1/jobs')).status, 401);
  for (const path of ['/_sandbox/trust', '/_sandbox/jwks', '/_sandbox/seed', '/jwks.json']) {
    for (const method of ['POST', 'PUT']) {
      assert.equal((await send(url, inHeader, method, path, { body: stranger.jwks })).status, 401, `${method} ${path}`);
    }
  }
  assert.equal((await send(url, await tokenBy(stranger), 'GET', '/v1/jobs')).status, 401);
  held.destroy();
});

test('without the file it does not start', async (context) => {
  const installation = await install(context);
  rmSync(join(installation.directory, 'jwks.json'));
  const { code, log } = await installation.start().ended;
  assert.equal(code, 1);
  assert.match(JSON.parse(log).reason, /jwks\.json/);
});

/** Gateways of one data directory, by the keys that each of them has read. */
function gatewaysOf(context: TestContext) {
  const dataDirectory = temporaryDirectory();
  const options: Omit<SandboxProcessOptions, 'jwks'> = {
    dataDirectory,
    issuer: ISSUER,
    audiences: ['platform'],
    cursorSecret: 'only for tests',
    mailUrl: 'http://localhost:8080',
    mailAdministrator: undefined,
    onRestart: () => undefined,
  };
  async function start(...keys: readonly GatewayKey[]) {
    let known = keys;
    const sandbox = await startSandbox({
      ...options,
      jwks: () => ({ keys: known.flatMap(({ jwks }) => jwks.keys) as { kid: string }[] }),
    });
    context.after(() => sandbox.close());
    const learn = (...more: readonly GatewayKey[]) => {
      known = more;
      sandbox.renewTrust();
    };
    return { origin: sandbox.originOf('sandbox:platform'), learn };
  }
  const trusted = (): string[] =>
    JSON.parse(readFileSync(join(dataDirectory, 'sandbox', 'jwks.json'), 'utf8')).keys.map(
      ({ kid }: { kid: string }) => kid,
    );
  return { start, trusted };
}

test('gateways share it while they hand over, in any order of the news', async (context) => {
  const { start, trusted } = gatewaysOf(context);
  const first = await start(one);
  const second = await start(one, two);
  assert.equal(second.origin, first.origin);
  assert.deepEqual(trusted(), ['one', 'two']);
  first.learn(one, two);
  second.learn(two);
  first.learn(two);
  assert.equal((await start(two, three)).origin, first.origin);
  assert.equal((await send(first.origin, await tokenBy(three), 'GET', '/v1/jobs')).status, 200);
});

test('a gateway with keys of its own neither gets it nor changes the trusted keys', async (context) => {
  const { start, trusted } = gatewaysOf(context);
  const { origin } = await start(one);
  await assert.rejects(start(two), /A sandbox that trusts other keys runs on .*: end the gateway that holds it/);
  assert.deepEqual(trusted(), ['one']);
  assert.equal((await send(origin, await tokenBy(one), 'GET', '/v1/jobs')).status, 200);
});
