// Sends requests to one address of an upstream as the gateway does, with the same headers, the same assertion or credential, and the same
// rules.

import { randomBytes } from 'node:crypto';
import { isConnectionLost } from '../../catalogue/upstream-failure.ts';
import type { UpstreamEntry } from '../../config/upstreams/upstreams-file.ts';
import type { ContractOperation } from '../../contract/operations/operations.ts';
import type { Caller } from '../../exchange/caller.ts';
import type { Checked } from '../../exchange/exchange.ts';
import { ask, type WholeAnswer } from '../../http1/client/ask.ts';
import type { TlsSettings } from '../../http1/client/connect.ts';
import type { AnswerHeaders, Outgoing } from '../../http1/client/wire.ts';
import type { Awaitable } from '../../shared/awaitable.ts';
import { credentialFieldsOf } from '../../shared/http/owned-headers.ts';
import { isIdempotent } from '../../shared/http/words.ts';
import type { CredentialHeader } from '../../upstream/credentials/credential-kinds.ts';
import { codingOf, decodeBody } from '../../upstream/encoding/decode.ts';
import { upstreamFieldLines } from '../../upstream/headers/request-lines.ts';
import { filledTemplate } from '../../upstream/path.ts';
import { JUDGED_BYTES_MAX } from '../../upstream/relay/answer-judge.ts';
import { type AnsweredRequest, createAnswerRules, type Judgement } from '../../upstream/rules/answers/answer-rules.ts';
import { recordRequest } from '../../upstream/rules/requests/record-request.ts';
import { createRewrite, type Rewritten } from '../../upstream/rules/requests/rewrite.ts';
import { createPools } from '../../upstream/targets/pools.ts';
import { reasonOf } from '../finding.ts';

export interface BackendRequest {
  readonly entry: ContractOperation;
  /** Decoded, in template order. */
  readonly pathValues: readonly string[];
  /** Encoded query with question mark, or empty. */
  readonly search: string;
  /** Lower-case name → value, as a client would send them. */
  readonly headers: ReadonlyMap<string, string>;
  /** The body as a JSON value; undefined if it is not JSON. */
  readonly body?: unknown;
  /** A body of another media type. */
  readonly bytes?: Buffer | undefined;
  /** Overrides the method of the operation. */
  readonly method?: string;
  readonly path?: string;
  /** Sends no credential. */
  readonly anonymous?: true;
}

export interface BackendAnswer {
  readonly asked: BackendRequest;
  /** 0 without an answer. */
  readonly status: number;
  readonly headers: AnswerHeaders;
  readonly body: Buffer;
  /** Milliseconds from sending to the last byte. */
  readonly ms: number;
  /** Reason for the missing answer. */
  readonly problem?: string;
  /** Whether the request timed out before the answer. */
  readonly isLate?: boolean;
  /** Result of the rules under `answers`. */
  readonly judgement: Judgement | undefined;
}

/** Returns the status for clients, after the rules under `answers` were applied. */
export function statusOf({ status, judgement }: BackendAnswer): number {
  if (judgement?.kind !== 'refuse' && judgement?.kind !== 'repeat') return status;
  const { details, entry } = judgement.error;
  return details.words?.status ?? entry.status;
}

/** Parses a body; undefined if it is not JSON. */
export function jsonIn(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}

export interface Backend {
  /** Rejects only if the request cannot be built, for example without a credential. */
  send(asked: BackendRequest): Promise<BackendAnswer>;
  /** Returns the number of connections that were opened. */
  connections(): number;
  /** Returns the assertions and credentials that were sent. Answers must not contain them. */
  proofs(): readonly string[];
  close(): void;
}

interface BackendOptions {
  /** `http://host:port` */
  readonly origin: string;
  readonly entry: UpstreamEntry;
  readonly tls: TlsSettings | undefined;
  readonly caller: Caller;
  readonly scheme: string;
  /** Returns undefined if the upstream uses a credential instead. */
  assertion(): Awaitable<string> | undefined;
  /** Returns the header of the credential. Throws if the credential cannot be used. */
  readonly credential?: (() => CredentialHeader) | undefined;
}

interface BackendOutgoing extends Outgoing {
  readonly recordRead: Rewritten['recordRead'];
}

/** The client address in the requests, which is reserved for documentation (RFC 5737). */
const CLIENT_ADDRESS = '192.0.2.1';

export function createBackend(options: BackendOptions): Backend {
  const { origin, entry, tls } = options;
  const { connectTimeoutMs, connectionMaxAgeSeconds, timeoutMs } = entry;
  const settings = { connections: 1, connectTimeoutMs, connectionMaxAgeSeconds, tls };
  const client = createPools().single(origin, settings);
  const applyRules = createAnswerRules(entry.answers);
  const proofs = new Set<string>();
  const outgoing = createOutgoing(options, (proof) => proofs.add(proof));

  /**
   * Sends a request. A service may close a kept connection while the next request is on its way. Like the gateway, the trial then retries
   * the request if its method allows a retry, because such a lost request is not a fault of the service.
   */
  async function answerTo(request: Outgoing, signal: AbortSignal): Promise<WholeAnswer> {
    const openedBefore = client.openedCount;
    try {
      return await ask(client, request, signal);
    } catch (error) {
      const wasKept = openedBefore > 0 && client.openedCount === openedBefore;
      if (!wasKept || !isConnectionLost(error) || !isIdempotent(request.method)) throw error;
      return ask(client, request, signal);
    }
  }

  /** Returns the answer to a request, or to the read before it if the read fails. */
  async function exchange({ recordRead, ...request }: BackendOutgoing, asked: BackendRequest) {
    const signal = AbortSignal.timeout(timeoutMs);
    const { operation } = asked.entry;
    const addressed = { operation, pathValues: asked.pathValues, submitted: asked.body };
    if (recordRead === undefined) return judge(await answerTo(request, signal), addressed);
    const [path = ''] = request.path.split('?', 1);
    const record = await answerTo(recordRequest(request, path), signal);
    const read = judge(record, { ...addressed, operation: recordRead.operation });
    const { judgement } = read;
    if (record.status >= 400 || (judgement !== undefined && judgement.kind !== 'pass')) return read;
    return judge(await answerTo({ ...request, body: recordRead.bodyFrom(read.body) }, signal), addressed);
  }

  function judge({ status, headers, body: received }: WholeAnswer, addressed: AnsweredRequest) {
    const body = addressed.operation.answerCheck === 'refuse' ? received : decodedIfPossible(headers, received);
    return { status, headers, body, judgement: applyRules({ status, headers, body }, addressed) };
  }

  async function send(asked: BackendRequest): Promise<BackendAnswer> {
    const request = await outgoing(asked);
    const startedAt = performance.now();
    try {
      const answer = await exchange(request, asked);
      return { asked, ...answer, ms: performance.now() - startedAt };
    } catch (error) {
      const ms = performance.now() - startedAt;
      const { name, code } = error as Error & { readonly code?: unknown };
      const isLate = name === 'TimeoutError' || code === 'WIRE_CONNECT_TIMEOUT';
      const problem = name === 'TimeoutError' ? `no answer within ${timeoutMs} ms` : reasonOf(error);
      return { asked, status: 0, headers: {}, body: Buffer.alloc(0), ms, problem, isLate, judgement: undefined };
    }
  }

  return { send, connections: () => client.openedCount, proofs: () => [...proofs], close: () => client.destroy() };
}

/** Returns the function that makes the request to the service. @param onProof called with each assertion and each credential */
function createOutgoing(options: BackendOptions, onProof: (proof: string) => void) {
  const { entry } = options;
  const rewrite = createRewrite(entry.requests);

  return async function outgoing(asked: BackendRequest): Promise<BackendOutgoing> {
    const { operation } = asked.entry;
    const json = asked.body === undefined ? undefined : Buffer.from(JSON.stringify(asked.body));
    const rawBody = asked.bytes ?? json;
    const path = filledTemplate(operation, asked.pathValues);
    const checked = { ...options, ...asked, operation, path, rawBody, clientAddress: CLIENT_ADDRESS };
    const assertion = await options.assertion();
    const traceparent = `00-${randomBytes(16).toString('hex')}-${randomBytes(8).toString('hex')}-00`;
    const id = `req_try${randomBytes(8).toString('hex')}`;
    const credential = asked.anonymous ? undefined : options.credential?.();
    const { sendClientAddress } = entry;
    const identity = {
      assertion,
      credentialHeaders: entry.credential && credentialFieldsOf(entry.credential),
      traceparent,
      sendClientAddress,
    };
    const fieldLines = upstreamFieldLines({ ...checked, id }, identity, true);
    const headers: string[] = [];
    if (assertion !== undefined) onProof(assertion);
    if (credential !== undefined) {
      headers.push(...credential.fields);
      for (const [index, value] of credential.fields.entries()) if (index % 2 === 1) onProof(value);
    }
    const rewritten = await rewrite(operation)?.(checked as unknown as Checked);
    const own = operation.upstreamPrefix + path.slice(operation.publicPrefix.length);
    return {
      method: asked.method ?? operation.method,
      path: encodeTarget((asked.path ?? rewritten?.path ?? own) + asked.search),
      fieldLines,
      headers,
      body: rewritten === undefined ? (rawBody ?? null) : (rewritten.body ?? null),
      recordRead: rewritten?.recordRead,
    };
  };
}

/** Encodes a target as clients do, because a template may contain characters between its parameters that need encoding, such as spaces. */
function encodeTarget(target: string): string {
  return target.replace(/[^!-~]+/gu, (text) => encodeURIComponent(text.toWellFormed()));
}

/** Decodes a body, because a service may encode its answer although the request did not accept a coding. */
function decodedIfPossible(headers: AnswerHeaders, body: Buffer): Buffer {
  const decoded = decodeBody(body, codingOf(headers), JUDGED_BYTES_MAX);
  return typeof decoded === 'string' ? body : decoded;
}
