// Measures requests with a session and requests with a key at one gateway, beside the floor and beside a gateway at which no person can
// sign in, in one run.

import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { sessionCookieName } from '../../gateway/shared/http/session-cookies.ts';
import { freePort } from '../../test/support/free-port.ts';
import { prepareGateway } from '../contestants/gateway.ts';
import { entryOf, FLOOR } from '../contestants/list.ts';
import { awake, type Contestant, type Prepared, rest, stop } from '../contestants.ts';
import { type Ground, withGround } from '../ground.ts';
import { type Cost, measureCost, type Settings, warmUp } from '../measure.ts';
import { costOf } from '../pairs/paired.ts';
import { askUpstream, CREATION, LIST, type Scenario } from '../scenarios.ts';
import { SESSION_KEYS_VARIABLE, signIn, withPeople } from './people.ts';

/** Who sends the requests, and to what. */
export const KINDS = ['floor', 'key, no sessions', 'key', 'session'] as const;
export type Kind = (typeof KINDS)[number];
/** CPU microseconds per request. */
export type Costs = Readonly<Record<Kind, number>>;

export interface SessionsOptions {
  /** Embedded stores instead of Redis. */
  readonly embedded: boolean;
  readonly rounds: number;
  /** Of each kind in each round, in slices. */
  readonly durationMs: number;
  /** How often a round goes to all contestants and back. */
  readonly turns: number;
  /** Before the first slice of each kind. */
  readonly warmUpMs: number;
  readonly connections: number;
  /** Gets each round. */
  note(scenario: string, number: number, costs: Costs): void;
}

/** One contestant, awake for slices of these kinds. */
interface Visit {
  readonly contestant: Contestant;
  readonly kinds: readonly Kind[];
}

/** What a contestant that was held still needs to catch up. */
const SETTLES_MS = 300;

const MEASURED_SCENARIOS: readonly Scenario[] = [LIST, CREATION];

/** By scenario, of each round. */
export function measureSessions(options: SessionsOptions): Promise<ReadonlyMap<string, readonly Costs[]>> {
  return withGround({}, async (ground) => {
    const { floor, plain, gateway, cookies } = await prepare(ground, options.embedded);
    const byName = new Map(MEASURED_SCENARIOS.map(({ name }) => [name, [] as Costs[]]));
    for (let number = 0; number < options.rounds; number += 1) {
      await withStarted({ floor, plain, gateway }, async (started) => {
        const visits: Visit[] = [
          { contestant: started.floor, kinds: ['floor', 'floor'] },
          { contestant: started.plain, kinds: ['key, no sessions', 'key, no sessions'] },
          { contestant: started.gateway, kinds: ['key', 'session', 'session', 'key'] },
        ];
        for (const scenario of MEASURED_SCENARIOS) {
          const scenarioOf = (kind: Kind) => (kind === 'session' ? bySession(scenario, cookies) : scenario);
          const costs = await measureRound(number, ground, options, visits, scenarioOf);
          options.note(scenario.name, number, costs);
          byName.get(scenario.name)?.push(costs);
        }
      });
    }
    return byName;
  });
}

/** As a page of the same origin sends it. */
function bySession(scenario: Scenario, cookies: readonly string[]): Scenario {
  const name = sessionCookieName(true);
  return {
    ...scenario,
    keysOf: () => cookies,
    credential: (value) => `Cookie: ${name}=${value}\r\nSec-Fetch-Site: same-origin`,
  };
}

async function prepare(ground: Ground, embedded: boolean) {
  const secret = randomBytes(32).toString('base64url');
  const surroundings = async (name: string) => ({
    ...ground,
    redisUrl: embedded ? '' : await ground.startRedis(),
    directory: join(ground.directory, name),
    port: await freePort(),
    keys: ['a-caller'],
  });
  const [ofPlain, ofGateway] = [await surroundings('plain'), await surroundings('gateway')];
  const storeOf = ({ redisUrl }: { redisUrl: string }) => (embedded ? {} : { redisUrl });
  const gateway = prepareGateway(
    { ...ofGateway, environment: { [SESSION_KEYS_VARIABLE]: secret, SESSION_CLIENT: secret } },
    { name: 'with sessions', ...storeOf(ofGateway), ...withPeople(ofGateway.port) },
  );
  return {
    floor: entryOf(FLOOR).prepare(await surroundings('floor')),
    plain: prepareGateway(ofPlain, { name: 'no sessions', ...storeOf(ofPlain) }),
    gateway,
    cookies: await signIn(gateway.organizations, { ...ofGateway, redisUrl: storeOf(ofGateway).redisUrl, secret }),
  };
}

/** Starts them anew for an act, and stops them afterwards. All are held still at first. */
async function withStarted<Name extends string>(
  prepared: Readonly<Record<Name, Prepared>>,
  act: (contestants: Readonly<Record<Name, Contestant>>) => Promise<void>,
): Promise<void> {
  const running = {} as Record<Name, Contestant>;
  try {
    for (const name of Object.keys(prepared) as Name[]) {
      running[name] = await prepared[name].start();
      rest(running[name]);
    }
    await act(running);
  } finally {
    await Promise.all(Object.values<Contestant>(running).map(({ process: child }) => stop(child)));
  }
}

/**
 * Each contestant is visited as often on the way there as on the way back, so that a drift of the machine cancels out, and measured in
 * short slices, so that its bad seconds fall on all kinds.
 */
async function measureRound(
  number: number,
  { upstreamPort }: Ground,
  { connections, durationMs, turns, warmUpMs }: SessionsOptions,
  visits: readonly Visit[],
  scenarioOf: (kind: Kind) => Scenario,
): Promise<Costs> {
  const { bodyBytes } = await askUpstream(scenarioOf('key'), upstreamPort);
  const settings: Settings = { connections, durationMs: durationMs / (4 * turns), upstreamPort, bodyBytes };
  const there = number % 2 === 0 ? visits : [...visits].reverse();
  const slices: Record<Kind, Cost[]> = { floor: [], 'key, no sessions': [], key: [], session: [] };

  for (const { contestant, kinds } of there)
    await awake(contestant, async () => {
      for (const kind of new Set(kinds))
        await warmUp(contestant, scenarioOf(kind), { connections, durationMs: warmUpMs });
    });
  const measure = (visit: Visit) =>
    awake(visit.contestant, async () => {
      await warmUp(visit.contestant, scenarioOf(visit.kinds[0] as Kind), { connections, durationMs: SETTLES_MS });
      for (const kind of visit.kinds)
        slices[kind].push(await measureCost(visit.contestant, scenarioOf(kind), settings));
    });
  const turn = [...there, ...[...there].reverse()];
  for (const visit of Array.from({ length: turns }, () => turn).flat()) await measure(visit);
  return Object.fromEntries(KINDS.map((kind) => [kind, costOf(slices[kind])])) as Costs;
}
