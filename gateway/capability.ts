// What a capability brings to the columns of the gateway besides its stage and its parts: error codes, fields of the log line, and what
// `gateway explain` tells about them. Its folder has one in the file capability.ts; capabilities.ts lists them.

import type { CatalogueEntry } from './catalogue-entry.ts';
import type { StageName } from './stages.ts';

export interface Capability {
  readonly codes?: Readonly<Record<string, CatalogueEntry>>;
  readonly fields?: LogFieldRows;
  /** One per field, and further ones of fields that several stages tell about; in the order in which they are told. */
  readonly facts?: FactRows;
  /** What a stage tells that has no fact to tell. */
  readonly withoutFacts?: Readonly<Partial<Record<StageName, string>>>;
}

/** A member of the log line of an exchange. */
export interface LogField {
  /**
   * Where the line has it. `rare`: most lines lack it, and it is the one note that the row declares; the members of another part are
   * written together (observe/line.ts).
   */
  readonly part: string;
  /** The stage that it is about; `exchange`: all of them. */
  readonly stage: StageName | 'exchange';
  readonly type: string;
  /** Notes that stages write on the trail, with the types of their values: notes.ts makes the type of the trail from them. */
  readonly notes?: Readonly<Record<string, Noted<unknown> | RarelyNoted<unknown>>>;
  /** Markdown. */
  readonly meaning: string;
}

export type LogFieldRows = Readonly<Record<string, LogField>>;

/** A note that every trail has a member for. The compiler alone knows the type of its values. */
export interface Noted<Value> {
  readonly usual: Value;
}

/** A note that few exchanges have: it needs no member of the trail. */
export interface RarelyNoted<Value> {
  readonly rare: Value;
}

export function noted<Value>(): Noted<Value> {
  return {} as Noted<Value>;
}

export function rarelyNoted<Value>(): RarelyNoted<Value> {
  return {} as RarelyNoted<Value>;
}

export type StageOutcome = 'passed' | 'refused' | 'answered' | 'not reached';

/** Called with the value of a field if the record, which is a parsed line, has it. Returns what people read. */
export type Tell = (
  value: unknown,
  record: Readonly<Record<string, unknown>>,
  outcome: StageOutcome,
) => string | undefined | readonly string[];

/** What a field tells, by stage; a text: it is told elsewhere, which may be with another field. */
export type Fact = Readonly<Partial<Record<StageName, Tell>>> | string;

export type FactRows = Readonly<Record<string, Fact>>;

/** A fact for every field: to forget one does not compile. */
export type FactsOf<Fields, More extends string = never> = {
  readonly [Name in keyof Fields | More]:
    | Exclude<Fact, string>
    | keyof Fields
    | 'head'
    | 'verdict'
    | 'durations'
    | 'nowhere';
};

/** Reads a member that should be a list. A log may be damaged: what is not a list is an empty one. */
export function listIn(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Reads a member that should be a list of objects. */
export function objectsIn(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  return listIn(value).filter((one) => typeof one === 'object' && one !== null) as Readonly<Record<string, unknown>>[];
}
