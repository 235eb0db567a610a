// Lists the recent requests that a caller may see, and explains one of them. All processes of all instances keep log lines in memory, and
// each returns the lines of this caller. The lines are checked once more here, because a client must never get lines of another
// organization.

import { GatewayError, REFUSALS } from '../catalogue/errors.ts';
import type { StageReport } from '../explain/report.ts';
import { reportForClients } from '../explain/report-for-clients.ts';
import { exchangeTest } from '../observe/log/line-matcher.ts';
import { violationRemedy } from '../shared/contracts/violation-text.ts';
import type { ExchangeFilter, ExchangeLine, ExchangeOwner } from '../shared/questions/exchange-filter.ts';
import { exchangesIn } from '../shared/questions/fleet.ts';
import { STAGES } from '../stages.ts';
import type { AdministrationDeps } from './deps.ts';

type RequestDeps = Pick<AdministrationDeps, 'askFleet'>;

/** A line with everything that the list of requests shows. */
export interface RequestLine extends ExchangeLine {
  readonly request_id: string;
  readonly time: number;
  readonly method: string;
  readonly route?: string;
  readonly operation?: string;
  readonly key_id?: string;
  readonly subject?: string;
  readonly status: number;
  readonly stage: string;
  readonly code?: string;
  readonly duration_ms: number;
}

type RequestFilter = Omit<ExchangeFilter, 'organization' | 'mode' | 'operation' | 'client' | 'upstream'>;

/** The condition for requests that a caller may see. It always includes the organization. */
export type Sight = ExchangeOwner & { readonly organization: string };

/** Lists the requests, newest first. */
export async function listRequests(
  { askFleet }: RequestDeps,
  sight: Sight,
  filter: RequestFilter,
): Promise<readonly RequestLine[]> {
  const { key } = filter;
  if (key !== undefined && sight.key !== undefined && key !== sight.key) return [];
  const whole = { ...filter, ...sight, key: sight.key ?? key };
  const lines = exchangesIn(await askFleet({ about: 'recent', filter: whole })).filter(exchangeTest(whole));
  return lines.filter(isRequestLine).slice(0, filter.limit);
}

interface Explanation {
  readonly request: RequestLine;
  /** One sentence. */
  readonly verdict: string;
  readonly remedy: string | null;
  readonly docUrl: string | null;
  readonly stages: readonly StageReport[];
}

/**
 * Explains the request with this id. Otherwise explains the latest request to which its client gave this id.
 *
 * @throws GatewayError resource_missing
 */
export async function explainOwnRequest(
  { askFleet, configuration }: RequestDeps & Pick<AdministrationDeps, 'configuration'>,
  sight: Sight,
  id: string,
): Promise<Explanation> {
  const answers = await askFleet({ about: 'exchange', id, ...sight });
  const lines = exchangesIn(answers).filter(exchangeTest({ ...sight, limit: answers.length }));
  const linesWith = (member: 'request_id' | 'client_request_id') => lines.filter((line) => line[member] === id);
  const [line] = [...linesWith('request_id'), ...linesWith('client_request_id')].filter(isRequestLine);
  if (line === undefined) throw new GatewayError('resource_missing');
  const { verdict, stages } = reportForClients(line);
  const { publicUrl } = configuration().config.gateway;
  return { request: line, verdict, stages, ...adviceOn(line, publicUrl) };
}

/** Returns the remedy of a single violation, or of the code; and the page of the code. */
function adviceOn(line: RequestLine, publicUrl: string): Pick<Explanation, 'remedy' | 'docUrl'> {
  const { code } = line;
  if (code === undefined) return { remedy: null, docUrl: null };
  // A service may use codes that are not in the catalogue.
  const known = Object.hasOwn(REFUSALS, code) ? REFUSALS[code as keyof typeof REFUSALS].remedy : undefined;
  const remedy = violationRemedy(line) ?? known?.replaceAll('](/', `](${publicUrl}/`) ?? null;
  return { remedy, docUrl: `${publicUrl}/docs/errors/${code}` };
}

const TEXT_FILTERS = ['route', 'operation', 'key_id', 'subject'];
const CODE = /^[a-z0-9_]{1,64}$/;

/** Whether a line contains all members that are needed. A line of a process of another version may lack some. */
function isRequestLine(line: ExchangeLine): line is RequestLine {
  const { method, stage, status, duration_ms: durationMs, code, ...others } = line;
  return (
    typeof method === 'string' &&
    STAGES.some((one) => one === stage) &&
    Number.isInteger(status) &&
    Number(durationMs) >= 0 &&
    typeof durationMs === 'number' &&
    (code === undefined || CODE.test(String(code))) &&
    TEXT_FILTERS.every((name) => ['undefined', 'string'].includes(typeof others[name]))
  );
}
