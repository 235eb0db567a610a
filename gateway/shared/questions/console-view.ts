// The questions of console views to one process of the gateway, in the form in which the page sends them, and workers pass them on.

export type ConsoleView =
  | AuditView
  | { readonly about: 'routes' }
  | { readonly about: 'configuration' }
  | { readonly about: 'rehearsal'; readonly request: RehearsalQuestion };

export interface AuditView {
  readonly about: 'audit';
  readonly organization?: string;
  /** The author of the changes, or a part of the name. */
  readonly by?: string;
  /** Epoch milliseconds, both included. */
  readonly fromMs?: number;
  readonly untilMs?: number;
  /** Only changes with a lower sequence number. */
  readonly before?: number;
}

/** A request to rehearse, for which nothing is sent to a service, spent or written. */
export interface RehearsalQuestion {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  /** `Name: value`, one a line. */
  readonly headers: string;
  readonly body: string;
  /** The id of an organization or of a key; empty for a request without credentials. */
  readonly caller: string;
  readonly mode: string;
  /** The scopes, separated by spaces; empty for the scopes of the key, or for all scopes. */
  readonly scopes: string;
  /** Address of the client; empty: not known. */
  readonly client: string;
}

export const REHEARSAL_BYTES_MAX = 64 * 1024;

/** Returns the view for a path below `/console/`; undefined for an unknown path. */
export function viewIn(what: string, query: URLSearchParams): ConsoleView | undefined {
  if (what === 'routes' || what === 'configuration') return { about: what };
  if (what !== 'audit') return undefined;
  const text = (name: string) => query.get(name)?.slice(0, 200) || undefined;
  const [organization, by] = [text('organization'), text('by')];
  const [fromMs, untilMs] = [Date.parse(text('since') ?? ''), Date.parse(text('until') ?? '')];
  const before = Number(query.get('before') || Number.NaN);
  return {
    about: 'audit',
    ...(organization !== undefined && { organization }),
    ...(by !== undefined && { by }),
    ...(Number.isFinite(fromMs) && { fromMs }),
    ...(Number.isFinite(untilMs) && { untilMs }),
    ...(Number.isSafeInteger(before) && { before }),
  };
}

const MEMBERS = ['method', 'target', 'headers', 'body', 'caller', 'mode', 'scopes', 'client'] as const;

/** Reads the body of a rehearsal. Returns a sentence if the body is wrong. */
export function rehearsalIn(body: unknown): RehearsalQuestion | string {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return 'The body is not a JSON object.';
  const given = body as Readonly<Record<string, unknown>>;
  const request = Object.fromEntries(MEMBERS.map((name) => [name, given[name] ?? '']));
  const wrong = MEMBERS.find((name) => typeof request[name] !== 'string');
  if (wrong !== undefined) return `The member ${wrong} is not a text.`;
  const { method, target } = request as unknown as RehearsalQuestion;
  if (!/^[A-Za-z]{1,20}$/.test(method)) return 'The method is a word, such as GET.';
  if (!/^\/[\x21-\x7e]*$/.test(target)) return 'The path begins with / and has no blanks: write it as clients send it.';
  return request as unknown as RehearsalQuestion;
}
