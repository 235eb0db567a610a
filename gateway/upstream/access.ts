// How upstreams let the gateway in: the credential it shows them and how many requests it may have there at once. Kept from start to
// end, so that a reload of the configuration neither forgets that a credential was refused nor lets more requests through.

import { type Credential, createCredential, type LatchReason } from './credential.ts';
import { createLane, type Lane } from './lane.ts';

/** Requests that may wait for one upstream. What would wait longer is better told at once. */
const WAITING_MAX = 256;

/** What an entry of upstreams.yaml says about it. */
export interface AccessEntry {
  readonly credential?: { readonly basic: { readonly user: string; readonly secret: string } } | undefined;
  readonly maxInFlight?: number | undefined;
}

export interface Access {
  readonly credential: Credential | undefined;
  readonly lane: Lane | undefined;
}

export interface AccessesOptions {
  /** A secrets entry as it is now. */
  readSecret(entry: string): string | undefined;
  /** How many processes divide the places of an upstream among themselves. Each has one at least. */
  readonly workers: number;
  onLatched(upstream: string, reason: LatchReason): void;
  onHealed(upstream: string): void;
  now(): number;
}

export interface Accesses {
  /** From now on, the upstreams are those of these entries. */
  use(entries: Readonly<Record<string, AccessEntry>>): void;
  /** Undefined: the upstream has neither a credential nor a bound. */
  of(upstream: string): Access | undefined;
  /** Per upstream that has one, for operators. */
  status(): Readonly<Record<string, AccessStatus>>;
}

export interface AccessStatus {
  readonly credential?: 'unproven' | 'proven' | 'latched';
  readonly in_flight?: number;
  readonly waiting?: number;
}

export function createAccesses(options: AccessesOptions): Accesses {
  let inForce: Readonly<Record<string, AccessEntry>> = {};
  const credentials = new Map<string, Credential>();
  const lanes = new Map<string, Lane>();
  let accesses = new Map<string, Access>();

  function credentialOf(name: string, { credential }: AccessEntry): Credential | undefined {
    if (credential === undefined) return undefined;
    const { user, secret } = credential.basic;
    const identity = JSON.stringify([name, user, secret]);
    const known = credentials.get(identity);
    if (known) return known;
    const made = createCredential({
      user,
      read: () => options.readSecret(secret),
      now: options.now,
      onLatched: (reason) => options.onLatched(name, reason),
      onHealed: () => options.onHealed(name),
    });
    credentials.set(identity, made);
    return made;
  }

  /** A credential that has not been seen to work is tried by one request, since every failure counts against the gateway. */
  function laneOf(name: string, entry: AccessEntry): Lane | undefined {
    if (entry.maxInFlight === undefined && entry.credential === undefined) return undefined;
    const known = lanes.get(name);
    if (known) return known;
    const share = () => (inForce[name]?.maxInFlight ?? Number.POSITIVE_INFINITY) / options.workers;
    const places = () => (accesses.get(name)?.credential?.isProven() === false ? 1 : Math.max(1, Math.floor(share())));
    const made = createLane({ places, waitingMax: WAITING_MAX });
    lanes.set(name, made);
    return made;
  }

  return {
    use(entries) {
      inForce = entries;
      const all = Object.entries(entries).map(
        ([name, entry]) => [name, { credential: credentialOf(name, entry), lane: laneOf(name, entry) }] as const,
      );
      accesses = new Map(all.filter(([, { credential, lane }]) => credential !== undefined || lane !== undefined));
    },
    of: (upstream) => accesses.get(upstream),
    status() {
      const all = [...accesses].map(([name, { credential, lane }]) => [
        name,
        {
          ...(credential && { credential: credential.status() }),
          ...(lane && { in_flight: lane.inFlight(), waiting: lane.waiting() }),
        },
      ]);
      return Object.fromEntries(all);
    },
  };
}
