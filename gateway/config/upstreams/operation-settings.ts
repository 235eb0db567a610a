// The shape of `operations` in config/upstreams.yaml: settings of single operations. Also checks the names of operations against the
// contracts.

import { z } from 'zod';
import { type Mistake, suggest, suggestOperation } from '../../shared/mistakes.ts';
import type { Source } from '../../shared/yaml-source.ts';
import { declaredId, type NamedOperation } from '../operation-names.ts';
import { whole } from '../parts.ts';

export const operationSettings = z.record(
  z.string().min(1),
  z.strictObject({
    restOfPath: z.string().min(1, 'must be the name of a path parameter').optional().meta({
      description:
        'The path parameter that takes slashes: it matches the rest of the path ([upstreams](upstreams.md#parameters-with-slashes)).',
      values: 'name of a path parameter',
    }),
    timeoutMs: whole('milliseconds', 1, 3_600_000)
      .optional()
      .describe('Replaces the `timeoutMs` of the upstream, as `x-gateway-timeout` does in a contract.'),
    body: z
      .enum(['buffer', 'stream'])
      .optional()
      .describe('Replaces the `body` of the entry, as `x-gateway-body` does in a contract: `stream` for long uploads.'),
    serve: z
      .boolean()
      .default(true)
      .describe(
        '`false`: the operation is left out, as if the document did not contain it. Use it for operations that clients do not call, such as a `/health` that several services have.',
      ),
  }),
);

type OperationSettings = z.output<typeof operationSettings>;

/** The properties of an operation that the settings refer to. */
interface ConfiguredOperation extends NamedOperation {
  readonly method: string;
  /** The path template. */
  readonly path: string;
  readonly restOfPath: string | undefined;
}

/** An operation that an entry leaves out, by the name that the entry uses. */
export interface LeftOut {
  readonly entry: string;
  readonly name: string;
}

/** Pushes a mistake for every unknown operation, and for every parameter that cannot accept slashes. */
export function checkOperationSettings(
  upstreams: Readonly<Record<string, { readonly operations: OperationSettings }>>,
  operations: readonly ConfiguredOperation[],
  leftOut: readonly LeftOut[],
  source: Source,
  mistakes: Mistake[],
): void {
  for (const [entry, { operations: settings }] of Object.entries(upstreams)) {
    if (Object.keys(settings).length === 0) continue;
    const listed = operations.filter((one) => one.entry === entry);
    const own = new Map(
      listed.flatMap((one) => [declaredId(one), one.qualifiedId].map((name) => [name, one] as const)),
    );
    const named = listed.map((one) => ({ ...one, name: declaredId(one) }));
    for (const [id, { restOfPath }] of Object.entries(settings)) {
      const place = ['upstreams', entry, 'operations', id];
      const operation = own.get(id);
      if (leftOut.some((one) => one.entry === entry && one.name === id)) continue;
      if (operation === undefined) {
        const reason = `no contract of "${entry}" has an operation "${id}".`;
        mistakes.push(source.mistakeAtKey(place, reason, suggestOperation(id, named)));
      } else if (restOfPath !== undefined && operation.restOfPath !== restOfPath) {
        const reason = `"${restOfPath}" is no path parameter of ${operation.path} that is a whole segment.`;
        const names = [...operation.path.matchAll(/\/\{([^}]+)\}(?=\/|$)/g)].map(([, name]) => name as string);
        mistakes.push(source.mistakeAt([...place, 'restOfPath'], reason, suggest(restOfPath, names)));
      }
    }
  }
}
