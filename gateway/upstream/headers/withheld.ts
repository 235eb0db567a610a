// Says why a header or a cookie was not passed on, and which line of an entry in upstreams.yaml would change that. Pure.

import { isOwnedAnswerHeader } from '../../shared/http/owned-headers.ts';

/** @param field a member of `withheld` of the log line: a header, `set-cookie: name`, `cookie: name` or `query: name` */
export function withheldText(field: string): string {
  return `withheld: ${field}. ${withheldRemedy(field)}`;
}

export function withheldRemedy(field: string): string {
  if (field.startsWith('query: '))
    return 'The contract does not declare it. To let it reach the service, declare it, or set undeclaredQuery: pass in the entry in upstreams.yaml.';
  const [, kind, name] = /^(cookie|set-cookie): (.*)$/.exec(field) ?? [];
  if (kind !== undefined) return `To let the cookie cross, add cookies: [${name}] to the entry in upstreams.yaml.`;
  if (field === 'location' || field === 'link' || field === 'content-location')
    return `It names another host, or a path that clients cannot reach. To let such addresses cross, add responseHeaders: [${field}] to the entry in upstreams.yaml.`;
  if (isOwnedAnswerHeader(field)) return 'The gateway alone sends this header.';
  return `To let it cross, declare it in the contract, or add responseHeaders: [${field}] to the entry in upstreams.yaml.`;
}
