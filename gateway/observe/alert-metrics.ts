// Metrics of alerts. Only the process with the listener of operators sends them.

import type { Registry } from '@prometheus-io/client';
import { registerCounter } from './library-metrics.ts';

/** A message to a receiver was delivered; an attempt failed; a message was given up. */
export type AlertMetrics = (receiver: string, outcome: 'delivered' | 'failed' | 'given_up') => void;

export function createAlertMetrics(registry: Registry): AlertMetrics {
  const messages = registerCounter(
    registry,
    'gateway_alert_messages_total',
    'Messages about causes: delivered to a receiver, attempts that failed, and messages that were given up after a day.',
    ['receiver', 'outcome'],
  );
  return (receiver, outcome) => messages.inc({ receiver, outcome });
}
