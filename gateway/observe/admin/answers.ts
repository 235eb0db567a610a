// The interface behind the admin listener, with everything that operators can read and do. wiring/operators.ts implements it for one
// process, and workers/operators.ts for all workers together.

import type { ActionAnswer, ConsoleAction } from '../../shared/questions/console-action.ts';
import type { ConsoleView } from '../../shared/questions/console-view.ts';
import type { FleetSources, UpstreamRetry } from '../../shared/questions/fleet.ts';
import type { MetricSnapshot } from '../metrics/worker-metrics.ts';

/** The author of a change that a command asks for, for the audit log. */
export interface ChangeAuthor {
  readonly by: string;
  /** Id of the request that makes the change; undefined if a primary process of an earlier version asks. */
  readonly requestId: string | undefined;
}

export interface Answers extends FleetSources {
  readonly metrics: { readonly contentType: string; text(): Promise<string> };
  /** Whether the gateway is ready, and the state of each check. If the gateway is not ready, the checks that fail are the reasons. */
  readiness(): Promise<{ readonly ready: boolean; readonly checks: Readonly<Record<string, string>> }>;
  status(): Promise<object>;
  /** The usage of an organization's limits. Both methods return undefined for an unknown organization. */
  readonly limits: {
    show(organization: string): Promise<object | undefined>;
    reset(organization: string, author: ChangeAuthor): Promise<object | undefined>;
  };
  /**
   * Makes every process of every instance send a refused credential again, and notes this in the audit log. Resolves with undefined for an
   * unknown upstream.
   */
  retry(upstream: string, author: ChangeAuthor): Promise<UpstreamRetry | undefined>;
  /** Carries out an action of the console, or previews it. `requestId` and the name of the operator are for the audit log. */
  act(action: ConsoleAction, requestId: string, by: string): Promise<ActionAnswer>;
  /** Counts the gateways that share the key store, on which all changes until now are in force, and the other gateways. */
  inForce(): Promise<object>;
  /** Finds organizations and keys by id, by name, or by the last four characters of a key. */
  findOrganizations(text: string): Promise<object>;
  /** Returns an organization with its keys and limits; undefined for an unknown organization. */
  organization(id: string): Promise<object | undefined>;
  /** Returns a view: audit, routes, configuration, or the rehearsal of a request. */
  view(view: ConsoleView): Promise<object>;
  /** Returns deprecated operations, their callers, and the notices to the callers. */
  versions(): Promise<object>;
  /** Returns the settings of alerts in force. */
  alertsInForce(): Promise<object>;
}

/** The interface for one gateway process. */
export interface Operators<Sample = object> extends Answers {
  readonly metrics: Answers['metrics'] & { snapshot(): Promise<MetricSnapshot[]> };
  /** Returns the current counts, for the console. */
  sample(): Promise<Sample>;
}
