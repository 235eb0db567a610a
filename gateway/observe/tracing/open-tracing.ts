// Opens tracing as gateway.yaml configures it, with the headers for the collector from the secrets store.

import { hostname } from 'node:os';
import { isFieldText } from '../../shared/http/words.ts';
import type { Log } from '../log.ts';
import { createTracing, type TraceIds, type Tracing, type TracingOptions } from './tracing.ts';

interface TracingParts extends Pick<TracingOptions, 'version' | 'onOutcome'> {
  /** As in gateway.yaml. */
  readonly settings:
    | (Pick<TracingOptions, 'endpoint' | 'sampleRatio' | 'serviceName'> & {
        readonly headersSecret?: string | undefined;
      })
    | undefined;
  readSecret(entry: string): string | undefined;
  readonly ids: TraceIds;
  readonly log: Log;
}

/** Undefined without tracing in gateway.yaml. Throws a sentence if the secret is missing or malformed. */
export function openTracing({ settings, readSecret, log, ...parts }: TracingParts): Tracing | undefined {
  if (settings === undefined) return undefined;
  const { headersSecret, ...further } = settings;
  return createTracing({
    ...parts,
    ...further,
    headers: headersSecret === undefined ? {} : tracingHeaders(readSecret(headersSecret), headersSecret),
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
