// The messages that receivers get about causes, and their texts. Causes have text from clients and services, such as names and errors;
// messages have it bounded and without control characters. Pure.

import { createHash, randomBytes } from 'node:crypto';
import {
  addedFigures,
  type Cause,
  type Severity,
  type SufferedFigures,
  severityOf,
} from '../shared/contracts/cause.ts';
import { nextCommandOf } from '../shared/next-command.ts';
import { durationText, isoTime, shortTextOf, visibleLine } from '../shared/text.ts';
import { type Alert, type Due, endMsOf, isAway, lastedOf } from './due.ts';

/** One cause in a message. Its texts are bounded and contain no control characters. */
export interface AlertNote {
  readonly id: string;
  /** `recovering`: the cause is over, but still in the counts of the last minute. Only lists of present causes have such causes. */
  readonly state: Due['state'] | 'recovering';
  readonly severity: Severity;
  readonly cause: string;
  readonly consequence: string;
  readonly subject: { readonly kind: string; readonly name: string } | null;
  /** ISO 8601. */
  readonly since: string;
  /** The time at which the cause ended; null if it lasts. */
  readonly until: string | null;
  readonly figures: Readonly<Record<string, number>>;
  /** The affected instances; empty if all instances are affected. */
  readonly instances: readonly string[];
  readonly runbook: string | null;
  /** The command to run first; null if there is none. */
  readonly next: string | null;
  /** The address of the console's page about the cause. */
  readonly link: string;
}

export interface AlertMessage {
  /** Every attempt to deliver the message has the same id, so that a receiver recognizes a message that arrives twice. */
  readonly id: string;
  readonly atMs: number;
  /** Set in a trial message, which `gateway alerts test` sends. */
  readonly isTrial?: true;
  /** The public address of the gateway. */
  readonly gateway: string;
  /** Tells this gateway from others; the public address by default. */
  readonly deployment?: string | undefined;
  readonly notes: readonly AlertNote[];
}

const TEXT_MAX = 500;
const ID_MAX = 300;
const SUBJECT_MAX = 150;
const INSTANCES_MAX = 20;
const LINK_MAX = 1000;
const DEDUP_KEY_LENGTH = 32;
const MESSAGE_ID_BYTES = 12;

/** Returns the cause with bounded texts, for the store and for messages. */
export function boundedCause(cause: Cause): Cause {
  const { id, kind, cause: text, consequence, details = '#/', instances, ...more } = cause;
  return {
    ...more,
    kind,
    id: boundText(id, ID_MAX),
    cause: boundText(text, TEXT_MAX),
    consequence: boundText(consequence, TEXT_MAX),
    // A link to the page would be longer than mail programs and browsers accept.
    details: details.length > LINK_MAX ? '#/' : details,
    ...(instances && { instances: instances.slice(0, INSTANCES_MAX).map((name) => boundText(name, ID_MAX)) }),
  };
}

/** @param consoleUrl the address at which operators open the console */
export function noteOf(
  state: AlertNote['state'],
  alert: Pick<Alert, 'cause' | 'state' | 'seenMs' | 'lastMs' | 'past'>,
  consoleUrl: string,
  effectOf?: EffectOf,
): AlertNote {
  const { cause, seenMs, past } = alert;
  const { instances = [], figures, suffered, title = cause.cause, runbook = null, details = '#/' } = cause;
  const isOver = state !== 'firing';
  const gone = isOver || !isAway(alert) ? '' : `It was over at ${isoTime(endMsOf(alert))}. `;
  const total = addedFigures([past?.suffered, suffered]);
  const since = cause.since ?? isoTime(seenMs);
  return {
    id: cause.id,
    state,
    severity: severityOf(cause),
    cause: state === 'resolved' ? boundText(title, TEXT_MAX) : cause.cause,
    consequence: isOver ? endText(alert, total, effectOf) : boundText(`${gone}${cause.consequence}`, TEXT_MAX),
    subject: subjectOf(details),
    since,
    until: isOver ? isoTime(endMsOf(alert)) : null,
    figures: { ...(isOver ? (total ?? figures) : (figures ?? total)) },
    instances,
    runbook,
    next: isOver ? null : (nextCommandOf(cause) ?? null),
    link: `${consoleUrl.replace(/\/+$/, '')}/${details}`,
  };
}

/** Returns the text of figures. */
export type EffectOf = (figures: SufferedFigures) => string;

/** Says how often and how long the cause lasted, how many requests suffered, and what its end means. */
function endText(alert: Parameters<typeof lastedOf>[0], total?: SufferedFigures, effectOf?: EffectOf): string {
  const { effect: last, ended } = alert.cause;
  const effect = (alert.past && total && effectOf?.(total)) ?? last;
  const { times, lastedMs } = lastedOf(alert);
  const lasted = times > 1 ? `${times} times, ${durationText(lastedMs)} in all` : durationText(lastedMs);
  const suffered = effect === undefined ? '' : `; ${effect}`;
  return boundText(`It lasted ${lasted}${suffered}. ${ended ?? ''}`.trimEnd(), TEXT_MAX);
}

/**
 * Returns the id of a message. A message about ends has the same id from every instance, because the former speaker may have sent it
 * without being able to store that.
 */
export function messageIdOf(receiver: string, due: readonly Due[]): string {
  const isOfEnds = due.every(({ state }) => state === 'resolved');
  const ends = due.map(({ id, alert: { seenMs, lastMs } }) => [id, seenMs, lastMs]);
  const bytes = isOfEnds
    ? createHash('sha256')
        .update(JSON.stringify([receiver, ends]))
        .digest()
        .subarray(0, MESSAGE_ID_BYTES)
    : randomBytes(MESSAGE_ID_BYTES);
  return `msg_${bytes.toString('hex')}`;
}

/** Returns the body of a webhook, with the members `type`, `timestamp` and `data`, as Standard Webhooks recommends. */
export function toWebhookBody({ atMs, isTrial, gateway, deployment = gateway, notes }: AlertMessage): string {
  const type = isTrial ? 'gateway.alerts.trial' : 'gateway.alerts';
  const alerts = notes.map((note) => ({ ...note, dedup_key: dedupKeyOf(deployment, note.id) }));
  return JSON.stringify({ type, timestamp: isoTime(atMs), data: { gateway, alerts } });
}

/**
 * Returns a key that is the same in all messages about one cause, from every instance, so that a pager opens one incident for the cause.
 * The key is short, because receivers limit its length.
 */
function dedupKeyOf(deployment: string, id: string): string {
  return createHash('sha256').update(`${deployment}\n${id}`).digest('hex').slice(0, DEDUP_KEY_LENGTH);
}

export function mailSubjectOf({ isTrial, gateway, notes }: AlertMessage): string {
  const [first] = notes;
  const count = (state: AlertNote['state']) => notes.filter((note) => note.state === state).length;
  const counted = [
    ...(count('firing') > 0 ? [`${count('firing')} firing`] : []),
    ...(count('resolved') > 0 ? [`${count('resolved')} resolved`] : []),
  ].join(', ');
  const state = isTrial ? 'trial' : notes.length === 1 ? first?.state : counted;
  return boundText(`[${new URL(gateway).host}] ${state}: ${first?.cause ?? ''}`, SUBJECT_MAX);
}

export function mailTextOf({ notes, gateway }: AlertMessage): string {
  return [...notes.map(paragraphOf), `Sent by the gateway ${gateway}.`].join('\n\n').concat('\n');
}

function paragraphOf(note: AlertNote): string {
  const { state, severity, cause, consequence, since, until, instances, runbook, next, link, id } = note;
  return [
    state === 'resolved' ? `RESOLVED: ${cause}` : `${severity.toUpperCase()}: ${cause}`,
    ...(consequence === '' ? [] : [consequence]),
    until === null ? `Since ${since}` : `From ${since} to ${until}`,
    ...(instances.length === 0 ? [] : [`Instances: ${instances.join(', ')}`]),
    `Details: ${link}`,
    ...(runbook === null ? [] : [`Runbook: docs/operations.md, ${runbook}`]),
    ...(next === null ? [] : [`Next: ${next}`]),
    `Cause: ${id}`,
  ].join('\n');
}

/** Returns the kind and name in the link to the console, such as the upstream. */
function subjectOf(details: string): AlertNote['subject'] {
  const [, kinds = '', name = ''] = /^#\/(operations|upstreams|organizations)\/(.+)$/.exec(details) ?? [];
  return name === '' ? null : { kind: kinds.slice(0, -1), name: boundText(decodeURIComponent(name), ID_MAX) };
}

function boundText(text: string, charactersMax: number): string {
  return visibleLine(shortTextOf(text, charactersMax));
}
