// Checks at the certificate authority that each certificate is ordered once. It knows the requests that arrive there, and what was out of
// order; nothing of leases and records.

import type { Deployment } from '../deployment.ts';
import { BEGINNING_MS } from '../engine/world.ts';
import type { GivenCommand } from './commands.ts';

/** A certificate is renewed after two thirds of its life. */
const EARLIEST_SHARE = 0.6;
/** A refused order is not repeated before. */
const PAUSE_MS = 150_000;
/** One instance works at a time. One that loses its lease leaves, and does not come back so soon. */
const IN_TURNS_MS = 20_000;
/**
 * A gateway may still ask once about an order whose certificate is in use: if it has lost its lease while it stood still for so long, just
 * before. It asks nothing more without its lease.
 */
const LEFT_BEHIND = { stoodStillMs: 12_000, withinMs: 30_000 } as const;
/** An order is stored soon after the answer to it, or not at all. */
const STORED_WITHIN_MS = 5000;

interface OrderSeen {
  readonly atMs: number;
  readonly names: string;
  /** Who asked about it in turn, with the last time. */
  readonly visits: { readonly place: string; readonly atMs: number }[];
  /** When the authority was first asked about it: from then on it must be stored. */
  touchedMs: number | undefined;
  /** By the clock of the authority, epoch milliseconds. */
  issuedAt: number | undefined;
  life: Omit<Issued, 'fingerprint'> | undefined;
  downloadedMs: number | undefined;
  /** By the clock of the store, it was valid when it was fetched. */
  isUsable: boolean;
  /** What gateways show of its certificate. */
  fingerprint: string | undefined;
  /** When a gateway first showed its certificate: it is stored. */
  shownMs: number | undefined;
  /** Places that have asked since then, because they had stood still. */
  readonly leftBehind: Set<string>;
  /** When the authority gave it up. */
  endedMs: number | undefined;
  /** The authority has revoked its certificate. */
  isRevoked: boolean;
}

/** A certificate. Times are epoch milliseconds. */
interface Issued {
  readonly fingerprint: string;
  readonly validFromMs: number;
  readonly expiresAtMs: number;
}

interface OrderCheckerOptions {
  readonly deployment: () => Deployment;
  readonly lifetimeMs: number;
  readonly kills: () => readonly number[];
  readonly storeClock: () => number;
  /** The commands of operators so far. */
  readonly commands?: readonly GivenCommand[];
}

export class OrderChecker {
  readonly #deployment: () => Deployment;
  readonly #lifetimeMs: number;
  readonly #orders = new Map<string, OrderSeen>();
  readonly #limits = new Map<string, number>();
  /** When the authority last revoked a certificate for these names, or said that it was revoked already. */
  readonly #revokedMs = new Map<string, number>();
  /** True times at which processes were killed. */
  readonly #kills: () => readonly number[];
  /** Gateways decide by it when a certificate is due. */
  readonly #storeClock: () => number;
  readonly #commands: readonly GivenCommand[];

  constructor({ deployment, lifetimeMs, kills, storeClock, commands = [] }: OrderCheckerOptions) {
    this.#deployment = deployment;
    this.#lifetimeMs = lifetimeMs;
    this.#kills = kills;
    this.#storeClock = storeClock;
    this.#commands = commands;
  }

  ordered(id: string, names: string): void {
    const { world } = this.#deployment();
    for (const [earlier, order] of this.#orders) {
      if (order.names !== names) continue;
      if (order.endedMs === undefined) this.#compare(id, earlier, order);
      else this.#checkPause(id, order, order.endedMs);
    }
    this.#orders.set(id, {
      atMs: world.now(),
      names,
      visits: [],
      touchedMs: undefined,
      issuedAt: undefined,
      life: undefined,
      downloadedMs: undefined,
      isUsable: false,
      fingerprint: undefined,
      shownMs: undefined,
      leftBehind: new Set(),
      endedMs: undefined,
      isRevoked: false,
    });
    if (this.#orders.size > 20) this.#orders.delete(this.#orders.keys().next().value as string);
  }

  /** A place has asked about it. */
  touched(id: string, place: string): void {
    const order = this.#orders.get(id);
    if (order === undefined) return;
    const { world } = this.#deployment();
    order.touchedMs ??= world.now();
    this.#checkDone(id, order, place);
    const { visits } = order;
    if (visits.at(-1)?.place === place) visits.pop();
    visits.push({ place, atMs: world.now() });
    const [first, second, third, fourth] = visits.slice(-4);
    const isInTurns = fourth !== undefined && first?.place === third?.place && second?.place === fourth.place;
    if (isInTurns && world.now() - (first?.atMs ?? 0) < IN_TURNS_MS)
      world.violate('orders', `${first?.place} and ${place} work on ${id} at the same time`);
  }

  /** The authority has given it up. */
  ended(id: string): void {
    const order = this.#orders.get(id);
    if (order !== undefined) order.endedMs = this.#deployment().world.now();
  }

  /** The authority has lost it, and with it a certificate that no gateway has fetched and stored. */
  dropped(id: string): void {
    if (this.#orders.get(id)?.shownMs === undefined) this.#orders.delete(id);
  }

  revoked(fingerprint: string, names: string): void {
    this.#revokedMs.set(names, this.#deployment().world.now());
    for (const order of this.#orders.values()) if (order.fingerprint === fingerprint) order.isRevoked = true;
  }

  issued(id: string, { fingerprint, ...life }: Issued): void {
    const order = this.#orders.get(id);
    if (order === undefined) return;
    order.issuedAt = BEGINNING_MS + this.#deployment().world.now();
    order.life = life;
    order.fingerprint = fingerprint;
  }

  /** A gateway shows a certificate. */
  shown(fingerprint: string): void {
    for (const order of this.#orders.values())
      if (order.fingerprint === fingerprint) order.shownMs ??= this.#deployment().world.now();
  }

  downloaded(id: string): void {
    const order = this.#orders.get(id);
    if (order === undefined) return;
    order.downloadedMs ??= this.#deployment().world.now();
    const { validFromMs = 0, expiresAtMs = 0 } = order.life ?? {};
    const nowMs = this.#storeClock();
    order.isUsable ||= nowMs >= validFromMs && nowMs < expiresAtMs;
  }

  /** The authority has said for these names that no order is taken until then. */
  orderedWhileLimited(names: string, untilMs: number): void {
    const { world, disturbances } = this.#deployment();
    // The first answer that names the time may have been lost.
    const isRepeated = this.#limits.get(names) === untilMs;
    this.#limits.set(names, untilMs);
    if (isRepeated && !this.#isLostSince(untilMs - 1_800_000) && disturbances.isCalmSince(world.now() - 60_000))
      world.violate(
        'orders',
        `${names} are ordered, although the authority asked to wait ${Math.round(untilMs - world.now())} ms more`,
      );
  }

  #checkDone(id: string, { shownMs, atMs, leftBehind }: OrderSeen, name: string): void {
    const { world, places, redis } = this.#deployment();
    if (shownMs === undefined || redis.losses().some((loss) => loss.atMs >= atMs)) return;
    const asking = places.find((place) => place.name === name)?.process;
    const stoodStillMs = asking?.stoodStillMs(world.now() - LEFT_BEHIND.withinMs) ?? 0;
    if (stoodStillMs > LEFT_BEHIND.stoodStillMs && !leftBehind.has(name)) return void leftBehind.add(name);
    world.violate(
      'orders',
      `${name} asks about ${id} ${Math.round(world.now() - shownMs)} ms after its certificate was shown`,
    );
  }

  #compare(id: string, earlier: string, order: OrderSeen): void {
    const { world, disturbances } = this.#deployment();
    const isStored = order.touchedMs !== undefined;
    if (!isStored && !disturbances.isCalmSince(order.atMs - STORED_WITHIN_MS)) return;
    if (this.#isLostSince(order.atMs, order.touchedMs)) return;
    if (order.downloadedMs === undefined) {
      if (isStored)
        world.violate('orders', `${id} for ${order.names} is ordered beside ${earlier}, which is in progress`);
    } else if (
      order.isUsable &&
      this.#storeClock() < (order.issuedAt ?? 0) + EARLIEST_SHARE * this.#lifetimeMs &&
      this.#isSettled(order.downloadedMs) &&
      !order.isRevoked &&
      !this.#isCommanded(id, order.names, order.atMs)
    )
      world.violate('orders', `${id} for ${order.names} is ordered, although ${earlier} was issued lately`);
  }

  /** A refusal is noted before the next attempt, unless its reader was killed, or the order is lost. */
  #checkPause(id: string, { names, atMs: orderedMs }: OrderSeen, endedMs: number): void {
    const { world, redis, clockJumpsMs } = this.#deployment();
    const isKilled = this.#kills().some((atMs) => atMs > endedMs);
    const isLost = redis.losses().some(({ atMs }) => atMs >= orderedMs);
    if (isKilled || isLost || clockJumpsMs.some((atMs) => atMs > endedMs)) return;
    // An order follows a revocation, which does not wait.
    const isAsked = this.#isCommanded(id, names, endedMs) || (this.#revokedMs.get(names) ?? 0) > endedMs;
    if (world.now() - endedMs < PAUSE_MS && !isAsked)
      world.violate('orders', `${id} for ${names} is ordered ${Math.round(world.now() - endedMs)} ms after a refusal`);
  }

  /** Whether an operator has asked for this order since then: a command is the reason of one order, unless something was out of order. */
  #isCommanded(id: string, names: string, fromMs: number): boolean {
    const { disturbances } = this.#deployment();
    const given = this.#commands.filter(
      (one) => one.kind !== 'account key' && one.names === names && one.atMs >= fromMs,
    );
    const reason = given.find(({ order = id }) => order === id);
    if (reason !== undefined) reason.order = id;
    return reason !== undefined || given.some(({ atMs }) => !disturbances.isCalmSince(atMs));
  }

  /** Whether the certificate was stored after it was fetched: the holder may have died before it. */
  #isSettled(downloadedMs: number): boolean {
    const { redis } = this.#deployment();
    const isKilled = this.#kills().some((atMs) => atMs > downloadedMs && atMs < downloadedMs + STORED_WITHIN_MS);
    return !isKilled && !redis.losses().some(({ atMs }) => atMs > downloadedMs - 1);
  }

  /**
   * Data of the store was lost that had been written between two moments, or soon after. A question about it may have been on its way for
   * long.
   */
  #isLostSince(fromMs: number, untilMs = fromMs): boolean {
    const { redis } = this.#deployment();
    return redis.losses().some(({ atMs, sinceMs }) => atMs >= fromMs && sinceMs <= untilMs + STORED_WITHIN_MS);
  }
}
