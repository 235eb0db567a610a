// Sessions of people: they sign in, send requests through any gateway, rest, and sign out; providers sign them out, also in the middle of a
// login. Gateways keep sessions in Redis, cache them, follow their ends, and refresh their tokens.

import { LiveSessions } from '../../../gateway/sessions/live/live-sessions.ts';
import { openRedisSessionStore } from '../../../gateway/sessions/store/redis/redis-session-store.ts';
import type { Session, SessionStore } from '../../../gateway/sessions/store/session-store.ts';
import { createKeyRing } from '../../../gateway/shared/stores/seal.ts';
import { SessionChecker, type SessionRequest } from '../checkers/sessions.ts';
import { Deployment, type Place } from '../deployment.ts';
import type { SimulatedProcess } from '../engine/process.ts';
import type { World } from '../engine/world.ts';
import type { Protocol, Running } from '../protocol.ts';
import { createIdentityProvider, type IdentityProvider } from './identity-provider.ts';

const PEOPLE = 5;
const IDLE_MS = 8 * 60_000;
const ACCESS_LIVES_MS = [30_000, 60_000, 300_000, 3_600_000] as const;
const REQUEST_GAP_MS = 4000;
/** This share of accepted requests opens a stream. */
const STREAMED = 0.1;
const STREAM_MAX_MS = 10 * 60_000;
const STREAMS_CHECKED_EVERY_MS = 500;
/** Logins and requests that are in progress take no longer, unless something is out of order. */
const WORK_MAX_MS = 4000;
const END_GAP_MS = 40_000;
/** What Redis has not written to its disk: a moment, or a second as with `appendfsync everysec`. */
const TAILS_MS = [20, 1000, 1000] as const;

export const sessionsProtocol: Protocol = {
  name: 'sessions',
  processesMax: 4,
  calmMs: 15 * 60_000,
  faults: {
    pause: 3,
    stall: 4,
    suspend: 2,
    hesitate: 2,
    kill: 3,
    stop: 2,
    clock: 1,
    cut: 3,
    break: 3,
    slow: 1,
    'redis pause': 2,
    'redis restart': 2,
    'redis restart without the tail': 2,
    'redis restart empty': 1,
    'redis failover': 2,
    'redis failover to a late replica': 1,
    'redis failover after a write': 3,
    'redis lag': 1,
    'redis full': 1,
  },
  aimed: 0.5,
  start: startSessions,
};

interface Gateway {
  readonly process: SimulatedProcess;
  readonly store: SessionStore;
  readonly sessions: LiveSessions;
}

/** A browser with its cookie. */
interface Person {
  readonly name: string;
  id: string | undefined;
  sid: string;
  logins: number;
  /** Of sessions that are over: a copy of a cookie is tried again. */
  readonly former: string[];
  restsUntilMs: number;
}

function startSessions(world: World, processes: number): Running {
  const random = world.random.named('sessions');
  const streams = world.random.named('streams');
  const gateways = new Map<Place, Gateway>();
  let provider: IdentityProvider;
  let accepted = 0;

  const deployment = new Deployment(world, processes, (place, process, connect) => {
    const { machine } = process;
    const keys = createKeyRing(() => ['a secret of sixteen letters'], 'simulation', machine);
    void openRedisSessionStore({ url: 'redis://simulated', keys, connect, machine }).then((store) => {
      const sessions = new LiveSessions({
        ...{ store, max: 100, machine },
        redeem: (_session, tokens, redemption) => provider.redeem(process, tokens, redemption),
        reuseMsOf: () => provider.reuseMs,
        discard: (session) => world.note(place.name, `hands tokens of ${session.id} back`),
        onFailure: (session, reason) => world.note(place.name, `does not refresh ${session.id}: ${reason}`),
      });
      gateways.set(place, { process, store, sessions });
      place.stop = async () => {
        gateways.delete(place);
        await machine.sleep(WORK_MAX_MS);
        await sessions.close();
        await store.close();
      };
    });
  });
  deployment.redis.lag(random.pick(TAILS_MS));
  const checker = new SessionChecker(deployment, () => provider, IDLE_MS);
  provider = createIdentityProvider(
    deployment,
    random.pick(ACCESS_LIVES_MS),
    (first, second) => checker.secondRedemption(first, second),
    (id) => checker.grantRefused(id),
  );
  const people = Array.from(
    { length: PEOPLE },
    (_, index): Person => ({
      ...{ name: `person-${index + 1}`, id: undefined, sid: '', logins: 0, former: [], restsUntilMs: 0 },
    }),
  );

  /** Does something in a gateway that runs. */
  function at(work: (gateway: Gateway, place: Place) => Promise<void>): void {
    const place = random.pick(deployment.places);
    const gateway = gateways.get(place);
    if (gateway === undefined || gateway.process !== place.process) return;
    gateway.process.enter('message', () => {
      work(gateway, place).catch((error: Error) => world.note(place.name, `fails: ${error.message.slice(0, 60)}`));
    });
  }

  function repeatedly(gapMs: number, work: () => void): void {
    world.after(random.between(0, 2 * gapMs), () => {
      work();
      repeatedly(gapMs, work);
    });
  }

  async function signIn(person: Person, { store, process }: Gateway, place: Place): Promise<void> {
    const begunAtMs = await store.nowMs();
    const begunMs = world.now();
    person.logins += 1;
    const id = `ses_${person.name}_${person.logins}`;
    const sid = `sid of ${id}`;
    await process.machine.sleep(random.between(50, 3000));
    const issued = provider.issue(id);
    // The provider may change its mind at any moment from here on.
    if (random.chance(0.15)) world.after(random.between(0, 60), () => at((gateway) => logOut(sid, gateway)));
    if (random.chance(0.1)) world.after(random.between(0, 60), () => at((gateway) => logOutPerson(person, gateway)));
    await process.machine.sleep(random.between(1, 40));
    const session = {
      ...{ id, hash: `hash of ${id}`, provider: 'main', subject: person.name, providerSid: sid, organization: 'org_a' },
      ...{ claims: {}, device: 'simulated', idleMs: IDLE_MS, livesMs: 40 * 3_600_000 },
    };
    const created = await store.create(session, issued, { begunAtMs, perPersonMax: 10 });
    world.note(place.name, created === undefined ? `refuses the login of ${id}` : `signs ${id} in`);
    if (created === undefined) return;
    checker.created({ id, sid, person: person.name, begunMs });
    person.id = id;
    person.sid = sid;
  }

  async function logOut(sid: string, { sessions, process }: Gateway): Promise<void> {
    const confirm = checker.endBegins(sid.replace('sid of ', ''));
    const jti = `${sid} ${world.now()}`;
    await sessions.endByProvider({
      ...{ provider: 'main', sid, subject: undefined, jti },
      rememberUntilMs: process.machine.now() + 120_000,
    });
    world.note('provider', `has signed ${sid} out`);
    checker.loggedOut(sid, process);
    confirm(process);
  }

  /** Of all sessions, by the provider. */
  async function logOutPerson({ name }: Person, { sessions, process }: Gateway): Promise<void> {
    const confirm = checker.personEnds(name);
    await sessions.endByProvider({
      ...{ provider: 'main', sid: undefined, subject: name, jti: `${name} ${world.now()}` },
      rememberUntilMs: process.machine.now() + 120_000,
    });
    world.note('provider', `has signed ${name} out everywhere`);
    confirm(process);
  }

  async function request(person: Person, id: string, gateway: Gateway, place: Place): Promise<void> {
    const asked: SessionRequest = { place, process: gateway.process, id, sentMs: world.now() };
    checker.tried(asked);
    const result = await answerOf(gateway.sessions, `hash of ${id}`);
    if (typeof result !== 'string') {
      accepted += 1;
      checker.accepted(asked);
      if (streams.chance(STREAMED)) openStream(result, gateway, place);
      return;
    }
    world.note(place.name, `says ${result} of ${id}`);
    if (result.startsWith('503')) return checker.unavailable(asked, result);
    checker.refused(asked, result);
    if (person.id !== id) return;
    person.id = undefined;
    person.former.push(id);
  }

  /** Its client leaves after some time, unless the gateway ends it before. */
  function openStream(session: Session, { sessions, process }: Gateway, place: Place): void {
    const { id } = session;
    const over = checker.streamOpened({ place, process, id });
    const leave = sessions.onEnded(session, (reason) => {
      world.note(place.name, `ends a stream of ${id}: ${reason}`);
      over(reason);
    });
    world.after(streams.between(0, STREAM_MAX_MS), () => {
      process.enter('message', leave);
      over(undefined);
    });
  }

  function send(): void {
    const person = random.pick(people);
    if (person.restsUntilMs > world.now()) return;
    // Some come back after their access token has ended, and some after their session has.
    if (random.chance(0.01)) person.restsUntilMs = world.now() + random.pick([0.2, 0.7, 1.3]) * IDLE_MS;
    const { former } = person;
    const id = former.length > 0 && random.chance(0.2) ? random.pick(former.slice(-3)) : person.id;
    if (id === undefined) at((gateway, place) => signIn(person, gateway, place));
    else at((gateway, place) => request(person, id, gateway, place));
  }

  function endSomething(): void {
    const person = random.pick(people);
    const { id, sid, name } = person;
    if (id === undefined) return;
    const how = random.pick(['signs out', 'is signed out', 'is ended with all sessions', 'is locked'] as const);
    if (how === 'is locked') {
      checker.endBegins(id);
      provider.revoke(id);
      return;
    }
    at(async (gateway) => {
      world.note(name, how);
      if (how === 'is signed out') await logOut(sid, gateway);
      else await endBy(how, person, id, gateway);
      deployment.confirmsEnd(gateway.process);
    });
  }

  /** The person itself, or an operator. */
  async function endBy(
    how: 'signs out' | 'is ended with all sessions',
    { name }: Person,
    id: string,
    { sessions, process }: Gateway,
  ): Promise<void> {
    const confirm = how === 'signs out' ? checker.endBegins(id) : checker.personEnds(name);
    if (how === 'signs out') await sessions.end(id, 'signed_out');
    else await sessions.endSubject('main', name, 'operator');
    confirm(process);
  }

  world.after(2000, () => {
    repeatedly(REQUEST_GAP_MS / PEOPLE, send);
    repeatedly(END_GAP_MS, endSomething);
    checkStreams();
  });

  function checkStreams(): void {
    checker.checkStreams(({ place, process }) => gateways.get(place)?.process === process && process.isAlive());
    world.after(STREAMS_CHECKED_EVERY_MS, checkStreams);
  }

  return {
    deployment,
    finish() {
      if (accepted === 0) world.violate('progress', 'no request was accepted at all');
    },
  };
}

/** As the stage `authenticate` does it. Returns the session that was accepted, or what was answered. */
async function answerOf(sessions: LiveSessions, hash: string): Promise<Session | string> {
  try {
    const used = await sessions.use(hash);
    if (used === undefined) return '401 unknown';
    const fresh = await sessions.fresh(used);
    if (fresh === 'ended') return '401 ended';
    if (fresh === 'away') return '503 away';
    return fresh;
  } catch (error) {
    return `503 ${(error as Error).message}`;
  }
}
