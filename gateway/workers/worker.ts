// Runs the gateway as one of several workers. The primary starts, queries and ends it, and it ends when the primary has ended.

import type { Worker } from 'node:cluster';
import type { Socket } from 'node:net';
import type { ChangeAuthor, Operators } from '../observe/admin/answers.ts';
import { endOnCrash } from '../process/crash.ts';
import type { HostProcess, Painter } from '../process/host-process.ts';
import { type ServingApp, serve } from '../process/serve.ts';
import { operationCountOf } from '../serving/route-rows.ts';
import { ConfigError } from '../shared/mistakes.ts';
import { type AskFleet, answerFleet, type FleetQuestion, PATIENCE_MS } from '../shared/questions/fleet.ts';
import { upstreamsFromContract } from '../upstream/targets/addresses.ts';
import type { FromWorker, Ready, ToWorker, WorkerQuestion } from './messages.ts';
import { createQuestions, replyTo } from './questions.ts';

type Begin = Extract<ToWorker, { readonly kind: 'begin' }>;

/** Resolves when the worker has reported to the primary, which directs everything else by messages. */
export async function startWorker(worker: Worker, context: HostProcess & Painter): Promise<void> {
  const serving = Promise.withResolvers<ServingApp>();
  const questions = createQuestions<FleetQuestion>(
    PATIENCE_MS.primary,
    (id, question) => void send(worker, { kind: 'question', id, question }),
  );

  const askPrimary: AskFleet = async (question) => (await questions.ask(question)) as readonly unknown[];

  // Signals of a terminal or a control group reach every process of the group, and the primary acts on them for all.
  for (const on of [context.onSignal, context.onReload, context.onRestart]) on(() => undefined);

  // The process ends at once, because the primary has ended, and with it the reader of the log.
  worker.once('disconnect', context.abort);

  async function begin({ worker: number, isFirst, ticketKeys, answersQuestions }: Begin): Promise<void> {
    try {
      const served = await serve(context, {
        worker: number,
        isFirst,
        ticketKeys: Buffer.from(ticketKeys, 'base64'),
        ...(answersQuestions && { askPrimary }),
      });
      endOnCrash(context, served.app.log);
      serving.resolve(served);
      await send(worker, { kind: 'ready', ...readyOf(served) });
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      const mistakes = error instanceof ConfigError ? error.mistakes : undefined;
      await send(worker, { kind: 'failed', message, mistakes });
      context.exit(1);
    }
  }

  async function stop({ app, store }: ServingApp, handOver: boolean): Promise<void> {
    await app.stop(handOver);
    await store.close();
    await send(worker, { kind: 'farewell', metrics: await app.operators.metrics.snapshot() });
    context.exit(0);
  }

  async function handle(
    served: ServingApp,
    message: Exclude<ToWorker, { kind: 'begin' | 'connection' | 'answer' }>,
  ): Promise<void> {
    if (message.kind === 'reload') return served.app.reload();
    if (message.kind === 'stop') return stop(served, message.handOver);
    await send(worker, await replyTo(message.id, () => answerOf(served.app.operators, message.question)));
  }

  worker.on('message', (message: ToWorker, socket?: Socket) => {
    if (message.kind === 'begin') void begin(message);
    else if (message.kind === 'connection')
      void serving.promise.then(({ app }) => socket && app.take(socket, message.port));
    else if (message.kind === 'answer') questions.takeReply(message);
    else void serving.promise.then((served) => handle(served, message));
  });
  await send(worker, { kind: 'here' });
}

/** Sends a message. Resolves when it is written, or cannot be written because the primary has ended. */
function send(worker: Worker, message: FromWorker): Promise<void> {
  return new Promise((resolve) => void worker.send(message, () => resolve()));
}

function readyOf({ app, configuration, firstSteps, openFiles }: ServingApp): Ready {
  const { logLevel, timeouts, tls } = configuration.config.gateway;
  const operations = operationCountOf(configuration);
  const drainMs = timeouts.drainDelayMs + timeouts.drainMs;
  const { port, plainPort } = app;
  const fromContract = upstreamsFromContract(configuration.config.upstreams);
  return {
    ...{
      port,
      plainPort,
      isTls: tls !== undefined,
      operations,
      fromContract,
      firstSteps,
      openFiles,
      logLevel,
      drainMs,
    },
  };
}

function authorIn({ by, requestId }: { readonly by: string; readonly requestId?: string | undefined }): ChangeAuthor {
  return { by, requestId };
}

function answerOf(operators: Operators, question: WorkerQuestion): Promise<unknown> {
  switch (question.about) {
    case 'readiness':
      return operators.readiness();
    case 'status':
      return operators.status();
    case 'metrics':
      return operators.metrics.snapshot();
    case 'sample':
      return operators.sample();
    case 'versions':
      return operators.versions();
    case 'action':
      return operators.act(question.action, question.requestId, question.by);
    case 'view':
      return operators.view(question.view);
    case 'alerts':
      return operators.alertsInForce();
    case 'in force':
      return operators.inForce();
    case 'find organizations':
      return operators.findOrganizations(question.text);
    case 'organization':
      return operators.organization(question.organization);
    case 'limits':
      return operators.limits.show(question.organization);
    case 'limits reset':
      return operators.limits.reset(question.organization, authorIn(question));
    case 'retry':
      return operators.retry(question.upstream, authorIn(question));
    default:
      return answerFleet(operators, question);
  }
}
