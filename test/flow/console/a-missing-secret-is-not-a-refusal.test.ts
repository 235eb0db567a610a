// A credential whose secret is missing was refused by no service: console, /status, metrics and the story name the secret. Once it is
// written, they say so without a request.

import assert from 'node:assert/strict';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, it } from 'node:test';
import { type Answer, until } from '../../support/connection.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { assertRefusal } from '../../support/errors.ts';
import { runInProcess } from '../../support/in-process.ts';
import { httpAnswer } from '../../support/scripted-upstream.ts';
import { createWorld, type World } from '../../support/world.ts';

interface Cause {
  readonly id: string;
  readonly cause: string;
  readonly consequence: string;
  readonly runbook: string;
  readonly since: string;
}

let file: string;
let world: World;
beforeEach(async () => {
  const secrets = temporaryDirectory();
  file = join(secrets, 'things_key');
  writeFileSync(file, 'Token of=the gateway');
  const credential = { apiKey: { header: 'X-Things-Key', secret: 'things_key' } };
  world = await createWorld({ environment: { SECRETS_DIR: secrets } }, { credential });
});
afterEach(() => world.close());

const read = async (path: string) => (await fetch(world.gateway.adminUrl + path)).json();
const status = async () => ((await read('/status')) as { readonly upstreams: Record<string, object> }).upstreams.things;
const causes = async () => ((await read('/console/feed')) as { readonly attention: readonly Cause[] }).attention;
const gauges = async () => {
  const text = await (await fetch(`${world.gateway.adminUrl}/metrics`)).text();
  return ['latched', 'missing'].map((name) =>
    Number(text.match(new RegExp(`^gateway_upstream_credential_${name}\\{upstream="things"\\} (\\d)$`, 'm'))?.[1]),
  );
};
/** While the secret works, it is read once in 250 ms. */
async function refusedCall(): Promise<Answer> {
  const refused = await until(async () => {
    const answer = await world.call('GET /v1/things');
    return answer.status !== 200 && answer;
  });
  assertRefusal(refused, 'upstream_auth_failed');
  return refused;
}
const credentialCause = () => until(async () => (await causes()).find(({ id }) => id === 'upstream things credential'));

it('a removed secret is told as missing, not as refused, until it is there again', async () => {
  const removedAtMs = Date.now();
  rmSync(file);
  const refused = await refusedCall();
  const { cause, consequence, runbook, since } = await credentialCause();
  assert.match(cause, /no credential for upstream things: the secret things_key is missing/);
  assert.match(
    consequence,
    /until the secret is in the file SECRETS_DIR\/things_key, or the gateway is started with the variable THINGS_KEY; its requests get 502/,
  );
  assert.equal(runbook, 'GatewayCredentialMissing');
  assert.partialDeepStrictEqual((await status()) as object, {
    credential: 'no_secret',
    credential_fault: { reason: 'absent', secret: 'things_key', began_at: since },
  });
  assert.ok(Date.parse(since) >= removedAtMs, since);
  assert.deepEqual(await gauges(), [0, 1]);
  const { exchanges } = (await read(`/console/exchanges/${refused.headers['x-request-id']}`)) as {
    readonly exchanges: readonly {
      readonly next: { readonly runbook: string; readonly commands: readonly string[] };
    }[];
  };
  assert.equal(exchanges[0]?.next.runbook, 'GatewayCredentialMissing');
  assert.deepEqual(exchanges[0]?.next.commands, ['bin/gateway doctor']);

  const environment = {
    GATEWAY_CONFIG: join(world.gateway.directory, 'config'),
    GATEWAY_CONTRACTS: join(world.gateway.directory, 'openapi'),
    GATEWAY_DATA: world.gateway.dataDirectory,
    ADMIN_PORT: String(world.gateway.app.adminPort),
    PORT: '0',
    THINGS_KEY: 'of this shell alone',
  };
  const { stdout } = await runInProcess(['doctor'], { environment });
  assert.match(
    stdout,
    /^fail {2}running gateway .*It has no secret things_key, and sends nothing to the upstream things\./m,
  );
  assert.match(
    stdout,
    /This shell has the secret, and the gateway does not\. Put it into the file SECRETS_DIR\/things_key/,
  );

  writeFileSync(file, 'second');
  await until(async () => (await causes()).every(({ id }) => id !== 'upstream things credential'));
  assert.deepEqual(await gauges(), [0, 0]);
  assert.equal((await world.call('GET /v1/things')).status, 200);
});

it('a secret that cannot be read is told with the reason', async () => {
  rmSync(file);
  mkdirSync(file);
  await refusedCall();
  const { cause, runbook } = await credentialCause();
  assert.match(cause, /the secret things_key cannot be used\. .*cannot be read \(EISDIR\)/);
  assert.equal(runbook, 'GatewayCredentialMissing');
});

it('a refused secret is told as refused', async () => {
  world.upstream.plays((socket) => socket.write(httpAnswer(401, '{}')));
  await refusedCall();
  const { cause, runbook } = await credentialCause();
  assert.match(cause, /^Upstream things refused the credential of the gateway, the secret things_key\.$/);
  assert.equal(runbook, 'GatewayCredentialLatched');
  assert.deepEqual(await gauges(), [1, 0]);
});
