// Checks the origin and the caller of a message to the endpoint for agents. Throws origin_not_allowed and the codes of `authenticate`. A
// 401 tells the client where to get a token.

import { callerRefusal } from '../auth/authorize.ts';
import { GatewayError } from '../catalogue/errors.ts';
import { authorityOf } from '../edge/admission/sites.ts';
import type { Admitted, Arrived, Identified, Matched } from '../exchange/exchange.ts';
import type { Operation } from '../exchange/operation.ts';
import type { Steps } from '../pipeline.ts';

interface AgentAdmissionOptions {
  /** Path of the endpoint. */
  readonly path: string;
  readonly publicUrl: string;
  /** Whether some tool can be called without a credential. */
  readonly hasPublic: boolean;
  /** The challenge of a 401; undefined if no issuer is configured. */
  readonly challenge: string | undefined;
  readonly authenticate: Steps['authenticate'];
  /** Whether the request is from a page that `cors` trusts. */
  trusts(arrived: Arrived): boolean;
  now(): number;
}

interface AgentAdmission {
  checkOrigin(arrived: Arrived): void;
  identify(admitted: Admitted): Promise<Identified>;
}

const LOOPBACK = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?$/;

export function createAgentAdmission(options: AgentAdmissionOptions): AgentAdmission {
  const { authenticate, trusts, hasPublic, challenge, now } = options;
  const ownOrigin = new URL(options.publicUrl).origin;
  const [forCallers, forAnybody] = [endpointOperation(options.path, false), endpointOperation(options.path, true)];

  /**
   * A browser sends the origin of a page with every message. Without this check, a foreign page could call tools through the browser of a
   * person whose network reaches the gateway.
   */
  function checkOrigin(arrived: Arrived): void {
    const { origin } = arrived.request.headers;
    if (origin === undefined || origin === ownOrigin || trusts(arrived)) return;
    const host = authorityOf(arrived.request) ?? '';
    if (LOOPBACK.test(host) && (origin === `http://${host}` || origin === `https://${host}`)) return;
    throw new GatewayError('origin_not_allowed');
  }

  async function identify(admitted: Admitted): Promise<Identified> {
    const { trail } = admitted;
    const isAnonymous = hasPublic && !admitted.headers.has('authorization');
    const matched: Matched = { ...admitted, operation: isAnonymous ? forAnybody : forCallers, pathValues: [] };
    trail.stage = 'authenticate';
    try {
      const identified = await authenticate(matched);
      trail.noteEnd('authenticate');
      trail.stage = 'authorize';
      const refusal = callerRefusal(identified.caller, admitted.clientAddress, now());
      if (refusal !== undefined) throw new GatewayError(refusal);
      return identified;
    } catch (thrown) {
      if (!(thrown instanceof GatewayError) || challenge === undefined || thrown.entry.status !== 401) throw thrown;
      throw new GatewayError(thrown.code, { ...thrown.details, challenge });
    }
  }

  return { checkOrigin, identify };
}

/**
 * Returns an operation that stands for the endpoint and names the credentials that it accepts, because `authenticate` expects an operation.
 * No request is forwarded to this operation.
 */
function endpointOperation(path: string, isPublic: boolean): Operation {
  return Object.freeze({
    id: 'mcp',
    qualifiedId: 'gateway.mcp',
    method: 'POST',
    path,
    version: undefined,
    restOfPath: undefined,
    pathStyles: new Map(),
    upstream: '',
    entry: '',
    timeoutMs: undefined,
    publicPrefix: '',
    upstreamPrefix: '',
    contract: '',
    provesCredential: false,
    cost: 1,
    extraLimit: undefined,
    idempotency: 'off',
    once: undefined,
    body: 'buffer',
    undeclaredQuery: 'refuse',
    streams: false,
    webSocket: false,
    answerCheck: 'off',
    ranges: false,
    undeclaredMediaTypes: 'off',
    forwardsToken: false,
    requestHeaders: [],
    responseHeaders: new Set<string>(),
    externalReferences: new Set<string>(),
    cookies: undefined,
    security: isPublic ? [] : ([{ scheme: 'apiKey', scopes: [] }] as const),
  } as const);
}
