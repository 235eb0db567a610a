// The capability `upstream`: error codes, and what the log and `gateway explain` say about attempts and answers.

import { type Capability, type FactsOf, listIn, objectsIn, rarelyNoted, usualNote } from '../catalogue/capability.ts';
import type { RetryReason } from '../exchange/findings.ts';
import { durationText } from '../shared/text.ts';
import { UPSTREAM_CODES } from './codes.ts';
import { withheldText } from './headers/withheld.ts';
import { answersFromContract, isGatewayItself, upstreamOfExamples } from './targets/addresses.ts';

const FIELDS = {
  target: {
    section: 'target',
    stage: 'forward',
    type: 'text',
    forClients: false,
    notes: { target: usualNote<string | undefined>() },
    meaning: 'the target that got the request',
  },
  queued_ms: {
    section: 'queued',
    stage: 'forward',
    type: 'ms',
    forClients: true,
    // A request that did not wait has no note.
    notes: { queuedMs: usualNote<number | undefined>() },
    meaning:
      'the time before the request was sent: in the queue of the upstream, for a connection, or for its credential',
  },
  timeout: {
    section: 'rare',
    stage: 'forward',
    type: 'text',
    // Clients do not see this field, because it names a setting of the configuration.
    forClients: false,
    notes: { timeout: rarelyNoted<string>() },
    meaning: 'the setting whose time was over, with its milliseconds, such as `timeoutMs 10000`',
  },
  attempts: {
    section: 'rare',
    stage: 'forward',
    type: 'integer',
    forClients: false,
    notes: { attempts: usualNote<number>() },
    meaning: 'how often the request was sent, if more than once',
  },
  retries: {
    section: 'rare',
    stage: 'forward',
    type: 'list of texts',
    forClients: false,
    notes: { retries: rarelyNoted<readonly RetryReason[]>() },
    meaning: 'the reason of each attempt after the first',
  },
  retry_budget_spent: {
    section: 'rare',
    stage: 'forward',
    type: '`true`',
    forClients: false,
    notes: { retryBudgetSpent: rarelyNoted<true>() },
    meaning: 'no other attempt was made, because the retry budget of the upstream was spent',
  },
  upstream_status: {
    section: 'answer',
    stage: 'forward',
    type: 'integer',
    // Clients do not see this field, because the service may have refused the credential of the gateway.
    forClients: false,
    notes: { upstreamStatus: usualNote<number | undefined>() },
    meaning: "the status of the target's answer",
  },
  upstream_body: {
    section: 'rare',
    stage: 'forward',
    type: 'text',
    // Clients do not see this field, because it tells what the service is made of.
    forClients: false,
    notes: { upstreamBody: rarelyNoted<string>() },
    meaning:
      'media type and size of the body of a 5xx, and of an error body that is no JSON, such as `text/html, 948 bytes`; the client gets none of it',
  },
  upstream_ms: {
    section: 'answer',
    stage: 'forward',
    type: 'ms',
    forClients: true,
    notes: { upstreamMs: usualNote<number | undefined>() },
    meaning: 'from the start of the last attempt to the first byte of the answer',
  },
  answer_violations: {
    section: 'rare',
    stage: 'forward',
    type: 'list of texts',
    // Clients do not see this field, because it names members and headers that the contract does not declare.
    forClients: false,
    notes: {
      answerViolations: rarelyNoted<readonly string[]>(),
      // The number of answers that this one stands for, because with `report` not every body is checked.
      answersAlike: rarelyNoted<number>(),
    },
    meaning: 'where the answer violates the contract',
  },
  withheld: {
    section: 'rare',
    stage: 'forward',
    type: 'list of texts',
    forClients: droppedQueryIn,
    notes: {
      // Names of undeclared query parameters.
      droppedQuery: rarelyNoted<readonly string[]>(),
      // `cookie: name`
      notSent: rarelyNoted<readonly string[]>(),
      // Headers of the answer, and `set-cookie: name`.
      withheld: rarelyNoted<readonly string[]>(),
    },
    meaning:
      'headers of the answer that did not reach the client (a cookie as `set-cookie: name`), declared cookies that did not reach the service (`cookie: name`), and undeclared parameters that were left out (`query: name`)',
  },
  compressed: {
    section: 'rare',
    stage: 'forward',
    type: 'text',
    forClients: true,
    notes: { compressed: rarelyNoted<string>() },
    meaning: 'the coding in which the gateway compressed the answer',
  },
  cause: {
    section: 'rare',
    stage: 'forward',
    type: 'text',
    // Clients do not see this field, because it contains addresses and stacks.
    forClients: false,
    notes: { cause: rarelyNoted<unknown>() },
    meaning: 'what went wrong between the gateway and its target; for `internal_error`, the stack',
  },
  bytes_out: {
    section: 'size',
    stage: 'forward',
    type: 'bytes',
    forClients: true,
    notes: { bytesOut: usualNote<number>() },
    meaning: 'the body of the answer',
  },
} as const;

/**
 * Returns the query parameters of the client that were dropped. The other withheld names are headers and cookies of the service, which
 * clients must not see.
 */
function droppedQueryIn(withheld: unknown): readonly string[] | undefined {
  const own = listIn(withheld)
    .map(String)
    .filter((name) => name.startsWith('query: '));
  return own.length === 0 ? undefined : own;
}

const UNSENT_REASONS: Readonly<Record<string, string>> = {
  upstream_auth_failed: 'nothing was sent, because the gateway has no credential that it may send',
};

const UNANSWERED_REASONS: Readonly<Record<string, string>> = {
  upstream_unreachable: 'no connection to it could be made, and nothing was sent',
  upstream_bad_response: 'it gave no usable response',
};

const RETRY_REASONS: Readonly<Record<RetryReason, string>> = {
  not_sent: 'no connection was made',
  connection_lost: 'the connection was lost',
  timeout: 'the target did not answer in time',
  status_502: 'the target answered 502',
  status_503: 'the target answered 503',
  status_504: 'the target answered 504',
  declared: 'an answer rule says so',
  credential: 'the credential was refused',
};

const FACTS: FactsOf<typeof FIELDS, 'code' | 'times'> = {
  queued_ms: { forward: (ms) => `it waited ${durationText(Number(ms))} in the queue of the upstream` },
  target: {
    forward: (target, { rehearsed }) => `${rehearsed === true ? 'would be ' : ''}${sentTo(String(target))}`,
  },
  timeout: { forward: (setting) => timeoutText(String(setting)) },
  attempts: { forward: (attempts, { retries }) => `it took ${attempts} attempts: ${reasonsOf(listIn(retries))}` },
  retries: { toldBy: 'attempts' },
  retry_budget_spent: { forward: () => 'the retry budget of the upstream is spent' },
  code: {
    forward(code, { target, upstream_status: status }, outcome) {
      if (outcome !== 'refused' || status !== undefined) return undefined;
      if (target === undefined) return UNSENT_REASONS[String(code)];
      return UNANSWERED_REASONS[String(code)] ?? 'it did not answer';
    },
  },
  upstream_status: {
    forward: (status, { upstream_ms: ms }) => `it answered ${status} after ${durationText(Number(ms))}`,
  },
  upstream_ms: { toldBy: 'upstream_status' },
  upstream_body: {
    forward: (body, _, outcome) =>
      outcome === 'refused' ? `its body was ${body}; the client got none of it` : undefined,
  },
  cause: { forward: (cause, _, outcome) => (outcome === 'refused' ? `cause: ${cause}` : undefined) },
  answer_violations: {
    forward: (violations) => listIn(violations).map((text) => `not as the contract says: ${text}`),
  },
  withheld: { forward: (withheld) => listIn(withheld).map((field) => withheldText(String(field))) },
  compressed: { forward: (coding) => `the gateway compressed the answer: ${coding}` },
  bytes_out: {
    forward: (bytes, { rehearsed }, outcome) =>
      outcome === 'answered' && rehearsed !== true ? `${bytes} bytes to the client` : undefined,
  },
  // Only a rehearsed request has this time.
  times: { forward: timesText },
};

export const UPSTREAM = { codes: UPSTREAM_CODES, fields: FIELDS, facts: FACTS } as const satisfies Capability;

/** Returns where a request was sent. */
function sentTo(target: string): string {
  if (isGatewayItself(target)) return 'executed by the gateway itself';
  return answersFromContract(target)
    ? `answered from the contract of ${upstreamOfExamples(target)}`
    : `sent to ${target}`;
}

function reasonsOf(retries: readonly unknown[]): string {
  const words: Readonly<Record<string, string>> = RETRY_REASONS;
  return [...new Set(retries.map((reason) => words[String(reason)] ?? String(reason)))].join('; ');
}

function timeoutText(setting: string): string {
  const [name, ms] = setting.split(' ');
  const counts = name === 'timeoutMs' ? ', the wait in the queue and all attempts included' : '';
  return `its time was over: ${name} is ${durationText(Number(ms))}${counts}`;
}

function timesText(times: unknown): string | undefined {
  const [{ head_ms, idle_ms, stream_ms } = {}] = objectsIn([times]);
  const text = (ms: unknown) => durationText(Number(ms));
  const whole = stream_ms === undefined ? '' : `, its body ${text(stream_ms)}`;
  return `the head of the answer may take ${text(head_ms)}, a pause in its body ${text(idle_ms)}${whole}`;
}
