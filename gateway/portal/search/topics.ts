// The topics of pages: words for which readers search, and which the page does not use. A query finds a page by its topic if it contains
// one of the words before the bar, and no words except the words of both sides. A guide of the configuration has the topic of the guide
// that it replaces.

import type { ReferredOperation } from '../reference/reference.ts';
import { membersOf } from '../reference/reference.ts';

const TOPICS: Readonly<Record<string, string>> = {
  '/docs/account': 'account dashboard usage consumption profile | my your own key keys data',
  '/docs/agents':
    'mcp agent agents llm llms llms.txt ai claude chatgpt copilot markdown | model context protocol server tools txt',
  '/docs/changes': 'changelog changes release releases news history feed atom rss | api notes what new latest recent',
  '/docs/errors': 'codes | error errors code list all reference status http catalogue',
  '/docs/errors/rate_limited': '429 too | many requests error status http code',
  '/docs/errors/upstream_timeout': '504 | gateway timeout error status http code',
  '/docs/guides/authentication':
    'auth authenticate authorization bearer token apikey login credential credentials 401 unauthorized key keys | api header secret',
  '/docs/guides/authentication#in-a-browser':
    'cors browser frontend preflight origin spa | web page error allow access control',
  '/docs/guides/authentication#live-and-test':
    'test sandbox staging production live mode environment environments sk_test_ sk_live_ | key keys data api account',
  '/docs/guides/authentication#replacing-a-key':
    'rotate rotation rotating roll renew replace replacing leaked compromised | api key keys token secret credentials',
  '/docs/guides/authentication#scopes':
    'scope scopes permission permissions 403 forbidden | key keys api missing insufficient',
  '/docs/guides/errors':
    'errors error failure failures exception exceptions | handling handle format object response http api',
  '/docs/guides/errors#sending-it-again':
    'retry retries retrying retryable backoff resend repeat again | request requests policy exponential logic safe safely error errors',
  '/docs/guides/errors#failures-without-an-object':
    'timeout timeouts disconnect connection | request client reset lost broken network',
  '/docs/guides/errors#asking-about-a-request':
    'id x-request-id request-id request_id debug debugging support correlation trace | request log logs ticket help contact',
  '/docs/guides/idempotency':
    'idempotency idempotent idempotency-key duplicate duplicates twice dedupe | key header request requests post write',
  '/docs/guides/pagination':
    'page pages pagination paging paginate cursor offset has_more next | list all results token through next size',
  '/docs/guides/pagination#filters-and-order':
    'filter filters filtering sort sorting order search | list by results query',
  '/docs/guides/quickstart':
    'quickstart start started begin hello tutorial onboarding | get getting first request call api example',
  '/docs/guides/quickstart#dates-and-other-formats':
    'date dates datetime date-time timestamp timestamps timezone timezones rfc3339 rfc iso8601 iso utc format formats wrong_format | time zone field fields value values string 3339 8601 which of',
  '/docs/guides/rate-limits':
    'rate ratelimit throttle throttling throttled limited many | limit limits limiting api request requests send make per minute second header headers',
  '/docs/guides/rate-limits#when-it-is-used-up': 'retry-after retry_after | header 429 wait',
  '/docs/guides/sdks':
    'sdk sdks library libraries codegen generator client clients npm | package install generate code api',
  '/docs/guides/sdks#make-a-client': 'go golang java php ruby csharp kotlin | sdk client library example',
  '/docs/guides/sdks#python': 'python pip pypi | sdk client library example install',
  '/docs/guides/sdks#the-contract': 'openapi swagger spec specification yaml | json file download schema api',
  '/docs/guides/sdks#typescript': 'typescript javascript node nodejs js ts | sdk client library example install',
  '/docs/guides/versioning': 'version versions versioning compatibility compatible breaking | api change changes v1',
  '/docs/guides/versioning#when-something-ends':
    'deprecation deprecated deprecate sunset end-of-life eol | header api version',
  '/docs/limits':
    'quota quotas tier tiers plan plans pricing price limits allowance many | my api rate request requests send make per minute second',
};

/** The page of a contract has its address. */
export const TOPIC_OF_CONTRACT = 'base baseurl url host hostname | api address';

export function topicOfPage(path: string): string | undefined {
  return Object.hasOwn(TOPICS, path) ? TOPICS[path] : undefined;
}

/**
 * Returns the topic of an operation that does more than answer with JSON, because readers search for the name of the technique.
 *
 * @param names words of the title and the group
 */
export function topicOfOperation(operation: ReferredOperation, names: string): string {
  if (operation.webSocket)
    return 'websocket websockets ws socket realtime real-time | api connect connection live events';
  if (sendsEvents(operation))
    return 'stream streaming sse server-sent events event notification notifications | api real-time live response';
  const sendsBytes = /octet-stream|multipart/.test(JSON.stringify(operation.declared.requestBody ?? ''));
  if (sendsBytes && operation.method !== 'GET')
    return 'upload uploads uploading multipart binary attachment | file files a image';
  if (cancels(operation)) return `cancel canceled cancelled cancellation | ${names.toLowerCase()} status`;
  return '';
}

/** Whether the operation cancels. If canceling is a change of status, the record stays, so its deletion is not the operation to find. */
function cancels({ method, description }: ReferredOperation): boolean {
  return /^(POST|PUT|PATCH)$/.test(method) && /\bcancell?ed\b/i.test(description);
}

export function sendsEvents({ declared }: ReferredOperation): boolean {
  const answers = JSON.stringify(membersOf(declared.responses).map(([, answer]) => answer));
  return answers.includes('text/event-stream');
}
