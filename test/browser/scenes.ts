// What the console is looked at with: a gateway whose operators had a quiet hour and then an incident.

import { once } from 'node:events';
import { Agent, request as plainRequest } from 'node:http';
import { Agent as HttpsAgent, request as secureRequest } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { createAuthority } from '../support/certificates.ts';
import { type GatewayOptions, startGateway, type TestGateway } from '../support/gateway.ts';
import { startUpstream } from '../support/upstream.ts';

const HOST = 'api.example.com';
const CUSTOMER = '/v1/customers/cus_5Hq8ZrT2mWx9LbKd';
const STEP_MS = 5000;
const STEPS = 178;
const SLOW_MS = 700;

export interface Operations {
  readonly gateway: TestGateway;
  close(): Promise<void>;
}

/**
 * A gateway with a quarter of an hour of traffic behind it.
 *
 * @param incident a slow operation, a customer over its limit, a dead service, and a certificate near its end; without it all is quiet
 * @param more secrets of the gateway, and its settings in an incident
 */
export async function startOperations(
  incident: boolean,
  more: Pick<GatewayOptions, 'environment' | 'gateway'> = {},
): Promise<Operations> {
  let offsetMs = 0;
  let standsAtMs: number | undefined;
  let delayMs = 0;
  const platform = await startUpstream(async ({ url }, response) => {
    await sleep(url.startsWith('/v1/jobs') ? delayMs : 0);
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"data":[],"has_more":false}');
  });
  const files = await startUpstream((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"data":[]}');
  });
  const gateway = await startGateway({
    upstreams: {
      platform: { contracts: ['v1/*.yaml'], live: platform.url },
      files: { contracts: ['files.yaml'], live: files.url },
    },
    limits: {
      tiers: { standard: { requests: 100_000 } },
      organizations: { org_harbor: { requests: 10, windowSeconds: 60 } },
    },
    now: () => standsAtMs ?? Date.now() + offsetMs,
    ...(incident && withCertificate(more.gateway)),
    ...(more.environment && { environment: more.environment }),
  });
  const close = async () => {
    agent.destroy();
    await gateway.stop();
    await Promise.all([platform.close(), files.close()]);
  };
  const agent = incident
    ? new HttpsAgent({ keepAlive: true, rejectUnauthorized: false })
    : new Agent({ keepAlive: true });

  async function send(authorization: string, path: string, times = 1): Promise<void> {
    for (let count = 0; count < times; count += 1) {
      const ask = incident ? secureRequest : plainRequest;
      const sent = ask({ agent, host: '127.0.0.1', port: gateway.port, path, headers: { authorization, host: HOST } });
      sent.end();
      const [response] = await once(sent, 'response');
      response.resume();
      await once(response, 'end');
    }
  }

  const { authorization: acme } = await gateway.authorize({ organization: 'org_acme' });
  const { authorization: north } = await gateway.authorize({ organization: 'org_northwind' });
  const { authorization: harbor } = await gateway.authorize({ organization: 'org_harbor' });
  for (let step = 0; step < STEPS; step += 1) {
    const wave = Math.round(3 * Math.sin(step / 22) ** 2);
    const isLate = incident && step > STEPS - 14;
    if (isLate && step % 2 === 1) delayMs = SLOW_MS / 10;
    await send(acme, '/v1/customers', 2 + wave);
    await send(north, '/v1/jobs', 1 + (step % 2));
    if (step % 3 === 0) await send(acme, CUSTOMER, 1 + wave);
    if (step % 4 === 0) await send(north, '/v1/files');
    if (step % 25 === 0) await send(north, '/v1/customers?limit=900');
    if (incident && step > STEPS - 10)
      await Promise.all([send(harbor, '/v1/invoices', 4), send(north, '/v1/files', 2)]);
    if (incident && step === STEPS - 11) await files.close();
    offsetMs += STEP_MS;
    // The page's requests start the sampling of the counts.
    await (await fetch(`${gateway.adminUrl}/console/feed`)).arrayBuffer();
  }
  delayMs = incident ? SLOW_MS : 0;
  await Promise.all(Array.from({ length: 12 }, () => send(north, '/v1/jobs')));
  await send(harbor, '/v1/invoices', incident ? 12 : 0);
  await send(acme, '/v1/customers', 8);
  // So that every picture is of this moment.
  standsAtMs = Date.now() + offsetMs;
  return { gateway, close };
}

function withCertificate(more: GatewayOptions['gateway']): Pick<GatewayOptions, 'gateway' | 'files'> {
  const pair = createAuthority().issue({ names: [HOST], fromDays: -84, days: 6 });
  return {
    gateway: {
      publicUrl: `https://${HOST}`,
      tls: { certificates: [{ certificate: 'api.pem', key: 'api.key' }] },
      ...more,
    },
    files: { 'api.pem': pair.certificate, 'api.key': pair.key },
  };
}
