// Puts demonstration records into the database with a past, through the same rules that requests are held to.
import { changedRecord, newRecord } from '../assemble.ts';
import { RESOURCES } from '../catalogue.ts';
import { type Purpose, readForm } from '../form.ts';
import { createIdentifier, type Random } from '../identifiers.ts';
import type { ResourceName } from '../kinds.ts';
import type { RequestMoment, StoredRecord } from '../resource.ts';
import type { RecordStore, Scope } from '../store.ts';

export const ONE_HOUR_MS = 3_600_000;
export const ONE_DAY_MS = 24 * ONE_HOUR_MS;

type Values = Readonly<Record<string, unknown>>;

export interface Plant {
  /** Creates a record as it was so long ago, makes the later changes, and gives its identifier. */
  record(resource: ResourceName, ageMs: number, values: Values, history?: DemoHistory): string;
  /** The time so long ago; a negative age is in the future. */
  timeAt(ageMs: number): string;
  dateAt(ageMs: number): string;
}

export interface DemoHistory {
  /** Default: a random identifier. */
  readonly id?: string;
  readonly changes?: readonly { readonly ageMs: number; readonly values: Values }[];
  /** Members that only the service itself would have set. */
  readonly kept?: StoredRecord;
}

export function createPlant(store: RecordStore, scope: Scope, nowMs: number, random: Random): Plant {
  const timeAt = (ageMs: number): string => new Date(nowMs - ageMs).toISOString();
  const momentAt = (ageMs: number): RequestMoment => ({
    now: timeAt(ageMs),
    nextNumber: (sequence) => store.nextNumber(scope, sequence),
  });

  return {
    timeAt,
    dateAt: (ageMs) => timeAt(ageMs).slice(0, 10),
    record(name, ageMs, values, { id: given, changes = [], kept = {} } = {}) {
      const resource = RESOURCES[name];
      const form = (purpose: Purpose, input: Values): StoredRecord =>
        readForm(resource, purpose, Buffer.from(JSON.stringify(input)));
      const id = given ?? createIdentifier(resource.prefix, random);
      let record = newRecord(resource, id, form('create', values), momentAt(ageMs));
      for (const change of changes) {
        record = changedRecord(resource, record, form('update', change.values), momentAt(change.ageMs));
      }
      store.insert(scope, resource, { ...record, ...kept });
      return id;
    },
  };
}
