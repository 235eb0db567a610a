// Metrics of client connections: refused connections, failed handshakes, and the expiry of certificates.

import type { Registry } from '@prometheus-io/client';
import { registerCounter, registerGauge } from './library-metrics.ts';

export interface CertificateState {
  readonly names: readonly string[];
  readonly state: string;
  /** The beginning of the validity, ISO 8601; null if there is no certificate yet. */
  readonly valid_from: string | null;
  readonly expires_at: string | null;
  /** The last failed order of a certificate that the gateway orders. */
  readonly last_failure: { readonly failures?: number } | null;
}

export interface ConnectionMetrics {
  /** Counts a connection above the limit of all connections, or of one address. */
  connectionRefused(of: 'all' | 'address'): void;
  /** Counts a request whose trusted proxy sent an unreadable X-Forwarded-For. */
  forwardUnreadable(): void;
  /** Counts a failed handshake. @param reason one of a few fixed labels */
  handshakeFailed(reason: string): void;
  /** Counts a renewal of a certificate, or a refusal of its files. */
  renewal(outcome: 'applied' | 'refused'): void;
  /** This instance ordered a certificate. */
  order(outcome: 'issued' | 'failed'): void;
}

export function createConnectionMetrics(registry: Registry): ConnectionMetrics {
  function counter(name: string, help: string, label: string, values: readonly string[]): (value: string) => void {
    const made = registerCounter(registry, name, help, [label]);
    for (const value of values) made.inc({ [label]: value }, 0);
    return (value) => made.inc({ [label]: value });
  }

  const unreadable = registerCounter(
    registry,
    'gateway_forwarded_for_unreadable_total',
    'Requests in which a trusted proxy wrote an X-Forwarded-For entry that is no address: their clients count as one address.',
  );
  return {
    connectionRefused: counter(
      'gateway_connections_refused_total',
      'Connections closed at once because of the bound for all clients (all) or for one address (address).',
      'of',
      ['all', 'address'],
    ),
    forwardUnreadable: () => unreadable.inc(),
    handshakeFailed: counter(
      'gateway_tls_handshake_failures_total',
      'Failed TLS handshakes: timeout, closed, not_tls, version, cipher, alpn, no_certificate, other.',
      'reason',
      [],
    ),
    renewal: counter(
      'gateway_certificate_renewals_total',
      'Certificate renewals: applied, or refused because the files cannot be used.',
      'outcome',
      ['applied', 'refused'],
    ),
    order: counter(
      'gateway_certificate_orders_total',
      'Orders at the ACME server by this instance: issued, or failed.',
      'outcome',
      ['issued', 'failed'],
    ),
  };
}

/** Registers the gauges. @param certificates returns the certificates in use and the missing ones; called at each scrape */
export function registerCertificateGauge(registry: Registry, certificates: () => readonly CertificateState[]): void {
  /** @param read seconds; undefined leaves the certificate out */
  function gauge(
    name: string,
    help: string,
    read: (state: CertificateState) => number | undefined,
    aggregator: 'min' | 'max' = 'min',
  ) {
    registerGauge(registry, { name, help, labelNames: ['name'], aggregator }, () =>
      certificates().flatMap((state) => {
        const value = read(state);
        return value === undefined ? [] : [[{ name: state.names[0] ?? '' }, value] as const];
      }),
    );
  }

  gauge(
    'gateway_certificate_expires_seconds',
    'When a certificate of the public listener expires, in seconds since 1970, by the first name it is for.',
    ({ expires_at }) => (expires_at === null ? undefined : Date.parse(expires_at) / 1000),
  );
  gauge('gateway_certificate_lifetime_seconds', 'How long that certificate is valid in all.', (state) =>
    state.expires_at === null || state.valid_from === null
      ? undefined
      : (Date.parse(state.expires_at) - Date.parse(state.valid_from)) / 1000,
  );
  gauge(
    'gateway_certificate_missing',
    '1 while there is no certificate yet for names that the gateway orders one for, by the first name.',
    ({ state }) => (state === 'missing' ? 1 : 0),
    'max',
  );
  gauge(
    'gateway_certificate_order_failures',
    'Orders of a certificate that failed in a row, by the first name it is for.',
    ({ last_failure }) => last_failure?.failures ?? 0,
    'max',
  );
}
