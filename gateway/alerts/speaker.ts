// Decides whether this instance tells receivers of the causes of all instances, and remembers what they were told. While Redis is away,
// each instance tells of its own causes.

import type { AlertCause } from './alert.ts';
import { type Alert, asJustSeen } from './due.ts';
import type { Outbox } from './outbox.ts';
import { type AlertStore, lastingSilences, type Silence } from './store.ts';

export type Outboxes = Readonly<Record<string, Outbox>>;

/** Names of receivers may be those of members that every object has. */
export function outboxOf(outboxes: Outboxes, receiver: string): Outbox | undefined {
  return Object.hasOwn(outboxes, receiver) ? outboxes[receiver] : undefined;
}

interface Speaker {
  /** Takes a turn. Resolves with whether this instance speaks now; never rejects. */
  take(): Promise<boolean>;
  /** Whether this instance tells of its own causes, because the store is away. */
  isAlone(): boolean;
  /** What was told, by receiver: of this instance while it speaks, else of the one that does. */
  outboxes(): Outboxes;
  silences(): readonly Silence[];
  /** Causes of other instances, which an instance alone cannot see: it has to take them as lasting. */
  assumed(outbox: Outbox | undefined, causes: readonly AlertCause[]): readonly AlertCause[];
  /** Whether the instance that spoke when the store went tells of this cause, which both see. */
  leaves(id: string): boolean;
  /** Keeps what was told. Resolves with whether this instance still speaks; never rejects. */
  write(next: Outboxes): Promise<boolean>;
}

/** An instance speaks for itself only after this time without Redis, so that a failover changes nothing. */
const ALONE_AFTER_MS = 10_000;

/** The causes that all instances see, because it is their store that is away. */
const OF_STORES = ['redis', 'stores'];
/** The instance that spoke may have gone with the store. The others tell of it after this time, under the same `dedup_key`. */
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
        const turn = await store.take();
        takenMs = now();
        isAlone = false;
        otherSpoke = !turn.speaks;
        silences = turn.silences;
        if (!speaks || !turn.speaks) {
          outboxes = outboxesIn(turn.told);
          written = '';
        }
        if (turn.speaks) begin();
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

/** Changes when an earlier version could not read what is written. */
const FORM = 1;

/** Empty for a text of another form: what lasts is then told once more. */
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
