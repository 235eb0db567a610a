// The table of all members of an exchange's log line. The line, the notes of the trail, the page `docs/explain.md` and the facts of
// `gateway explain` are made from it. Most rows are in the folder of their capability; the rows here are about every exchange.

import { STAGE_SPANS, type StageName } from '../stages.ts';
import { type AllRows, allRows } from './capabilities.ts';
import { type LogField, type LogFieldRows, type Noted, type RarelyNoted, usualNote } from './capability.ts';
import type { ErrorCode, GatewayError } from './errors.ts';

/**
 * An exchange that takes this long is slow, so its line contains the duration of each stage. An answer that begins this late is slow, too.
 */
export const SLOW_MS = 250;

const GENERAL_FIELDS = {
  level: {
    section: 'start',
    stage: 'exchange',
    type: 'integer',
    forClients: false,
    meaning: '30: information, 40: a fault of an upstream, 50: a fault of the gateway',
  },
  time: { section: 'start', stage: 'exchange', type: 'epoch ms', forClients: true, meaning: 'when the exchange ended' },
  request_id: {
    section: 'start',
    stage: 'exchange',
    type: 'text',
    forClients: true,
    meaning: 'the `X-Request-Id` of the answer',
  },
  method: { section: 'matched', stage: 'match', type: 'text', forClients: true, meaning: 'the method of the request' },
  stage: {
    section: 'matched',
    stage: 'exchange',
    type: 'text',
    forClients: true,
    // The stage that runs now, which a refusal names.
    notes: { stage: usualNote<StageName>() },
    meaning: 'the final stage: the one that refused or answered',
  },
  status: {
    section: 'matched',
    stage: 'exchange',
    type: 'integer',
    forClients: true,
    notes: { status: usualNote<number>() },
    meaning: 'the status of the answer; 499: the client had left',
  },
  code: {
    section: 'code',
    stage: 'exchange',
    type: 'text',
    forClients: true,
    notes: { code: usualNote<ErrorCode | string | undefined>(), refusal: usualNote<GatewayError | undefined>() },
    meaning: 'the error code of the answer',
  },
  duration_ms: {
    section: 'size',
    stage: 'exchange',
    type: 'ms',
    forClients: true,
    meaning: 'from the arrival of the request to the end of the answer',
  },
  stages_ms: {
    section: 'stages',
    stage: 'exchange',
    type: 'object of ms',
    forClients: true,
    // `performance.now()` when forwarding began.
    notes: { forwardedAt: usualNote<number | undefined>() },
    meaning: `time of ${spansText()}: for refusals that got past \`authenticate\`, and for exchanges of ${SLOW_MS} ms and more`,
  },
  trace_id: {
    section: 'trace',
    stage: 'forward',
    type: 'text',
    forClients: false,
    // The header of the client. It is noted only if traces are recorded.
    notes: { clientTraceparent: usualNote<string | undefined>() },
    meaning: 'the id of the trace',
  },
  worker: {
    section: 'end',
    stage: 'admit',
    type: 'integer',
    forClients: false,
    meaning: 'the worker that handled the exchange; absent if there is a single process',
  },
  msg: { section: 'end', stage: 'exchange', type: 'text', forClients: false, meaning: '`exchange`' },
} as const satisfies LogFieldRows;

/** Returns the members of `stages_ms`, each with the stages that it includes. */
function spansText(): string {
  const spans = STAGE_SPANS.map(({ stage, includes }) => {
    const others = includes.map((name) => `\`${name}\``).join(', ');
    return others === '' ? `\`${stage}\`` : `\`${stage}\` (with ${others})`;
  });
  return `${spans.slice(0, -1).join(', ')} and ${spans.at(-1)}`;
}

type LogFields = typeof GENERAL_FIELDS & AllRows<'fields'>;

/** The rows about every exchange, then the rows of each capability. */
export const LOG_FIELDS: LogFields = { ...GENERAL_FIELDS, ...allRows('fields') };

export type GeneralFields = typeof GENERAL_FIELDS;
export type LogFieldName = keyof LogFields;
type Section = LogFields[LogFieldName]['section'];

// The following types turn a forgotten piece of a field into an error of the compiler:
//
//   UsualNotes            a usual note has no member in exchange/trail.ts
//   TextOf, LogFieldsOf   a part of the line in observe/log/line.ts lacks a member of its sections
//   RareNotes             a stage writes a note that no row declares (exchange/notes.ts)

/** The members of a section: `LogFieldsOf<'size'>` is `'duration_ms' | 'bytes_in' | 'bytes_out'`. */
export type LogFieldsOf<S extends Section> = {
  [Name in LogFieldName]: LogFields[Name]['section'] extends S ? Name : never;
}[LogFieldName];

/** Text that has every member of the sections; the compiler reads it from template literals that are `as const`. */
export type TextOf<S extends Section> = TextWith<LogFieldsOf<S>>;
type TextWith<Name> = (Name extends string ? (text: `${string}"${Name}":${string}`) => void : never) extends (
  text: infer Text,
) => void
  ? Text
  : never;

/** The union of the notes of all rows: `{ stage: Noted<StageName> } | { streamEnd: RarelyNoted<StreamEnd> } | …`. */
type DeclaredNotes = {
  [Name in LogFieldName]: LogFields[Name] extends { readonly notes: infer Notes } ? Notes : never;
}[LogFieldName];
/** `NoteName<Noted<unknown>>` is the union of the names of usual notes: `'stage' | 'status' | …`. */
type NoteName<Kind> = DeclaredNotes extends infer Notes
  ? Notes extends unknown
    ? { [Name in keyof Notes]: Notes[Name] extends Kind ? Name : never }[keyof Notes]
    : never
  : never;
/** `ValueOf<'status'>` is `number`. */
type ValueOf<Name, Notes = DeclaredNotes> = Notes extends unknown
  ? Name extends keyof Notes
    ? Notes[Name] extends Noted<infer Value> | RarelyNoted<infer Value>
      ? Value
      : never
    : never
  : never;

/** The notes for which every trail has a member. */
export type UsualNotes = { -readonly [Name in NoteName<Noted<unknown>>]: ValueOf<Name> };

/** The notes that few exchanges have. */
export type RareNotes = { -readonly [Name in NoteName<RarelyNoted<unknown>>]?: ValueOf<Name> | undefined };

const RARE_SECTIONS = ['kind', 'code', 'rare'] as const satisfies readonly Section[];
export type RareFieldName = LogFieldsOf<(typeof RARE_SECTIONS)[number]>;

/** The members that most lines lack, in their order, each with the first of its notes. */
export const RARE_LOG_FIELDS = RARE_SECTIONS.flatMap((section) =>
  Object.entries<LogField>(LOG_FIELDS)
    .filter(([, field]) => field.section === section)
    .map(([name, { notes = {} }]) => [name as RareFieldName, Object.keys(notes)[0] as keyof RareNotes] as const),
);
