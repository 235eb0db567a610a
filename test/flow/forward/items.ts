// A contract with every method on one path, so that only the method differs, and requests that can be distinguished upstream.

import { requestOf } from '../../support/connection.ts';

export const methods = ['GET', 'HEAD', 'PUT', 'DELETE', 'POST', 'PATCH'] as const;
export type Method = (typeof methods)[number];

const idempotent: ReadonlySet<string> = new Set(['GET', 'HEAD', 'PUT', 'DELETE']);
const json = { 'application/json': { schema: { type: 'object' } } };

function operationOf(method: string): object {
  const hasBody = ['PUT', 'POST', 'PATCH'].includes(method);
  return {
    operationId: `${method.toLowerCase()}Item`,
    security: [{ apiKey: [method === 'GET' ? 'items:read' : 'items:write'] }],
    parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }],
    ...(hasBody ? { requestBody: { required: true, content: json } } : {}),
    responses: { 200: { description: 'done', content: json } },
  };
}

/** The addition to the contract of things. */
export const itemPaths: Record<string, object> = {
  '/v1/items/{id}': Object.fromEntries(
    methods.filter((method) => method !== 'HEAD').map((method) => [method.toLowerCase(), operationOf(method)]),
  ),
};

export interface ItemRequest {
  readonly method: Method;
  readonly keyed: boolean;
  /** The upstream recognises the request by this, however often it comes. */
  readonly id: string;
}

let made = 0;

/** Every method, with and without an Idempotency-Key. */
export function itemRequests(): ItemRequest[] {
  return methods.flatMap((method) =>
    [false, true].map((keyed) => {
      made += 1;
      return { method, keyed, id: `item-${made}` };
    }),
  );
}

/** Whether the answer leaves only when it is whole: HEAD has no body, and an answer to be kept is kept first. */
export function isHeld({ method, keyed }: ItemRequest): boolean {
  return method === 'HEAD' || (keyed && (method === 'POST' || method === 'PATCH'));
}

/** Whether the gateway may send it again although an upstream may have carried it out. */
export function isSafe({ method, keyed }: ItemRequest, honoursIdempotencyKey: boolean): boolean {
  return idempotent.has(method) || (keyed && honoursIdempotencyKey);
}

export function bytesOf({ method, keyed, id }: ItemRequest, authorization: string): Buffer {
  const body = ['PUT', 'POST', 'PATCH'].includes(method) ? '{"a":1}' : undefined;
  return requestOf(
    `${method} /v1/items/${id}`,
    {
      Authorization: authorization,
      ...(body ? { 'Content-Type': 'application/json' } : {}),
      ...(keyed ? { 'Idempotency-Key': `key-of-${id}` } : {}),
    },
    body,
  );
}

/** How many of these requests, as they came over the wire, are this one. */
export function timesOf({ id }: ItemRequest, received: readonly string[]): number {
  return received.filter((text) => text.includes(`/v1/items/${id} `)).length;
}
