// Opens tracing as configured in gateway.yaml, with the collector's headers from the secrets store.

import { hostname } from 'node:os';
import type { GatewayFile } from '../config/gateway-file.ts';
import type { Secrets } from '../config/secrets.ts';
import type { Log } from '../observe/log.ts';
import { createTracing, type TraceIds, type Tracing, type TracingOptions } from '../observe/tracing/tracing.ts';
import { isFieldText } from '../shared/field-text.ts';

export interface TracingParts extends Pick<TracingOptions, 'version' | 'onOutcome'> {
  readonly gateway: Pick<GatewayFile, 'tracing'>;
  readonly secrets: Pick<Secrets, 'read'>;
  readonly ids: TraceIds;
  readonly log: Log;
}

/** Undefined without tracing in gateway.yaml. Throws a sentence if the secret is missing or malformed. */
export function openTracing({ gateway: { tracing }, secrets, log, ...parts }: TracingParts): Tracing | undefined {
  if (tracing === undefined) return undefined;
  const { headersSecret, ...settings } = tracing;
  return createTracing({
    ...parts,
    ...settings,
    headers: headersSecret === undefined ? {} : tracingHeaders(secrets.read(headersSecret), headersSecret),
    instance: `${hostname()}:${process.pid}`,
    onHealth(reason) {
      if (reason === undefined) log.logger.info('the collector of traces takes spans again');
      else log.logger.warn({ reason }, 'the collector of traces takes no spans; they are dropped and counted');
    },
  });
}

/**
 * Parses the headers for the collector from a secret: one `Name: value` per line. Throws a sentence, without the value, if the secret is
 * missing or malformed.
 */
export function tracingHeaders(text: string | undefined, entry: string): Record<string, string> {
  if (text === undefined)
    throw new Error(`The secret ${entry}, which holds the headers for the collector of traces, does not exist.`);
  const headers: Record<string, string> = {};
  for (const line of text.split('\n').filter((one) => one.trim() !== '')) {
    const [, name, value] = /^([A-Za-z0-9-]+):[ \t]*(\S.*?)[ \t\r]*$/.exec(line) ?? [];
    if (name === undefined || value === undefined || !isFieldText(value))
      throw new Error(`The secret ${entry} is not lines of Name: value in ASCII.`);
    headers[name] = value;
  }
  return headers;
}
