// Declared rules for the answers of one upstream: the first that matches decides what becomes of an answer. Made ready at boot.

import { GatewayError } from '../../errors.ts';
import type { AnswerHeaders } from '../headers.ts';
import { type JsonNode, printJsonTree, readJson } from './json-tree.ts';
import { type Addressed, type MemberMatchers, membersTest } from './matchers.ts';
import { changeAt, memberPath } from './members.ts';
import { type RefusalRule, toDeclaredRefusal } from './refusal.ts';
import { submittedIn } from './submitted.ts';

/** All that is given must hold. */
export interface AnswerCondition {
  readonly status?: readonly number[] | undefined;
  /** Ids of operations. */
  readonly operations?: readonly string[] | undefined;
  /** Media types without parameters, in lower case; `none` for an answer without one. */
  readonly contentType?: readonly string[] | undefined;
  readonly body?: 'empty' | MemberMatchers | undefined;
}

/** A refusal; our credential was refused; or the answer passes without the members at these paths. */
export type AnswerOutcome =
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

/** An answer of which the client has seen nothing yet. */
export interface HeldAnswer {
  readonly status: number;
  readonly headers: AnswerHeaders;
  readonly body: Buffer;
}

export interface AskedOf extends Addressed {
  /** The JSON value the client sent, undefined without one. */
  readonly submitted: unknown;
}

export type Judgement =
  /** Possibly with members removed. */
  | { readonly kind: 'pass'; readonly body: Buffer }
  | { readonly kind: 'refuse'; readonly error: GatewayError }
  /** Once; the error if it happens again. */
  | { readonly kind: 'retry'; readonly error: GatewayError }
  /** Our credential was refused. */
  | { readonly kind: 'credential' }
  /** No rule matched: the general handling decides. */
  | undefined;

export type Judge = (answer: HeldAnswer, asked: AskedOf) => Judgement;

/** An answer with its body read at most once, when the first rule asks for it. */
interface Read extends HeldAnswer {
  root(): JsonNode | undefined;
}
type Condition = (answer: Read, asked: AskedOf) => boolean;
type Outcome = (answer: Read, asked: AskedOf) => Judgement;

/**
 * The judge of an upstream. Names that some rule removes from answers are taken for names of secrets in requests too: what is submitted
 * there never reaches an error, even if the upstream repeats it.
 */
export function createJudge(rules: readonly AnswerRule[]): Judge {
  const secretNames = new Set(rules.flatMap(({ then }) => ('remove' in then ? then.remove.map(lastNameOf) : [])));
  const ready = rules.map(({ when, then }) => ({ holds: toCondition(when), outcome: toOutcome(then, secretNames) }));
  return function judge(answer, asked) {
    const read = { ...answer, root: once(() => readJson(answer.body)) };
    return ready.find(({ holds }) => holds(read, asked))?.outcome(read, asked);
  };
}

function toCondition({ status, operations, contentType, body }: AnswerCondition): Condition {
  const bodyHolds = bodyCondition(body);
  return (answer, asked) =>
    (status === undefined || status.includes(answer.status)) &&
    (operations === undefined || operations.includes(asked.operation.id)) &&
    (contentType === undefined || contentType.includes(essenceOf(answer.headers['content-type']))) &&
    bodyHolds(answer, asked);
}

function bodyCondition(body: AnswerCondition['body']): Condition {
  if (body === undefined) return () => true;
  if (body === 'empty') return (answer) => answer.body.length === 0;
  const membersHold = membersTest(body);
  return (answer, asked) => membersHold(answer.root(), asked);
}

function toOutcome(then: AnswerOutcome, secretNames: ReadonlySet<string>): Outcome {
  if ('credential' in then) return () => ({ kind: 'credential' });
  if ('remove' in then) return removal(then.remove);
  const kind = then.retry ? 'retry' : 'refuse';
  return (answer, { submitted, pathValues }) => ({
    kind,
    error: toDeclaredRefusal(then, answer.root(), submittedIn(submitted, pathValues, secretNames)),
  });
}

/** What cannot be read cannot be rid of anything, so it does not pass. */
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
