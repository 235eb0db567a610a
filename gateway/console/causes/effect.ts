// Pure: says how many requests suffered from a cause, since it began. The list of what happened and the causes say the same.

import type { EventFigures } from '../history/gateway-event.ts';
import { estimateText } from './service-times.ts';

export function effectText({ requests, failed = 0, unserved = 0, ...more }: EventFigures): string {
  const { refused, server_errors: errors, p90_ms: p90Ms, broken } = more;
  if (broken !== undefined) return `${broken} of ${requests} answers broke the contract`;
  if (p90Ms !== undefined) return `${requests} requests, 9 of 10 within about ${estimateText(p90Ms)}`;
  if (refused !== undefined) return `${refused} of ${requests} requests were refused`;
  if (errors !== undefined) return `${errors} of ${requests} responses with 5xx`;
  if (unserved === 0) return `${failed} of ${requests} requests failed`;
  return failed === 0
    ? `${unserved} of ${requests} requests were refused`
    : `${failed} of ${requests} requests failed, ${unserved} were refused`;
}
