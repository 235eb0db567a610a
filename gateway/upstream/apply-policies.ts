// Sending to an upstream that has a credential or rules of its own: change what is to be changed, log in, and judge the answer before the
// client sees any of it.

import { GatewayError } from '../errors.ts';
import type { Fresh } from '../exchange.ts';
import { jsonTreeValue, readJson } from './answers/json-tree.ts';
import type { HeldAnswer, Judge, Judgement } from './answers/rules.ts';
import { type Attempts, type AttemptsOptions, type Dispatch, sendWithAttempts } from './attempts.ts';
import { beforeSending } from './before-sending.ts';
import { BufferedAnswer } from './buffered-answer.ts';
import type { Credential } from './credential.ts';
import type { Outgoing } from './http1/wire.ts';
import type { Relay } from './relay.ts';
import type { Rewrite } from './requests/rules.ts';
import type { UpstreamRoute } from './routes.ts';
import type { Target } from './targets.ts';

/** What an upstream asks for beyond being sent to. Kept while configurations come and go. */
export interface UpstreamPolicies {
  readonly credential: Credential | undefined;
  readonly judge: Judge | undefined;
  readonly rewrite: Rewrite | undefined;
}

/**
 * What the credential is refused with when no rule says otherwise. Not 403: it may be about what one client asks for, and a latched
 * credential shuts the upstream for all of them.
 */
const credentialStatuses = new Set([401, 407]);

/**
 * Resolves when the exchange has ended. Throws upstream_overloaded, upstream_timeout, upstream_auth_failed, and what the rules and the relay throw.
 *
 * @param outgoing the request as it would be sent without a guard, made anew for each attempt
 * @param deadlineAt as `performance.now()` counts
 */
export async function sendWithPolicies(
  options: AttemptsOptions,
  fresh: Fresh,
  way: UpstreamRoute,
  guard: UpstreamPolicies,
  deadlineAt: number,
  outgoing: () => Outgoing,
): Promise<void> {
  const change = await changeFor(fresh, guard.rewrite, deadlineAt);
  if (change === undefined) return;
  const dispatch: Dispatch = (target, relay, sending) =>
    attempt({ fresh, guard, sending, target, relay, outgoing: () => change(outgoing()) });
  await sendWithAttempts(options, fresh, way, deadlineAt, dispatch);
}

/** What the rules of the upstream make of every attempt, worked out once. Undefined: the client has left meanwhile. */
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
  readonly guard: UpstreamPolicies;
  readonly sending: Attempts;
  readonly target: Target;
  readonly relay: Relay;
  outgoing(): Outgoing;
}

/** Sends once. What the rules or a changed credential let be tried once more is, with the credential as it is then. */
function attempt(one: Attempt): void {
  const { fresh, guard, sending, target, relay } = one;
  const { credential, judge } = guard;
  const fail = (error: GatewayError) => relay.onResponseError(undefined, error);

  function conclude(answer: HeldAnswer, authorization: string | undefined, pass: (body: Buffer) => void): void {
    const judgement = judge?.(answer, askedOf(fresh)) ?? generally(answer, credential);
    if (judgement.kind === 'credential') {
      const hasChanged = authorization !== undefined && credential?.refused(authorization) === true;
      if (hasChanged && sending.mayAskAgain('credential')) attempt(one);
      else fail(new GatewayError('upstream_auth_failed'));
      return;
    }
    if (authorization !== undefined && answer.status < 400) credential?.accepted(authorization);
    if (judgement.kind === 'pass') pass(judgement.body);
    else if (judgement.kind === 'retry' && sending.mayAskAgain('declared')) attempt(one);
    else fail(judgement.error);
  }

  if (relay.ended) return;
  try {
    const authorization = credential?.header();
    const held = new BufferedAnswer(
      relay,
      (status) => {
        const isHeld = judge !== undefined || status >= 400;
        if (!isHeld && authorization !== undefined) credential?.accepted(authorization);
        return isHeld;
      },
      (answer, pass) => conclude(answer, authorization, pass),
    );
    const outgoing = one.outgoing();
    const headers =
      authorization === undefined ? outgoing.headers : [...outgoing.headers, 'authorization', authorization];
    target.dispatcher.dispatch({ ...outgoing, headers }, held);
  } catch (error) {
    fail(error as GatewayError);
  }
}

/** What no rule has said anything about. */
function generally(answer: HeldAnswer, credential: Credential | undefined): NonNullable<Judgement> {
  const isRefusal = credential !== undefined && credentialStatuses.has(answer.status);
  return isRefusal ? { kind: 'credential' } : { kind: 'pass', body: answer.body };
}

/** The body is read only for rules that ask for what was submitted. */
function askedOf({ operation, pathValues, rawBody }: Fresh): Parameters<Judge>[1] {
  return {
    operation,
    pathValues,
    get submitted() {
      const root = rawBody && readJson(rawBody);
      return root && jsonTreeValue(root);
    },
  };
}
