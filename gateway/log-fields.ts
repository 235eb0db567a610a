// The members of the log line of an exchange: the one table that the line, the trail's notes, the page `docs/explain.md` and the facts of
// `gateway explain` are made from. Most rows are in the folder of their capability; the rows here are about every exchange.

import { type AllRows, allRows } from './capabilities.ts';
import { type LogField, type LogFieldRows, type Noted, noted, type RarelyNoted } from './capability.ts';
import type { ErrorCode } from './error-catalogue.ts';
import type { GatewayError } from './errors.ts';
import { STAGE_SPANS, type StageName } from './stages.ts';

/** From this duration on, an exchange is slow: its line has the duration of each stage. Its upstream alone is slow from there on, too. */
export const SLOW_MS = 250;

const GENERAL_FIELDS = {
  level: {
    part: 'start',
    stage: 'exchange',
    type: 'integer',
    meaning: '30: information, 40: a fault of an upstream, 50: a fault of the gateway',
  },
  time: { part: 'start', stage: 'exchange', type: 'epoch ms', meaning: 'when the exchange ended' },
  request_id: { part: 'start', stage: 'exchange', type: 'text', meaning: 'the `X-Request-Id` of the answer' },
  method: { part: 'matched', stage: 'match', type: 'text', meaning: 'the method of the request' },
  stage: {
    part: 'matched',
    stage: 'exchange',
    type: 'text',
    // The stage that runs now: a refusal names it.
    notes: { stage: noted<StageName>() },
    meaning: 'the final stage: the one that refused or answered',
  },
  status: {
    part: 'matched',
    stage: 'exchange',
    type: 'integer',
    notes: { status: noted<number>() },
    meaning: 'the status of the answer; 499: the client had left',
  },
  code: {
    part: 'code',
    stage: 'exchange',
    type: 'text',
    notes: { code: noted<ErrorCode | string | undefined>(), refusal: noted<GatewayError | undefined>() },
    meaning: 'the error code of the answer',
  },
  duration_ms: {
    part: 'size',
    stage: 'exchange',
    type: 'ms',
    meaning: 'from the arrival of the request to the end of the answer',
  },
  stages_ms: {
    part: 'stages',
    stage: 'exchange',
    type: 'object of ms',
    // `performance.now()` when forwarding began.
    notes: { forwardedAt: noted<number | undefined>() },
    meaning: `time of ${spansText()}: for refusals that got past \`authenticate\`, and for exchanges of ${SLOW_MS} ms and more`,
  },
  trace_id: {
    part: 'trace',
    stage: 'forward',
    type: 'text',
    // As the client sent it; noted only while traces are kept.
    notes: { clientTraceparent: noted<string | undefined>() },
    meaning: 'the id of the trace',
  },
  worker: {
    part: 'end',
    stage: 'admit',
    type: 'integer',
    meaning: 'the worker that handled the exchange; absent if there is a single process',
  },
  msg: { part: 'end', stage: 'exchange', type: 'text', meaning: '`exchange`' },
} as const satisfies LogFieldRows;

/** The members of `stages_ms`, each with the stages that it includes. */
function spansText(): string {
  const spans = STAGE_SPANS.map(({ stage, includes }) => {
    const others = includes.map((name) => `\`${name}\``).join(', ');
    return others === '' ? `\`${stage}\`` : `\`${stage}\` (with ${others})`;
  });
  return `${spans.slice(0, -1).join(', ')} and ${spans.at(-1)}`;
}

type LogFields = typeof GENERAL_FIELDS & AllRows<'fields'>;

/** The rows about every exchange, then those of each capability. */
export const LOG_FIELDS: LogFields = { ...GENERAL_FIELDS, ...allRows('fields') };

export type GeneralFields = typeof GENERAL_FIELDS;
export type LogFieldName = keyof LogFields;
type Part = LogFields[LogFieldName]['part'];

/** The members of a part. */
export type LogFieldsOf<P extends Part> = {
  [Name in LogFieldName]: LogFields[Name]['part'] extends P ? Name : never;
}[LogFieldName];

/** Text that has every member of the parts; the compiler reads it from template literals that are `as const`. */
export type TextOf<P extends Part> = TextWith<LogFieldsOf<P>>;
type TextWith<Name> = (Name extends string ? (text: `${string}"${Name}":${string}`) => void : never) extends (
  text: infer Text,
) => void
  ? Text
  : never;

/** The notes of all rows. */
type Declared = {
  [Name in LogFieldName]: LogFields[Name] extends { readonly notes: infer Notes } ? Notes : never;
}[LogFieldName];
type NoteName<Kind> = Declared extends infer Notes
  ? Notes extends unknown
    ? { [Name in keyof Notes]: Notes[Name] extends Kind ? Name : never }[keyof Notes]
    : never
  : never;
type ValueOf<Name, Notes = Declared> = Notes extends unknown
  ? Name extends keyof Notes
    ? Notes[Name] extends Noted<infer Value> | RarelyNoted<infer Value>
      ? Value
      : never
    : never
  : never;

/** The notes that every trail has a member for. */
export type UsualNotes = { -readonly [Name in NoteName<Noted<unknown>>]: ValueOf<Name> };

/** The notes that few exchanges have. */
export type RareNotes = { -readonly [Name in NoteName<RarelyNoted<unknown>>]?: ValueOf<Name> | undefined };

const RARE_PARTS = ['kind', 'code', 'rare'] as const satisfies readonly Part[];
export type RareFieldName = LogFieldsOf<(typeof RARE_PARTS)[number]>;

/** The members that most lines lack, in their order, each with the first of its notes. */
export const RARE_LOG_FIELDS = RARE_PARTS.flatMap((part) =>
  Object.entries<LogField>(LOG_FIELDS)
    .filter(([, field]) => field.part === part)
    .map(([name, { notes = {} }]) => [name as RareFieldName, Object.keys(notes)[0] as keyof RareNotes] as const),
);
