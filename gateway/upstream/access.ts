// How upstreams let the gateway in: the credential it shows them and how many requests it may have there at once. Kept from start to
// end, so that a reload of the configuration neither forgets that a credential was refused nor lets more requests through.

import {
  type ConcurrencyLimit,
  type ConcurrencyRules,
  createConcurrencyLimit,
  type QueueRefusal,
} from './concurrency-limit.ts';
import { type Credential, createCredential, type LatchReason } from './credential.ts';

/** What nobody has bounded may make a request wait so long, once the line does not empty any more. */
const QUEUE_MS = 200;

/** What an entry of upstreams.yaml says about it. */
export interface AccessEntry {
  readonly live: readonly string[];
  readonly test?: readonly string[] | undefined;
  readonly connections: number;
  readonly credential?: { readonly basic: { readonly user: string; readonly secret: string } } | undefined;
  readonly maxInFlight?: number | undefined;
  readonly maxQueued: number;
  readonly maxQueueMs?: number | undefined;
}

export interface Access {
  readonly credential: Credential | undefined;
  readonly lane: ConcurrencyLimit;
}

export interface AccessesOptions {
  /** A secrets entry as it is now. */
  readSecret(entry: string): string | undefined;
  /** How many processes divide the places of an upstream among themselves. Each has one at least. */
  readonly workers: number;
  /** A request waited so many milliseconds for a place. */
  onWaited(upstream: string, waitedMs: number): void;
  /** A request got no place. */
  onShed(upstream: string, why: QueueRefusal): void;
  /** Whether requests toward it are being refused these days. */
  isShedding(upstream: string): boolean;
  onLatched(upstream: string, reason: LatchReason): void;
  onHealed(upstream: string): void;
  now(): number;
}

export interface Accesses {
  /**
   * From now on, the upstreams are those of these entries.
   *
   * @param organizationShare the part of the places of an upstream that one organization has at most, while others wait
   */
  use(entries: Readonly<Record<string, AccessEntry>>, organizationShare: number): void;
  /** Undefined: there is no such upstream. */
  of(upstream: string): Access | undefined;
  /** By upstream, for operators. */
  status(): Readonly<Record<string, AccessStatus>>;
}

export interface AccessStatus {
  readonly credential?: 'unproven' | 'proven' | 'latched';
  readonly in_flight: number;
  readonly waiting: number;
  readonly shedding: boolean;
}

/** How much of an upstream there is for all. */
interface Bound extends ConcurrencyRules {
  readonly credential: Credential | undefined;
  readonly places: number;
}

export function createAccesses(options: AccessesOptions): Accesses {
  const credentials = new Map<string, Credential>();
  const bounds = new Map<string, Bound>();
  const lanes = new Map<string, ConcurrencyLimit>();
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
  function laneOf(name: string): ConcurrencyLimit {
    const known = lanes.get(name);
    if (known) return known;
    const bound = () => bounds.get(name) as Bound;
    const made = createConcurrencyLimit({
      places() {
        const { credential, places } = bound();
        return credential?.isProven() === false ? 1 : places;
      },
      rules: bound,
      onWaited: (waitedMs) => options.onWaited(name, waitedMs),
      onShed: (why) => options.onShed(name, why),
    });
    lanes.set(name, made);
    return made;
  }

  return {
    use(entries, organizationShare) {
      accesses = new Map();
      for (const [name, entry] of Object.entries(entries)) {
        const credential = credentialOf(name, entry);
        // What was taken away keeps its bound for those who are on their way there.
        bounds.set(name, boundOf(entry, credential, options.workers, organizationShare));
        accesses.set(name, { credential, lane: laneOf(name) });
      }
    },
    of: (upstream) => accesses.get(upstream),
    status() {
      const all = [...accesses].map(([name, { credential, lane }]) => [
        name,
        {
          ...(credential && { credential: credential.status() }),
          in_flight: lane.inFlight(),
          waiting: lane.waiting(),
          shedding: options.isShedding(name),
        },
      ]);
      return Object.fromEntries(all);
    },
  };
}

/**
 * What nobody has bounded gets as many places as there are connections: more would wait in front of these, where nobody is served in turn.
 * Whoever says how many an upstream takes at once wants the rest to wait for as long as they can.
 */
function boundOf(
  { live, test = [], connections, maxInFlight, maxQueued, maxQueueMs }: AccessEntry,
  credential: Credential | undefined,
  workers: number,
  organizationShare: number,
): Bound {
  const isBounded = maxInFlight !== undefined;
  return {
    credential,
    places: isBounded ? Math.max(1, Math.floor(maxInFlight / workers)) : connections * new Set([...live, ...test]).size,
    queuedMax: maxQueued,
    queueMs: maxQueueMs ?? (isBounded ? undefined : QUEUE_MS),
    organizationShare,
  };
}
