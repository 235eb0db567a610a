// A receiver of alerts on loopback: an HTTP server that verifies the signature of each message as a receiver of Standard Webhooks does.

import assert from 'node:assert/strict';
import { createHmac, randomBytes } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { AlertNote } from '../../gateway/alerts/message.ts';

interface Delivered {
  readonly id: string;
  readonly type: string;
  readonly gateway: string;
  readonly alerts: readonly (AlertNote & { readonly dedup_key: string })[];
}

/**
 * Starts a receiver of alerts.
 *
 * @param answer its answer; by default 204
 * @param now the clock of the gateways
 */
export async function startAlertReceiver(
  answer: (response: ServerResponse, attempt: number) => void = (response) => response.writeHead(204).end(),
  now: () => number = Date.now,
) {
  const key = randomBytes(32);
  const delivered: Delivered[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    const id = String(request.headers['webhook-id']);
    const at = String(request.headers['webhook-timestamp']);
    assert.ok(Math.abs(now() / 1000 - Number(at)) < 60, 'its timestamp is that of now');
    const signature = `v1,${createHmac('sha256', key).update(`${id}.${at}.${text}`).digest('base64')}`;
    assert.equal(request.headers['webhook-signature'], signature);
    const { type, data } = JSON.parse(text);
    delivered.push({ id, type, ...data });
    answer(response, delivered.length);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    /** The secret for the secrets store. */
    secret: `whsec_${key.toString('base64')}`,
    delivered,
    /** Returns `state id` of each cause of each message. */
    told: () => delivered.map(({ alerts }) => alerts.map(({ state, id }) => `${state} ${id}`)),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
