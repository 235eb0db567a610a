// A foreign document behind a gateway, added by an entry in upstreams.yaml alone, before an upstream that accepts everything.

import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { type Recorded, startUpstream } from '../../support/upstream.ts';

export interface ForeignGateway {
  readonly gateway: TestGateway;
  /** Sends with a key that is let in. A body that is neither text, bytes nor a form is sent as JSON. */
  send(method: string, path: string, options?: SendOptions): Promise<Outcome>;
  stop(): Promise<void>;
}

export interface SendOptions {
  readonly body?: unknown;
  readonly type?: string;
  readonly headers?: Record<string, string>;
}

export interface Outcome {
  readonly status: number;
  readonly code: string | undefined;
  /** `place pointer-or-name code`, sorted. */
  readonly violations: readonly string[] | undefined;
  /** The request as the upstream got it; nothing for a refused request. */
  readonly reached: Recorded | undefined;
}

/** `says` holds members of its entry in upstreams.yaml. */
export async function serveForeign(
  document: object,
  says: { readonly answers?: readonly string[]; readonly [key: string]: unknown } = {},
): Promise<ForeignGateway> {
  const { answers = ['application/json'], ...entry } = says;
  const upstream = await startUpstream(({ headers }, response) => {
    const wanted = answers.find((type) => String(headers.accept ?? '').startsWith(type)) ?? (answers[0] as string);
    response.setHeader('content-type', wanted);
    response.end(wanted.endsWith('json') ? '{}' : 'x');
  });
  const gateway = await startGateway({
    contracts: { 'foreign.json': document },
    upstreams: {
      foreign: { contracts: ['foreign.json'], live: upstream.url, security: { apiKey: ['foreign:write'] }, ...entry },
    },
  }).catch(async (error) => {
    await upstream.close();
    throw error;
  });
  const { authorization } = await gateway.authorize({ scopes: ['foreign:write'] });

  async function send(method: string, path: string, { body, type, headers = {} }: SendOptions = {}): Promise<Outcome> {
    const before = upstream.requests.length;
    const isForm = body instanceof FormData || body instanceof URLSearchParams;
    const isRaw = body === undefined || typeof body === 'string' || body instanceof Uint8Array || isForm;
    const sent = isRaw ? (body as string | Uint8Array | FormData | URLSearchParams | undefined) : JSON.stringify(body);
    const contentType = sent === undefined || isForm ? {} : { 'content-type': type ?? 'application/json' };
    const answer = await fetch(`${gateway.url}${path}`, {
      method,
      headers: { authorization, ...contentType, ...headers },
      ...(sent === undefined ? {} : { body: sent }),
    });
    const text = await answer.text();
    const error = text.startsWith('{"error"') ? JSON.parse(text).error : undefined;
    return {
      status: answer.status,
      code: error?.code,
      violations: error?.errors
        ?.map((one: Record<string, string>) => `${one.in} ${one.pointer ?? one.param} ${one.code}`)
        .sort(),
      reached: upstream.requests.length > before ? upstream.requests.at(-1) : undefined,
    };
  }

  return {
    gateway,
    send,
    async stop() {
      await gateway.stop();
      await upstream.close();
    },
  };
}
