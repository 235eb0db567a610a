// Runs a call of a tool as an exchange. A request is made from the arguments and passes every stage once, with its own id, trace and log
// line. The call keeps the credential and the address of its message. Throws validation_failed beside the codes of the stages.

import { randomUUID } from 'node:crypto';
import { GatewayError } from '../catalogue/errors.ts';
import type { Configuration } from '../configuration.ts';
import { toNotes } from '../contract/violations/violation-notes.ts';
import { toFields, type Violation } from '../contract/violations/violations.ts';
import { addressOfSite } from '../edge/admission/sites.ts';
import type { BeginInternal } from '../edge/internal-exchanges.ts';
import { createErrorAnswers } from '../edge/refusal/error-answer.ts';
import type { Refusals } from '../edge/refusal/refusals.ts';
import type { Arrived, Identified } from '../exchange/exchange.ts';
import type { Operation } from '../exchange/operation.ts';
import { CollectedAnswer } from '../mcp/collected-answer.ts';
import type { ToolCall, WireRefusal } from '../mcp/endpoint.ts';
import { InternalRequest } from '../mcp/internal-request.ts';
import { COLLECTED_BYTES_MAX, isReadable, type ToolResult, toResult } from '../mcp/result.ts';
import { createOperationPipeline, type OperationSteps } from '../pipeline.ts';

export interface RunCallOptions {
  /** The steps of every operation. */
  readonly steps: OperationSteps;
  readonly begin: BeginInternal;
  readonly refuse: Refusals['refuse'];
  readonly answerBytesMax: number;
  /** The parameter of challenges with the address of the metadata; undefined if there is none. */
  readonly resource: string | undefined;
}

/** An internal request that must reach one operation. */
class CallRequest extends InternalRequest {
  expected: Operation | undefined;
  violations: readonly Violation[] = [];
}

type RunCall = (outer: Identified, call: ToolCall) => Promise<ToolResult | WireRefusal | undefined>;

export function createRunCall(configuration: Configuration, options: RunCallOptions): RunCall {
  const { steps, answerBytesMax, begin, refuse } = options;
  const { gateway, upstreams } = configuration.config;
  const errorTextOf = createErrorAnswers(gateway.publicUrl);
  const addressOf = addressOfSite(gateway.hosts, gateway.publicUrl);
  const hostOf = ({ entry }: Operation) => new URL(addressOf(upstreams[entry]?.hosts[0] ?? 'api')).host;
  const pipeline = createCallPipeline(steps);

  return async function runCall(outer, call) {
    const { tool } = call;
    const response = new CollectedAnswer({ bytesMax: COLLECTED_BYTES_MAX, wants: isReadable });
    const request = requestFor(outer, call, hostOf(tool.operation), response);
    const inner = begin(request, response, outer);
    inner.trail.note('tool', tool.name);
    inner.trail.note('within', outer.id);
    const leave = () => void response.destroy();
    outer.response.once('close', leave);
    const closed = new Promise<void>((resolve) => response.once('close', resolve));
    let refusal: unknown;
    pipeline(inner).catch((error: unknown) => {
      refusal = error;
      refuse(inner, error);
    });
    await closed;
    outer.response.off('close', leave);
    return stepUpOf(outer, inner, refusal) ?? resultFor(inner, response, call);
  };

  function resultFor(inner: Arrived, response: CollectedAnswer, { tool }: ToolCall): ToolResult | undefined {
    try {
      return toResult(response, tool, { answerBytesMax, requestId: inner.id });
    } catch (thrown) {
      if (!(thrown instanceof GatewayError)) throw thrown;
      const { text, status } = errorTextOf(thrown, false, inner.id);
      const structuredContent = JSON.parse(text) as Record<string, unknown>;
      const _meta = { 'gateway/request_id': inner.id, 'gateway/status': status };
      return { content: [{ type: 'text', text }], structuredContent, isError: true, _meta };
    }
  }

  /**
   * Returns the HTTP refusal for a client whose token lacks a scope. Its challenge tells the client to request a token with more scopes.
   * Returns undefined for keys, because a client cannot request more scopes for a key.
   */
  function stepUpOf({ caller }: Identified, inner: Arrived, refusal: unknown): WireRefusal | undefined {
    if (!(refusal instanceof GatewayError) || refusal.code !== 'insufficient_scope') return undefined;
    if (caller.issuer === undefined || options.resource === undefined) return undefined;
    const error = new GatewayError(refusal.code, { ...refusal.details, challenge: options.resource });
    const { status, headers, text } = errorTextOf(error, false, inner.id);
    const challenges = headers.flatMap((name, at) =>
      at % 2 === 0 && name === 'WWW-Authenticate' ? [name, headers[at + 1] as string] : [],
    );
    return { status, headers: challenges, error: (JSON.parse(text) as { error: unknown }).error };
  }
}

/** Returns the pipeline of calls, which refuses a request that does not reach the operation of its tool. */
function createCallPipeline(steps: OperationSteps) {
  return createOperationPipeline({
    ...steps,
    /**
     * Checks that the path belongs to the operation. The path is made from the arguments, and a crafted argument could lead to another
     * operation, which may be closed to agents.
     */
    match(admitted) {
      const request = admitted.request as CallRequest;
      const expected = request.expected as Operation;
      if (request.violations.length === 0) {
        const matched = steps.match(admitted);
        if (matched.operation === expected) return matched;
        request.violations = [ELSEWHERE];
      }
      admitted.trail.operation = expected;
      return { ...admitted, operation: expected, pathValues: [] };
    },
    validate(counted) {
      const { violations } = counted.request as CallRequest;
      if (violations.length === 0) return steps.validate(counted);
      const declared = violations.flatMap((one) => (one.in === 'body' ? [] : one.param));
      counted.trail.violations = toNotes(violations, new Set(declared));
      throw new GatewayError('validation_failed', { fields: toFields(violations) });
    },
  });
}

function requestFor(outer: Identified, { tool, callKey, given }: ToolCall, host: string, response: CollectedAnswer) {
  const { operation } = tool;
  const written = tool.source.write(given);
  const { method, target, body } = written;
  const headers = new Map([['host', host], ...written.headers]);
  const credential = outer.headers.get('authorization');
  if (credential !== undefined) headers.set('authorization', credential);
  if (body !== undefined) headers.set('content-length', String(body.length));
  const key = written.idempotencyKey ?? callKey ?? (operation.idempotency === 'required' ? randomUUID() : undefined);
  if (key !== undefined && operation.idempotency !== 'off') headers.set('idempotency-key', key);
  const request = new CallRequest({ method, target, headers, body, address: outer.clientAddress, response });
  request.expected = operation;
  request.violations = written.violations as readonly Violation[];
  return request;
}

const ELSEWHERE: Violation = {
  in: 'path',
  param: '',
  code: 'not_allowed',
  message: 'The values of the path lead to another operation.',
};
