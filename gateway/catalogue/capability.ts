// The type of a capability: the error codes of a folder, its members of the log line and the sentences of `gateway explain` about them, for
// the tables of the whole gateway. Each folder exports its capability from capability.ts; capabilities.ts lists them all. Stages are listed
// in stages.ts, and long-lived parts in wiring/sections/.

import type { StageName } from '../stages.ts';
import type { CatalogueEntry } from './catalogue-entry.ts';

export interface Capability {
  readonly codes?: Readonly<Record<string, CatalogueEntry>>;
  readonly fields?: LogFieldRows;
  /** The sentences of `gateway explain` about the fields, in the order in which it prints them. A field may have rows of several stages. */
  readonly facts?: FactRows;
  /** The sentence of `gateway explain` for a stage without any fact about the request. */
  readonly withoutFacts?: Readonly<Partial<Record<StageName, string>>>;
}

/**
 * The sections of the log line. The members of a section are written together; a new member nearly always belongs to `rare`, `size` or
 * `refusal`.
 *
 *   in observe/log/line.ts
 *     start       level, time and id              matched     method, stage and status
 *     operation   what the contract says of it    caller      who calls
 *     client      the address                     size        duration and bytes: members of every line
 *     limit       the limit nearest to refusing   limits      all limits that count the request
 *     decision    what decided on the limits      target      where the request was sent
 *     trace       the id of the trace             answer      what the upstream answered
 *     end         what ends every line
 *   in observe/log/line-rare.ts
 *     kind        the request is unusual: a tunnel, a stream, a tool
 *     code        the error code
 *     rare        the value is the first note of the row, or `COMPUTED_FIELDS` makes it from several notes
 *     refusal     a detail of the error
 *     stages      durations, if the exchange was slow or refused
 *     queued      the wait for a place of the upstream
 */
type LogSection =
  | 'start'
  | 'matched'
  | 'operation'
  | 'caller'
  | 'client'
  | 'size'
  | 'limit'
  | 'limits'
  | 'decision'
  | 'target'
  | 'trace'
  | 'answer'
  | 'end'
  | 'kind'
  | 'code'
  | 'rare'
  | 'refusal'
  | 'stages'
  | 'queued';

/** A member of the log line of an exchange. */
export interface LogField {
  readonly section: LogSection;
  /** The stage that the member describes, or `exchange` if it describes the whole exchange. */
  readonly stage: StageName | 'exchange';
  readonly type: string;
  /**
   * Whether `explain` shows the member to the organization that sent the request. A function returns the text to show instead of the value.
   * Clients see only what the answer to the request has told them. They do not see the targets of an upstream, how the gateway counts and
   * retries, and the names of the configuration.
   */
  readonly forClients: boolean | ((value: unknown) => unknown);
  /**
   * The notes of the member, with their types. Stages write them on the trail (exchange/notes.ts). The first note of a member of the
   * section `rare` is its value. A row may also declare a note that the line does not show: `trace_id` declares `clientTraceparent`.
   */
  readonly notes?: Readonly<Record<string, Noted<unknown> | RarelyNoted<unknown>>>;
  /** What the member means, in Markdown. */
  readonly meaning: string;
}

export type LogFieldRows = Readonly<Record<string, LogField>>;

/** A note that is a member of each trail. `usual` exists in the type alone, and carries the type of the values. */
export interface Noted<Value> {
  readonly usual: Value;
}

/** A note of few exchanges. All such notes share one object, `trail.rare`. */
export interface RarelyNoted<Value> {
  readonly rare: Value;
}

export function usualNote<Value>(): Noted<Value> {
  return {} as Noted<Value>;
}

export function rarelyNoted<Value>(): RarelyNoted<Value> {
  return {} as RarelyNoted<Value>;
}

export type StageOutcome = 'passed' | 'refused' | 'answered' | 'not reached' | 'not tried';

/**
 * Makes the sentence about a field of one exchange. `value` is the value of the field, `line` the parsed log line. Not called if the line
 * lacks the field.
 */
export type Tell = (
  value: unknown,
  line: Readonly<Record<string, unknown>>,
  outcome: StageOutcome,
) => string | undefined | readonly string[];

/** The sentences about a field, by stage. `toldBy` names what tells the field instead: another field, or a part of the report. */
export type Fact<ToldBy = unknown> = Readonly<Partial<Record<StageName, Tell>>> | { readonly toldBy: ToldBy };

export type FactRows = Readonly<Record<string, Fact>>;

/** The facts of all fields. A field without a fact does not compile. */
export type FactsOf<Fields, More extends string = never> = {
  readonly [Name in keyof Fields | More]: Fact<keyof Fields | 'head' | 'verdict' | 'durations' | 'nowhere'>;
};

/** Returns the items of a member that should be a list. A log may be damaged, so anything else is read as an empty list. */
export function listIn(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Reads a member that should be a list of objects. */
export function objectsIn(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  return listIn(value).filter((one) => typeof one === 'object' && one !== null) as Readonly<Record<string, unknown>>[];
}
