// Messages between the primary and its workers.

import type { LogLevel } from '../observe/log/log.ts';
import type { MetricSnapshot } from '../observe/metrics/worker-metrics.ts';
import type { StartedGateway } from '../process/greeting.ts';
import type { Mistake } from '../shared/mistakes.ts';
import type { ConsoleAction } from '../shared/questions/console-action.ts';
import type { ConsoleView } from '../shared/questions/console-view.ts';
import type { FleetQuestion } from '../shared/questions/fleet.ts';

export type ToWorker =
  /** Reply to `here`. */
  | ({ readonly kind: 'begin' } & Begin)
  | { readonly kind: 'reload' }
  /** Comes with a connection to this port that was held while no worker listened. */
  | { readonly kind: 'connection'; readonly port: number }
  /**
   * Asks the worker to drain and end. `handOver` means that it accepts no more connections from the start, because other workers continue
   * to listen.
   */
  | { readonly kind: 'stop'; readonly handOver: boolean }
  | { readonly kind: 'question'; readonly id: number; readonly question: WorkerQuestion }
  /** To a question of the worker. */
  | ProcessReply;

interface Begin {
  /** The number of the worker. */
  readonly worker: number;
  readonly isFirst: boolean;
  /** TLS ticket keys in base64, which all workers share. */
  readonly ticketKeys: string;
  /** If it is undefined, the primary has an earlier version, which takes any other message for the report of the start. */
  readonly answersQuestions?: true;
}

export interface ProcessReply {
  readonly kind: 'answer';
  readonly id: number;
  /** The answer; absent if the question was not answered. */
  readonly given?: { readonly value?: unknown };
}

export type FromWorker =
  /** The worker listens for messages. */
  | { readonly kind: 'here' }
  | ({ readonly kind: 'ready' } & Ready)
  | ({ readonly kind: 'failed' } & WorkerFailure)
  | ProcessReply
  /** To all processes of all instances. */
  | { readonly kind: 'question'; readonly id: number; readonly question: FleetQuestion }
  /** The last message: the final metrics. */
  | { readonly kind: 'farewell'; readonly metrics: readonly MetricSnapshot[] };

/** The worker takes requests. */
export interface Ready extends Omit<StartedGateway, 'adminPort' | 'log'> {
  readonly logLevel: LogLevel;
  /** Longest time that draining may take. */
  readonly drainMs: number;
}

/** Why the worker does not take requests. */
export interface WorkerFailure {
  readonly message: string;
  /** Set if the configuration is the reason. */
  readonly mistakes?: readonly Mistake[] | undefined;
}

/** A question or command of an operator to a worker. */
export type WorkerQuestion =
  | { readonly about: 'readiness' | 'status' | 'metrics' | 'sample' | 'versions' | 'in force' | 'alerts' }
  | { readonly about: 'action'; readonly action: ConsoleAction; readonly requestId: string; readonly by: string }
  | FleetQuestion
  | { readonly about: 'view'; readonly view: ConsoleView }
  | { readonly about: 'find organizations'; readonly text: string }
  | { readonly about: 'organization'; readonly organization: string }
  | { readonly about: 'limits'; readonly organization: string }
  | {
      readonly about: 'limits reset';
      readonly organization: string;
      readonly by: string;
      readonly requestId?: string | undefined;
    }
  /** A change by a command, after which every process of every instance sends a refused credential again. */
  | {
      readonly about: 'retry';
      readonly upstream: string;
      readonly by: string;
      readonly requestId?: string | undefined;
    };
