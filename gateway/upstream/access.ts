// Holds the gateway's credential and the concurrency limit of each upstream. Both outlast a reload of the configuration, so that a refused
// credential stays refused, and requests in progress still count against the limit.

import type { CredentialFault, CredentialState } from '../shared/contracts/upstreams.ts';
import { ConcurrencyLimit, type ConcurrencyRules, type QueueRefusal } from './concurrency/concurrency-limit.ts';
import { Credential, type CredentialOptions } from './credentials/credential.ts';
import { createSentRequests, type SentRequests, type UnansweredRequests } from './deadlines/sent-requests.ts';
import type { CredentialSettings } from './settings.ts';

/**
 * The default of `maxQueueMs` for an upstream without `maxInFlight`. If a queue has not been empty for a while, the gateway shortens it
 * until its last request waits no longer than this (upstream/concurrency/queue-bound.ts).
 */
const QUEUE_MS = 200;

/** The part of an entry of upstreams.yaml that concerns access. */
export interface AccessSettings {
  readonly live: readonly string[];
  readonly test?: readonly string[] | undefined;
  readonly connections: number;
  readonly credential?: CredentialSettings | undefined;
  readonly maxInFlight?: number | undefined;
  readonly maxQueued: number;
  readonly maxQueueMs?: number | undefined;
}

export interface Access {
  readonly credential: Credential | undefined;
  readonly concurrency: ConcurrencyLimit;
  readonly sent: SentRequests;
}

export interface AccessTableOptions extends CredentialOptions {
  /** Number of worker processes that share the places of an upstream. Each gets at least one place. */
  readonly workers: number;
  /** Called when a request has waited this long for a place. */
  onWaited(upstream: string, waitedMs: number): void;
  /** Called when a request was refused a place (overload/shedding.ts). */
  onShed(upstream: string, why: QueueRefusal): void;
  /** Returns true if the gateway has recently refused places to requests for this upstream (overload/shedding.ts). */
  isShedding(upstream: string): boolean;
}

interface AccessStatus {
  readonly credential?: CredentialState;
  /** Absent unless requests are suspended because of the credential. */
  readonly credential_fault?: CredentialFault;
  readonly in_flight: number;
  readonly places: number;
  readonly waiting: number;
  /** Requests that the upstream has not begun to answer within five seconds; absent if there are none. */
  readonly unanswered?: readonly UnansweredRequests[];
  readonly shedding: boolean;
}

/** Rules of one upstream's concurrency limit. */
interface BoundRules extends ConcurrencyRules {
  readonly places: number;
}

export class AccessTable {
  readonly #options: AccessTableOptions;
  /** The credentials in use. The key is the name of the upstream with the settings (`settingsKeyOf`). */
  #credentials = new Map<string, Credential>();
  #entries: Readonly<Record<string, AccessSettings>> = {};
  readonly #bounds = new Map<string, BoundRules>();
  readonly #limits = new Map<string, ConcurrencyLimit>();
  readonly #sent = new Map<string, SentRequests>();
  #accesses = new Map<string, Access>();

  constructor(options: AccessTableOptions) {
    this.#options = options;
  }

  /**
   * Replaces the set of upstreams.
   *
   * @param organizationShare largest share of an upstream's places for one organization while others wait
   */
  apply(entries: Readonly<Record<string, AccessSettings>>, organizationShare: number): void {
    this.#accesses = new Map();
    this.#credentials = this.#credentialsOf(entries);
    const former = this.#entries;
    this.#entries = entries;
    for (const [name, entry] of Object.entries(entries)) {
      const credential = entry.credential && this.#credentials.get(settingsKeyOf(name, entry.credential));
      // The service behind another address has refused nothing.
      if (addressesOf(entry) !== addressesOf(former[name])) credential?.forgetRefusal();
      // The bounds of a removed upstream stay in `#bounds`, because its limit reads them as long as requests are in progress.
      this.#bounds.set(name, boundOf(entry, this.#options.workers, organizationShare));
      this.#accesses.set(name, { credential, concurrency: this.#limitOf(name), sent: this.#sentOf(name) });
    }
  }

  /** Returns the access of an upstream; undefined for an unknown upstream. */
  find(upstream: string): Access | undefined {
    return this.#accesses.get(upstream);
  }

  /**
   * Lets a latched credential be sent again. Returns undefined for an unknown upstream.
   *
   * @param upstream undefined for all upstreams
   */
  retry(upstream: string | undefined): { readonly retried: readonly string[] } | undefined {
    if (upstream !== undefined && !this.#accesses.has(upstream)) return undefined;
    const names = upstream === undefined ? [...this.#accesses.keys()] : [upstream];
    return { retried: names.filter((name) => this.find(name)?.credential?.forgetRefusal() === true) };
  }

  /** Returns the state of each upstream, for /status. */
  status(): Readonly<Record<string, AccessStatus>> {
    return Object.fromEntries(
      [...this.#accesses].map(([name, access]) => [name, statusOf(access, this.#options.isShedding(name))]),
    );
  }

  /** Returns the credentials of these entries. A credential with unchanged settings stays. A credential without an entry is dropped. */
  #credentialsOf(entries: Readonly<Record<string, AccessSettings>>): Map<string, Credential> {
    const used = new Map<string, Credential>();
    for (const [name, { credential }] of Object.entries(entries)) {
      if (credential === undefined) continue;
      const key = settingsKeyOf(name, credential);
      used.set(key, this.#credentials.get(key) ?? new Credential(name, credential, this.#options));
    }
    return used;
  }

  /**
   * Returns the concurrency limit of an upstream. The limit is one request until the upstream has accepted a request with the credential.
   * If the credential is wrong, the upstream then sees one failed login instead of many, and is less likely to lock the gateway out.
   */
  #limitOf(name: string): ConcurrencyLimit {
    const known = this.#limits.get(name);
    if (known) return known;
    const bound = () => this.#bounds.get(name) as BoundRules;
    const limit = new ConcurrencyLimit({
      places: () => (this.find(name)?.credential?.sendsSeveral() === false ? 1 : bound().places),
      rules: bound,
      onWaited: (waitedMs) => this.#options.onWaited(name, waitedMs),
      onShed: (why) => this.#options.onShed(name, why),
    });
    this.#limits.set(name, limit);
    return limit;
  }

  #sentOf(name: string): SentRequests {
    const known = this.#sent.get(name) ?? createSentRequests();
    this.#sent.set(name, known);
    return known;
  }
}

function statusOf({ credential, concurrency, sent }: Access, shedding: boolean): AccessStatus {
  const unanswered = sent.unansweredRequests();
  return {
    ...(credential && { credential: credential.status(), ...faultOf(credential) }),
    in_flight: concurrency.inFlight(),
    places: concurrency.places(),
    waiting: concurrency.waiting(),
    ...(unanswered.length > 0 && { unanswered }),
    shedding,
  };
}

function faultOf(credential: Credential): Pick<AccessStatus, 'credential_fault'> {
  const fault = credential.fault();
  return fault === undefined ? {} : { credential_fault: fault };
}

function addressesOf({ live, test }: Partial<AccessSettings> = {}): string {
  return JSON.stringify([live, test]);
}

function settingsKeyOf(name: string, credential: CredentialSettings): string {
  return JSON.stringify([name, credential]);
}

/**
 * Returns the bounds of an upstream. Without `maxInFlight` an upstream gets as many places as connections to its live targets, because more
 * requests would wait in the connection pool, which does not share fairly among organizations. The targets for test keys add no places,
 * because live requests cannot use them. With `maxInFlight` and without `maxQueueMs`, requests wait as long as their deadlines allow.
 */
function boundOf(
  { live, connections, maxInFlight, maxQueued, maxQueueMs }: AccessSettings,
  workers: number,
  organizationShare: number,
): BoundRules {
  const isBounded = maxInFlight !== undefined;
  return {
    places: isBounded ? Math.max(1, Math.floor(maxInFlight / workers)) : connections * new Set(live).size,
    queuedMax: maxQueued,
    queueMs: maxQueueMs ?? (isBounded ? undefined : QUEUE_MS),
    organizationShare,
  };
}
