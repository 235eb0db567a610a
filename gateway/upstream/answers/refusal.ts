// A declared refusal and what the upstream said → the error that the client gets. Of the upstream's text nothing passes but what the
// rule names, and that only where it cannot give away what was submitted.

import { type ErrorCode, GatewayError, REFUSALS } from '../../errors.ts';
import { typeOf } from '../upstream-errors.ts';
import type { JsonNode } from './json-tree.ts';
import { memberPath, nodeAt } from './members.ts';
import type { Submitted } from './submitted.ts';

/** A refusal as rules declare it. Members are dotted names in the upstream's body. */
export interface RefusalRule {
  readonly code: ErrorCode;
  /** In place of the code's own status: 4xx or 5xx. */
  readonly status?: number | undefined;
  /** What the error is about: a name; the value of a member; or the place in the request where the value of a member stands. */
  readonly param?: string | { readonly member: string } | { readonly submitted: string } | undefined;
  /** Further members of the error object, and the member of the body whose value each gets. */
  readonly fields?: Readonly<Record<string, string>> | undefined;
  /** The member of the body that holds the upstream's own words. */
  readonly message?: string | undefined;
  readonly retryAfterSeconds?: number | undefined;
  /** Whether the request is sent once more before it is refused. */
  readonly retry?: true | undefined;
}

const MESSAGE_LENGTH_MAX = 500;
/** Of names and values, which are not to become a message. */
const VALUE_LENGTH_MAX = 256;
/** Control characters, separators of lines, halves of characters. */
const unprintable = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u;
/** Secrets in a stored form, such as `$6$…`, `{SSHA}…` or `otpauth:`, and backslashes, behind which an escaped value may stand. */
const storedSecret = /\$[a-z0-9-]+\$|\{[a-z0-9.-]+\}|otpauth:|\\/i;

/** The error to be thrown. `body`: the upstream's, undefined unless it is JSON. */
export function toDeclaredRefusal(rule: RefusalRule, body: JsonNode | undefined, submitted: Submitted): GatewayError {
  const { code } = rule;
  const row = REFUSALS[code];
  const status = rule.status ?? row.status;
  return new GatewayError(code, {
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

function fieldsOf(rule: RefusalRule, body: JsonNode | undefined, submitted: Submitted): Record<string, string> {
  const fields: Record<string, string> = {};
  const param = paramOf(rule.param, body, submitted);
  if (param !== undefined) fields.param = param;
  for (const [name, member] of Object.entries(rule.fields ?? {})) {
    const value = valueIn(body, member, submitted);
    if (value !== undefined) fields[name] = value;
  }
  return fields;
}

function paramOf(param: RefusalRule['param'], body: JsonNode | undefined, submitted: Submitted): string | undefined {
  if (param === undefined || typeof param === 'string') return param;
  if ('member' in param) return valueIn(body, param.member, submitted);
  const named = textIn(body, param.submitted);
  if (named === undefined) return undefined;
  return submitted.placeOf(named) ?? valueIn(body, param.submitted, submitted);
}

function valueIn(body: JsonNode | undefined, member: string, submitted: Submitted): string | undefined {
  const value = textIn(body, member);
  if (value === undefined || value.length > VALUE_LENGTH_MAX || storedSecret.test(value)) return undefined;
  return submitted.isFreeOfSecrets(value) ? value : undefined;
}

function messageIn({ message }: RefusalRule, body: JsonNode | undefined, submitted: Submitted): string | undefined {
  const text = message === undefined ? undefined : textIn(body, message);
  if (text === undefined || storedSecret.test(text) || !submitted.isFree(text)) return undefined;
  return text.slice(0, MESSAGE_LENGTH_MAX);
}

function textIn(body: JsonNode | undefined, member: string): string | undefined {
  const node = nodeAt(body, memberPath(member));
  if (node?.kind !== 'scalar' || typeof node.value !== 'string' || node.value === '') return undefined;
  return unprintable.test(node.value) ? undefined : node.value;
}
