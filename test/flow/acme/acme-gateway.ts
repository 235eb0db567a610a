// A gateway that orders its certificates from a test's own ACME server, and clients of it.

import { Agent, request } from 'node:https';
import { type ConnectionOptions, connect, type PeerCertificate, type TLSSocket } from 'node:tls';
import { type GatewayOptions, startGateway, type TestGateway } from '../../support/gateway.ts';
import type { Pebble } from '../../support/pebble.ts';
import { thingsAt } from '../../support/things.ts';

interface AcmeGatewayOptions extends Omit<GatewayOptions, 'gateway'> {
  readonly pebble: Pick<Pebble, 'directory' | 'trust'>;
  readonly certificates: readonly (readonly string[])[];
  /** Members of `tls.acme`. */
  readonly acme?: Readonly<Record<string, unknown>>;
  /** Members of `tls` beside. */
  readonly tls?: Readonly<Record<string, unknown>>;
}

interface CertificateInStatus {
  readonly names: readonly string[];
  readonly state: string;
  readonly expires_at: string | null;
  readonly renews_at: string | null;
  readonly last_failure: {
    readonly reason: string;
    readonly failures: number;
    readonly next_attempt_at: string;
  } | null;
}

/** Members of gateway.yaml and files for a gateway that orders. */
export function orderingConfiguration({ pebble, certificates, acme, tls }: AcmeGatewayOptions) {
  return {
    gateway: {
      publicUrl: `https://${certificates[0]?.[0]}`,
      tls: {
        acme: {
          ...{ directory: pebble.directory, trust: 'ca.pem', contacts: ['ops@example.com'] },
          ...{ termsOfServiceAgreed: true, certificates, ...acme },
        },
        ...tls,
      },
    },
    files: { 'ca.pem': pebble.trust },
  };
}

export function startAcmeGateway(options: AcmeGatewayOptions): Promise<TestGateway> {
  const { gateway, files } = orderingConfiguration(options);
  // With TLS, the shipped contracts would be compiled for each start: seconds, which no order needs.
  return startGateway({
    ...thingsAt('http://127.0.0.1:9'),
    ...options,
    gateway,
    files: { ...files, ...options.files },
  });
}

export async function certificatesOf({ adminUrl }: Pick<TestGateway, 'adminUrl'>): Promise<CertificateInStatus[]> {
  const status = (await (await fetch(`${adminUrl}/status`)).json()) as { certificates: CertificateInStatus[] };
  return status.certificates;
}

/** Waits until what is read fulfils the condition, and gives it. Rejects after a generous time with what was read last. */
export async function until<T>(
  read: () => T | Promise<T>,
  isFulfilled: (value: T) => boolean,
  patienceMs = 30_000,
): Promise<T> {
  const endsAt = performance.now() + patienceMs;
  for (;;) {
    const value = await read();
    if (isFulfilled(value)) return value;
    if (performance.now() > endsAt) throw new Error(`This has not come about: ${JSON.stringify(value)}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

export const allValid = (all: readonly CertificateInStatus[]) => all.every(({ state }) => state === 'valid');

/** Waits until each certificate is there and valid. */
export const untilValid = (gateway: Pick<TestGateway, 'adminUrl'>) => until(() => certificatesOf(gateway), allValid);

/** Handshakes with the gateway. Rejects with the alert. */
export function handshake(port: number, servername: string, options: ConnectionOptions = {}): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', servername, rejectUnauthorized: false, ...options });
    socket.once('error', reject).once('secureConnect', () => resolve(socket));
  });
}

/** The certificate that the gateway shows for a name. */
export async function shownFor(
  port: number,
  servername: string,
  options?: ConnectionOptions,
): Promise<PeerCertificate> {
  const socket = await handshake(port, servername, options);
  const shown = socket.getPeerCertificate();
  socket.destroy();
  return shown;
}

/** The status of GET /livez-like requests by HTTPS with this root. */
export function statusBy(port: number, servername: string, ca: string, agent = new Agent()): Promise<number> {
  return new Promise((resolve, reject) => {
    request(
      { port, host: '127.0.0.1', servername, ca, agent, path: '/docs', headers: { host: servername } },
      (answer) => {
        answer.resume().on('end', () => resolve(answer.statusCode ?? 0));
      },
    )
      .on('error', reject)
      .end();
  });
}
