// Writes the texts of messages. Causes have text from clients and services, such as names and errors; messages have it bounded and without
// control characters. Pure.

import { createHash } from 'node:crypto';
import { type Cause, severityOf } from '../shared/contracts/cause.ts';
import { nextCommandOf } from '../shared/next-command.ts';
import { shortTextOf, visibleLine } from '../shared/text.ts';
import type { AlertMessage, AlertNote } from './alert.ts';
import type { Due } from './due.ts';

const TEXT_MAX = 500;
const ID_MAX = 300;
const SUBJECT_MAX = 150;
const INSTANCES_MAX = 20;
const LINK_MAX = 1000;
const DEDUP_KEY_LENGTH = 32;

/** Returns the cause with bounded texts, for the store and for messages. */
export function boundedCause(cause: Cause): Cause {
  const { id, kind, cause: text, consequence, details = '#/', instances, ...more } = cause;
  return {
    ...more,
    kind,
    id: bounded(id, ID_MAX),
    cause: bounded(text, TEXT_MAX),
    consequence: bounded(consequence, TEXT_MAX),
    // A link to the page would be longer than mail programs and browsers accept.
    details: details.length > LINK_MAX ? '#/' : details,
    ...(instances && { instances: instances.slice(0, INSTANCES_MAX).map((name) => bounded(name, ID_MAX)) }),
  };
}

/** @param consoleUrl the address at which operators open the console */
export function noteOf({ id, state, alert }: Due, consoleUrl: string): AlertNote {
  const { cause, seenMs, lastMs } = alert;
  const { instances = [], figures = {}, runbook = null, details = '#/' } = cause;
  const isOver = state === 'resolved';
  return {
    id,
    state,
    severity: severityOf(cause),
    cause: cause.cause,
    consequence: isOver ? (cause.ended ?? '') : cause.consequence,
    subject: subjectOf(details),
    since: cause.since ?? timeOf(seenMs),
    until: isOver ? timeOf(lastMs) : null,
    figures,
    instances,
    runbook,
    next: isOver ? null : (nextCommandOf(cause) ?? null),
    link: `${consoleUrl.replace(/\/+$/, '')}/${details}`,
  };
}

/** Returns the body of a webhook. It has the members `type`, `timestamp` and `data`, as Standard Webhooks recommends. */
export function toWebhookBody({ atMs, isTrial, gateway, notes }: AlertMessage): string {
  const type = isTrial ? 'gateway.alerts.trial' : 'gateway.alerts';
  const alerts = notes.map((note) => ({ ...note, dedup_key: dedupKeyOf(gateway, note.id) }));
  return JSON.stringify({ type, timestamp: timeOf(atMs), data: { gateway, alerts } });
}

/**
 * Returns a key that is the same in all messages about one cause, from every instance: a pager then has one incident for it. The key is short,
 * because receivers limit its length.
 */
function dedupKeyOf(gateway: string, id: string): string {
  return createHash('sha256').update(`${gateway}\n${id}`).digest('hex').slice(0, DEDUP_KEY_LENGTH);
}

export function mailSubjectOf({ isTrial, gateway, notes }: AlertMessage): string {
  const [first] = notes;
  const count = (state: AlertNote['state']) => notes.filter((note) => note.state === state).length;
  const counted = [
    ...(count('firing') > 0 ? [`${count('firing')} firing`] : []),
    ...(count('resolved') > 0 ? [`${count('resolved')} resolved`] : []),
  ].join(', ');
  const state = isTrial ? 'trial' : notes.length === 1 ? first?.state : counted;
  return bounded(`[${new URL(gateway).host}] ${state}: ${first?.cause ?? ''}`, SUBJECT_MAX);
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

/** Returns the kind and name that the link to the console has, such as the upstream. */
function subjectOf(details: string): AlertNote['subject'] {
  const [, kinds = '', name = ''] = /^#\/(operations|upstreams|organizations)\/(.+)$/.exec(details) ?? [];
  return name === '' ? null : { kind: kinds.slice(0, -1), name: bounded(decodeURIComponent(name), ID_MAX) };
}

function bounded(text: string, charactersMax: number): string {
  return visibleLine(shortTextOf(text, charactersMax));
}

function timeOf(atMs: number): string {
  return new Date(atMs).toISOString();
}
