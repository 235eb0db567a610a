// The trial of refreshes: three gateways over Redis before one provider. A round signs a person in, waits until the refresh is due, sends
// 200 requests at once, and disturbs the gateway that refreshes at one of its steps.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { environmentOf, writeConfiguration } from './configuration.ts';
import { createCookieBrowser } from './cookie-browser.ts';
import { temporaryDirectory } from './directory.ts';
import { freePort } from './free-port.ts';
import { issueKeyIn } from './gateway.ts';
import { createInstallation, type Installation, type Running } from './process.ts';
import { PROVIDER_SECRET_ENTRY, startProvider } from './provider.ts';
import { startServer } from './redis.ts';
import { type RefreshStep, type SteppedRelay, startSteppedRelay } from './refresh-steps.ts';
import { SESSION_ENTRY, sessionContract } from './sessions.ts';
import { thingsAt } from './things.ts';
import { startUpstream } from './upstream.ts';

/** The step at which a gateway is disturbed. */
export type Moment = RefreshStep | 'the provider has it' | 'the provider has redeemed it' | 'some time later';

/** Steps before the token is sent. */
export const KILLS_BEFORE: readonly Moment[] = ['asks', 'has the lease', 'announces'];
/** The token may have been redeemed, and the new ones are in no store. */
export const KILLS_BETWEEN: readonly Moment[] = [
  ...(['has announced', 'the provider has it', 'the provider has redeemed it', 'stores'] as const),
];
export const KILLS_AFTER: readonly Moment[] = ['has stored', 'some time later'];

export type Fault =
  | { readonly kind: 'none'; readonly at: undefined }
  | { readonly kind: 'kill'; readonly at: Moment }
  | { readonly kind: 'pause'; readonly at: Moment; readonly forMs: number };

export interface Round {
  /** The session has ended in every gateway. */
  readonly isLost: boolean;
  /** Requests that got 401 while the access token lived. */
  readonly refusedEarly: number;
}

interface RefreshTrial {
  /** Rejects if a gateway that was not killed gives no answer, or another one than 200, 401, and 503 of a refresh in progress. */
  round(fault: Fault): Promise<Round>;
  /** Tokens that the provider has redeemed, each time. */
  readonly redeemed: readonly string[];
  readonly errors: readonly string[];
  /** Rounds and lost sessions by fault. */
  table(): string;
  close(): Promise<void>;
}

const ACCESS_SECONDS = 4;
const REQUESTS = 200;
/** A refresh begins a quarter of the life of the access token before its end. */
const DUE_MS = ACCESS_SECONDS * 1000 * 0.75 + 50;
/** The lease of a holder that may have sent the token, and some seconds. */
const DECIDED_MS = 45_000;

interface Instance {
  readonly port: number;
  readonly installation: Installation;
  readonly relay: SteppedRelay;
  running: Running;
}

interface Answer {
  readonly status: number;
  readonly code: string | undefined;
  readonly at: number;
}

/** @param reuseSeconds 0: the provider rotates refresh tokens; else it takes each token again */
export async function startRefreshTrial({ reuseSeconds }: { readonly reuseSeconds: number }): Promise<RefreshTrial> {
  const directory = temporaryDirectory();
  const redis = await startServer('--appendonly', 'yes', '--dir', directory);
  const upstream = await startUpstream((_request, response) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}'),
  );
  const ports = await Promise.all([freePort(), freePort(), freePort()]);
  const origins = ports.map((port) => `http://127.0.0.1:${port}`);
  const [origin = ''] = origins;
  const provider = await startProvider({
    ...{ gatewayOrigin: origin, accessSeconds: ACCESS_SECONDS },
    configuration: { rotateRefreshToken: reuseSeconds === 0 },
  });
  const entry = { ...provider.entry, refreshReuseSeconds: reuseSeconds };
  const { contracts, upstreams } = thingsAt(upstream.url, { security: { sessions: true } });
  writeConfiguration(directory, {
    contracts: { ...contracts, ...sessionContract },
    upstreams: { ...upstreams, ...SESSION_ENTRY },
    gateway: { publicUrl: origin, sessions: { origins, providers: { staff: entry }, perPersonMax: 1000 } },
  });

  /** The disturbance of the present round. */
  let onMoment: ((moment: Moment, instance: Instance) => boolean) | undefined;
  let holder: Instance | undefined;
  const instances: Instance[] = [];
  for (const port of ports) {
    const relay = await startSteppedRelay(redis.url, (step) => {
      const instance = instances.find((one) => one.port === port);
      if (instance === undefined) return true;
      if (step === 'has the lease') holder = instance;
      return onMoment?.(step, instance) ?? true;
    });
    const installation = createInstallation({
      ...environmentOf(directory),
      ...{ REDIS_URL: relay.url, SESSION_KEYS: 'a secret that all three have', PORT: String(port) },
      [PROVIDER_SECRET_ENTRY.toUpperCase()]: provider.secret,
    });
    if (instances.length === 0) await issueKeyIn(installation.environment);
    instances.push({ port, installation, relay, running: await installation.start() });
  }

  const redeemed: string[] = [];
  const handle = provider.provider.callback();
  provider.answers('/token', (asked, response) => {
    const passes = (moment: Moment) => onMoment === undefined || holder === undefined || onMoment(moment, holder);
    if (!passes('the provider has it')) return;
    const { end } = response;
    response.end = ((...parts: Parameters<typeof end>) =>
      passes('the provider has redeemed it') ? end.apply(response, parts) : response) as typeof end;
    void handle(asked, response);
  });
  provider.provider.on('refresh_token.consumed', ({ jti }) => redeemed.push(jti));

  const agent = new Agent({ keepAlive: true, maxSockets: 100 });
  const tally = new Map<string, { rounds: number; lost: number }>();
  let rounds = 0;

  /** Does the fault at its moment. Resolves with the gateway that is at it. */
  function disturb(fault: Fault): Promise<Instance> {
    const { promise, resolve } = Promise.withResolvers<Instance>();
    let isDone = false;
    onMoment = (moment, instance) => {
      const { child } = instance.running;
      const isThen = moment === fault.at || (fault.at === 'some time later' && moment === 'has stored');
      if (isDone || fault.kind === 'none' || !isThen) {
        if (fault.kind === 'none' && moment === 'has stored') resolve(instance);
        return true;
      }
      isDone = true;
      resolve(instance);
      if (fault.kind === 'pause') {
        child.kill('SIGSTOP');
        setTimeout(() => child.kill('SIGCONT'), fault.forMs);
        return true;
      }
      // What has passed reaches Redis before the end.
      const waitMs = moment === fault.at ? (moment.startsWith('has ') ? 50 : 0) : Math.random() * 300;
      if (waitMs === 0) child.kill('SIGKILL');
      else setTimeout(() => child.kill('SIGKILL'), waitMs);
      return fault.at === 'some time later';
    };
    return promise;
  }

  async function restart(instance: Instance): Promise<void> {
    const { child } = instance.running;
    if (child.signalCode === null) await once(child, 'exit');
    instance.running = await instance.installation.start();
  }

  const nameOf = ({ kind, at }: Fault) => (at === undefined ? kind : `${kind}: ${at}`);

  async function round(fault: Fault): Promise<Round> {
    rounds += 1;
    onMoment = undefined;
    holder = undefined;
    // Each person has a limit.
    provider.person = { subject: `person-${rounds}`, claims: { org: 'org_test' } };
    const browser = createCookieBrowser();
    const begunAt = performance.now();
    const arrived = await browser.open(`${origin}/session/login`);
    const signedInAt = performance.now();
    assert.equal(arrived.status, 200, arrived.text);
    const [[name, { value }] = ['', { value: '' }]] = browser.cookies(origin);
    const ask = (instance: Instance) => askWith(agent, instance.port, `${name}=${value}`);
    // The gateways know the session before the refresh is due.
    await Promise.all(instances.map(ask));
    const victim = disturb(fault);
    await sleep(Math.max(0, DUE_MS - (performance.now() - signedInAt)));
    const wave = Array.from({ length: REQUESTS }, (_, index) => ask(instances[index % 3] as Instance));
    await victim;
    const answers = await Promise.all(wave);
    // A killed gateway gives no answer to what it had.
    const given = answers.filter(({ status }) => fault.kind !== 'kill' || status !== 0);
    const refusedEarly = given.filter(({ status, at }) => status === 401 && at < begunAt + ACCESS_SECONDS * 1000);
    if (fault.kind === 'kill') await restart(await victim);
    await sleep(Math.max(0, ACCESS_SECONDS * 1000 + 100 - (performance.now() - signedInAt)));
    const after = await Promise.all(instances.map((instance) => decided(() => ask(instance))));
    for (const { status, code } of [...given, ...after])
      assert.ok(
        status === 200 || status === 401 || code === 'provider_unavailable',
        `${nameOf(fault)}: ${status} ${code}`,
      );
    const isLost = after.every(({ status }) => status === 401);
    assert.ok(isLost || after.every(({ status }) => status === 200), 'the session has ended and lives');
    const sum = tally.get(nameOf(fault)) ?? { rounds: 0, lost: 0 };
    tally.set(nameOf(fault), { rounds: sum.rounds + 1, lost: sum.lost + Number(isLost) });
    return { isLost, refusedEarly: refusedEarly.length };
  }

  return {
    round,
    redeemed,
    errors: provider.errors,
    table: () =>
      [...tally].map(([fault, sum]) => `# ${fault}: ${sum.rounds} rounds, ${sum.lost} sessions lost`).join('\n'),
    async close() {
      for (const { running, relay } of instances) {
        running.child.kill('SIGCONT');
        running.child.kill('SIGKILL');
        relay.close();
      }
      agent.destroy();
      await Promise.all([provider.close(), upstream.close(), redis.stop()]);
    },
  };
}

/** While it is open how a refresh has ended, requests get 503. */
async function decided(ask: () => Promise<Answer>): Promise<Answer> {
  const endsAt = performance.now() + DECIDED_MS;
  for (;;) {
    const answer = await ask();
    if (answer.code !== 'provider_unavailable' || performance.now() > endsAt) return answer;
    await sleep(500);
  }
}

/** Sends a request, and sends it again if the gateway is overloaded, as clients do: the machine may be busy. */
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
