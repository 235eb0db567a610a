// A service behind a new address may refuse the credential. The refusal concerns that address: with another one, requests are sent again,
// and other settings change nothing. The cause that operators read says what ends the suspension.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, it } from 'node:test';
import { temporaryDirectory } from '../../support/directory.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { thingsAt } from '../../support/things.ts';
import { type FakeUpstream, startUpstream } from '../../support/upstream.ts';
import { save, until } from './files.ts';

interface Status {
  readonly configuration: { readonly version: string };
  readonly upstreams: { readonly things: { readonly credential: string; readonly credential_fault?: object } };
}

let service: FakeUpstream;
let stranger: FakeUpstream;
let gateway: TestGateway;
let headers: Record<string, string>;
before(async () => {
  service = await startUpstream();
  stranger = await startUpstream((_request, response) => response.writeHead(401).end());
  const secrets = temporaryDirectory();
  writeFileSync(join(secrets, 'things_token'), 'token-of-the-gateway');
  gateway = await startGateway({ ...entry(service), environment: { SECRETS_DIR: secrets } });
  headers = await gateway.authorize();
});
after(async () => {
  await gateway.stop();
  await service.close();
  await stranger.close();
});

const entry = ({ url }: FakeUpstream, more: object = {}) =>
  thingsAt(url, { credential: { bearer: { secret: 'things_token' } }, ...more });

async function read<T>(path: string): Promise<T> {
  return (await (await fetch(gateway.adminUrl + path)).json()) as T;
}
const credential = async () => (await read<Status>('/status')).upstreams.things.credential;

/** Saves the entry, and waits until the gateway has noticed it. SIGHUP would retry the credential. */
async function write({ upstreams }: ReturnType<typeof entry>): Promise<void> {
  const version = async () => (await read<Status>('/status')).configuration.version;
  const former = await version();
  save(gateway, 'config/upstreams.yaml', { upstreams });
  await until(async () => (await version()) !== former);
}
async function call(): Promise<number> {
  const answer = await fetch(`${gateway.url}/v1/things`, { headers });
  await answer.text();
  return answer.status;
}
/** What operators read about the credential. */
async function consequence(): Promise<string> {
  let text: string | undefined;
  await until(async () => {
    const { attention } = await read<{ attention: { id: string; consequence: string }[] }>('/console/feed');
    text = attention.find(({ id }) => id === 'upstream things credential')?.consequence;
    return text !== undefined;
  });
  return text as string;
}

it('is sent to another address after one service has refused it, and no sooner', async () => {
  assert.equal(await call(), 200);
  await write(entry(stranger));
  assert.deepEqual([await call(), await call()], [502, 502]);
  assert.deepEqual([await credential(), stranger.requests.length], ['latched', 1]);
  assert.match(await consequence(), /until the file SECRETS_DIR\/things_token changes, .* or its addresses change;/);
  assert.match(await consequence(), /To go back, write the former value: it is in force once saved\.$/);

  await write(entry(stranger, { timeoutMs: 5000 }));
  assert.deepEqual([await call(), await credential(), stranger.requests.length], [502, 'latched', 1]);
  await until(async () => !(await consequence()).includes('To go back'));

  await write(entry(service, { timeoutMs: 5000 }));
  assert.equal(await credential(), 'unproven');
  assert.deepEqual([await call(), await credential()], [200, 'proven']);
});

it('says when a second suspension began', async () => {
  const healedAt = new Date().toISOString();
  await write(entry(stranger));
  assert.equal(await call(), 502);
  const { upstreams } = await read<Status>('/status');
  const { began_at: beganAt } = upstreams.things.credential_fault as { began_at: string };
  assert.ok(beganAt > healedAt, `${beganAt} ${healedAt}`);
});
