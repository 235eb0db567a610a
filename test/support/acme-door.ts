// The door of a test's ACME server: passes requests on, and adds what pebble has not: renewal information, rate limits, outages, and
// certificates with another validity.

import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { Agent, createServer, request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { type Authority, type CertificatePair, createAuthority } from './certificates.ts';

export interface AcmeRequest {
  readonly method: string;
  /** The last segment but ids: `dir`, `nonce-plz`, `sign-me-up`, `order-plz`, `finalize-order`, `chalZ`, `authZ`, `certZ` … */
  readonly path: string;
}

/** An answer that replaces pebble's answer. */
export type Fault =
  | { readonly status: number; readonly type: string; readonly detail?: string; readonly retryAfter?: string }
  | 'reset';

interface RenewalInfo {
  readonly start: Date;
  readonly end: Date;
  readonly retryAfter?: string;
}

export interface AcmeDoor {
  /** The address of its directory. */
  readonly directory: string;
  /** All requests so far. */
  readonly requests: readonly AcmeRequest[];
  /** Identifiers of certificates that renewal information was asked for. */
  readonly asked: readonly string[];
  count(path: string): number;
  /** Returns the payloads of signed requests with this path. */
  payloads(path: string): readonly Readonly<Record<string, unknown>>[];
  /** Decides about each request; undefined passes it on. */
  fault: ((request: AcmeRequest) => Fault | undefined) | undefined;
  /** Called with each request before it is passed on. */
  onRequest: ((request: AcmeRequest) => void) | undefined;
  /** Requests with this path wait. */
  hold: { readonly path: string; readonly until: Promise<void> } | undefined;
  /** Returns the renewal information of a certificate; undefined for a server without renewal information. */
  renewalInfo: ((certificateId: string) => RenewalInfo) | undefined;
  /** Returns the validity of the next certificates; undefined for pebble's own. */
  validity: (() => { readonly from: Date; readonly until: Date }) | undefined;
  /** The authority of certificates with another validity, PEM. */
  readonly root2: string;
  close(): Promise<void>;
}

interface DoorOptions {
  /** The port of pebble. */
  readonly port: number;
  readonly pair: CertificatePair;
  readonly trust: string;
}

const PROBLEM = 'urn:ietf:params:acme:error:';

export async function openAcmeDoor({ port, pair, trust }: DoorOptions): Promise<AcmeDoor> {
  const agent = new Agent({ keepAlive: true, ca: trust });
  const issuer = createAuthority('Test Issuer');
  const requests: AcmeRequest[] = [];
  const asked: string[] = [];
  const payloads: { readonly path: string; readonly payload: Record<string, unknown> }[] = [];
  const server = createServer({ cert: pair.certificate, key: pair.key }, async (arrived, response) => {
    const path = (arrived.url ?? '').split('/')[1] ?? '';
    const known = { method: arrived.method ?? '', path };
    requests.push(known);
    door.onRequest?.(known);
    if (path === door.hold?.path) await door.hold.until;
    const fault = door.fault?.(known);
    if (fault === 'reset') return void arrived.socket.destroy();
    if (fault !== undefined) {
      const { status, type, detail = 'a fault of the test', retryAfter } = fault;
      response.writeHead(status, {
        'content-type': 'application/problem+json',
        ...(retryAfter !== undefined && { 'retry-after': retryAfter }),
      });
      arrived.resume();
      return void response.end(JSON.stringify({ type: `${PROBLEM}${type}`, detail }));
    }
    if (path === 'renewal-info') return answerRenewalInfo(arrived.url ?? '', response);
    const { host = '' } = arrived.headers;
    const passed = request(
      {
        host: '127.0.0.1',
        port,
        agent,
        method: arrived.method,
        path: arrived.url,
        headers: { ...arrived.headers, host },
      },
      (answer) => {
        const parts: Buffer[] = [];
        answer.on('data', (part: Buffer) => parts.push(part));
        answer.on('end', () => {
          const body = changed(path, host, Buffer.concat(parts));
          const { 'content-length': _length, 'transfer-encoding': _encoding, ...headers } = answer.headers;
          response.writeHead(answer.statusCode ?? 502, { ...headers, 'content-length': body.length });
          response.end(body);
        });
      },
    );
    passed.on('error', () => response.destroy());
    const sent: Buffer[] = [];
    arrived.on('data', (part: Buffer) => sent.push(part));
    arrived.on('end', () => notePayload(path, Buffer.concat(sent)));
    arrived.pipe(passed);
  });

  function notePayload(path: string, body: Buffer): void {
    const { payload = '' } = body.length === 0 ? {} : (JSON.parse(String(body)) as { payload?: string });
    const text = String(Buffer.from(payload, 'base64url'));
    if (text !== '') payloads.push({ path, payload: JSON.parse(text) as Record<string, unknown> });
  }

  function answerRenewalInfo(url: string, response: ServerResponse): void {
    const certificateId = url.split('/').at(-1) ?? '';
    asked.push(certificateId);
    const info = door.renewalInfo?.(certificateId);
    if (info === undefined) {
      response.writeHead(404);
      response.end();
      return;
    }
    const { start, end, retryAfter } = info;
    response.writeHead(200, {
      'content-type': 'application/json',
      ...(retryAfter !== undefined && { 'retry-after': retryAfter }),
    });
    response.end(JSON.stringify({ suggestedWindow: { start: start.toISOString(), end: end.toISOString() } }));
  }

  function changed(path: string, host: string, body: Buffer): Buffer {
    if (path === 'dir' && door.renewalInfo !== undefined)
      return Buffer.from(JSON.stringify({ ...JSON.parse(String(body)), renewalInfo: `https://${host}/renewal-info` }));
    if (path === 'certZ' && door.validity !== undefined)
      return Buffer.from(reissued(String(body), door.validity(), issuer));
    return body;
  }

  server.listen(0, '127.0.0.1').unref();
  await once(server, 'listening');
  const door: AcmeDoor = {
    directory: `https://127.0.0.1:${(server.address() as AddressInfo).port}/dir`,
    requests,
    asked,
    payloads: (path) => payloads.filter((one) => one.path === path).map(({ payload }) => payload),
    count: (path) => requests.filter((one) => one.path === path).length,
    fault: undefined,
    onRequest: undefined,
    hold: undefined,
    renewalInfo: undefined,
    validity: undefined,
    root2: issuer.certificate,
    async close() {
      agent.destroy();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return door;
}

/** Returns a certificate for the same key and names, by another issuer and with another validity. */
function reissued(pem: string, { from, until }: { from: Date; until: Date }, issuer: Authority): string {
  const { subjectAltName = '', publicKey, serialNumber } = new X509Certificate(pem);
  const names = subjectAltName.split(', ').map((entry) => entry.replace('DNS:', ''));
  return issuer.certify({ names, key: publicKey, serialNumber, fromMs: from.getTime(), untilMs: until.getTime() });
}
