// Rules as an operator writes them, made ready through the shape of the configuration file, and requests to hold against them.

import { parse } from 'yaml';
import type { GatewayError } from '../../../gateway/catalogue/errors.ts';
import { answerRules, requestRules } from '../../../gateway/config/upstreams/rules.ts';
import type { Checked, Forwardable as Fresh } from '../../../gateway/exchange/exchange.ts';
import type { Operation } from '../../../gateway/exchange/operation.ts';
import {
  type AnsweredRequest,
  createAnswerRules,
  type Judgement,
} from '../../../gateway/upstream/rules/answers/answer-rules.ts';
import { createRewrite, type Rewritten } from '../../../gateway/upstream/rules/requests/rewrite.ts';
import { operationFor } from '../contract/operations.ts';

export function operation(id: string, path = '/things/{name}', prefixes: Partial<Operation> = {}): Operation {
  return { ...operationFor('PATCH', path), id, ...prefixes };
}

interface Asking extends Partial<AnsweredRequest> {
  readonly status?: number;
  readonly contentType?: string | undefined;
}

/** The result of declared rules for one answer; `body` is sent unchanged if it is text or bytes. */
export function judged(rules: string, body: unknown, asking: Asking = {}): Judgement | undefined {
  const { status = 200, submitted } = asking;
  const contentType = 'contentType' in asking ? asking.contentType : 'application/json';
  const bytes = Buffer.isBuffer(body) ? body : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  return createAnswerRules(answerRules.parse(parse(rules)))(
    { status, headers: { 'content-type': contentType }, body: bytes },
    { operation: asking.operation ?? operation('updateThing'), pathValues: asking.pathValues ?? ['Chair'], submitted },
  );
}

/** A request without a token or a body, whose refusal comes from the upstream. */
export function refused(method = 'POST'): Fresh {
  const caller = { issuer: undefined };
  return {
    method,
    headers: new Map(),
    operation: operation('updateThing'),
    caller,
    rawBody: undefined,
  } as unknown as Fresh;
}

/** The error of a judgement that refuses. */
export function errorOf(judgement: Judgement | undefined): GatewayError | undefined {
  return judgement?.kind === 'refuse' || judgement?.kind === 'repeat' ? judgement.error : undefined;
}

/** The body of an answer that passes. */
export function passed(judgement: Judgement | undefined): string | undefined {
  return judgement?.kind === 'pass' ? judgement.body.toString() : undefined;
}

interface Sending {
  readonly operation?: Operation;
  readonly path?: string;
  readonly pathValues?: readonly string[];
}

/** The result of declared rules for one request; undefined if they do not change its operation. */
export async function rewritten(
  rules: string,
  body: Buffer | string | undefined,
  { operation: of = operation('updateThing'), path = '/things/Chair', pathValues = ['Chair'] }: Sending = {},
): Promise<Rewritten | undefined> {
  const rawBody = body === undefined ? undefined : Buffer.from(body);
  const change = createRewrite(requestRules.parse(parse(rules)))(of);
  return change?.({ operation: of, path, pathValues, rawBody } as unknown as Checked);
}
