// Sends to an upstream that has rules or a credential: applies its request rules, adds its credential, and judges the answer before the client sees any
// of it.

import { GatewayError } from '../errors.ts';
import type { Fresh } from '../exchange.ts';
import { jsonTreeValue, readJson } from '../shared/json-tree.ts';
import { streamKindOf } from '../shared/stream-kinds.ts';
import type { CompleteAnswer, Judge, Judgement } from './answers/rules.ts';
import { type Attempts, type AttemptsOptions, type Dispatch, sendWithAttempts } from './attempts.ts';
import { beforeSending } from './before-sending.ts';
import { BufferedAnswer, type Pass } from './buffered-answer.ts';
import type { Credential } from './credential.ts';
import type { CredentialHeader } from './credential-kinds.ts';
import { decodedAnswer } from './encoding/decoded-answer.ts';
import type { AnswerHeaders } from './headers.ts';
import type { Outgoing } from './http1/wire.ts';
import type { Relay } from './relay.ts';
import type { Rewrite } from './requests/rules.ts';
import type { UpstreamRoute } from './routes.ts';
import type { UpstreamRules } from './rules.ts';
import type { Target } from './targets.ts';

/**
 * Statuses that mean a refused credential, unless a rule decides otherwise. 403 is not one of them: it may concern the request of one
 * client, and a latched credential blocks the upstream for all clients.
 */
const credentialStatuses = new Set([401, 407]);

/**
 * Resolves when the exchange has ended. Throws upstream_overloaded, upstream_timeout, upstream_auth_failed, and the errors of the rules and
 * the relay.
 *
 * @param outgoing makes the request as it would be sent without rules and credential, anew for each attempt
 * @param deadlineAt as `performance.now()` counts
 */
export async function sendByRules(
  options: AttemptsOptions,
  fresh: Fresh,
  route: UpstreamRoute,
  rules: UpstreamRules,
  deadlineAt: number,
  outgoing: () => Outgoing,
): Promise<void> {
  const change = await changeFor(fresh, rules.rewrite, deadlineAt);
  if (change === undefined) return;
  const turn = rules.credential?.awaitTurn();
  if (turn !== undefined) await turn;
  const dispatch: Dispatch = (target, relay, attempts) =>
    attempt({ fresh, rules, attempts, target, relay, outgoing: () => change(outgoing()) });
  await sendWithAttempts(options, fresh, route, deadlineAt, dispatch);
}

/** Computes once, for all attempts, how the request rules change the request. Returns undefined if the client has disconnected. */
async function changeFor(
  fresh: Fresh,
  rewrite: Rewrite | undefined,
  deadlineAt: number,
): Promise<((outgoing: Outgoing) => Outgoing) | undefined> {
  const change = rewrite?.(fresh.operation);
  if (change === undefined) return (outgoing) => outgoing;
  const changed = await beforeSending(fresh, deadlineAt, (over) => change(fresh, over));
  if (changed === undefined) return undefined;
  const { path, body } = changed;
  return (outgoing) => ({ ...outgoing, path: path + fresh.search, body: body ?? outgoing.body });
}

interface Attempt {
  readonly fresh: Fresh;
  readonly rules: UpstreamRules;
  readonly attempts: Attempts;
  readonly target: Target;
  readonly relay: Relay;
  outgoing(): Outgoing;
}

/** Sends the request. Sends it again if a rule or a changed credential allows that, with the credential current at that time. */
function attempt(one: Attempt): void {
  const { fresh, rules, attempts, target, relay } = one;
  const { credential, judge } = rules;
  const fail = (error: GatewayError) => relay.onResponseError(undefined, error);

  function conclude(answer: CompleteAnswer, sent: CredentialHeader | undefined, pass: Pass): void {
    const judged = judge === undefined ? answer : decodedAnswer(answer);
    const judgement = judge?.(judged, judgeContextOf(fresh)) ?? defaultJudgement(judged, credential);
    if (judgement.kind === 'credential') {
      const hasChanged = sent !== undefined && credential?.refused(sent, answer.status) === true;
      if (hasChanged && attempts.mayRepeat('credential')) attempt(one);
      else fail(new GatewayError('upstream_auth_failed'));
      return;
    }
    if (sent !== undefined && answer.status < 400) credential?.accepted(sent);
    // An answer that no rule changes keeps its coding.
    if (judgement.kind === 'pass' && judgement.body === judged.body) pass(answer.headers, answer.body);
    else if (judgement.kind === 'pass') pass(judged.headers, judgement.body);
    else if (judgement.kind === 'retry' && attempts.mayRepeat('declared')) attempt(one);
    else fail(judgement.error);
  }

  if (relay.ended) return;
  try {
    const sent = credential?.header();
    const buffered = new BufferedAnswer(
      relay,
      (status, headers) => {
        // A stream has no end to wait for.
        const isBuffered = status >= 400 || (judge !== undefined && !isStream(headers));
        if (!isBuffered && sent !== undefined) credential?.accepted(sent);
        return isBuffered;
      },
      (answer, pass) => conclude(answer, sent, pass),
    );
    const outgoing = one.outgoing();
    const headers = sent === undefined ? outgoing.headers : [...outgoing.headers, sent.name, sent.value];
    target.dispatcher.dispatch({ ...outgoing, headers }, buffered);
  } catch (error) {
    fail(error as GatewayError);
  }
}

function isStream(headers: AnswerHeaders): boolean {
  return streamKindOf(String(headers['content-type'] ?? '')) !== undefined;
}

/** The judgement when no rule matches. */
function defaultJudgement(answer: CompleteAnswer, credential: Credential | undefined): NonNullable<Judgement> {
  const isRefusal = credential !== undefined && credentialStatuses.has(answer.status);
  return isRefusal ? { kind: 'credential' } : { kind: 'pass', body: answer.body };
}

/** The request body is parsed only when a rule uses it. */
function judgeContextOf({ operation, pathValues, rawBody }: Fresh): Parameters<Judge>[1] {
  return {
    operation,
    pathValues,
    get submitted() {
      const root = rawBody && readJson(rawBody);
      return root && jsonTreeValue(root);
    },
  };
}
