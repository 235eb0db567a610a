// A gateway with TLS, with certificates of an authority of the test's own, and clients that trust only that.

import type { IncomingMessage } from 'node:http';
import { type Agent, request } from 'node:https';
import { json } from 'node:stream/consumers';
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls';
import { type Authority, type CertificatePair, createAuthority } from '../../support/certificates.ts';
import { type GatewayOptions, startGateway, type TestGateway } from '../../support/gateway.ts';
import { ownContractAndThings } from '../../support/own-contract.ts';
import { thingsAt } from '../../support/things.ts';
import { type Answer, type FakeUpstream, startUpstream } from '../../support/upstream.ts';

export interface SecureGateway {
  readonly gateway: TestGateway;
  readonly upstream: FakeUpstream;
  readonly authority: Authority;
  readonly authorization: string;
  /** A connection with a finished handshake. Rejects when it fails. */
  connect(options?: ConnectionOptions): Promise<TLSSocket>;
  /** The first name of the certificate that a client is shown. */
  shownTo(servername: string): Promise<string>;
  /** Requests /v1/things; resolves with the status, rejects when the connection fails. */
  get(agent: Agent): Promise<number>;
  /** The JSON of an answer to a key. */
  read(path: string, key: string): Promise<unknown>;
  close(): Promise<void>;
}

export interface SecureOptions extends Pick<GatewayOptions, 'gateway' | 'now'> {
  /** By the base of the file names; the first is `api`, for api.test, by default. */
  readonly pairs?: (authority: Authority) => Readonly<Record<string, CertificatePair>>;
  /** Whether the gateway serves its own contract, too. */
  readonly ownContract?: boolean;
  /** Members of `tls` beside the certificates. */
  readonly tls?: Readonly<Record<string, unknown>>;
  readonly answer?: Answer;
}

export const answerEmptyObject: Answer = (_request, response) => {
  response.setHeader('content-type', 'application/json');
  response.end('{}');
};

/** The files of pairs, and how a configuration names them. */
export function filesOf(pairs: Readonly<Record<string, CertificatePair>>) {
  const all = Object.entries(pairs);
  return {
    files: Object.fromEntries(
      all.flatMap(([base, { certificate, key }]) => [
        [`${base}.pem`, certificate],
        [`${base}.key`, key],
      ]),
    ),
    certificates: all.map(([base]) => ({ certificate: `${base}.pem`, key: `${base}.key` })),
  };
}

export async function startSecureGateway(options: SecureOptions = {}): Promise<SecureGateway> {
  const authority = createAuthority();
  const pairs = options.pairs?.(authority) ?? { api: authority.issue({ names: ['api.test'] }) };
  const { files, certificates } = filesOf(pairs);
  const upstream = await startUpstream(options.answer ?? answerEmptyObject);
  const gateway = await startGateway({
    ...(options.ownContract ? ownContractAndThings(upstream.url) : thingsAt(upstream.url)),
    ...(options.now && { now: options.now }),
    gateway: { publicUrl: 'https://api.test', ...options.gateway, tls: { certificates, ...options.tls } },
    files,
  });
  const { authorization } = await gateway.authorize();
  const { port } = gateway;

  function connectTo(given: ConnectionOptions = {}): Promise<TLSSocket> {
    return new Promise((resolve, reject) => {
      const socket = connect({ port, host: '127.0.0.1', servername: 'api.test', ca: authority.certificate, ...given });
      socket.once('error', reject).once('secureConnect', () => resolve(socket));
    });
  }

  function ask(path: string, credentials: string, agent?: Agent): Promise<IncomingMessage> {
    const tls = { servername: 'api.test', ca: authority.certificate };
    const target = { host: '127.0.0.1', port, path, agent, headers: { host: 'api.test', authorization: credentials } };
    return new Promise((resolve, reject) => {
      request({ ...target, ...tls }, resolve)
        .on('error', reject)
        .end();
    });
  }

  return {
    gateway,
    upstream,
    authority,
    authorization,
    connect: connectTo,
    async shownTo(servername) {
      const socket = await connectTo({ servername, rejectUnauthorized: false });
      const shown = String(socket.getPeerCertificate().subject.CN);
      socket.destroy();
      return shown;
    },
    get: async (agent) => {
      const answer = await ask('/v1/things', authorization, agent);
      for await (const _ of answer);
      return answer.statusCode ?? 0;
    },
    read: async (path, key) => json(await ask(path, `Bearer ${key}`)),
    async close() {
      await gateway.stop();
      await upstream.close();
    },
  };
}

/** A sample of a metric; undefined if there is none. */
export async function sampleOf(
  { adminUrl }: Pick<TestGateway, 'adminUrl'>,
  series: string,
): Promise<number | undefined> {
  const text = await (await fetch(`${adminUrl}/metrics`)).text();
  const line = text.split('\n').find((one) => one.startsWith(`${series} `));
  return line === undefined ? undefined : Number(line.slice(series.length + 1));
}
