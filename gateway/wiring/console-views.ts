// The views of the console that one process answers from its configuration and its stores: audit, routes, configuration, and the rehearsal
// of a request.

import { isIP } from 'node:net';
import { ANONYMOUS } from '../auth/authenticate.ts';
import { ANY_KEY } from '../auth/capability.ts';
import type { KeyStore, KeyStoreChange } from '../auth/store/key-store.ts';
import { toCaller } from '../auth/to-caller.ts';
import type { Configuration } from '../configuration.ts';
import type { Caller, Mode } from '../exchange/caller.ts';
import { exchangeReport } from '../explain/report.ts';
import type { LimitUsage } from '../limits/limit-usage.ts';
import { rehearse } from '../serving/rehearsal/rehearse.ts';
import { readersOf } from '../serving/rehearsal/stand-ins.ts';
import { routeRows } from '../serving/route-rows.ts';
import type { AuditView, ConsoleView, RehearsalQuestion } from '../shared/questions/console-view.ts';
import type { ConfigurationChanges } from './configuration-changes.ts';

interface ConsoleViewsOptions {
  readonly store: KeyStore;
  readonly limitUsage: Pick<LimitUsage, 'show'>;
  readonly changes: Pick<ConfigurationChanges, 'report'>;
  configuration(): Configuration;
  now(): number;
}

const AUDIT_ROWS = 50;
/**
 * The largest number of pages of the log that are read for one answer. A rare author may be far back, and "Older changes" continues there.
 */
const AUDIT_PAGES_MAX = 20;
const AUDIT_PAGE = 500;

/** Creates the views. @returns the answer of a view; `problem` is a sentence about a mistake in the question */
export function createConsoleViews(options: ConsoleViewsOptions): (view: ConsoleView) => Promise<object> {
  const { store, configuration } = options;

  async function audit(view: AuditView): Promise<object> {
    const { changes, older } = await auditPage(store, view);
    return {
      changes: changes.map(({ atMs, organization: of = null, key = null, ...change }) => ({
        ...{ ...change, at: new Date(atMs).toISOString(), organization: of, key },
      })),
      older,
    };
  }

  /** The rehearsal in progress. Rehearsals run one after the other, because each builds a whole pipeline. */
  let trying: Promise<unknown> = Promise.resolve();
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const mine = trying.then(work);
    trying = mine.catch(() => undefined);
    return mine;
  }

  return async (view) => {
    switch (view.about) {
      case 'audit':
        return audit(view);
      case 'routes':
        return { routes: routeRows(configuration()) };
      case 'configuration':
        return options.changes.report();
      case 'rehearsal':
        return inTurn(() => tryOut(options, view.request));
    }
  };
}

/** @returns `older`: the place at which the next page begins; null if there are no older rows */
async function auditPage(store: Pick<KeyStore, 'audit'>, view: AuditView) {
  const { organization, by, fromMs, untilMs = Number.POSITIVE_INFINITY } = view;
  const isMeant = (change: KeyStoreChange) => change.atMs <= untilMs && (by === undefined || change.by.includes(by));
  const isNarrow = by !== undefined || view.untilMs !== undefined;
  const limit = isNarrow ? AUDIT_PAGE : AUDIT_ROWS;
  const found: KeyStoreChange[] = [];
  let { before } = view;
  for (let pages = 0; pages < (isNarrow ? AUDIT_PAGES_MAX : 1); pages += 1) {
    const page = await store.audit.list({ organization, sinceMs: fromMs, before, limit });
    found.push(...page.filter(isMeant));
    const last = found.length >= AUDIT_ROWS ? found[AUDIT_ROWS - 1] : page.at(-1);
    if (page.length < limit && found.length <= AUDIT_ROWS) return { changes: found, older: null };
    before = last?.sequence;
    if (found.length >= AUDIT_ROWS) break;
  }
  return { changes: found.slice(0, AUDIT_ROWS), older: before ?? null };
}

async function tryOut(options: ConsoleViewsOptions, asked: RehearsalQuestion): Promise<object> {
  const { method, target, body, client } = asked;
  if (client !== '' && isIP(client) === 0) return { problem: `${client} is not an address.` };
  const headers = headersIn(asked.headers);
  if (typeof headers === 'string') return { problem: headers };
  const caller = await callerOf(options.store, asked);
  if (typeof caller === 'string') return { problem: caller };
  const organization = caller?.organization?.id;
  const report =
    organization === undefined ? undefined : await options.limitUsage.show(organization).catch(() => undefined);
  const request = {
    method: method.toUpperCase(),
    target,
    headers,
    body: body === '' ? undefined : Buffer.from(body),
    clientAddress: client === '' ? undefined : client,
  };
  try {
    const { line, refusal } = await rehearse(request, {
      configuration: options.configuration(),
      readers: readersOf(client === '' && caller ? { ...caller, allowsAddress: undefined } : caller),
      limitUse: report,
      now: options.now,
    });
    return { report: exchangeReport(line), refusal: refusal?.body ?? null };
  } catch (error) {
    return { problem: `This cannot be sent as a request: ${(error as Error).message}` };
  }
}

/**
 * Parses headers to flat names and values, or returns a sentence. Operators choose a caller instead of entering a credential, because the
 * credential would be in the page.
 */
function headersIn(text: string): string[] | string {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const parsed = lines.map((line) => /^([!#$%&'*+.^_`|~\w-]+):[ \t]*([\t\x20-\x7e]*?)\s*$/.exec(line));
  const wrong = parsed.indexOf(null);
  if (wrong !== -1) return `"${lines[wrong]}" is not a header: write Name: value.`;
  if (parsed.some((found) => /^authorization$/i.test(found?.[1] ?? '')))
    return 'Name the caller by the id of its organization or key, in the place of a header Authorization.';
  return parsed.flatMap((found) => [found?.[1] ?? '', found?.[2] ?? '']);
}

/** Returns the caller; undefined for a request without credentials. Returns a sentence for an unknown caller. */
async function callerOf(
  store: KeyStore,
  { caller: id, mode, scopes }: RehearsalQuestion,
): Promise<Caller | string | undefined> {
  if (id === '') return undefined;
  const wanted = scopes.split(/\s+/).filter((scope) => scope !== '');
  const key = await store.keys.get(id);
  const organization = await store.organizations.get(key?.organization ?? id);
  if (organization === undefined) return `There is no organization or key ${id}.`;
  const known = key === undefined ? { ...ANONYMOUS, subject: ANY_KEY, organization } : toCaller({ key, organization });
  const ofMode = mode === 'live' || mode === 'test' ? (mode satisfies Mode) : key === undefined ? 'live' : known.mode;
  const held = wanted.length > 0 ? wanted : key === undefined ? ['*'] : known.scopes;
  return { ...known, mode: ofMode, scopes: new Set(held) };
}
