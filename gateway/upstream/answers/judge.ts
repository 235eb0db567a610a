// Applies the declared rules for the answers of one upstream: the first rule that matches decides how an answer is handled. Prepared once
// per configuration.

import { GatewayError } from '../../catalogue/errors.ts';
import type { AnswerHeaders } from '../../http1/client/wire.ts';
import { type JsonNode, printJsonTree, readJson } from '../../shared/json-tree.ts';
import { type Addressed, type MemberMatchers, membersTest } from './matchers.ts';
import { changeAt, memberPath } from './members.ts';
import { type RefusalRule, toDeclaredRefusal } from './refusal.ts';
import { submittedIn } from './submitted.ts';

/** The conditions of a rule. All that are given must hold. */
interface AnswerCondition {
  readonly status?: readonly number[] | undefined;
  /** Ids of operations. */
  readonly operations?: readonly string[] | undefined;
  /** Media types without parameters, in lower case; `none` for an answer without one. */
  readonly contentType?: readonly string[] | undefined;
  readonly body?: 'empty' | MemberMatchers | undefined;
}

/**
 * What a rule makes of an answer: a refusal, a refused credential of the gateway, or an answer that passes without the members at these
 * paths.
 */
type AnswerOutcome =
  | RefusalRule
  | { readonly credential: 'refused' }
  | {
      /** Dotted names, with `*` for all items of a list. */
      readonly remove: readonly string[];
    };

export interface AnswerRule {
  readonly when: AnswerCondition;
  readonly then: AnswerOutcome;
}

/** A buffered answer. The client has received nothing of it. */
export interface CompleteAnswer {
  readonly status: number;
  readonly headers: AnswerHeaders;
  readonly body: Buffer;
}

export interface AnsweredRequest extends Addressed {
  /** The JSON value that the client sent, undefined without one. */
  readonly submitted: unknown;
}

export type Judgement =
  /** The answer passes, possibly with members removed. */
  | { readonly kind: 'pass'; readonly body: Buffer }
  | { readonly kind: 'refuse'; readonly error: GatewayError }
  /** The request is sent once more; `error` applies if the same happens again. */
  | { readonly kind: 'retry'; readonly error: GatewayError }
  /** The gateway's credential was refused. */
  | { readonly kind: 'credential' }
  /** The judgement of an answer that no rule matches. The default handling applies. */
  | undefined;

export type Judge = (answer: CompleteAnswer, context: AnsweredRequest) => Judgement;

/** An answer whose body is parsed when the first rule needs it, and only once. */
interface Read extends CompleteAnswer {
  root(): JsonNode | undefined;
}
type Condition = (answer: Read, context: AnsweredRequest) => boolean;
type Outcome = (answer: Read, context: AnsweredRequest) => Judgement;

/**
 * Builds the judge of an upstream. Member names that a rule removes from answers also mark secrets in requests: their submitted values
 * never appear in an error, even if the upstream repeats them.
 */
export function createJudge(rules: readonly AnswerRule[]): Judge {
  const secretNames = new Set(rules.flatMap(({ then }) => ('remove' in then ? then.remove.map(lastNameOf) : [])));
  const ready = rules.map(({ when, then }) => ({
    holds: compileCondition(when),
    outcome: compileOutcome(then, secretNames),
  }));
  return function judge(answer, context) {
    const read = { ...answer, root: once(() => readJson(answer.body)) };
    return ready.find(({ holds }) => holds(read, context))?.outcome(read, context);
  };
}

function compileCondition({ status, operations, contentType, body }: AnswerCondition): Condition {
  const bodyHolds = bodyCondition(body);
  return (answer, context) =>
    (status === undefined || status.includes(answer.status)) &&
    (operations === undefined || operations.includes(context.operation.id)) &&
    (contentType === undefined || contentType.includes(essenceOf(answer.headers['content-type']))) &&
    bodyHolds(answer, context);
}

function bodyCondition(body: AnswerCondition['body']): Condition {
  if (body === undefined) return () => true;
  if (body === 'empty') return (answer) => answer.body.length === 0;
  const membersHold = membersTest(body);
  return (answer, context) => membersHold(answer.root(), context);
}

function compileOutcome(then: AnswerOutcome, secretNames: ReadonlySet<string>): Outcome {
  if ('credential' in then) return () => ({ kind: 'credential' });
  if ('remove' in then) return removal(then.remove);
  const kind = then.retry ? 'retry' : 'refuse';
  return (answer, { submitted, pathValues }) => ({
    kind,
    error: toDeclaredRefusal(then, answer.root(), submittedIn(submitted, pathValues, secretNames)),
  });
}

/** A body that cannot be parsed may contain the members to remove, so it is refused. */
function removal(dottedPaths: readonly string[]): Outcome {
  const paths = dottedPaths.map(memberPath);
  return (answer) => {
    const { body } = answer;
    if (body.length === 0) return { kind: 'pass', body };
    const root = answer.root();
    if (root === undefined) return { kind: 'refuse', error: new GatewayError('upstream_bad_response') };
    const left = paths.reduce((tree, path) => changeAt(tree, path, () => undefined) as JsonNode, root);
    return { kind: 'pass', body: left === root ? body : Buffer.from(printJsonTree(left)) };
  };
}

function lastNameOf(dotted: string): string {
  return memberPath(dotted).findLast((name) => name !== '*') ?? '';
}

function essenceOf(contentType: string | string[] | undefined): string {
  const first = Array.isArray(contentType) ? contentType[0] : contentType;
  return first === undefined ? 'none' : (first.split(';', 1)[0] as string).trim().toLowerCase();
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
