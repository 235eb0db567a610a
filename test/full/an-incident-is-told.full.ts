// An incident as operators have it: a service dies before a gateway with workers, or before a fleet. Its receivers are told of begin and
// end, once, whatever is killed meanwhile. Looks are three seconds apart and a recovery takes half a minute, so that this takes minutes.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { eventually, startSeveral } from '../flow/workers/several.ts';
import { startAlertReceiver } from '../support/alert-receiver.ts';
import { createAuthority } from '../support/certificates.ts';
import { environmentOf, writeConfiguration } from '../support/configuration.ts';
import { temporaryDirectory } from '../support/directory.ts';
import { createInstallation } from '../support/process.ts';
import { startRedis } from '../support/redis.ts';
import { startSmtp } from '../support/smtp.ts';
import { thingsAt } from '../support/things.ts';
import { type Answer, startUpstream } from '../support/upstream.ts';

/** The answer of a service that can die and come back. */
function createMortal() {
  let isDead = false;
  const answer: Answer = (_request, response, raw) => {
    if (isDead) raw.socket.destroy();
    else response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  };
  return {
    answer,
    die: () => {
      isDead = true;
    },
    comeBack: () => {
      isDead = false;
    },
  };
}

/** Asks for as long as it is not stopped, each time on a connection of its own. */
function startClient(urls: readonly string[], authorization: string) {
  const ask = (url: string) =>
    fetch(`${url}/v1/things`, { headers: { authorization, connection: 'close' } }).catch(() => undefined);
  const timer = setInterval(() => urls.map(ask), 200);
  return () => clearInterval(timer);
}

describe('a service that dies', () => {
  it('before workers that are killed is told once, by webhook and mail, and so is its return', async () => {
    const [pager, smtp, service] = [await startAlertReceiver(), await startSmtp(), createMortal()];
    const email = { to: ['ops@example.com'], from: 'gateway@example.com', server: smtp.server, tls: 'none' };
    const causes = ['upstream *'];
    const receivers = {
      pager: { webhook: { url: pager.url, secret: 'pager_key' }, causes },
      team: { email, causes },
    };
    const gateway = await startSeveral({
      answer: service.answer,
      gateway: { alerts: { receivers } },
      environment: { PAGER_KEY: pager.secret },
    });
    const stopClient = startClient([gateway.url], gateway.authorization);
    try {
      await eventually(async () => (await gateway.workers()).every(({ state }) => state === 'serving'));
      service.die();
      const diedAt = performance.now();
      await eventually(() => pager.delivered.length === 1 && smtp.mails.length === 1);
      console.log(`told after ${Math.round(performance.now() - diedAt)} ms`);
      for (const { pid } of await gateway.workers()) if (pid !== null) process.kill(pid, 'SIGKILL');
      await eventually(async () =>
        (await gateway.workers()).every(({ state, restarts }) => state === 'serving' && restarts > 0),
      );
      service.comeBack();
      const backAt = performance.now();
      await eventually(() => pager.delivered.length > 1 && smtp.mails.length > 1);
      console.log(`end told after ${Math.round(performance.now() - backAt)} ms`);
      assert.deepEqual(pager.told(), [['firing upstream things live'], ['resolved upstream things live']]);
      assert.equal(smtp.mails.length, 2);
      assert.equal(await gateway.stop(), 0);
    } finally {
      stopClient();
      await gateway.close();
      await Promise.all([pager.close(), smtp.close()]);
    }
  });

  it('before a fleet is told once, and its return by the instance that is left', async () => {
    const [pager, service, redis] = [await startAlertReceiver(), createMortal(), await startRedis()];
    const upstream = await startUpstream(service.answer);
    const directory = temporaryDirectory();
    const receivers = { pager: { webhook: { url: pager.url, secret: 'pager_key' }, severities: ['failure'] } };
    writeConfiguration(directory, { ...thingsAt(upstream.url), gateway: { alerts: { receivers } } });
    const environment = { ...environmentOf(directory), REDIS_URL: redis.url, PAGER_KEY: pager.secret };
    const first = createInstallation(environment);
    const installations = [first, createInstallation(environment)];
    const [one, other] = await Promise.all(installations.map((installation) => installation.start()));
    assert.ok(one && other);
    await first.run('orgs', 'create', '--name', 'Test', '--tier', 'standard', '--json');
    const [{ id }] = JSON.parse((await first.run('orgs', 'list', '--json')).stdout);
    const made = await first.run('keys', 'create', '--org', id, '--mode', 'live', '--scopes', '*', '--json');
    const { key } = JSON.parse(made.stdout);
    const urls = [one, other].map(({ port }) => `http://127.0.0.1:${port}`);
    const stopClient = startClient(urls, `Bearer ${key}`);
    try {
      service.die();
      const diedAt = performance.now();
      await eventually(() => pager.told().flat().includes('firing upstream things live'));
      console.log(`told after ${Math.round(performance.now() - diedAt)} ms`);
      const speaker = await eventually(() =>
        [one, other].find((running) => running.standardOutput().includes('alerts were sent')),
      );
      speaker.child.kill('SIGKILL');
      await eventually(() =>
        pager
          .told()
          .flat()
          .some((text) => text.startsWith('firing instance con_')),
      );
      service.comeBack();
      await eventually(() => pager.told().flat().includes('resolved upstream things live'));
      const ofService = pager
        .told()
        .flat()
        .filter((text) => text.endsWith('upstream things live'));
      assert.deepEqual(ofService, ['firing upstream things live', 'resolved upstream things live']);
    } finally {
      stopClient();
      for (const { child } of [one, other]) child.kill('SIGKILL');
      for (const installation of installations) installation.remove();
      await Promise.all([pager.close(), upstream.close(), redis.stop()]);
    }
  });
});

it('mail goes to a server with STARTTLS and a login, and not to one whose certificate is not trusted', async () => {
  const authority = createAuthority();
  const certificate = authority.issue({ names: ['localhost'] });
  const smtp = await startSmtp({ certificate, login: 'gateway:secret' });
  const directory = temporaryDirectory();
  const email = {
    ...{ to: ['ops@example.com'], from: 'gateway@example.com', server: `localhost:${smtp.port}` },
    ...{ user: 'gateway', secret: 'mail_password' },
  };
  writeConfiguration(directory, {
    ...thingsAt('http://127.0.0.1:1'),
    gateway: { alerts: { receivers: { team: { email } } } },
    files: { 'authority.pem': authority.certificate },
  });
  const environment = { ...environmentOf(directory), MAIL_PASSWORD: 'secret' };
  const trusting = { ...environment, NODE_EXTRA_CA_CERTS: join(directory, 'config/authority.pem') };
  const [wary, sure] = [createInstallation(environment), createInstallation(trusting)];
  try {
    const refused = await wary.spawn('alerts', 'test', 'team');
    assert.deepEqual([refused.code, smtp.mails.length], [1, 0]);
    assert.match(refused.stderr, /took no trial: .*certificate/);
    assert.equal((await sure.spawn('alerts', 'test', 'team')).code, 0);
    assert.deepEqual(
      smtp.mails.map(({ isEncrypted, login }) => [isEncrypted, login]),
      [[true, 'gateway:secret']],
    );
    assert.ok(!smtp.commands.slice(0, smtp.commands.indexOf('STARTTLS')).some((line) => line.startsWith('AUTH')));
  } finally {
    for (const installation of [wary, sure]) installation.remove();
    await smtp.close();
  }
});
