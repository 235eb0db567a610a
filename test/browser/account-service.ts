// The account operations in the place of the gateway, for what a real one seldom does: full limits, hundreds of operations, names with
// markup, answers that are lost. It remembers keys and Idempotency-Keys as the gateway does.

import type { Page, Route } from 'playwright-core';

export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Record<string, unknown> | undefined;
}

interface Answer {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Record<string, string>;
}

type Fault = 'lost' | 'lost after' | Answer;

export interface AccountService {
  readonly asked: readonly Asked[];
  readonly keys: readonly Record<string, unknown>[];
  /** What happens to the next requests for which `when` holds, one fault each. */
  fail(when: (asked: Asked) => boolean, ...faults: Fault[]): void;
  /** Answers the page instead of the gateway. */
  attach(page: Page): Promise<void>;
}

export interface AccountData {
  readonly organization: Record<string, unknown>;
  readonly limits: readonly unknown[];
  /** Operation → requests per day, today last. */
  readonly use: Readonly<Record<string, readonly number[]>>;
  readonly requests: readonly Record<string, unknown>[];
  readonly explanations: Readonly<Record<string, unknown>>;
  readonly keys: readonly Record<string, unknown>[];
}

const DAY_MS = 86_400_000;

export function refusal(status: number, code: string, members: object = {}): Answer {
  const error = {
    type: 'permission_error',
    code,
    message: `The message of ${code}.`,
    status,
    retryable: false,
    request_id: 'req_refused_1',
    doc_url: `https://api.example.com/docs/errors/${code}`,
    ...members,
  };
  return { status, body: { error } };
}

export function createAccountService(data: AccountData): AccountService {
  const asked: Asked[] = [];
  const keys = data.keys.map((key) => ({ ...key }));
  const stored = new Map<string, Answer>();
  const faults: { when: (one: Asked) => boolean; fault: Fault }[] = [];

  async function handle(route: Route): Promise<void> {
    const request = route.request();
    const url = new URL(request.url());
    const text = request.postData();
    const one: Asked = {
      method: request.method(),
      path: url.pathname.replace('/gateway/v1', ''),
      query: url.searchParams,
      headers: request.headers(),
      body: text === null ? undefined : (JSON.parse(text) as Record<string, unknown>),
    };
    asked.push(one);
    const index = faults.findIndex(({ when }) => when(one));
    const fault = index === -1 ? undefined : faults.splice(index, 1)[0]?.fault;
    if (fault === 'lost') return route.abort('connectionreset');
    const answer = typeof fault === 'object' ? fault : once(one);
    if (fault === 'lost after') return route.abort('connectionreset');
    const headers = { 'content-type': 'application/json', 'x-request-id': 'req_fake', ...answer.headers };
    const body = typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body);
    return route.fulfill({ status: answer.status, headers, body });
  }

  function once(one: Asked): Answer {
    const key = one.headers['idempotency-key'];
    if (key === undefined) return answerTo(one);
    const before = stored.get(key);
    if (before !== undefined) return before;
    const answer = answerTo(one);
    const body = answer.body as Record<string, unknown>;
    const isSecret = Object.hasOwn(body, 'secret');
    stored.set(key, isSecret ? { ...answer, body: { ...body, secret: null, secret_shown: 'before' } } : answer);
    return answer;
  }

  function answerTo({ method, path, query, headers, body = {} }: Asked): Answer {
    const [, first, id = '', act] = path.split('/');
    const isDry = query.get('dry_run') === 'true';
    const inForce = query.has('wait') ? { in_force: { confirmed: 3, unconfirmed: 0, waited_ms: 231 } } : {};
    const list = (rows: readonly unknown[]) => ({ status: 200, body: { data: rows, cursor: null, has_more: false } });
    if (first === 'organization') return { status: 200, body: data.organization };
    if (first === 'limits') return { status: 200, body: { organization_id: 'org', tier: 'x', data: data.limits } };
    if (first === 'usage') return { status: 200, body: usage(query) };
    if (first === 'requests' && id === '')
      return { status: 200, body: pageOf(requestsWith(query.get('status')), query) };
    if (first === 'requests') return found(data.explanations[decodeURIComponent(id)]);
    if (method === 'GET' && id === '') return list(keys);
    const key = keys.find((known) => known.id === id);
    if (method === 'GET') return { ...found(key), headers: { etag: etagOf(key) } };
    if (id === '') return created(body, isDry, inForce);
    if (key === undefined) return refusal(404, 'resource_missing');
    if (headers['if-match'] !== undefined && headers['if-match'] !== etagOf(key))
      return refusal(412, 'precondition_failed');
    if (act === 'rotate') {
      const end = new Date(Date.now() + Number(body.overlap_seconds) * 1000).toISOString();
      const answer = created({ ...key }, isDry, inForce);
      if (!isDry) Object.assign(key, { expires_at: end, replaced_by: (answer.body as { id: string }).id });
      return { ...answer, body: { ...(answer.body as object), replaces: { ...key, expires_at: end } } };
    }
    const isLast = keys.every((other) => other === key || other.state !== 'active');
    if (isLast && body.allow_last !== true) return refusal(409, 'last_key');
    const revoked = { state: 'revoked', revoked_at: new Date().toISOString(), revoked_reason: body.reason ?? null };
    if (!isDry) Object.assign(key, revoked);
    return { status: 200, body: { ...key, ...inForce } };
  }

  function requestsWith(status: string | null): readonly Record<string, unknown>[] {
    return data.requests.filter((one) => status !== 'failed' || Number(one.status) >= 400);
  }

  function created(members: Record<string, unknown>, isDry: boolean, inForce: object): Answer {
    const number = String(keys.length).padStart(4, '0');
    const secret = `sk_${members.mode ?? 'live'}_${number}aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa${number}`;
    const record = { ...keyRecord({ id: `key_${number}`, secret }), ...members, id: `key_${number}` };
    const own = { ...record, prefix: secret.slice(0, 12), last_four: secret.slice(-4) };
    if (!isDry) keys.push(own);
    const shown = isDry ? { secret: null, secret_shown: 'never' } : { secret, secret_shown: 'here' };
    return { status: 201, body: { ...own, ...shown, ...inForce } };
  }

  function usage(query: URLSearchParams): object {
    const today = Math.floor(Date.now() / DAY_MS) * DAY_MS;
    const days = new Map<number, number>();
    const months = new Map<string, { from: string; operation_id: string; requests: number }>();
    for (const [operation, values] of Object.entries(data.use)) {
      if (query.has('operation_id') && query.get('operation_id') !== operation) continue;
      values.forEach((requests, index) => {
        const fromMs = today - (values.length - 1 - index) * DAY_MS;
        if (fromMs < Date.parse(query.get('from') ?? '')) return;
        days.set(fromMs, (days.get(fromMs) ?? 0) + requests);
        const from = `${new Date(fromMs).toISOString().slice(0, 7)}-01T00:00:00.000Z`;
        const month = months.get(from + operation) ?? { from, operation_id: operation, requests: 0 };
        months.set(from + operation, { ...month, requests: month.requests + requests });
      });
    }
    const sums = [...days].map(([fromMs, requests]) => ({ ...period(fromMs), requests }));
    const all = query.get('group') === 'operation' ? [...months.values()] : sums;
    return { ...pageOf(all, query), complete_until: new Date().toISOString() };
  }

  return {
    asked,
    keys,
    fail: (when, ...next) => faults.push(...next.map((fault) => ({ when, fault }))),
    async attach(page) {
      await page.route('**/gateway/v1/**', handle);
    },
  };
}

function pageOf(all: readonly unknown[], query: URLSearchParams): object {
  const from = Number(query.get('cursor') ?? 0);
  const until = from + Number(query.get('limit'));
  const hasMore = until < all.length;
  return { data: all.slice(from, until), cursor: hasMore ? String(until) : null, has_more: hasMore };
}

const period = (fromMs: number) => ({
  from: new Date(fromMs).toISOString(),
  to: new Date(fromMs + DAY_MS).toISOString(),
});

const found = (body: unknown): Answer =>
  body === undefined ? refusal(404, 'resource_missing') : { status: 200, body };

const etagOf = (key: Record<string, unknown> | undefined) => `"${key?.state}-${key?.replaced_by ?? ''}"`;

export function keyRecord({
  id,
  secret,
  ...members
}: { id: string; secret: string } & Record<string, unknown>): Record<string, unknown> {
  return {
    id,
    organization_id: 'org_acme',
    mode: 'live',
    name: '',
    state: 'active',
    scopes: ['gateway:keys', 'gateway:read'],
    allowed_cidrs: [],
    prefix: secret.slice(0, 12),
    last_four: secret.slice(-4),
    created_at: '2026-10-01T09:00:00.000Z',
    created_by: 'operator',
    expires_at: null,
    revoked_at: null,
    revoked_by: null,
    revoked_reason: null,
    last_used_at: '2026-11-25T22:10:00.000Z',
    replaced_by: null,
    ...members,
  };
}
