// Starts a gateway with the shipped contract of its own operations, and sends requests for them.

import { type GatewayOptions, startGateway, type TestGateway } from './gateway.ts';

/** The entry in config/upstreams.yaml, without its limit. */
export const OWN_ENTRY = { gateway: { contracts: ['gateway/*.yaml'], live: 'gateway:', timeoutMs: 20_000 } };

export interface AdministrationAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The parsed body. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of all operations.
  readonly body: any;
}

interface AdministrationRequest {
  readonly key?: string | undefined;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** @param line method and path, `GET /gateway/v1/keys?limit=2` */
export type Administer = (line: string, request?: AdministrationRequest) => Promise<AdministrationAnswer>;

export function administerAt({ url }: Pick<TestGateway, 'url'>): Administer {
  return async (line, { key, body, headers = {} } = {}) => {
    const [method = '', path = ''] = line.split(' ');
    const answer = await fetch(url + path, {
      method,
      headers: {
        ...(key !== undefined && { authorization: `Bearer ${key}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    const isJson = answer.headers.get('content-type')?.includes('json') === true && text !== '';
    return { status: answer.status, headers: answer.headers, text, body: isJson ? JSON.parse(text) : undefined };
  };
}

export async function startAdministration(options: GatewayOptions = {}) {
  const gateway = await startGateway({ upstreams: OWN_ENTRY, ...options });
  return { gateway, administer: administerAt(gateway), stop: gateway.stop };
}
