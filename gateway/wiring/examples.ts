// Answers from their contracts for upstreams without a service (`live` or `test` is `examples:`). The code that makes answers is loaded
// with the first such upstream, because it takes long to load.

import type { Configuration } from '../configuration.ts';
import type { AnswerExample, MadeValues } from '../contract/examples/answers.ts';
import type { Mode } from '../exchange/caller.ts';
import type { Log } from '../observe/log/log.ts';
import { upstreamOfExamples, upstreamsFromContract } from '../upstream/targets/addresses.ts';
import type { AnswerFromContract } from '../upstream/targets/in-process.ts';

type Handlers = ReadonlyMap<string, AnswerExample>;

interface OpenExamples {
  /** Returns a function that answers by the configuration that is in force when a request arrives. */
  answerFor(address: string): AnswerFromContract;
  apply(next: Configuration): void;
  /** Returns the modes in which contracts answer, by upstream. */
  status(): Readonly<Record<string, { readonly from_contract: readonly Mode[] }>>;
}

/** Resolves once the first request can be answered. */
export async function openExamples(first: Configuration, log: Pick<Log, 'logger'>): Promise<OpenExamples> {
  const made: MadeValues = new WeakMap();
  let modes = modesByUpstream(first);
  let handlers = handlersOf(first);
  const warned = new Set<string>();

  function handlersOf({ contracts }: Configuration): Promise<Handlers> {
    if (modes.size === 0) return Promise.resolve(new Map());
    const names = [...modes.keys()];
    return import('../contract/examples/answers.ts').then(({ createExampleAnswers }) => {
      const all = names.map((upstream) => {
        const operations = contracts.operations.filter(({ operation }) => operation.upstream === upstream);
        const { schemas } = contracts;
        return [upstream, createExampleAnswers({ operations, schemas, made, onUnavailable: warn })] as const;
      });
      return new Map(all);
    });
  }

  function warn(operation: string, status: number): void {
    const key = `${operation} ${status}`;
    if (warned.has(key)) return;
    warned.add(key);
    log.logger.warn(
      { operation, status },
      'the contract allows no valid answer that could be made; "check" names the place',
    );
  }

  /** Logs upstreams whose live keys get examples. For test keys this is usual, so only the greeting and the status name them. */
  function announce(before: ReadonlyMap<string, readonly Mode[]>): void {
    const answersLive = (all: ReadonlyMap<string, readonly Mode[]>, name: string) =>
      all.get(name)?.includes('live') === true;
    const upstreams = [...modes.keys()].filter((name) => answersLive(modes, name) && !answersLive(before, name));
    if (upstreams.length === 0) return;
    log.logger.warn({ upstreams }, 'live keys are answered from the contract of these upstreams; no service is asked');
  }

  announce(new Map());
  await handlers;
  return {
    answerFor: (address) => async (request) => {
      const handler = (await handlers).get(upstreamOfExamples(address));
      if (handler === undefined) throw new Error(`no contract answers for ${address}`);
      return handler(request);
    },
    apply(next) {
      const before = modes;
      modes = modesByUpstream(next);
      handlers = handlersOf(next);
      announce(before);
    },
    status: () => Object.fromEntries([...modes].map(([upstream, from_contract]) => [upstream, { from_contract }])),
  };
}

function modesByUpstream({ config }: Configuration): ReadonlyMap<string, readonly Mode[]> {
  return new Map(upstreamsFromContract(config.upstreams));
}
