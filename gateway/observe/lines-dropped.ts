// Counts log lines that standard output did not accept. Workers and the primary process count for themselves, under one name.

import { Counter, type Registry } from '@prometheus-io/client';

export function createLinesDropped(registry: Registry): Counter<string> {
  return new Counter({
    name: 'gateway_log_lines_dropped_total',
    help: 'Log lines dropped because standard output did not take them: its reader has stopped or is too slow.',
    registers: [registry],
  });
}
