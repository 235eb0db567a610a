// Checks from outside what operators are told of the certificates that they order and revoke, and of the key of their account. It knows
// what they have asked, what gateways showed then, and what the certificate authority did.

import type { Deployment } from '../deployment.ts';

export type CommandKind = 'order' | 'revoke' | 'account key';

/** An order may take so long, so a command may be about a certificate that no gateway shows yet. */
const ORDER_MAX_MS = 60_000;

/** A command that was given. */
export interface GivenCommand {
  readonly kind: CommandKind;
  readonly names: string;
  readonly atMs: number;
  /** The order that it is the reason of. */
  order: string | undefined;
}

interface Issued {
  readonly names: string;
  readonly fingerprint: string;
  readonly atMs: number;
  revokedMs: number;
}

export class CommandChecker {
  readonly given: GivenCommand[] = [];
  readonly #deployment: () => Deployment;
  readonly #issued: Issued[] = [];
  readonly #keyChangesMs: number[] = [];
  #wrongKeyMs = Number.NEGATIVE_INFINITY;

  constructor(deployment: () => Deployment) {
    this.#deployment = deployment;
  }

  issued(names: string, fingerprint: string): void {
    this.#issued.push({ names, fingerprint, atMs: this.#now(), revokedMs: Number.POSITIVE_INFINITY });
  }

  /** The authority has revoked it. */
  revoked(fingerprint: string): void {
    for (const one of this.#issued) if (one.fingerprint === fingerprint) one.revokedMs = this.#now();
  }

  keyChanged(): void {
    this.#keyChangesMs.push(this.#now());
  }

  /**
   * The authority has refused a request that was signed with another key than the one of its account. Returns whether the store has lost
   * data since the last change of the key. The key may then be lost, and with it the account and its orders.
   */
  wrongKey(): boolean {
    this.#wrongKeyMs = this.#now();
    const changedMs = this.#keyChangesMs.at(-1) ?? Number.POSITIVE_INFINITY;
    return this.#deployment()
      .redis.losses()
      .some(({ atMs }) => atMs >= changedMs);
  }

  /** Whether it has done so since then. */
  isKeyWrongSince(fromMs: number): boolean {
    return this.#wrongKeyMs >= fromMs;
  }

  /** When the certificate was revoked; Infinity: it was not. */
  revokedMs(fingerprint: string): number {
    return this.#issued.find((one) => one.fingerprint === fingerprint)?.revokedMs ?? Number.POSITIVE_INFINITY;
  }

  /**
   * An operator gives a command. Returns what to call with what the operator is told.
   *
   * @param shown the fingerprints of the certificates that gateways show for these names
   */
  asked(kind: CommandKind, names: string, shown: readonly string[]): (failure: string | undefined) => void {
    const atMs = this.#now();
    this.given.push({ kind, names, atMs, order: undefined });
    return (failure) => {
      if (failure !== undefined) this.#checkFailure(kind, names, atMs, failure);
      else if (!this.#isDone(kind, names, atMs, shown))
        this.#deployment().world.violate('commands', `an operator was told that "${kind}" of ${names} is done`);
    };
  }

  #isDone(kind: CommandKind, names: string, atMs: number, shown: readonly string[]): boolean {
    const isCalm = this.#deployment().disturbances.isCalmSince(atMs - ORDER_MAX_MS);
    // Out of order, a certificate may be stored for long before a gateway shows it, and an answer may take long.
    const fromMs = isCalm ? atMs - ORDER_MAX_MS : 0;
    if (kind === 'account key') return this.#keyChangesMs.some((changedMs) => changedMs >= fromMs);
    const issued = this.#issued.filter((one) => one.names === names);
    if (kind === 'order') return issued.some((one) => one.atMs >= fromMs);
    return issued.some(
      (one) => one.revokedMs <= this.#now() && (one.atMs >= fromMs || shown.includes(one.fingerprint)),
    );
  }

  /** In order, gateways take every request up, or say until when the authority takes none. */
  #checkFailure(kind: CommandKind, names: string, atMs: number, failure: string): void {
    const { disturbances, world } = this.#deployment();
    if (!/No gateway has taken|has lost the request/.test(failure)) return;
    if (!disturbances.isCalmSince(atMs - 10 * ORDER_MAX_MS)) return;
    world.violate('progress', `"${kind}" of ${names}: ${failure}`);
  }

  #now(): number {
    return this.#deployment().world.now();
  }
}
