// Builds the error for the client from a declared refusal and the answer of the upstream. A member of that answer is copied only if the
// rule names it and it cannot reveal a submitted secret.

import { type ErrorCode, GatewayError, REFUSALS } from '../../../catalogue/errors.ts';
import type { JsonNode } from '../../../shared/json-tree.ts';
import { hasInternals, publicSentence } from '../../errors/public-text.ts';
import { typeOf } from '../../errors/upstream-errors.ts';
import { memberPath, nodeAt } from '../members.ts';
import type { SubmittedText } from './submitted.ts';

/** A refusal as declared in rules. Members are dotted names in the upstream's body. */
export interface RefusalRule {
  readonly code: ErrorCode;
  /** Replaces the status of the code: 4xx or 5xx. */
  readonly status?: number | undefined;
  /** The `param` of the error: a fixed name, the value of a member, or the place in the request that contains the value of a member. */
  readonly param?: string | { readonly member: string } | { readonly submitted: string } | undefined;
  /** Other members of the error object, each with the body member that supplies its value. */
  readonly fields?: Readonly<Record<string, string>> | undefined;
  /** The body member that supplies the message. */
  readonly message?: string | undefined;
  readonly retryAfterSeconds?: number | undefined;
  /** The request is sent once more before it is refused. */
  readonly retry?: true | undefined;
}

/** The length of the longest name or value that is copied. Anything longer is a text, and texts may stand only in `message`. */
const VALUE_LENGTH_MAX = 256;
/** Control characters, line separators, lone surrogates. */
const UNPRINTABLE = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u;
/** Stored forms of secrets, such as `$6$…`, `{SSHA}…` or `otpauth:`, and backslashes, which may hide an escaped value. */
const STORED_SECRET = /\$[a-z0-9-]+\$|\{[a-z0-9.-]+\}|otpauth:|\\/i;

/** Returns the error to throw. `body` is the parsed body of the upstream; undefined if it is not JSON. */
export function toDeclaredRefusal(
  rule: RefusalRule,
  body: JsonNode | undefined,
  submitted: SubmittedText,
): GatewayError {
  const { code } = rule;
  const row = REFUSALS[code];
  const status = rule.status ?? row.status;
  return new GatewayError(code, {
    refusedByUpstream: true,
    words: {
      status,
      type: status === row.status ? row.type : typeOf(status),
      code,
      message: messageIn(rule, body, submitted) ?? row.message,
    },
    fields: fieldsOf(rule, body, submitted),
    ...(rule.retryAfterSeconds === undefined ? {} : { retryAfterSeconds: rule.retryAfterSeconds }),
  });
}

function fieldsOf(rule: RefusalRule, body: JsonNode | undefined, submitted: SubmittedText): Record<string, string> {
  const fields: Record<string, string> = {};
  const param = paramOf(rule.param, body, submitted);
  if (param !== undefined) fields.param = param;
  for (const [name, member] of Object.entries(rule.fields ?? {})) {
    const value = valueIn(body, member, submitted);
    if (value !== undefined) fields[name] = value;
  }
  return fields;
}

function paramOf(
  param: RefusalRule['param'],
  body: JsonNode | undefined,
  submitted: SubmittedText,
): string | undefined {
  if (param === undefined || typeof param === 'string') return param;
  if ('member' in param) return valueIn(body, param.member, submitted);
  const named = textIn(body, param.submitted);
  if (named === undefined) return undefined;
  return submitted.placeOf(named) ?? valueIn(body, param.submitted, submitted);
}

function valueIn(body: JsonNode | undefined, member: string, submitted: SubmittedText): string | undefined {
  const value = textIn(body, member);
  if (value === undefined || value.length > VALUE_LENGTH_MAX) return undefined;
  if (STORED_SECRET.test(value) || hasInternals(value)) return undefined;
  return submitted.isFreeOfSecrets(value) ? value : undefined;
}

function messageIn({ message }: RefusalRule, body: JsonNode | undefined, submitted: SubmittedText): string | undefined {
  const text = message === undefined ? undefined : textIn(body, message);
  if (text === undefined || STORED_SECRET.test(text) || !submitted.isFree(text)) return undefined;
  return publicSentence(text);
}

function textIn(body: JsonNode | undefined, member: string): string | undefined {
  const node = nodeAt(body, memberPath(member));
  if (node?.kind !== 'scalar' || typeof node.value !== 'string' || node.value === '') return undefined;
  return UNPRINTABLE.test(node.value) ? undefined : node.value;
}
