// Registers gauges that are measured at each scrape. The parts with these states are opened after the metrics, because each part counts
// from its beginning.

import type { Registry } from '@prometheus-io/client';
import type { StreamKind } from '../../exchange/findings.ts';
import { type CertificateState, registerCertificateGauge } from './connection-metrics.ts';
import { registerGauge } from './library-metrics.ts';
import { type LimitGauges, registerLimitGauges } from './limit-metrics.ts';
import {
  registerTargetGauges,
  registerUpstreamGauges,
  type TargetSetState,
  type UpstreamState,
} from './upstream-metrics.ts';

export interface GaugeSources extends LimitGauges {
  /** Returns the number of requests in progress. */
  requestsInProgress(): number;
  /** Returns 1 while the key store cannot be read. */
  keyStoreAway(): number;
  /** Counts of use that are not written yet. */
  usageWaiting(): number;
  tunnelStreams(): number;
  openStreams(): Readonly<Record<StreamKind, number>>;
  /** Returns the certificates of the public listener. */
  certificates(): readonly CertificateState[];
  bufferedBytes(): number;
  upstreamStates(): Readonly<Record<string, UpstreamState>>;
  targetStates(): Readonly<Record<string, TargetSetState>>;
  /** Returns the time at which the configuration in force was loaded, in epoch milliseconds. */
  configurationLoadedAtMs(): number;
}

export function registerGauges(registry: Registry, sources: GaugeSources): void {
  function gauge(name: string, help: string, measure: () => number, aggregator: 'sum' | 'min' | 'max' = 'sum'): void {
    registerGauge(registry, { name, help, aggregator }, measure);
  }

  gauge(
    'gateway_tunnel_streams',
    'Open event streams and upgraded connections through tunnels.',
    sources.tunnelStreams,
  );
  const streams = {
    name: 'gateway_open_streams',
    help: 'Open streams of operations: event streams (events), JSON lines (lines) and WebSockets (websocket).',
    labelNames: ['kind'],
  };
  registerGauge(registry, streams, () =>
    Object.entries(sources.openStreams()).map(([kind, open]) => [{ kind }, open] as const),
  );
  gauge(
    'gateway_configuration_loaded_timestamp_seconds',
    'When the active configuration was loaded, in seconds since 1970.',
    () => sources.configurationLoadedAtMs() / 1000,
    'min',
  );
  gauge(
    'gateway_buffered_body_bytes',
    'Bytes of request bodies in memory until they have been sent on.',
    sources.bufferedBytes,
  );
  gauge('http_server_active_requests', 'Requests in progress.', sources.requestsInProgress);
  gauge(
    'gateway_key_store_away',
    '1 while keys cannot be looked up and only cached keys are accepted, for the grace.',
    sources.keyStoreAway,
    'max',
  );
  gauge(
    'gateway_usage_waiting',
    'Counts of the use of organizations that are not in the store yet. Some seconds of them are usual; more wait while the store is away.',
    sources.usageWaiting,
  );
  registerLimitGauges(registry, sources);
  registerUpstreamGauges(registry, sources.upstreamStates);
  registerTargetGauges(registry, sources.targetStates);
  registerCertificateGauge(registry, sources.certificates);
}
