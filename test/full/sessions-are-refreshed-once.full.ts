// Three gateways over Redis, and a provider that rotates refresh tokens and takes a second redemption for theft: 200 requests at once as an
// access token ends, round after round, while the gateway that refreshes stands still or is killed. Each token is redeemed once, nothing is
// refused that has not ended, and the provider sees no theft.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { closesAfterAll } from '../support/closing.ts';
import { environmentOf, writeConfiguration } from '../support/configuration.ts';
import { createCookieBrowser } from '../support/cookie-browser.ts';
import { temporaryDirectory } from '../support/directory.ts';
import { freePort } from '../support/free-port.ts';
import { issueKeyIn } from '../support/gateway.ts';
import { createInstallation, type Installation, type Running } from '../support/process.ts';
import { PROVIDER_SECRET_ENTRY, startProvider } from '../support/provider.ts';
import { startServer } from '../support/redis.ts';
import { SESSION_ENTRY, sessionContract } from '../support/sessions.ts';
import { thingsAt } from '../support/things.ts';
import { startUpstream } from '../support/upstream.ts';

const ROUNDS = Number(process.env.SESSION_ROUNDS ?? 100);
const REQUESTS = 200;
const ACCESS_SECONDS = 4;
/** A refresh begins a quarter of the life of the access token before its end. */
const DUE_MS = ACCESS_SECONDS * 1000 * 0.75 + 50;
/** Shorter than a lease: a gateway that is silent for longer while its access token has ended costs the session. */
const PAUSE_MS = 800;
/** Of each ten rounds. */
const FAULTS = ['none', 'pause', 'none', 'kill', 'none', 'pause', 'none', 'none', 'pause', 'kill'] as const;

const start = closesAfterAll();

interface Instance {
  readonly port: number;
  readonly installation: Installation;
  running: Running;
}

interface Answer {
  readonly status: number;
  readonly code: string | undefined;
  readonly at: number;
}

it(`${ROUNDS} rounds of ${REQUESTS} requests, with pauses and kills of the gateway that refreshes`, {
  timeout: 1_800_000,
}, async () => {
  const directory = temporaryDirectory();
  const redis = await start(startServer('--appendonly', 'yes', '--dir', directory));
  const upstream = await start(
    startUpstream((_request, response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{}')),
  );
  const ports = await Promise.all([freePort(), freePort(), freePort()]);
  const origins = ports.map((port) => `http://127.0.0.1:${port}`);
  const [origin = ''] = origins;
  const provider = await start(startProvider({ gatewayOrigin: origin, accessSeconds: ACCESS_SECONDS }));
  const { contracts, upstreams } = thingsAt(upstream.url, { security: { sessions: true } });
  writeConfiguration(directory, {
    contracts: { ...contracts, ...sessionContract },
    upstreams: { ...upstreams, ...SESSION_ENTRY },
    gateway: { publicUrl: origin, sessions: { origins, providers: { staff: provider.entry }, perPersonMax: 1000 } },
  });
  const shared = {
    ...environmentOf(directory),
    REDIS_URL: redis.url,
    SESSION_KEYS: 'a secret that all three have',
    [PROVIDER_SECRET_ENTRY.toUpperCase()]: provider.secret,
  };
  const installations = ports.map((port) => createInstallation({ ...shared, PORT: String(port) }));
  await issueKeyIn((installations[0] as Installation).environment);
  const instances: Instance[] = [];
  for (const [index, installation] of installations.entries())
    instances.push({ port: ports[index] as number, installation, running: await installation.start() });

  let redemptions = 0;
  const consumed: string[] = [];
  provider.provider.on('refresh_token.consumed', ({ jti }) => consumed.push(jti));
  /** What to do while the provider has a refresh token, with the port of its sender. Undefined while a person signs in. */
  let onRedemption: ((port: number) => Promise<void>) | undefined;
  const handle = provider.provider.callback();
  provider.answers('/token', async (asked, response) => {
    if (onRedemption !== undefined) {
      redemptions += 1;
      await onRedemption(asked.socket.remotePort ?? 0);
    }
    void handle(asked, response);
  });
  const agent = new Agent({ keepAlive: true, maxSockets: 100 });
  const counts = { served: 0, lost: 0, pauses: 0, kills: 0 };

  async function round(number: number): Promise<void> {
    const fault = FAULTS[number % FAULTS.length];
    onRedemption = undefined;
    // Each person has a limit.
    provider.person = { subject: `person-${number}`, claims: { org: 'org_test' } };
    const browser = createCookieBrowser();
    const begunAt = performance.now();
    const arrived = await browser.open(`${origin}/session/login`);
    const signedInAt = performance.now();
    assert.equal(arrived.status, 200, arrived.text);
    const [[name, { value }] = ['', { value: '' }]] = browser.cookies(origin);
    const ask = (instance: Instance) => askWith(agent, instance.port, `${name}=${value}`);
    const before = redemptions;
    const harmless = async () => undefined;
    let holder: Instance | undefined;
    const disturbed = Promise.withResolvers<void>();
    onRedemption = async (port) => {
      // A slow round may see the refresh of the successor, too.
      onRedemption = harmless;
      holder = instances.find(({ running }) => hasConnectionFrom(running.child.pid as number, port));
      assert.ok(holder, 'one of the gateways has sent it');
      if (fault === 'pause') {
        const { child } = holder.running;
        child.kill('SIGSTOP');
        setTimeout(() => child.kill('SIGCONT'), PAUSE_MS);
      }
      // The answer may have been stored by then, or not.
      if (fault === 'kill') {
        await sleep(Math.random() * 30);
        const { child } = holder.running;
        setTimeout(() => child.kill('SIGKILL'), Math.random() * 60);
      }
      disturbed.resolve();
    };

    await sleep(Math.max(0, DUE_MS - (performance.now() - signedInAt)));
    const wave = Array.from({ length: REQUESTS }, (_, index) => ask(instances[index % 3] as Instance));
    await disturbed.promise;
    const others = instances.filter((instance) => instance !== holder || fault === 'none');
    const meanwhile = await Promise.all(
      Array.from({ length: 30 }, (_, index) => ask(others[index % others.length] as Instance)),
    );
    const answers = await Promise.all(wave);
    // A killed gateway gives no answer to what it had.
    const given = [...answers, ...meanwhile].filter(({ status }) => fault !== 'kill' || status !== 0);
    // The access token may have ended on a busy machine, and the killed gateway may have had the answer of the provider.
    const isLate = ({ code, at }: Answer) =>
      fault === 'kill' && code === 'session_expired' && at > begunAt + ACCESS_SECONDS * 1000;
    const late = given.filter(isLate);
    for (const answer of given)
      if (!late.includes(answer))
        assert.equal(answer.status, 200, `${number} ${fault}: ${answer.status} ${answer.code}`);
    counts.served += given.length - late.length;

    if (fault === 'kill' && holder !== undefined) holder.running = await holder.installation.start();
    await sleep(Math.max(0, ACCESS_SECONDS * 1000 + 100 - (performance.now() - signedInAt)));
    const after = await Promise.all(instances.map(ask));
    // Its gateway was killed with the answer of the provider: the token is not redeemed again, and the person signs in again.
    const isLost = fault === 'kill' && after.every(({ code }) => code === 'session_expired');
    assert.ok(isLost || late.length === 0, 'the session has ended and lives');
    if (!isLost)
      for (const { status, code } of after) assert.equal(status, 200, `${number} ${fault}: ${status} ${code}`);
    assert.ok(redemptions > before);
    assert.equal(new Set(consumed).size, consumed.length, 'each token is redeemed once');
    assert.equal(consumed.length, redemptions, 'each redemption is of another token');
    assert.deepEqual(provider.errors, [], 'the provider has seen no theft');
    counts.lost += Number(isLost);
    counts.pauses += Number(fault === 'pause');
    counts.kills += Number(fault === 'kill');
  }

  try {
    for (let number = 0; number < ROUNDS; number += 1) await round(number);
  } finally {
    for (const { running } of instances) {
      running.child.kill('SIGCONT');
      running.child.kill('SIGKILL');
    }
    agent.destroy();
  }
  console.log(`# ${JSON.stringify(counts)}, ${redemptions} redemptions`);
});

/** On a busy machine a gateway may have too much to do: the request is sent again, as clients do. */
async function askWith(agent: Agent, port: number, cookie: string): Promise<Answer> {
  for (;;) {
    const answer = await askOnce(agent, port, cookie);
    if (!/_overloaded$/.test(answer.code ?? '')) return answer;
    await sleep(100);
  }
}

function askOnce(agent: Agent, port: number, cookie: string): Promise<Answer> {
  return new Promise((resolve) => {
    const headers = { cookie, 'sec-fetch-site': 'same-origin' };
    const sent = request({ agent, port, host: '127.0.0.1', path: '/v1/things', headers }, (response) => {
      response.resume().on('close', () => {
        resolve({
          status: response.statusCode ?? 0,
          code: response.headers['x-error-code'] as string | undefined,
          at: performance.now(),
        });
      });
    });
    sent.on('error', ({ message }) => resolve({ status: 0, code: message, at: performance.now() }));
    sent.end();
  });
}

/** Whether a process has a connection whose own port is this one. */
function hasConnectionFrom(pid: number, port: number): boolean {
  const wanted = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const inodes = readFileSync(`/proc/${pid}/net/tcp`, 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, local = '']) => local.endsWith(wanted))
    .map((columns) => `socket:[${columns[9]}]`);
  return readdirSync(`/proc/${pid}/fd`).some((fd) => {
    try {
      return inodes.includes(readlinkSync(`/proc/${pid}/fd/${fd}`));
    } catch {
      return false;
    }
  });
}
