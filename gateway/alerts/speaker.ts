// Decides whether this instance is the speaker, which sends the messages of all instances, and holds the outboxes. While Redis is away, each
// instance sends messages about its own causes.

import type { Cause } from '../shared/contracts/cause.ts';
import { type Alert, asJustSeen } from './due.ts';
import type { Outbox } from './outbox.ts';
import { type AlertStore, lastingSilences, type Silence } from './store.ts';

export type Outboxes = Readonly<Record<string, Outbox>>;

/** A receiver may be named like a member that every object has, such as `constructor`. */
export function outboxOf(outboxes: Outboxes, receiver: string): Outbox | undefined {
  return Object.hasOwn(outboxes, receiver) ? outboxes[receiver] : undefined;
}

export interface Speaker {
  /** Takes or renews the lease. Resolves with whether this instance is the speaker now; never rejects. */
  take(): Promise<boolean>;
  /** Whether this instance reports its own causes only, because the store is away. */
  isAlone(): boolean;
  /** The outboxes of the speaker, by receiver. */
  outboxes(): Outboxes;
  silences(): readonly Silence[];
  /** While the store is away: alerts about other instances. This instance cannot see their causes, and assumes that they last. */
  assumed(outbox: Outbox | undefined, causes: readonly Cause[]): readonly Cause[];
  /** While the store is away: whether the last speaker reports this cause, which all instances see. */
  leaves(id: string): boolean;
  /** Stores the outboxes. Resolves with whether this instance is still the speaker; never rejects. */
  write(next: Outboxes): Promise<boolean>;
}

/** An instance reports its own causes only after this time without Redis, because a failover may take as long. */
const ALONE_AFTER_MS = 10_000;

/** The causes that all instances see while their store is away. */
const OF_STORES = ['redis', 'stores'];
/** The last speaker may be away like the store. The others report these causes after this time, with the same `dedup_key`. */
const LEFT_MS = 180_000;

/** @param now epoch milliseconds that never decrease */
export function createSpeaker(store: AlertStore, instance: string, now: () => number): Speaker {
  const beganMs = now();
  let takenMs = beganMs;
  let speaks = false;
  let isAlone = false;
  let otherSpoke = false;
  let outboxes: Outboxes = {};
  let silences: readonly Silence[] = [];
  let written = '';

  function begin(): void {
    if (!speaks)
      outboxes = Object.fromEntries(
        Object.entries(outboxes).map(([name, one]) => [name, { ...one, alerts: asJustSeen(one.alerts, now()) }]),
      );
    speaks = true;
  }

  return {
    async take() {
      try {
        const lease = await store.take();
        takenMs = now();
        isAlone = false;
        otherSpoke = !lease.speaks;
        silences = lease.silences;
        if (!speaks || !lease.speaks) {
          outboxes = outboxesIn(lease.outboxes);
          written = '';
        }
        if (lease.speaks) begin();
        else speaks = false;
      } catch {
        isAlone = speaks || now() - takenMs >= ALONE_AFTER_MS;
        if (isAlone) begin();
      }
      return speaks;
    },
    isAlone: () => isAlone,
    outboxes: () => outboxes,
    silences: () => lastingSilences(silences, now()),
    assumed(outbox, causes) {
      if (!isAlone) return [];
      const seen = new Set(causes.map(({ id }) => id));
      const firing = Object.values(outbox?.alerts ?? {}).filter(({ state }) => state === 'firing');
      return firing
        .map(({ cause }) => cause)
        .filter(({ id, instances }) => !seen.has(id) && instances !== undefined && !instances.includes(instance));
    },
    leaves: (id) => isAlone && otherSpoke && OF_STORES.includes(id) && now() - takenMs < LEFT_MS,
    async write(next) {
      outboxes = next;
      const text = JSON.stringify({ form: FORM, outboxes: next });
      const significant = JSON.stringify(next, (key, value) => (key === 'lastMs' ? undefined : value));
      if (significant === written) return true;
      try {
        speaks = await store.write(text);
        written = significant;
      } catch {
        // The instance continues with the outboxes in its memory, and writes them later.
        written = '';
      }
      return speaks;
    },
  };
}

/** The version of the stored form. It changes if an earlier version of the gateway could not read a new form. */
const FORM = 1;

/** Reads the outboxes. Returns none for a text of another form: present causes are then reported once more. */
function outboxesIn(text: string | undefined): Outboxes {
  try {
    const { form, outboxes } = JSON.parse(text ?? '{}') as { readonly form?: number; readonly outboxes?: Outboxes };
    return form === FORM ? Object.fromEntries(Object.entries(outboxes ?? {}).filter(([, one]) => isOutbox(one))) : {};
  } catch {
    return {};
  }
}

function isOutbox({ alerts, sending }: Outbox): boolean {
  const isWhole = ({ cause, seenMs, lastMs }: Alert) =>
    typeof cause.id === 'string' && typeof cause.cause === 'string' && seenMs > 0 && lastMs > 0;
  return Object.values(alerts).every(isWhole) && (sending === undefined || Array.isArray(sending.message.notes));
}
