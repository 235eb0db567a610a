// Applies the declared rules for the answers of one upstream. The first rule that matches decides how an answer is handled. Prepared once
// per configuration. Throws upstream_bad_response.

import { GatewayError } from '../../../catalogue/errors.ts';
import { upstreamFailure } from '../../../catalogue/upstream-failure.ts';
import { type JsonNode, printJsonTree, readJson } from '../../../shared/json-tree.ts';
import { codingOf, decodeBody, isDecodable } from '../../encoding/decode.ts';
import { firstValueOf } from '../../headers/answer-headers.ts';
import { type CompleteAnswer, JUDGED_BYTES_MAX } from '../../relay/answer-judge.ts';
import { type AddressedOperation, type MemberMatchers, membersTest } from '../matchers.ts';
import { changeAt, memberPath } from '../members.ts';
import { type RefusalRule, toDeclaredRefusal } from './refusal.ts';
import { submittedIn } from './submitted.ts';

/** The conditions of a rule. The rule matches if all given conditions hold. */
interface AnswerCondition {
  readonly status?: readonly number[] | undefined;
  /** Ids of operations. */
  readonly operations?: readonly string[] | undefined;
  /** Media types without parameters, in lower case; `none` for an answer without a media type. */
  readonly contentType?: readonly string[] | undefined;
  readonly body?: 'empty' | MemberMatchers | undefined;
}

/**
 * The effect of a rule on an answer that matches: the client gets a refusal, the credential of the gateway is treated as refused, or the
 * answer passes without the members at these paths.
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

export interface AnsweredRequest extends AddressedOperation {
  /** The JSON value that the client sent; undefined if the client sent none. */
  readonly submitted: unknown;
}

export type Judgement =
  /** The answer passes, possibly with members removed. */
  | { readonly kind: 'pass'; readonly body: Buffer }
  | { readonly kind: 'refuse'; readonly error: GatewayError }
  /** The request is sent once more. If the second answer matches, too, the client gets `error`. */
  | { readonly kind: 'repeat'; readonly error: GatewayError }
  /** The gateway's credential was refused. */
  | { readonly kind: 'credential' };

/** Applies the rules. Returns undefined if no rule matches the answer. */
export type AnswerRules = (answer: CompleteAnswer, request: AnsweredRequest) => Judgement | undefined;

/** An answer whose body is parsed once, when the first rule needs it. */
interface ReadAnswer extends CompleteAnswer {
  root(): JsonNode | undefined;
}
type Condition = (answer: ReadAnswer, request: AnsweredRequest) => boolean;
type Judge = (answer: ReadAnswer, request: AnsweredRequest) => Judgement;

/**
 * Prepares the rules of an upstream. A member that a rule removes from answers is treated as a secret in requests, too. If the upstream
 * repeats the submitted value in an error, the client does not get that value.
 */
export function createAnswerRules(rules: readonly AnswerRule[]): AnswerRules {
  const secretNames = new Set(rules.flatMap(({ then }) => ('remove' in then ? then.remove.map(lastNameOf) : [])));
  const ready = rules.map(({ when, then }) => ({
    holds: compileCondition(when),
    judge: judgeBy(then, secretNames),
  }));
  return function applyRules(answer, request) {
    const read = { ...answer, root: once(() => readJson(answer.body)) };
    return ready.find(({ holds }) => holds(read, request))?.judge(read, request);
  };
}

/**
 * Returns the answer without its content coding, so that rules can read it. The request allowed no coding
 * (upstream/headers/request-lines.ts), but an upstream may ignore that. Throws if the body of an answer below 400 cannot be decoded,
 * because a rule could not remove members that clients must not get. The body of an error is dropped instead, because the refusal can be
 * made from the status.
 */
export function decodedAnswer(answer: CompleteAnswer): CompleteAnswer {
  const coding = codingOf(answer.headers);
  if (coding === '' || answer.body.length === 0) return answer;
  const body = isDecodable(coding) ? decodeBody(answer.body, coding, JUDGED_BYTES_MAX) : 'invalid';
  if (typeof body === 'string') {
    if (answer.status >= 400) return answer;
    const cause = new Error(`content coding ${coding}, which the rules of the upstream cannot read`);
    throw upstreamFailure('upstream_bad_response', 'http_response_content_coding', cause);
  }
  return { ...answer, headers: { ...answer.headers, 'content-encoding': undefined }, body };
}

function compileCondition({ status, operations, contentType, body }: AnswerCondition): Condition {
  const bodyHolds = bodyCondition(body);
  return (answer, request) =>
    (status === undefined || status.includes(answer.status)) &&
    (operations === undefined || operations.includes(request.operation.id)) &&
    (contentType === undefined || contentType.includes(essenceOf(answer.headers['content-type']))) &&
    bodyHolds(answer, request);
}

function bodyCondition(body: AnswerCondition['body']): Condition {
  if (body === undefined) return () => true;
  if (body === 'empty') return (answer) => answer.body.length === 0;
  const membersHold = membersTest(body);
  return (answer, request) => membersHold(answer.root(), request);
}

function judgeBy(then: AnswerOutcome, secretNames: ReadonlySet<string>): Judge {
  if ('credential' in then) return () => ({ kind: 'credential' });
  if ('remove' in then) return removal(then.remove);
  const kind = then.retry ? 'repeat' : 'refuse';
  return (answer, { submitted, pathValues }) => ({
    kind,
    error: toDeclaredRefusal(then, answer.root(), submittedIn(submitted, pathValues, secretNames)),
  });
}

/** Returns a function that removes the members. It refuses a body that cannot be parsed, because such a body may contain the members. */
function removal(dottedPaths: readonly string[]): Judge {
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
  const first = firstValueOf(contentType);
  return first === undefined ? 'none' : (first.split(';', 1)[0] as string).trim().toLowerCase();
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
