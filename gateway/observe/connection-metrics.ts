// Metrics of client connections: refused connections, failed handshakes, and the expiry of certificates.

import { Counter, Gauge, type Registry } from '@prometheus-io/client';

export interface CertificateState {
  readonly names: readonly string[];
  /** ISO 8601. */
  readonly expires_at: string;
}

export interface ConnectionMetrics {
  /** A connection exceeded the limit: of all connections, or of one address. */
  connectionRefused(of: 'all' | 'address'): void;
  /** A trusted proxy sent an unreadable X-Forwarded-For. */
  forwardUnreadable(): void;
  /** @param reason one of a few fixed labels */
  handshakeFailed(reason: string): void;
  /** A certificate was renewed, or its files could not be used. */
  renewal(outcome: 'applied' | 'refused'): void;
}

export function createConnectionMetrics(registry: Registry): ConnectionMetrics {
  function counter(name: string, help: string, label: string, values: readonly string[]): (value: string) => void {
    const made = new Counter({ name, help, labelNames: [label], registers: [registry] });
    for (const value of values) made.inc({ [label]: value }, 0);
    return (value) => made.inc({ [label]: value });
  }

  const unreadable = new Counter({
    name: 'gateway_forwarded_for_unreadable_total',
    help: 'Requests in which a trusted proxy wrote an X-Forwarded-For entry that is no address: their clients count as one address.',
    registers: [registry],
  });
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
      'Failed TLS handshakes: timeout, closed, not_tls, version, cipher, alpn, other.',
      'reason',
      [],
    ),
    renewal: counter(
      'gateway_certificate_renewals_total',
      'Certificate renewals: applied, or refused because the files cannot be used.',
      'outcome',
      ['applied', 'refused'],
    ),
  };
}

/** @param certificates those in use; read at each scrape */
export function registerCertificateGauge(registry: Registry, certificates: () => readonly CertificateState[]): void {
  const help = 'When a certificate of the public listener expires, in seconds since 1970, by the first name it is for.';
  new Gauge({
    name: 'gateway_certificate_expires_seconds',
    help,
    labelNames: ['name'],
    aggregator: 'min',
    registers: [registry],
    collect() {
      this.reset();
      for (const { names, expires_at } of certificates())
        this.set({ name: names[0] ?? '' }, Date.parse(expires_at) / 1000);
    },
  });
}
