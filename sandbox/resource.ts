// The language in which the files of resources/ describe a resource: its fields, filters, sorts, status edges, and the members that the
// service itself keeps up to date. All other code is the same for every resource.
import type { FieldKind, FieldSpot, FieldValue, ResourceName } from './kinds.ts';

export type StoredRecord = Readonly<Record<string, FieldValue>>;

/** The facts known to the service at the moment of a write. */
export interface RequestMoment {
  /** Later than every earlier change in the same list. */
  readonly now: string;
  /** Takes the next number of a sequence of this organization and mode, beginning with 1. */
  nextNumber(sequence: string): number;
}

export interface Field {
  readonly kind: FieldKind;
  readonly needed: boolean;
  /** Whether a create may carry it; an update always may. */
  readonly onCreate: boolean;
  /** The default of the member. */
  readonly initial: FieldValue;
}

export const required = (kind: FieldKind): Field => ({ kind, needed: true, onCreate: true, initial: null });
export const optional = (kind: FieldKind, initial: FieldValue = null): Field => ({
  kind,
  needed: false,
  onCreate: true,
  initial,
});

/** Set by the service when the record is created, changed by PATCH alone; only one that can be null can be cleared. */
export const onlyByUpdate = (kind: FieldKind, initial: FieldValue): Field => ({
  kind,
  needed: initial !== null,
  onCreate: false,
  initial,
});

/** How a filter compares: `after` and `before` exclude the named time itself, `prefix` ignores case. */
export type Comparison = 'equals' | 'prefix' | 'after' | 'before' | 'tagged';

export interface Filter {
  readonly comparison: Comparison;
  readonly member: string;
  readonly kind: FieldKind;
}

const filtering =
  (comparison: Comparison) =>
  (member: string, kind: FieldKind): Filter => ({ comparison, member, kind });
export const equals = filtering('equals');
export const startsWith = filtering('prefix');
export const after = filtering('after');
export const before = filtering('before');
/** Records with this tag in their list of tags. */
export const tagged = filtering('tagged');

export interface Sort {
  readonly member: string;
  /** Records without a value come last in both directions. */
  readonly nullable: boolean;
  /** A text of which only the beginning decides. */
  readonly long: boolean;
}

export const by = (member: string): Sort => ({ member, nullable: false, long: false });
export const byNullable = (member: string): Sort => ({ member, nullable: true, long: false });
export const byText = (member: string): Sort => ({ member, nullable: false, long: true });

/** A change of status that the passing of time makes: `afterMs` since the record was created. */
export interface Move {
  readonly from: string;
  readonly to: string;
  readonly afterMs: number;
  /** The member that notes when it happened. */
  readonly stamps?: string;
}

/** A reference that the service itself wrote into a record and that keeps its target from being deleted. */
export interface Trace {
  readonly member: string;
  readonly to: ResourceName;
}

export interface SandboxResource {
  readonly name: ResourceName;
  readonly prefix: string;
  /** The noun for one record, for messages. */
  readonly noun: string;
  readonly fields: Readonly<Record<string, Field>>;
  /** Members that only the service writes, as they are on creation. */
  readonly kept: StoredRecord;
  /** Members that are worked out when the record is shown: SQL over the record `r`, yielding JSON. */
  readonly derived: Readonly<Record<string, string>>;
  readonly filters: Readonly<Record<string, Filter>>;
  readonly sorts: Readonly<Record<string, Sort>>;
  /** The states a PATCH of `status` may lead to, by the present state. */
  readonly edges?: Readonly<Record<string, readonly string[]>>;
  readonly moves?: readonly Move[];
  readonly traces?: readonly Trace[];
  /** Notes the faults of the record as a whole. */
  check?(next: StoredRecord, spot: FieldSpot): void;
  /** The members that the service sets in answer to a write; `before` is absent on creation. */
  settle?(next: StoredRecord, before: StoredRecord | undefined, moment: RequestMoment): StoredRecord;
}

/** Every resource can be sorted by these. */
export const EVERY_SORT: Readonly<Record<string, Sort>> = {
  created_at: by('created_at'),
  updated_at: by('updated_at'),
};

export const sortsOf = (resource: SandboxResource): Readonly<Record<string, Sort>> => ({
  ...EVERY_SORT,
  ...resource.sorts,
});
