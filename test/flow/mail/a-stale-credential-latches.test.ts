// The mail server bans an address for good after a hundred wrong passwords. So a credential that it refused is not shown to it again,
// and as soon as another one is in the secrets store everything goes on by itself.

import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import type { Answer } from '../../support/connection.ts';
import { assertRefusal } from '../../support/errors.ts';
import {
  ADMINISTRATOR,
  basic,
  type Mail,
  type MailGateway,
  newPassword,
  startMail,
  startMailGateway,
} from '../../support/mail.ts';

const KEY = { organization: 'org_operator', operator: true, scopes: ['mail:read', 'mail:write'] };

interface World extends MailGateway {
  readonly mail: Mail;
  /** One request with a key, which does not depend on any password. */
  list(): Promise<Answer>;
  /** The state of the credential as operators see it. */
  state(): Promise<unknown>;
}

let right: string;
let world: World;
async function begin(secret: string): Promise<void> {
  const mail = await startMail(right, { failuresMax: 3 });
  const gateway = await startMailGateway(mail.url, secret);
  const { authorization: Authorization } = await gateway.gateway.authorize(KEY);
  world = {
    ...gateway,
    mail,
    list: () => gateway.call('GET /api/principal', undefined, { Authorization }),
    async state() {
      const status = await (await fetch(`${gateway.gateway.adminUrl}/status`)).json();
      return (status as { upstreams: { mail: { credential: string } } }).upstreams.mail.credential;
    },
    async stop() {
      await gateway.stop();
      await mail.close();
    },
  };
}

beforeEach(() => {
  right = newPassword();
});
afterEach(() => world.stop());

const messages = (part: string) => world.gateway.logLines().filter(({ msg }) => String(msg).includes(part));

describe('a credential that is wrong from the start', () => {
  it('costs one request, however many come at once and afterwards', async () => {
    await begin(newPassword());
    assert.equal(await world.state(), 'unproven');
    const atOnce = await Promise.all(Array.from({ length: 20 }, world.list));
    for (const answer of atOnce) assertRefusal(answer, 'upstream_auth_failed');
    for (let i = 0; i < 10; i++) assertRefusal(await world.list(), 'upstream_auth_failed');
    assert.equal(world.mail.received.length, 1);
    assert.equal(await world.state(), 'latched');
  });

  it('is reported to operators once', async () => {
    await begin(newPassword());
    for (let i = 0; i < 5; i++) await world.list();
    const [line, ...more] = messages('until the secret changes');
    assert.deepEqual([line?.upstream, line?.reason, line?.level, more.length], ['mail', 'refused', 50, 0]);
    const metrics = await (await fetch(`${world.gateway.adminUrl}/metrics`)).text();
    assert.match(metrics, /^gateway_upstream_credential_latched\{upstream="mail"\} 1$/m);
  });

  it('heals by the right secret, without a restart and without a failed request after that', async () => {
    await begin(newPassword());
    assertRefusal(await world.list(), 'upstream_auth_failed');
    world.useSecret(right);
    for (let i = 0; i < 20; i++) assert.equal((await world.list()).status, 200);
    assert.equal(await world.state(), 'proven');
    assert.equal(world.mail.received.length, 21);
    assert.equal(messages('can be used again').length, 1);
  });

  it('costs one request more when the next one is wrong as well', async () => {
    await begin(newPassword());
    await world.list();
    world.useSecret(newPassword());
    for (let i = 0; i < 5; i++) assertRefusal(await world.list(), 'upstream_auth_failed');
    assert.equal(world.mail.received.length, 2);
    world.useSecret(right);
    assert.equal((await world.list()).status, 200);
  });

  it('does not keep the same credentials of a client from being compared', async () => {
    const wrong = newPassword();
    await begin(wrong);
    const withBasic = (password: string) =>
      world.call('GET /api/principal', undefined, { Authorization: basic(ADMINISTRATOR, password) });
    assertRefusal(await withBasic(wrong), 'upstream_auth_failed');
    world.useSecret(right);
    assert.equal((await withBasic(right)).status, 200);
    assert.equal((await withBasic(wrong)).status, 401);
  });
});

describe('a credential that stops being right', () => {
  it('costs one request, until the secret is changed', async () => {
    await begin(right);
    assert.equal((await world.list()).status, 200);
    const next = newPassword();
    world.mail.useAdministrator(next);
    const before = world.mail.received.length;
    const answers = [await world.list(), ...(await Promise.all(Array.from({ length: 10 }, world.list)))];
    for (const answer of answers) assertRefusal(answer, 'upstream_auth_failed');
    assert.equal(world.mail.received.length, before + 1);
    world.useSecret(next);
    for (let i = 0; i < 5; i++) assert.equal((await world.list()).status, 200);
  });

  it('has no effect when the secret was changed first', async () => {
    await begin(right);
    assert.equal((await world.list()).status, 200);
    const next = newPassword();
    world.useSecret(next);
    world.mail.useAdministrator(next);
    for (let i = 0; i < 10; i++) assert.equal((await world.list()).status, 200);
  });
});
