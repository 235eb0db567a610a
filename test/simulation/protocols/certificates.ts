// Certificate orders: one of several gateways orders and renews the certificates of all, by a lease in Redis, at an authority that is a
// model. In most simulations, an operator gives commands meanwhile.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { HttpAnswer, HttpClient } from '../../../gateway/acme/acme-http.ts';
import type { AcmeStore } from '../../../gateway/acme/acme-store.ts';
import { AcmeFailure } from '../../../gateway/acme/failure.ts';
import { Keeper } from '../../../gateway/acme/keeper.ts';
import { openRedisAcmeStore } from '../../../gateway/acme/redis-acme-store.ts';
import { createSeal } from '../../../gateway/acme/seal.ts';
import { createSqliteAcmeStore } from '../../../gateway/acme/sqlite-acme-store.ts';
import type { ReadPair } from '../../../gateway/acme/view.ts';
import type { ConnectRedis } from '../../../gateway/redis/client.ts';
import { CommandChecker } from '../checkers/commands.ts';
import { OrderChecker } from '../checkers/orders.ts';
import { Deployment, type Place } from '../deployment.ts';
import type { SimulatedProcess } from '../engine/process.ts';
import { BEGINNING_MS, type World } from '../engine/world.ts';
import type { Protocol, Running } from '../protocol.ts';
import { type CaAnswer, CertificateAuthority, DIRECTORY } from './certificate-authority.ts';
import { beginOperator } from './certificate-operator.ts';

const HOUR_MS = 3_600_000;
const NAMES = [['a.test'], ['b.test', 'www.b.test']] as const;
const HTTP_DEADLINE_MS = 15_000;
/** After some failures an attempt is made every half an hour. In the calm, one of them has to succeed. */
const ALL_ARRIVES_AFTER_MS = 10 * 60_000;
/** An attempt is over after so long. */
const ATTEMPT_MAX_MS = 60_000;
/** A revoked certificate is shown until the order that follows the revocation has ended. */
const REPLACED_WITHIN_MS = ATTEMPT_MAX_MS;
/** More in a row come from no fault of the network. */
const FAILURES_MAX = 8;
const OPERATED = 0.6;
/** A machine whose clock is behind by more takes new certificates for not valid yet. */
const CLOCK_WRONG_MS = 60_000;
/** Soon after the last fault, gateways sign with a key that the authority takes. */
const KEY_WRONG_MAX_MS = 30 * 60_000;

export const certificatesProtocol: Protocol = {
  name: 'certificates',
  processesMax: 4,
  calmMs: 90 * 60_000,
  faults: {
    pause: 4,
    stall: 10,
    suspend: 2,
    hesitate: 8,
    kill: 4,
    stop: 3,
    clock: 1,
    cut: 3,
    break: 2,
    slow: 1,
    far: 8,
    'redis pause': 2,
    'redis restart': 1,
    'redis restart without the tail': 1,
    'redis restart empty': 1,
    'redis failover': 2,
    'redis lag': 1,
    'redis full': 1,
  },
  // Orders take seconds, and hours pass between them.
  aimed: 0.6,
  start: startCertificates,
};

interface Gateway {
  readonly process: SimulatedProcess;
  readonly keeper: Keeper;
}

function startCertificates(world: World, processes: number): Running {
  const random = world.random.named('certificates');
  const directory = processes === 1 && random.chance(0.5) ? mkdtempSync(join(tmpdir(), 'simulated-acme-')) : undefined;
  // With the embedded store the clock of the machine decides, which jumps by two hours at most.
  const lifetimeMs = directory === undefined ? random.pick([HOUR_MS / 10, HOUR_MS / 3, HOUR_MS]) : 3 * HOUR_MS;
  const gateways = new Map<Place, Gateway>();
  const stores = new Set<AcmeStore>();
  const kills: number[] = [];
  const commands = new CommandChecker(() => deployment);
  /** Gateways decide by it when a certificate is due. */
  const storeClock = () =>
    directory === undefined ? deployment.redis.now() : (deployment.places[0] as Place).process.machine.now();
  const checker = new OrderChecker({
    commands: commands.given,
    deployment: () => deployment,
    lifetimeMs,
    kills: () => kills,
    storeClock,
  });
  const authority = new CertificateAuthority({ world, checker, commands, lifetimeMs, askGateway });

  const deployment: Deployment = new Deployment(world, processes, (place, process, connect) => {
    if (place.starts > 1) kills.push(world.now());
    const { machine } = process;
    void openStore(process, connect).then(async (store) => {
      stores.add(store);
      const keeper = new Keeper({
        store,
        seal: createSeal('a secret of sixteen letters', machine),
        settings: { directory: DIRECTORY, contacts: [], challenge: 'http-01', certificates: NAMES },
        http: createHttp(deployment, process, authority),
        readPair,
        now: machine.now,
        machine,
        onCertificates(all) {
          world.note(place.name, `shows ${all.map(({ fingerprint }) => fingerprint.slice(0, 6))}`);
          for (const { fingerprint } of all) checker.shown(fingerprint);
        },
        onEvent: (event) =>
          world.note(
            place.name,
            event.kind === 'failed' ? `failed: ${event.attempts.reason.slice(0, 90)}` : event.kind,
          ),
        onUnusable: (id, reason) => world.violate('certificates', `${place.name} cannot use ${id}: ${reason}`),
        onStore: (reason) => world.note(place.name, `store: ${reason ?? 'there'}`),
      });
      await keeper.open();
      gateways.set(place, { process, keeper });
      place.stop = () => {
        gateways.delete(place);
        stores.delete(store);
        return keeper.close();
      };
      keeper.begin();
    });
  });

  const readPair: ReadPair = (certificate, key, names) => {
    const issued = authority.issued.get(certificate);
    if (issued === undefined) return { reason: 'nobody has issued it' };
    if (issued.names.join() !== names.join()) return { reason: 'it is for other names' };
    return { ...issued, certificate, key };
  };

  async function openStore({ machine }: SimulatedProcess, connect: ConnectRedis): Promise<AcmeStore> {
    if (directory !== undefined) return createSqliteAcmeStore({ directory, now: machine.now });
    return openRedisAcmeStore('redis://simulated', connect, machine);
  }

  if (random.chance(OPERATED))
    beginOperator({
      deployment,
      checker: commands,
      certificates: NAMES,
      openStore,
      shownFor: (names) =>
        [...gateways.values()].flatMap(({ keeper }) =>
          keeper.kept().flatMap((kept) => (kept.names === names ? (kept.shown?.fingerprint ?? []) : [])),
        ),
    });

  /** A validation reaches any gateway, as behind a balancer. */
  function askGateway(token: string): Promise<string | undefined> {
    const place = random.pick(deployment.places);
    const { process, keeper } = gateways.get(place) ?? {};
    if (keeper === undefined || process !== place.process || !process.isRunning()) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      world.after(2000, () => resolve(undefined));
      process.enter('message', () => void keeper.answers.findKeyAuthorization(token).then(resolve));
    });
  }

  return {
    deployment,
    finish() {
      const fingerprints = new Set<string>();
      for (const [place, { process, keeper }] of gateways) {
        if (process !== place.process || !process.isRunning()) continue;
        const nowMs = storeClock();
        for (const { names, shown, failure } of keeper.kept()) {
          const isGood = shown !== undefined && shown.expiresAtMs > nowMs;
          // The wait after some failures may last longer than the calm.
          const isWaiting =
            failure !== undefined && failure.nextAtMs > nowMs - ATTEMPT_MAX_MS && failure.failures < FAILURES_MAX;
          const isClockWrong = nowMs < BEGINNING_MS + world.now() - CLOCK_WRONG_MS;
          if (!isGood && !isWaiting && !isClockWrong)
            world.violate('progress', `${place.name} shows no valid certificate for ${names}`);
          const revokedMs = commands.revokedMs(shown?.fingerprint ?? '');
          if (
            revokedMs < world.now() - REPLACED_WITHIN_MS &&
            !isWaiting &&
            !isClockWrong &&
            !deployment.redis.losses().some(({ atMs }) => atMs > revokedMs)
          )
            world.violate('progress', `${place.name} still shows a certificate for ${names} that is revoked`);
          fingerprints.add(`${names} ${shown?.fingerprint}`);
        }
      }
      if (commands.isKeyWrongSince(world.now() - certificatesProtocol.calmMs + KEY_WRONG_MAX_MS))
        world.violate('progress', 'the authority takes no request, because the key of the account is lost');
      if (fingerprints.size > NAMES.length) world.violate('progress', 'gateways show different certificates');
    },
    close() {
      for (const store of stores) store.close();
      if (directory !== undefined) rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** Requests to the authority: they take their time, and some answers are lost, unless nothing has been out of order for long. */
function createHttp(deployment: Deployment, process: SimulatedProcess, authority: CertificateAuthority): HttpClient {
  const { world, machine } = process;
  const random = world.random.named(`http of ${process.name} ${world.now()}`);
  const isLost = () => random.chance(0.01) && !deployment.disturbances.isCalmSince(world.now() - ALL_ARRIVES_AFTER_MS);
  return {
    send: (method, url, body, signal) =>
      new Promise<HttpAnswer>((resolve, reject) => {
        const fail = (sentence: string) => reject(new AcmeFailure('server', sentence));
        signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
        machine.setTimeout(() => fail('no answer in time'), HTTP_DEADLINE_MS);
        if (isLost()) return void machine.setTimeout(() => fail('it cannot be reached'), 20);
        world.after(random.between(10, random.chance(0.05) ? 5000 : 200), () => {
          world.note('authority', `${process.name}: ${method} ${url.slice(20, 45)}`);
          deployment.asks(process);
          const answer = authority.answer(process.name, method, url, body);
          if (isLost()) return;
          world.after(random.between(10, 200), () => process.enter('message', () => resolve(toAnswer(answer))));
        });
      }),
    close: () => undefined,
  };
}

function toAnswer({ status, headers, body }: CaAnswer): HttpAnswer {
  return { status, body, header: (name) => headers[name] };
}
