// Operations with only a method and a path.

import type { Operation } from '../../../gateway/exchange/operation.ts';
import { operation } from '../auth/samples.ts';

export function operationFor(method: string, path: string): Operation {
  const name = `${method} ${path}`;
  const version = /^\/(v\d+)(\/|$)/.exec(path)?.[1];
  const service = { upstream: 'it', entry: 'it', contract: 'it.yaml' };
  return operation({ id: name, method, path, version, qualifiedId: `it.${name}`, ...service, security: [] });
}
