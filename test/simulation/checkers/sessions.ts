// Checks sessions from outside: each refresh token is redeemed once, nothing is accepted after a confirmed end, and a session that has not
// ended is accepted while its provider answers. It knows what clients, operators and the provider see, and nothing of leases and caches.

import type { Deployment, Place } from '../deployment.ts';
import type { SimulatedProcess } from '../engine/process.ts';
import type { IdentityProvider, Redemption } from '../protocols/identity-provider.ts';

/** The product promises a second; the clocks of processes run at different speeds. */
const ENDS_WITHIN_MS = 1050;
/** Clocks of servers differ, and uses are written late. */
const IDLE_DIFFERS_MS = 2500;
/** Redis has a write for good after so long, unless a replica falls back. */
const AGAIN_MS = 4000;
const STORED_AGAIN_MS = 70_000;
/** A lease that Redis has lost is written again within four seconds. A process that was cut off reconnects first. */
const NOT_WRITTEN_AGAIN_MS = 1000;
/**
 * A process that sent a token and cannot reach the store for 30 seconds has lost its lease. Its last renewal was earlier, and a reconnect
 * takes its time.
 */
const CUT_OFF_MS = 25_000;
/** The same where the provider takes a token again for a while: the lease is 5 seconds. The token is sent again until that time is over. */
const SHORT_LEASE_MS = 5000;
const CUT_OFF_SHORT_MS = 4000;
/** Within such a time a refresh is repeated until its answer arrives. */
const REUSED_LONG_MS = 3_600_000;

/** So many are in progress at a time at most. */
const TRIED_KEPT = 20;

/** After so long without a fault, no stream outlasts its session. */
const STREAMS_END_AFTER_MS = 2000;

/** A question that waits is sent within so long, or never. */
const SENT_WITHIN_MS = 5000;

interface NewLogin {
  readonly id: string;
  readonly sid: string;
  readonly person: string;
  /** When the store had said the time of its beginning. */
  readonly begunMs: number;
}

/** An end of all sessions of a person, with those that are about to begin. */
interface PersonEnd {
  readonly askedMs: number;
  confirmedMs: number;
  by: SimulatedProcess | undefined;
}

interface Known extends NewLogin {
  readonly createdMs: number;
  /** When it was confirmed, and by which process. */
  endedMs: number;
  endedBy: SimulatedProcess | undefined;
  /** When a process has learned that the provider refuses its tokens. */
  refusedMs: number;
  /** Times of accepted requests. */
  usedMs: number;
  /** When requests were sent lately, whatever became of them: each may count as a use. */
  triedMs: number[];
}

/** Something that is open under a session, such as an event stream. */
interface OpenStream {
  readonly place: Place;
  readonly process: SimulatedProcess;
  readonly id: string;
}

export interface SessionRequest {
  readonly place: Place;
  readonly process: SimulatedProcess;
  readonly id: string;
  readonly sentMs: number;
}

export class SessionChecker {
  readonly #deployment: Deployment;
  readonly #provider: () => IdentityProvider;
  readonly #idleMs: number;
  readonly #sessions = new Map<string, Known>();
  /** Ends that were asked for, confirmed or not; also of sessions that are about to begin. */
  readonly #endsBegun = new Map<string, number>();
  /** Back-channel logouts that were confirmed, by sid: a session with this sid is never accepted afterwards. */
  readonly #loggedOut = new Map<string, { readonly confirmedMs: number; readonly by: SimulatedProcess }>();
  readonly #personEnds = new Map<string, PersonEnd[]>();
  readonly #streams = new Set<OpenStream>();

  constructor(deployment: Deployment, provider: () => IdentityProvider, idleMs: number) {
    this.#deployment = deployment;
    this.#provider = provider;
    this.#idleMs = idleMs;
  }

  /** A login has been answered with a session. */
  created(login: NewLogin): void {
    const now = this.#now();
    const never = Number.POSITIVE_INFINITY;
    const times = { createdMs: now, endedMs: never, refusedMs: never, usedMs: now, triedMs: [now] };
    this.#sessions.set(login.id, { ...login, ...times, endedBy: undefined });
  }

  /** Returns what to call when the end of all sessions of a person was confirmed. */
  personEnds(person: string): (by: SimulatedProcess) => void {
    const end: PersonEnd = { askedMs: this.#now(), confirmedMs: Number.POSITIVE_INFINITY, by: undefined };
    const ends = this.#personEnds.get(person) ?? [];
    this.#personEnds.set(person, ends);
    ends.push(end);
    return (by) => {
      end.confirmedMs = this.#now();
      end.by = by;
    };
  }

  /** Returns what to call when the end was confirmed. */
  endBegins(id: string): (by: SimulatedProcess) => void {
    const session = this.#sessions.get(id);
    this.#endsBegun.set(id, this.#now());
    if (session === undefined) return () => undefined;
    return (by) => {
      if (session.endedMs < Number.POSITIVE_INFINITY) return;
      session.endedMs = this.#now();
      session.endedBy = by;
    };
  }

  loggedOut(sid: string, by: SimulatedProcess): void {
    if (!this.#loggedOut.has(sid)) this.#loggedOut.set(sid, { confirmedMs: this.#now(), by });
  }

  /** A process has learned that the provider refuses its tokens for good. */
  grantRefused(id: string): void {
    const session = this.#sessions.get(id);
    if (session !== undefined) session.refusedMs = Math.min(session.refusedMs, this.#now());
  }

  tried({ id, sentMs }: SessionRequest): void {
    const session = this.#sessions.get(id);
    // A process that goes on takes up many requests at one time.
    if (session === undefined || session.triedMs.at(-1) === sentMs) return;
    session.triedMs = [...session.triedMs, sentMs].slice(-TRIED_KEPT);
  }

  accepted({ place, id, sentMs }: SessionRequest): void {
    const { world } = this.#deployment;
    const session = this.#sessions.get(id);
    if (session === undefined) return;
    const idleForMs = sentMs - Math.max(session.usedMs, ...session.triedMs.filter((triedMs) => triedMs < sentMs));
    session.usedMs = Math.max(session.usedMs, sentMs);
    if (idleForMs > this.#idleMs + IDLE_DIFFERS_MS)
      world.violate('access', `${place.name} accepts ${id} after it was idle for ${Math.round(idleForMs)} ms`);
    const { refusedMs } = session;
    if (sentMs > refusedMs + AGAIN_MS && this.#deployment.disturbances.isCalmInsideSince(refusedMs - AGAIN_MS))
      world.violate('access', `${place.name} accepts ${id}, whose tokens the provider has refused`);
    for (const { atMs, by } of this.#confirmedEndsOf(session)) {
      if (sentMs <= atMs + ENDS_WITHIN_MS || by === undefined || this.#mayBeUndone(atMs, by)) continue;
      world.violate(
        'access',
        `${place.name} accepts ${id}, ${Math.round(sentMs - atMs)} ms after its end was confirmed`,
      );
    }
  }

  /** Returns what to call when it is over, with the reason if the gateway has ended it. */
  streamOpened(stream: OpenStream): (reason: string | undefined) => void {
    this.#streams.add(stream);
    return (reason) => {
      if (!this.#streams.delete(stream) || reason === undefined) return;
      this.refused({ ...stream, sentMs: this.#now() }, `${reason} to a stream`);
    };
  }

  /** Call it again and again. @param isServed whether its gateway still serves a stream */
  checkStreams(isServed: (stream: OpenStream) => boolean): void {
    const { world, disturbances } = this.#deployment;
    for (const stream of this.#streams) {
      const session = this.#sessions.get(stream.id);
      if (session === undefined || !isServed(stream)) this.#streams.delete(stream);
      else if (disturbances.isCalmInsideSince(world.now() - STREAMS_END_AFTER_MS)) this.#checkStream(stream, session);
    }
  }

  #checkStream({ place, id }: OpenStream, session: Known): void {
    const { world } = this.#deployment;
    for (const { atMs, by } of this.#confirmedEndsOf(session)) {
      if (world.now() <= atMs + ENDS_WITHIN_MS || by === undefined || this.#mayBeUndone(atMs, by)) continue;
      const sinceMs = Math.round(world.now() - atMs);
      world.violate('access', `${place.name} has a stream of ${id} open, ${sinceMs} ms after its end was confirmed`);
    }
  }

  /** 401. */
  refused({ place, id, sentMs }: SessionRequest, found: string): void {
    const session = this.#sessions.get(id);
    if (session === undefined || this.#endsBegun.has(id) || this.#isIdle(session)) return;
    if (this.#endsOf(session).some(({ askedMs }) => askedMs > session.begunMs - SENT_WITHIN_MS)) return;
    if (this.#mayBeLost(session)) {
      this.#sessions.delete(id);
      return;
    }
    this.#deployment.world.violate(
      '401',
      `${place.name} says ${found} of ${id}, sent at ${Math.round(sentMs)}, that has not ended`,
    );
  }

  /** 503. */
  unavailable({ place, id, sentMs }: SessionRequest, why: string): void {
    const { world, disturbances } = this.#deployment;
    // A first request after a rest may wait for the attempt after a failure, or for the end of a lease.
    if (disturbances.isCalmSince(sentMs - 50_000))
      world.violate('progress', `${place.name} says ${why} of ${id}, although nothing is out of order`);
  }

  secondRedemption(first: Redemption, second: Redemption): void {
    if (this.#isExcused(first)) return;
    this.#deployment.world.violate(
      'redemption',
      `${second.process.name} redeems ${second.session} ${second.generation} a second time, after ${first.process.name} did at ${Math.round(first.atMs)}`,
    );
  }

  #now(): number {
    return this.#deployment.world.now();
  }

  #endsOf({ person }: Known): readonly PersonEnd[] {
    return this.#personEnds.get(person) ?? [];
  }

  #confirmedEndsOf(session: Known): { readonly atMs: number; readonly by: SimulatedProcess | undefined }[] {
    const logout = this.#loggedOut.get(session.sid);
    return [
      { atMs: session.endedMs, by: session.endedBy },
      { atMs: logout?.confirmedMs ?? Number.POSITIVE_INFINITY, by: logout?.by },
      ...this.#personEndsOf(session).map(({ confirmedMs: atMs, by }) => ({ atMs, by })),
    ];
  }

  /** Ends that were asked for after the login had begun, and that the store knew of until there was a session. */
  #personEndsOf(session: Known): readonly PersonEnd[] {
    const { redis } = this.#deployment;
    const { begunMs, createdMs } = session;
    const isUntold = [...redis.losses(), ...redis.jumps()].some(({ atMs }) => atMs >= begunMs && atMs <= createdMs);
    return isUntold ? [] : this.#endsOf(session).filter(({ askedMs }) => askedMs > begunMs);
  }

  #isIdle({ usedMs }: Known): boolean {
    return this.#now() > usedMs + this.#idleMs - IDLE_DIFFERS_MS - this.#idleMs * 0.1;
  }

  /** Redis has lost the lease or the successor, and the process that would have written them again could not. */
  #isExcused({ atMs, process }: Redemption): boolean {
    const fromMs = atMs - AGAIN_MS;
    if (!this.#losesSince(fromMs)) return false;
    const isCutOff = this.#deployment.redis.longestCutMs(process, fromMs) >= NOT_WRITTEN_AGAIN_MS;
    return isCutOff || !process.isAlive() || process.stoodStillSince(fromMs);
  }

  /** Redis has lost the end, and the process that confirmed it is gone with what it knew. */
  #mayBeUndone(atMs: number, by: SimulatedProcess): boolean {
    if (!this.#losesSince(atMs)) return false;
    return !by.isAlive() || !this.#deployment.disturbances.isCalmInsideSince(this.#now() - AGAIN_MS);
  }

  /** Whether the session may be lost: with its tokens, or with a part of the data. */
  #mayBeLost(session: Known): boolean {
    const last = this.#provider().attemptsOf(session.id).at(-1);
    if (this.#losesSince(session.createdMs)) return true;
    // The answer was lost, or the process that had it, and the provider does not give it again for long.
    const { reuseMs } = this.#provider();
    if (last === undefined || reuseMs >= REUSED_LONG_MS) return false;
    const { redis } = this.#deployment;
    const isCutOff =
      reuseMs > 0
        ? redis.longestCutMs(last.process, last.atMs + reuseMs - SHORT_LEASE_MS) >= CUT_OFF_SHORT_MS
        : redis.longestCutMs(last.process, last.atMs) >= CUT_OFF_MS;
    if (isCutOff) return true;
    return last.isLost || last.process.stoodStillSince(Math.min(last.atMs, last.answeredMs - STORED_AGAIN_MS));
  }

  #losesSince(fromMs: number): boolean {
    return this.#deployment.redis.losses().some(({ atMs, sinceMs }) => atMs >= fromMs && sinceMs <= this.#now());
  }
}
